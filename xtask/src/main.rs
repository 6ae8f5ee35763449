//! The checks of this workspace. `cargo xtask --help` lists them.

mod arguments;
mod behaviours;
mod bench;
mod changes;
mod command;
mod dependencies;
mod evaluate;
mod examples;
mod fault;
mod files;
mod fixtures;
mod fuzz;
mod guides;
mod house;
mod metadata;
mod mutants;
mod needs;
mod neighbours;
mod pages;
mod peers;
mod publish;
mod report;
mod result;
mod simulate;
mod stages;
mod tidy;
mod weigh;
mod work;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use arguments::Request;
use behaviours::{Ask, Comparison};
use command::Tool;
use metadata::Metadata;
use result::{Result, code};

fn main() -> ExitCode {
    match arguments::read(std::env::args().skip(1)) {
        Ok(Request::Help) => {
            println!("{}", arguments::usage());
            ExitCode::SUCCESS
        }
        Ok(request) => match run(&request) {
            Ok(code) => code,
            Err(error) => {
                eprintln!("xtask: {error}");
                ExitCode::FAILURE
            }
        },
        Err(wrong) => {
            eprintln!("xtask: {wrong}\n\n{}", arguments::usage());
            ExitCode::from(2)
        }
    }
}

/// Runs what was asked for and says how the program ends.
fn run(request: &Request) -> Result<ExitCode> {
    std::env::set_current_dir(workspace_root()?)?;
    let passed = match request {
        Request::Help => true,
        Request::Tidy => shown(&tidy::faults(&Metadata::read()?)?, "tidy: no faults"),
        Request::House(ask) => {
            let files = files::files(Path::new("."))?;
            print(&house::run(ask, &files, &tidy::floors::FLOORS, &Metadata::read()?)?);
            true
        }
        Request::Behaviours(ask) => {
            let comparison = Comparison::read()?;
            if *ask == Ask::List {
                print(&comparison.listing());
            }
            shown(&comparison.faults(), &format!("behaviours: {}", comparison.verdict()))
        }
        Request::Test(options) => stages::run(options)?,
        Request::Simulate(arguments) => simulate::shown(arguments)?,
        Request::Mutants(selection) => mutants::run(selection)?,
        Request::Fixtures(families) => fixtures::run(families)?,
        Request::Bench(wanted) => return bench::run(wanted),
        Request::Evaluate(arguments) => evaluate::run(arguments)?,
        Request::Questions(arguments) => evaluate::questions(arguments)?,
        Request::Weigh(wanted) => weigh::run(wanted)?,
    };
    Ok(code(passed))
}

/// Prints the faults, or the verdict if there is none. Returns true if there is none.
fn shown<F: ToString>(faults: &[F], verdict: &str) -> bool {
    let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
    println!("{}", if faults.is_empty() { verdict.to_owned() } else { faults.join("\n") });
    faults.is_empty()
}

fn print(text: &str) {
    // Whoever reads only the beginning of it has closed the pipe.
    drop(std::io::stdout().write_all(text.as_bytes()));
}

/// The folder of the workspace's manifest, wherever in it the command was started.
fn workspace_root() -> Result<PathBuf> {
    let locate = ["locate-project", "--workspace", "--message-format", "plain"];
    let manifest = Tool::cargo().arguments(locate).text()?;
    let folder = Path::new(manifest.trim()).parent();
    Ok(folder.ok_or("the workspace's manifest is in no folder")?.to_path_buf())
}
