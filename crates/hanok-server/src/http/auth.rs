//! Who calls, and what they may do.

use std::{collections::BTreeSet, fmt, sync::Arc};

use hanok_core::{Answerer, BoxFuture, Tenant};
use serde::{Deserialize, Serialize};

use super::problem::Problem;

/// What a caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// Begins and stops runs, and changes threads.
    Run,
    /// Answers questions.
    Answer,
    /// Reads threads, runs and events.
    Read,
    /// Everything.
    Admin,
}

/// A caller that was recognised.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Signed {
    /// The tenant, whose threads the caller's are.
    pub tenant: Tenant,
    /// Who it is.
    pub principal: Answerer,
    /// What they may do.
    pub roles: BTreeSet<Role>,
}

impl Signed {
    /// `principal` of `tenant`, who may do everything.
    pub fn new(tenant: Tenant, principal: Answerer) -> Self {
        Self { tenant, principal, roles: [Role::Admin].into() }
    }

    /// Sets what they may do.
    #[must_use]
    pub fn roles(self, roles: impl IntoIterator<Item = Role>) -> Self {
        Self { roles: roles.into_iter().collect(), ..self }
    }

    /// Refuses a caller without `role`.
    pub(crate) fn needs(&self, role: Role) -> Result<(), Problem> {
        match self.roles.contains(&Role::Admin) || self.roles.contains(&role) {
            true => Ok(()),
            false => Err(Problem::forbidden(role)),
        }
    }
}

/// Recognises callers by what they send.
///
/// ```
/// use hanok_graph::core::{Answerer, BoxFuture, Tenant};
/// use hanok_server::{Authenticate, Signed};
///
/// #[derive(Debug)]
/// struct Gateway;
///
/// impl Authenticate for Gateway {
///     fn recognise<'a>(&'a self, token: Option<&'a str>) -> BoxFuture<'a, Option<Signed>> {
///         let name = token.map(str::to_owned); // as the gateway before it has written it
///         Box::pin(async move { Some(Signed::new(Tenant::default(), Answerer::new(name?, "http"))) })
///     }
/// }
/// ```
pub trait Authenticate: fmt::Debug + Send + Sync + 'static {
    /// Whoever sends `token`: the value of `x-api-key`, or that behind `Authorization: Bearer`. `None` refuses the request.
    fn recognise<'a>(&'a self, token: Option<&'a str>) -> BoxFuture<'a, Option<Signed>>;
}

/// Who recognises callers.
pub(crate) type Recogniser = Arc<dyn Authenticate>;

/// Everybody is the same caller, who may do everything.
#[derive(Debug)]
pub(crate) struct Anybody;

impl Authenticate for Anybody {
    fn recognise<'a>(&'a self, _: Option<&'a str>) -> BoxFuture<'a, Option<Signed>> {
        let anybody = Signed::new(Tenant::default(), Answerer::new("anybody", "http"));
        Box::pin(async move { Some(anybody) })
    }
}
