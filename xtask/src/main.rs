//! The checks of this workspace. `cargo xtask --help` lists them.

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
mod options;
mod pages;
mod peers;
mod publish;
mod report;
mod result;
mod servers;
mod simulate;
mod stages;
mod tidy;
mod weigh;
mod wheel;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use behaviours::Comparison;
use command::Tool;
use metadata::Metadata;
use options::Misuse;
use result::Result;

const USAGE: &str = "usage: cargo xtask COMMAND [OPTION]...

  test                     tier 1: what a change is tried with
    --land [--base REV]    tier 2: what a submission needs besides, for what changed since REV (HEAD~40)
    --full                 all tiers, as long as each takes
    --only STAGE,…         these stages, on everything
  tidy                     the checks that need no build
  wheel                    the Python package of hanok-parse, built and tested: `test --only wheel`
  house [--files CRATE]    the crates and rooms as pictures (Mermaid), or the imports of a crate by file
  behaviours [--list]      the numbered lists in docs/ against the tests, or every number with its tests
  simulate [OPTION]...     graphs under schedules of crashes; `--help`; `--teams`: team supervisors that die twice in a row
  mutants                  whether tests fail when a line is wrong: ten, in turn
    --full, --only N,M     all of them, or those of these numbers
    --list                 prints them
  fixtures [FAMILY]...     what models wrote, recorded by others, through the parser
  bench [ROW]...           what the engine costs, beside LangGraph; `--help`
    --against REV          beside itself at another commit: which rows are worse
  weigh rag                the README's first command: packages, units, CPU seconds
  weigh [ROW]...           packages and first build of programs, beside rig and LangGraph
    --release              release builds, too
  evaluate [OPTION]...     how well and fast documents are found; `--help`
  evaluate TABLE           `team`, `law`, `figures`, `memory` or `tools`
  questions EXAMPLE        what `rag`, `chat`, `contract`, `real-estate` or `orchestrator` answers to its questions
    --model [--cache FOLDER]   a sample by the server of OPENAI_BASE_URL and OPENAI_MODEL; its replies are kept
  prompts EXAMPLE          records what an example asks of a model, a request of each kind with its tokens

exit: 0 all passed, 1 something failed, 2 wrong usage, 3 `bench --against`: a row is worse

stages, in the order they run:";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    match run(&command, &arguments.collect::<Vec<_>>()) {
        Ok(code) => code,
        Err(error) if error.is::<Misuse>() => {
            eprintln!("xtask: {error}\n\n{}", usage());
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs `command`. Returns the exit code of the program.
fn run(command: &str, arguments: &[String]) -> Result<ExitCode> {
    let wants_help = arguments.iter().any(|argument| argument == "--help" || argument == "-h");
    // For these, help is a matter of the programs that they start.
    let is_starter = ["bench", "evaluate", "questions", "simulate"].contains(&command);
    if ["help", "--help", "-h"].contains(&command) || (wants_help && !is_starter) {
        print(&usage());
        return Ok(ExitCode::SUCCESS);
    }
    let locate = ["locate-project", "--workspace", "--message-format", "plain"];
    let manifest = Tool::cargo().arguments(locate).text()?;
    let root = Path::new(manifest.trim()).parent();
    std::env::set_current_dir(root.ok_or("the workspace's manifest is in no folder")?)?;
    let passed = match command {
        "test" => stages::run(&stages::Options::read(arguments)?)?,
        "tidy" => {
            options::only(arguments, &[])?;
            shown(&tidy::faults(&Metadata::read()?)?, "tidy: no faults")
        }
        "wheel" => {
            options::only(arguments, &[])?;
            stages::run(&stages::Options { only: vec!["wheel".to_owned()], ..Default::default() })?
        }
        "house" => {
            let of_crate = options::only(arguments, &[("--files", "the name of a crate")])?;
            let of_crate = of_crate.first().map(|(_, name)| name.as_str());
            print(&house::run(of_crate, &tidy::floors::FLOORS, &Metadata::read()?)?);
            true
        }
        "behaviours" => {
            let lists = !options::only(arguments, &[("--list", "")])?.is_empty();
            let comparison = Comparison::read()?;
            if lists {
                print(&comparison.listing());
            }
            shown(&comparison.faults(), &format!("behaviours: {}", comparison.verdict()))
        }
        "simulate" => simulate::shown(arguments)?,
        "mutants" => mutants::run(arguments)?,
        "fixtures" => fixtures::run(arguments)?,
        "bench" => return bench::run(&bench::Bench::read(arguments)?),
        "evaluate" => evaluate::run(arguments)?,
        "questions" => evaluate::questions(arguments)?,
        "prompts" => evaluate::prompts(arguments)?,
        "weigh" => weigh::run(&options::read(arguments, &[("--release", "")])?)?,
        "" => return Err(options::misuse("which command?")),
        other => return Err(options::misuse(format!("no command `{other}`"))),
    };
    Ok(ExitCode::from(u8::from(!passed)))
}

fn usage() -> String {
    let stages = stages::ALL.iter();
    let stages = stages.map(|stage| format!("  {:<14}{}\n", stage.name, stage.about));
    format!("{USAGE}\n{}", stages.collect::<String>())
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
