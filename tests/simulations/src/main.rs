//! Runs every scenario under schedules of crashes: `cargo xtask simulate --help`.

mod arguments;

use std::{
    error::Error,
    fs,
    path::Path,
    process::ExitCode,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use arguments::Arguments;
use hanok_simulation::{Failure, Fault, Report};
use hanok_simulations::{Scenario, all, ends, found};

/// The seeds that are run first, always.
const FIRST: u64 = 500;

/// How many seeds of each scenario are run before the time is looked at.
const ROUND: u64 = 25;

fn main() -> ExitCode {
    let arguments = match arguments::read(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            println!("{}", arguments::USAGE);
            return ExitCode::SUCCESS;
        }
        Err(wrong) => {
            eprintln!("simulate: {wrong}\n\n{}", arguments::USAGE);
            return ExitCode::from(2);
        }
    };
    let named =
        |scenario: &Scenario| arguments.scenario.as_ref().is_none_or(|name| name == scenario.name);
    let scenarios: Vec<_> = all().into_iter().filter(named).collect();
    if scenarios.is_empty() {
        eprintln!("simulate: no such scenario; there are {}", names());
        return ExitCode::from(2);
    }
    if let Some(seed) = arguments.trace {
        for scenario in &scenarios {
            println!("{}", scenario.name);
            scenario.simulation.trace(seed).iter().for_each(|line| println!("{line}"));
        }
        return ExitCode::SUCCESS;
    }
    let ran = match (&arguments.ends, &arguments.search) {
        (Some(file), _) => write_ends(file),
        (_, Some(file)) => search(file, &arguments),
        (None, None) => Ok(simulations(&scenarios, &arguments)),
    };
    match ran {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("simulate: {error}");
            ExitCode::from(2)
        }
    }
}

fn names() -> String {
    let names = all().iter().map(|scenario| format!("`{}`", scenario.name)).collect::<Vec<_>>();
    names.join(", ")
}

/// Crashes at every write, then seeds from a fixed start, then from another one as long as there is time.
fn simulations(scenarios: &[Scenario], arguments: &Arguments) -> bool {
    let began = Instant::now();
    let mut report = Report::default();
    let result = everywhere(scenarios, arguments, &mut report)
        .and_then(|()| seeds(scenarios, arguments, began, &mut report));
    match result {
        Ok(from) => {
            println!("{report}");
            println!(
                "{} runs of {} scenarios in {:.0?}, seeds from {from}",
                report.seeds,
                scenarios.len(),
                began.elapsed(),
            );
            true
        }
        Err((name, failure)) => {
            println!("`{name}` fails: {failure}");
            println!("again: cargo xtask simulate --scenario \"{name}\" --trace {}", failure.seed);
            false
        }
    }
}

type Named<T> = Result<T, (&'static str, Failure)>;

/// Dies at every write, and then at every write of the process that takes over; is dropped at every poll.
fn everywhere(scenarios: &[Scenario], arguments: &Arguments, all: &mut Report) -> Named<()> {
    if !arguments.everywhere {
        return Ok(());
    }
    for Scenario { name, simulation } in scenarios {
        // Random graphs are of their seed: one of them says little.
        let failed = |failure| (*name, failure);
        all.join(&simulation.crash_everywhere(true).map_err(failed)?);
        for fault in [Fault::Crash, Fault::Drop] {
            all.join(&simulation.everywhere(fault).map_err(failed)?);
        }
    }
    Ok(())
}

/// Runs so many seeds, or as many as there is time for; from where the last of them were counted.
fn seeds(
    scenarios: &[Scenario],
    arguments: &Arguments,
    began: Instant,
    all: &mut Report,
) -> Named<u64> {
    let mut from = arguments.from.unwrap_or(0);
    let (mut next, mut done) = (from, 0);
    loop {
        let is_enough = match (arguments.seeds, arguments.time) {
            (Some(seeds), None) => done >= seeds,
            (seeds, Some(time)) => done >= seeds.unwrap_or(0) && began.elapsed() >= time,
            (None, None) => done >= 10_000,
        };
        if is_enough {
            return Ok(from);
        }
        for Scenario { name, simulation } in scenarios {
            let simulation = simulation.clone().seeds(next..next + ROUND).threads(threads());
            all.join(&simulation.run().map_err(|failure| (*name, failure))?);
            done += ROUND;
        }
        next += ROUND;
        if arguments.from.is_none() && from == 0 && next >= FIRST {
            // Others every time: whoever runs this often sees more.
            from = SystemTime::now().duration_since(UNIX_EPOCH).map_or(FIRST, |now| now.as_secs());
            next = from;
        }
    }
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Writes how the scenarios end to `file`.
fn write_ends(file: &Path) -> Result<bool, Box<dyn Error>> {
    match ends() {
        Ok(ends) => fs::write(file, serde_json::to_vec(&ends)?)?,
        Err((name, failure)) => {
            println!("`{name}` fails: {failure}");
            return Ok(false);
        }
    }
    Ok(true)
}

/// Looks for a failure; says whether there was none.
fn search(file: &Path, arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let ends = serde_json::from_slice(&fs::read(file)?)?;
    let seeds = arguments.seeds.unwrap_or(1_000);
    match found(&ends, arguments.store, seeds, threads()) {
        Some((runs, scenario, failure)) => {
            println!("{runs} runs, `{}`, seed {}: {}", scenario.name, failure.seed, failure.why);
            Ok(false)
        }
        None => {
            println!("nothing in {seeds} seeds of each scenario");
            Ok(true)
        }
    }
}
