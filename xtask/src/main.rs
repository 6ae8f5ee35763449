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
        Request::Tidy => {
            let faults = tidy::faults(&Metadata::read()?)?;
            for fault in &faults {
                println!("{fault}");
            }
            println!("tidy: {}", tidy::verdict(&faults));
            faults.is_empty()
        }
        Request::House(ask) => {
            let files = files::files(Path::new("."))?;
            let text = house::run(ask, &files, &tidy::floors::FLOORS, &Metadata::read()?)?;
            // Whoever reads only the beginning of it has closed the pipe.
            drop(std::io::stdout().write_all(text.as_bytes()));
            true
        }
        Request::Behaviours(ask) => behaviours(*ask)?,
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

/// Compares the numbered lists in the docs with the tests.
fn behaviours(ask: Ask) -> Result<bool> {
    let comparison = Comparison::read()?;
    if ask == Ask::List {
        // Whoever reads only the beginning of it has closed the pipe.
        drop(std::io::stdout().write_all(comparison.listing().as_bytes()));
    }
    let faults = comparison.faults();
    for fault in &faults {
        println!("{fault}");
    }
    println!("behaviours: {}", comparison.verdict());
    Ok(faults.is_empty())
}

/// The folder of the workspace's manifest, wherever in it the command was started.
fn workspace_root() -> Result<PathBuf> {
    let manifest = Tool::cargo()
        .arguments(["locate-project", "--workspace", "--message-format", "plain"])
        .text()?;
    let manifest = PathBuf::from(manifest.trim());
    Ok(manifest.parent().ok_or("the workspace's manifest stands in no folder")?.to_path_buf())
}
