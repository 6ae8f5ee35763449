//! The risk of a call.

use serde::{Deserialize, Serialize};

use crate::effect::Effect;

/// What a call may do to the world, for the person who approves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Risk {
    /// It only reads.
    Read,
    /// It writes, and may be repeated.
    Write,
    /// It reaches somebody outside, such as by mail.
    External,
    /// It may do what cannot be undone. What is not known counts as this.
    Destructive,
}

impl From<Effect> for Risk {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Pure => Self::Read,
            Effect::Idempotent => Self::Write,
            _ => Self::Destructive,
        }
    }
}
