//! The effect of a tool on the world.

use serde::{Deserialize, Serialize};

/// The effect of a call that is made twice. It decides what a resumed run may repeat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// The call changes nothing: it may be made any number of times.
    #[default]
    Pure,
    /// The call changes something, and the same key changes it once: it may be repeated with its key.
    Idempotent,
    /// The call must not be repeated unless it is known not to have happened.
    AtMostOnce,
}
