//! What the stages of `cargo xtask test` are given and give back.

use crate::changes::Changes;
use crate::command::Ended;
use crate::metadata::Metadata;
use crate::report::Outcome;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_program_keeps_everything_it_said() {
        let ended = |code| Ended { output: "warning\nerror".into(), code: Some(code), late: false };
        assert_eq!(passed(ended(0), |_| "fine".into()).unwrap(), Outcome::Passed("fine".into()));
        assert_eq!(
            passed(ended(101), |_| "fine".into()).unwrap(),
            Outcome::Failed("warning\nerror".into())
        );
    }
}
