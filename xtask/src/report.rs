//! What a run of the stages prints: one line per stage, all output of one that failed, a summary.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use crate::command::coloured;

/// How a stage ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// With a word on what was done, possibly empty.
    Passed(String),
    /// With everything that was said about it.
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
    fn line(&self, colour: bool) -> String {
        let (mark, paint, note) = match &self.outcome {
            Outcome::Passed(note) => ("ok", "32", note.as_str()),
            Outcome::Failed(_) => ("FAILED", "31;1", ""),
            Outcome::Skipped(reason) => ("skipped", "33", reason.as_str()),
        };
        let mark = format!("{mark:<9}");
        let mark = if colour { format!("\x1b[{paint}m{mark}\x1b[0m") } else { mark };
        let line = format!("{mark}{:<14}{:>7.1} s  {note}", self.name, self.took.as_secs_f64());
        line.trim_end().to_owned()
    }

    /// Prints the line, after everything that was said when the stage failed.
    pub(crate) fn print(&self) {
        if std::io::stdout().is_terminal() {
            print!("\r\x1b[K");
        }
        if let Outcome::Failed(said) = &self.outcome {
            println!("---- {} ----\n{}", self.name, said.trim_end());
        }
        println!("{}", self.line(coloured()));
    }
}

/// Says on a terminal what is running; its line takes the place of this one.
pub(crate) fn announce(name: &str) {
    if std::io::stdout().is_terminal() {
        print!("{name} …");
        // A terminal that is gone is noticed by the next line.
        drop(std::io::stdout().flush());
    }
}

/// Prints the stages again, together, and the closing line. Says whether none failed.
pub(crate) fn summary(finished: &[Finished], took: Duration, dependencies: &str) -> bool {
    println!("\nsummary");
    for stage in finished {
        println!("{}", stage.line(coloured()));
    }
    println!("{:<23}{:>7.1} s", "in all", took.as_secs_f64());
    if !dependencies.is_empty() {
        println!("\noutside crates per crate (normal edges, default features)\n{dependencies}");
    }
    println!("\n{}", closing(finished));
    !finished.iter().any(|stage| matches!(stage.outcome, Outcome::Failed(_)))
}

/// The last line of a run.
fn closing(finished: &[Finished]) -> String {
    let count = |is: fn(&Outcome) -> bool| finished.iter().filter(|end| is(&end.outcome)).count();
    format!(
        "{} passed, {} failed, {} skipped",
        count(|outcome| matches!(outcome, Outcome::Passed(_))),
        count(|outcome| matches!(outcome, Outcome::Failed(_))),
        count(|outcome| matches!(outcome, Outcome::Skipped(_))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(name: &'static str, outcome: Outcome) -> Finished {
        Finished { name, outcome, took: Duration::from_millis(1250) }
    }

    #[test]
    fn a_stage_is_one_line_and_colour_only_frames_the_mark() {
        let stage = finished("examples", Outcome::Skipped("no example `rag` yet".into()));
        assert_eq!(stage.line(false), "skipped  examples          1.2 s  no example `rag` yet");
        assert_eq!(
            stage.line(true),
            "\x1b[33mskipped  \x1b[0mexamples          1.2 s  no example `rag` yet"
        );
    }

    #[test]
    fn the_closing_line_counts_stages() {
        let stages = [
            finished("fmt", Outcome::Passed(String::new())),
            finished("test", Outcome::Failed("assertion".into())),
            finished("tidy", Outcome::Passed(String::new())),
        ];
        assert_eq!(closing(&stages), "2 passed, 1 failed, 0 skipped");
        assert_eq!(closing(&[]), "0 passed, 0 failed, 0 skipped");
    }
}
