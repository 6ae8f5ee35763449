//! Who calls a graph.

use hanok_core::{Answerer, InvalidName, Tenant, ThreadKey};
use serde_json::Value;

/// Whoever calls a graph through an [`AnyApp`](crate::AnyApp), as the door has recognised them.
///
/// ```
/// use hanok_graph::{Caller, Tenant};
/// use hanok_graph::core::Answerer;
///
/// let caller = Caller::new(Tenant::try_from("acme")?)
///     .principal(Answerer::new("ada", "http").role("clerk"))
///     .config(serde_json::json!({"model": "small"}));
/// assert_eq!(caller.config["model"], "small");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Caller {
    /// The tenant, whose threads the caller's are.
    pub tenant: Tenant,
    /// The person or program, with their roles and the channel through which they call. Questions are answered in their name.
    pub principal: Option<Answerer>,
    /// What the caller sets for its runs: for the function that makes a run's services.
    pub config: Value,
}

impl Caller {
    /// A caller of `tenant` of whom nothing else is known.
    pub fn new(tenant: Tenant) -> Self {
        Self { tenant, principal: None, config: Value::Null }
    }

    /// Sets who it is, if that is known.
    #[must_use]
    pub fn principal(self, principal: impl Into<Option<Answerer>>) -> Self {
        Self { principal: principal.into(), ..self }
    }

    /// Sets what the caller sets for its runs.
    #[must_use]
    pub fn config(self, config: Value) -> Self {
        Self { config, ..self }
    }

    /// The key of the caller's thread `name`.
    pub(super) fn thread(&self, name: &str) -> Result<ThreadKey, InvalidName> {
        ThreadKey::new(self.tenant.clone(), name)
    }
}

/// The caller of the only tenant.
impl Default for Caller {
    fn default() -> Self {
        Self::new(Tenant::default())
    }
}
