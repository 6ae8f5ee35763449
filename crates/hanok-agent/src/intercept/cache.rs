//! Replies that are kept.

mod flights;

use std::{fmt, sync::Arc, time::Duration};

use hanok_checkpoint::{Batch, Index, Put, Read, Refresh, SharedStore, Store, StoreError, Ttl};
use hanok_core::{Call, InvalidName, ItemKey, Labels, Stored, Tenant};
use hanok_model::{ChatReply, ChatRequest, Finish, ModelError, Usage};

use self::flights::Flights;
use super::{Interceptor, chain::NextModel, redaction::show};
use crate::digest::digest;

/// The label of the store under which replies stand.
const LABEL: &str = "model-cache";

/// The default time that a reply is kept.
const TTL: Duration = Duration::from_secs(60 * 60);

/// A cache of a model's replies. Equal requests have the same tenant, model, messages, tools, form and settings. Ids and
/// metadata of messages do not count.
///
/// Only whole replies are stored: no error, no reply that was cut off, withheld, refused or empty, and none that calls tools
/// unless [that is chosen](Self::tool_calls). A cached reply has no usage, costs nothing of the budget, and is
/// [marked](ChatReply::cached); a watcher sees it in one piece. Of equal requests at one time in this process, one is sent
/// and the others wait for its reply.
///
/// Replies are kept in any [`Store`], in memory or on disk, under a hash of the request. A call without a tenant is not
/// cached, and a store that fails counts as empty.
///
/// By the text protocol the results of tools stand between marks that differ from run to run, so that requests with results
/// are equal within one run only.
///
/// ```
/// use std::time::Duration;
///
/// use hanok_agent::{ModelCache, ReactAgent};
/// use hanok_checkpoint::InMemoryStore;
/// use hanok_model::ScriptedModel;
///
/// let cache = ModelCache::new(InMemoryStore::default()).ttl(Duration::from_secs(600));
/// let agent = ReactAgent::builder("rules", "Knows the rules", ScriptedModel::new([]))
///     .intercept(cache)
///     .build()?;
/// # Ok::<(), hanok_agent::AgentBuildError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct ModelCache {
    store: SharedStore,
    ttl: Duration,
    tool_calls: bool,
    flights: Arc<Flights>,
}

impl ModelCache {
    /// Keeps replies in `store`, each for an hour.
    pub fn new(store: impl Store) -> Self {
        Self {
            store: SharedStore::new(store),
            ttl: TTL,
            tool_calls: false,
            flights: Arc::default(),
        }
    }

    /// Sets the time that a reply is kept. Reading it does not lengthen the time. Default: an hour.
    pub fn ttl(self, ttl: Duration) -> Self {
        Self { ttl, ..self }
    }

    /// Keeps replies that call tools, too. Default: they are not kept.
    pub fn tool_calls(self) -> Self {
        Self { tool_calls: true, ..self }
    }

    fn is_kept(&self, reply: &ChatReply) -> bool {
        let calls = !reply.message.tool_calls().is_empty();
        match reply.finish {
            Finish::Stop => !calls && !reply.message.text().trim().is_empty(),
            Finish::ToolCalls => calls && self.tool_calls,
            _ => false,
        }
    }

    async fn read(&self, key: &ItemKey, call: &Call) -> Result<Option<ChatReply>, StoreError> {
        let read = Read { refresh: Refresh::No, ..Read::new(key.clone()) };
        let batch = Batch { reads: vec![read], ..Batch::default() };
        let read = self.store.batch(batch, call.clock().now()).await?;
        let item = read.items.into_iter().next().flatten();
        // What another build wrote in another shape is not there.
        let reply = item.and_then(|item| item.value.decode::<ChatReply>().ok());
        Ok(reply.map(|reply| {
            let mut reply = reply.usage(Usage::default());
            reply.cached = true;
            reply
        }))
    }

    async fn write(&self, key: &ItemKey, reply: &ChatReply, call: &Call) -> Result<(), StoreError> {
        let Ok(value) = Stored::encode(reply) else { return Ok(()) };
        let put = Put::new(value).ttl(Ttl::After(self.ttl)).index(Index::Off);
        self.store.put(key, put, call.clock().now()).await.map(|_version| ())
    }

    /// The cached reply. A store that fails counts as empty.
    async fn cached(&self, key: &ItemKey, call: &Call) -> Option<ChatReply> {
        let read = self.read(key, call).await;
        let reply = read.unwrap_or_else(|error| {
            tracing::warn!(%error, "no model cache");
            None
        })?;
        show(&reply, call);
        Some(reply)
    }
}

fn key(tenant: &Tenant, model: &str, request: &ChatRequest) -> Result<ItemKey, InvalidName> {
    // The model's name is a part of the hash, with its length: no name ends where a request begins.
    let text = format!("1:{}:{model}:{}", model.len(), request.canonical());
    ItemKey::new(tenant.clone(), Labels::new([LABEL])?, &digest(&text))
}

impl Interceptor for ModelCache {
    async fn around_model(
        &self,
        request: ChatRequest,
        call: &Call,
        next: NextModel<'_>,
    ) -> Result<ChatReply, ModelError> {
        let key = call.tenant().and_then(|tenant| key(tenant, next.model(), &request).ok());
        let Some(key) = key else { return next.run(request, call).await };
        if let Some(reply) = self.cached(&key, call).await {
            return Ok(reply);
        }
        let flight = self.flights.begin(&key);
        if flight.is_none() {
            self.flights.landed(&key, call).await;
            if let Some(reply) = self.cached(&key, call).await {
                return Ok(reply);
            }
        }
        let reply = next.run(request, call).await?;
        if self.is_kept(&reply)
            && !reply.cached
            && let Err(error) = self.write(&key, &reply, call).await
        {
            tracing::warn!(%error, "no model cache");
        }
        drop(flight);
        Ok(reply)
    }
}

impl fmt::Debug for ModelCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelCache")
            .field("store", &self.store)
            .field("ttl", &self.ttl)
            .field("tool_calls", &self.tool_calls)
            .finish_non_exhaustive()
    }
}
