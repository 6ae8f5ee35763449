//! Whether a gate is passed as the person has always decided, and why or why not.

use hanok_core::{Risk, Timestamp};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{
    behaviour_memory::{BehaviourMemory, GateAction, RECENT},
    policy::ApprovalPolicy,
};

/// A reason for a verdict.
#[derive(Debug, Clone, PartialEq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GateReason {
    /// It passes: the person has always approved.
    #[error("the user approved {approved} of {decisions} alike, at least {lower_bound:.3} of all")]
    Learned {
        /// The approvals.
        approved: u64,
        /// The person's decisions.
        decisions: u64,
        /// The lower bound of the rate of approvals, by Wilson's interval.
        lower_bound: f64,
    },
    /// Learned approvals are off.
    #[error("learned approvals are off")]
    Off,
    /// There is no user whose decisions are known.
    #[error("there is no user")]
    NoUser,
    /// The call may be destructive.
    #[error("the call may destroy something")]
    Destructive,
    /// The call leaves the program.
    #[error("the call leaves the program")]
    External,
    /// The person has decided too rarely.
    #[error("the user decided {decisions} times, and it takes {least}")]
    FewDecisions {
        /// The person's decisions.
        decisions: u64,
        /// The least that it takes.
        least: u64,
    },
    /// The person has not approved often enough.
    #[error(
        "the user approves at least {lower_bound:.3} of all, and it takes more than {more_than}"
    )]
    RarelyApproved {
        /// The lower bound of the rate of approvals, by Wilson's interval.
        lower_bound: f64,
        /// What it has to be more than.
        more_than: f64,
    },
    /// The person has rejected one lately, or left it out.
    #[error("the user rejected or skipped one of the newest {of}")]
    RejectedLately {
        /// The time of the newest one that did not go on.
        at: Timestamp,
        /// The number of decisions that are looked at.
        of: usize,
    },
    /// The call is of the share that is asked about all the same.
    #[error("{percent} % of all calls are asked about all the same, and this is one")]
    Sampled {
        /// The share, in per cent.
        percent: u8,
    },
}

/// Whether a gate is passed by what was learned, with the reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateVerdict {
    reasons: Vec<GateReason>,
    key: String,
}

impl GateVerdict {
    pub(super) fn no_user(key: String) -> Self {
        Self { reasons: vec![GateReason::NoUser], key }
    }

    pub(super) fn new(
        key: String,
        record: &BehaviourMemory,
        risk: Risk,
        of_others: bool,
        call_key: &str,
        policy: &ApprovalPolicy,
    ) -> Self {
        let approvals = record.people.approvals();
        let (decisions, lower_bound) = (approvals.count(), approvals.lower_bound());
        let mut reasons = Vec::new();
        let mut check = |refused: bool, reason: GateReason| {
            if refused {
                reasons.push(reason);
            }
        };
        check(!policy.enabled, GateReason::Off);
        check(risk == Risk::Destructive, GateReason::Destructive);
        check(risk == Risk::External || of_others, GateReason::External);
        // Without a decision there is no bound, whatever the policy says.
        let least = policy.decisions.max(1);
        check(decisions < least, GateReason::FewDecisions { decisions, least });
        if let Some(lower_bound) = lower_bound {
            let more_than = policy.lower_bound;
            let approved = lower_bound > more_than;
            check(!approved, GateReason::RarelyApproved { lower_bound, more_than });
        }
        let of = policy.unrejected.min(RECENT);
        let mut lately = record.recent.iter().take(of);
        // What is left out is a "no", too: some gates take no other.
        let is_no =
            |action: GateAction| matches!(action, GateAction::Rejected | GateAction::Skipped);
        if let Some(rejected) = lately.find(|decided| is_no(decided.value)) {
            check(true, GateReason::RejectedLately { at: rejected.at, of });
        }
        let percent = policy.asked_percent;
        check(is_sampled(call_key, percent), GateReason::Sampled { percent });
        if let (true, Some(lower_bound)) = (reasons.is_empty(), lower_bound) {
            let approved = record.people.approved;
            reasons.push(GateReason::Learned { approved, decisions, lower_bound });
        }
        Self { reasons, key }
    }

    /// True if the person need not be asked. Store such a decision as evidence of [`Actor::Automatic`](crate::Actor::Automatic).
    pub fn passes(&self) -> bool {
        matches!(self.reasons.as_slice(), [GateReason::Learned { .. }])
    }

    /// The reasons: the one for which it passes, or all for which it does not.
    pub fn reasons(&self) -> &[GateReason] {
        &self.reasons
    }

    /// The name of the record of the person's decisions: [`UserMemories::evidence`](crate::UserMemories::evidence) lists them.
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// True for the share of keys that are asked about: the same each time.
fn is_sampled(call_key: &str, percent: u8) -> bool {
    let hash = blake3::hash(call_key.as_bytes());
    let number =
        hash.as_bytes().iter().take(8).fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
    number % 100 < u64::from(percent)
}

#[cfg(test)]
mod tests {
    use super::is_sampled;

    #[test]
    fn five_of_a_hundred_are_asked_about_and_the_same_ones_each_time() {
        let sampled = |percent| {
            let all = (0..10_000).filter(|n| is_sampled(&format!("task/{n}"), percent));
            all.collect::<Vec<_>>()
        };
        assert!((400..600).contains(&sampled(5).len()), "{}", sampled(5).len());
        assert_eq!((sampled(0).len(), sampled(100).len()), (0, 10_000));
        assert_eq!(sampled(5), sampled(5));
    }
}
