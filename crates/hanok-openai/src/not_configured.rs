//! Settings that are missing or are none.

use hanok_model::ModelError;

/// The error that says what to set.
pub(crate) fn missing(what: impl Into<String>) -> ModelError {
    ModelError::NotConfigured { missing: what.into() }
}
