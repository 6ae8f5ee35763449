//! What a run has spent.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// What was spent: calls and tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Spent {
    /// Calls of a model.
    pub model_calls: u64,
    /// Calls of a tool.
    pub tool_calls: u64,
    /// Tokens that models read.
    pub input_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
}

impl Spent {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            model_calls: self.model_calls.saturating_add(other.model_calls),
            tool_calls: self.tool_calls.saturating_add(other.tool_calls),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
        }
    }

    /// Whether nothing was spent.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Counts what calls spend. Clones count into the same meter.
#[derive(Debug, Clone, Default)]
pub struct Meter(Arc<Mutex<Spent>>);

impl Meter {
    /// Adds what was spent.
    pub fn add(&self, spent: Spent) {
        let mut total = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *total = total.plus(spent);
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was spent so far; the meter then begins at nothing.
    pub fn take(&self) -> Spent {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
