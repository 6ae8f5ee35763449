//! What becomes of a call that nobody has decided in time.

use std::time::Duration;

use hanok_core::Audience;
use serde::{Deserialize, Serialize};

/// What becomes of a call when nobody of the last audience has answered in time. It is never made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Overdue {
    /// It is refused, and the model reads that nobody approved it.
    #[default]
    Reject,
    /// It is left out, and the model reads that it goes on without.
    Skip,
    /// The turn fails: whoever runs the thread has to see to it. A resume asks nobody again.
    Halt,
}

/// Others who are asked when those before did not answer, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Escalation {
    pub(crate) audience: Audience,
    pub(crate) within: Duration,
}
