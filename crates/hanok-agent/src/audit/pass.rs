//! What passed without the person who would have been asked, as the step stores it that let it pass.

use hanok_checkpoint::Memo;
use hanok_core::{Gate, Risk};
use serde::{Deserialize, Serialize};

/// What the names of such steps of gates begin with.
pub(crate) const GATE: &str = "pass-";

/// What the names of the steps begin with that judge a call.
pub(crate) const CALL: &str = "admit-";

/// A reason why a person was not asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PassReason {
    /// The rule that would have had them asked.
    pub rule: String,
    /// The reason: whose word it was, or what the evidence is.
    pub reason: String,
}

/// What was not asked about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Passed {
    pub(crate) gate: Gate,
    /// The tool that is called; else the question.
    pub(crate) about: String,
    /// The digest of what would have been shown.
    pub(crate) digest: String,
    pub(crate) risk: Risk,
    pub(crate) reasons: Vec<PassReason>,
}

impl Passed {
    /// Whether the step `memo` is one that may let something pass, by its name.
    pub(crate) fn may_be(memo: &Memo) -> bool {
        is_named(&memo.name, CALL) || is_named(&memo.name, GATE)
    }

    /// What the step `memo` let pass, if it did.
    pub(crate) fn of(memo: &Memo) -> Option<Self> {
        /// As far as it matters here.
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Judgement {
            Pass { passed: Passed },
        }
        if is_named(&memo.name, CALL) {
            let judgement: Option<Judgement> = memo.value.decode().ok();
            return judgement.map(|Judgement::Pass { passed }| passed);
        }
        is_named(&memo.name, GATE).then(|| memo.value.decode().ok()).flatten()
    }
}

/// True if a step's name within its task begins with `prefix`. What the handler of an error does stands below a word of its own.
fn is_named(name: &str, prefix: &str) -> bool {
    name.strip_prefix("error/").unwrap_or(name).starts_with(prefix)
}
