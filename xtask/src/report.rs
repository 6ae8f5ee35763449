//! What the stages are given and give back, and what a run of them prints: one line per stage, all output of one that failed, a
//! summary.

use std::time::Duration;

use crate::changes::Changes;
use crate::command::Ended;
use crate::metadata::Metadata;
use crate::result::Result;

/// When a stage runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// `cargo xtask test`: for whoever tries or changes hanok.
    Work,
    /// `cargo xtask test --land`: additionally before each submission, for what changed.
    Land,
    /// `cargo xtask test --full`: everything, and longer.
    Full,
}

/// What was asked for, and what the stages read.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) metadata: Metadata,
    pub(crate) tier: Tier,
    pub(crate) changes: Changes,
}

impl Work {
    pub(crate) fn is_full(&self) -> bool {
        self.tier == Tier::Full
    }
}

/// The outcome of a program: all its output if it failed, else a note on it.
pub(crate) fn passed(ended: Ended, note: impl Fn(&str) -> String) -> Result<Outcome> {
    if ended.succeeded() {
        return Ok(Outcome::Passed(note(&ended.output)));
    }
    Ok(Outcome::Failed(ended.output))
}

/// The outcome of a check that found `faults`.
pub(crate) fn faultless<F: ToString>(faults: &[F], verdict: String) -> Outcome {
    match faults {
        [] => Outcome::Passed(verdict),
        faults => Outcome::Failed(faults.iter().map(|fault| fault.to_string() + "\n").collect()),
    }
}

/// How a stage ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// With a note, possibly empty. What follows its first line is printed with the summary.
    Passed(String),
    /// With everything that the stage printed.
    Failed(String),
    /// With the reason.
    Skipped(String),
}

/// A stage that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) name: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) took: Duration,
}

impl Finished {
    /// The stage in one line.
    fn line(&self) -> String {
        let (mark, note) = match &self.outcome {
            Outcome::Passed(note) => ("ok", note.lines().next().unwrap_or_default()),
            Outcome::Failed(_) => ("FAILED", ""),
            Outcome::Skipped(reason) => ("skipped", reason.as_str()),
        };
        let took = self.took.as_secs_f64();
        format!("{mark:<9}{:<14}{took:>7.1} s  {note}", self.name).trim_end().to_owned()
    }

    /// Prints the line, after all output of a stage that failed.
    pub(crate) fn print(&self) {
        if let Outcome::Failed(output) = &self.outcome {
            println!("---- {} ----\n{}", self.name, output.trim_end());
        }
        println!("{}", self.line());
    }
}

/// Prints all stages, what was not run, and the counts. Returns true if none failed.
pub(crate) fn summary(finished: &[Finished], took: Duration, not_run: &str) -> bool {
    println!("\nsummary");
    for stage in finished {
        println!("{}", stage.line());
    }
    println!("{:<23}{:>7.1} s", "in all", took.as_secs_f64());
    for stage in finished {
        if let Outcome::Passed(note) = &stage.outcome
            && let Some((_, table)) = note.split_once('\n')
        {
            println!("\n{}: {table}", stage.name);
        }
    }
    println!("\n{not_run}\n{}", closing(finished));
    !finished.iter().any(|stage| matches!(stage.outcome, Outcome::Failed(_)))
}

/// The last line of a run.
fn closing(finished: &[Finished]) -> String {
    let count = |mark: &str| finished.iter().filter(|stage| stage.line().starts_with(mark)).count();
    format!("{} passed, {} failed, {} skipped", count("ok"), count("FAILED"), count("skipped"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_one_line_and_stages_are_counted() {
        let finished =
            |name, outcome| Finished { name, outcome, took: Duration::from_millis(1250) };
        let stage = finished("examples", Outcome::Passed("2 runs\na table".into()));
        assert_eq!(stage.line(), "ok       examples          1.2 s  2 runs");
        let failed = finished("test", Outcome::Failed("assertion".into()));
        assert_eq!(closing(&[stage, failed]), "1 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn a_failed_program_keeps_everything_it_said() {
        let ended = |code| Ended { output: "warning\nerror".into(), code: Some(code), late: false };
        assert_eq!(passed(ended(0), |_| "fine".into()).unwrap(), Outcome::Passed("fine".into()));
        let failed = passed(ended(101), |_| "fine".into()).unwrap();
        assert_eq!(failed, Outcome::Failed("warning\nerror".into()));
    }
}
