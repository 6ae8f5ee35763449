//! Approvals that stand for a while: what a person who says "always" means.

use std::{fmt, sync::Arc, time::Duration};

use hanok_checkpoint::{
    Batch, Expect, Index, Put, Read, Refresh, Search, SharedStore, Store, StoreError, Ttl, Write,
};
use hanok_core::{
    Answerer, BoxError, Call, InvalidName, ItemKey, Labels, Stored, StoredError, Tenant, Timestamp,
};
use hanok_model::ToolError;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::precedent::Precedent;
use crate::{intercept::ToolRequest, tool_index::entry::definition_hash};

/// The time that an approval stands.
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The approvals that are listed at once.
const LISTED: usize = 256;

/// The calls for which an approval stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StandingScope {
    /// Those in all threads of this user.
    User(String),
    /// Those in this thread.
    Thread(String),
}

impl StandingScope {
    /// The name of its items: no two scopes have one.
    fn name(&self) -> String {
        match self {
            Self::User(name) => format!("user {name}"),
            Self::Thread(name) => format!("thread {name}"),
        }
    }
}

/// An approval of all calls of a tool, as long as the tool is what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StandingApproval {
    /// The tool.
    pub tool: String,
    /// The hash of its definition: another one is another tool.
    pub definition: String,
    /// The calls for which it stands.
    pub scope: StandingScope,
    /// The person who said so.
    pub by: Option<Answerer>,
    /// When.
    pub at: Timestamp,
    /// Until when.
    pub until: Timestamp,
}

impl fmt::Display for StandingApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, scope, .. } = self;
        write!(f, "`{}` for {}", tool.escape_debug(), scope.name().escape_debug())?;
        match &self.by {
            Some(by) => write!(f, ", as {by} said"),
            None => Ok(()),
        }
    }
}

/// The reason why an approval could not be stored or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StandingError {
    /// The store failed.
    #[error("the standing approvals are not at hand")]
    Store(#[from] StoreError),
    /// A name cannot be that of an item.
    #[error("`{name}` cannot be stored as the name of a standing approval")]
    Name {
        /// The name.
        name: String,
        /// The fault.
        source: InvalidName,
    },
    /// An approval cannot be stored, or another build wrote it.
    #[error("a standing approval cannot be stored or read")]
    Value(#[from] StoredError),
}

type Definitions = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The approvals that stand: a person said "always" of a tool, for a user or a thread. They end after 30 days, and with the first
/// change of the tool.
///
/// It is a [`Precedent`]: an [`ApprovalRule`](crate::ApprovalRule) that has it does not ask about such calls.
///
/// ```
/// use hanok_agent::{Approval, ApprovalRule, StandingApprovals, StandingScope};
/// use hanok_checkpoint::{InMemoryStore, SharedStore};
/// use hanok_core::{Answerer, Timestamp};
///
/// # futures::executor::block_on(async {
/// let kim = StandingScope::User("kim".into());
/// let all = StandingApprovals::new(SharedStore::new(InMemoryStore::new())).scope(kim.clone());
/// let (now, ann) = (Timestamp(0), Some(Answerer::new("ann", "terminal")));
/// all.allow(kim, "send_mail", "6f1c…", ann, now).await?;
/// assert!(all.stands("send_mail", "6f1c…", now).await?.is_some());
/// // A tool that has changed is another one.
/// assert!(all.stands("send_mail", "90aa…", now).await?.is_none());
///
/// let approval = Approval::new().tool_with("send_mail", ApprovalRule::new().unless(all));
/// # drop(approval);
/// # Ok::<(), hanok_agent::StandingError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct StandingApprovals {
    store: SharedStore,
    tenant: Tenant,
    scopes: Vec<StandingScope>,
    definitions: Option<Definitions>,
}

impl StandingApprovals {
    /// The approvals in `store`.
    pub fn new(store: SharedStore) -> Self {
        Self { store, tenant: Tenant::default(), scopes: Vec::new(), definitions: None }
    }

    /// Sets whose approvals they are. Default: the default tenant's.
    pub fn tenant(self, tenant: Tenant) -> Self {
        Self { tenant, ..self }
    }

    /// Adds a scope whose approvals count for the calls at hand. Default: none, and every call is asked about.
    pub fn scope(mut self, scope: StandingScope) -> Self {
        self.scopes.push(scope);
        self
    }

    /// Sets how the definition of a tool is told from another: `None` for a tool that is not there. Default: by the hash of what a
    /// model is shown.
    ///
    /// ```
    /// # use hanok_agent::StandingApprovals;
    /// # use hanok_checkpoint::{InMemoryStore, SharedStore};
    /// // A server's identity counts, too.
    /// let hashes = [("mail__send".to_owned(), "6f1c…".to_owned())];
    /// let of = move |tool: &str| hashes.iter().find(|(name, _)| name == tool).map(|(_, hash)| hash.clone());
    /// let all = StandingApprovals::new(SharedStore::new(InMemoryStore::new())).definitions(of);
    /// # drop(all);
    /// ```
    pub fn definitions(
        self,
        definitions: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { definitions: Some(Arc::new(definitions)), ..self }
    }

    /// Lets the calls of `tool` pass in `scope` for 30 days, as long as its definition is `definition`.
    ///
    /// # Errors
    ///
    /// [`StandingError`].
    pub async fn allow(
        &self,
        scope: StandingScope,
        tool: &str,
        definition: &str,
        by: Option<Answerer>,
        now: Timestamp,
    ) -> Result<StandingApproval, StandingError> {
        let key = self.key(&scope, tool)?;
        let approval = StandingApproval {
            tool: tool.to_owned(),
            definition: definition.to_owned(),
            scope,
            by,
            at: now,
            until: now.plus(MONTH),
        };
        let put = Put::new(Stored::encode(&approval)?);
        let put = Put { ttl: Ttl::After(MONTH), index: Index::Off, ..put };
        let writes = vec![Write::Put(key, put)];
        self.store.batch(Batch { writes, ..Batch::default() }, now).await?;
        Ok(approval)
    }

    /// The approval by which calls of `tool` pass at `now`.
    ///
    /// # Errors
    ///
    /// [`StandingError`].
    pub async fn stands(
        &self,
        tool: &str,
        definition: &str,
        now: Timestamp,
    ) -> Result<Option<StandingApproval>, StandingError> {
        let read = |scope| Ok(Read { key: self.key(scope, tool)?, refresh: Refresh::No });
        let reads = self.scopes.iter().map(read).collect::<Result<Vec<_>, StandingError>>()?;
        if reads.is_empty() {
            return Ok(None);
        }
        let items = self.store.batch(Batch { reads, ..Batch::default() }, now).await?.items;
        for item in items.into_iter().flatten() {
            let approval: StandingApproval = item.value.decode()?;
            if approval.definition == definition && now < approval.until {
                return Ok(Some(approval));
            }
        }
        Ok(None)
    }

    /// The approvals that stand at `now` in its scopes, at most 256 of each.
    ///
    /// # Errors
    ///
    /// [`StandingError`].
    pub async fn all(&self, now: Timestamp) -> Result<Vec<StandingApproval>, StandingError> {
        let mut all = Vec::new();
        for scope in &self.scopes {
            let search = Search::within(self.tenant.clone(), labels(scope)?);
            let search = search.limit(LISTED).refresh(Refresh::No);
            for hit in self.store.search(&search, now).await?.hits {
                let approval: StandingApproval = hit.item.value.decode()?;
                all.extend((now < approval.until).then_some(approval));
            }
        }
        Ok(all)
    }

    /// Takes an approval back: the next call of `tool` in `scope` is asked about. That there is none is no error.
    ///
    /// # Errors
    ///
    /// [`StandingError`].
    pub async fn revoke(
        &self,
        scope: &StandingScope,
        tool: &str,
        now: Timestamp,
    ) -> Result<(), StandingError> {
        let writes = vec![Write::Remove(self.key(scope, tool)?, Expect::Any)];
        self.store.batch(Batch { writes, ..Batch::default() }, now).await?;
        Ok(())
    }

    fn key(&self, scope: &StandingScope, tool: &str) -> Result<ItemKey, StandingError> {
        let name = |source| StandingError::Name { name: tool.to_owned(), source };
        ItemKey::new(self.tenant.clone(), labels(scope)?, tool).map_err(name)
    }
}

/// The namespace of the approvals of a scope. A name that no label may be, such as an address with dots, stands there by its hash.
fn labels(scope: &StandingScope) -> Result<Labels, StandingError> {
    let name = scope.name();
    let hash = || Labels::new(["approvals", &blake3::hash(name.as_bytes()).to_hex()]);
    let labels = Labels::new(["approvals", &name]).or_else(|_no_label| hash());
    labels.map_err(|source| StandingError::Name { name, source })
}

impl Precedent for StandingApprovals {
    async fn passes(
        &self,
        request: &ToolRequest<'_>,
        call: &Call,
    ) -> Result<Option<String>, ToolError> {
        let tool = request.call.name.as_str();
        let definition = match &self.definitions {
            Some(definitions) => definitions(tool),
            None => Some(definition_hash(request.spec)),
        };
        let Some(definition) = definition else { return Ok(None) };
        let stands = self.stands(tool, &definition, call.clock().now()).await;
        let stands = stands.map_err(|error| ToolError::Failed(BoxError::from(error)))?;
        Ok(stands.map(|approval| approval.to_string()))
    }
}

impl fmt::Debug for StandingApprovals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandingApprovals").field("scopes", &self.scopes).finish_non_exhaustive()
    }
}
