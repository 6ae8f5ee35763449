//! A server, its present connection, and what it listed last.

use std::{
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use futures::future::{Either, select};
use hanok_agent::CircuitBreaker;
use hanok_core::{Chain, Clock};
use tokio::sync::Mutex as AsyncMutex;

use super::listing::{ListRequest, Listing};
use crate::{
    authorization::{Authorization, Authorizer},
    catalogue::Entry,
    config::{ConfigFault, ServerConfig, Transport},
    connection::{Identity, Lifecycle, Live, http_client, identity},
    elicitation::Prompter,
    error::{ServerError, is_of_server},
    text::line,
};

/// One server of the configuration.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) config: ServerConfig,
    pub(crate) breaker: CircuitBreaker,
    clock: Arc<dyn Clock>,
    prompter: Prompter,
    authorizer: Authorizer,
    /// Made with the first connection.
    authorization: OnceLock<Option<Arc<Authorization>>>,
    slot: AsyncMutex<Slot>,
    remembered: Mutex<Facts>,
}

/// The place of the connection. Whoever makes one holds it.
#[derive(Debug, Default)]
struct Slot {
    live: Option<(Arc<Live>, Identity)>,
    spoken: Option<Lifecycle>,
    closed: bool,
}

/// The facts that are known without asking.
#[derive(Debug, Default)]
struct Facts {
    listing: Option<Arc<Listing>>,
    /// The reasons so far to ask for the tools again: each list is of one of them.
    doubts: u64,
    error: Option<String>,
    lifecycle: Option<Lifecycle>,
    version: Option<String>,
    stderr: String,
}

/// The state of one server, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerStatus {
    /// The server, as the configuration names it.
    pub server: String,
    /// True while a connection stands.
    pub is_connected: bool,
    /// The lifecycle by which it begins a connection; `None` before the first one.
    pub lifecycle: Option<Lifecycle>,
    /// The version of the protocol that it speaks.
    pub version: Option<String>,
    /// The tools that it listed last and the operator takes; `None` when it has listed none yet.
    pub tools: Option<usize>,
    /// The reason for which it could not be used when it was tried last; `None` when it could.
    pub error: Option<String>,
    /// The end of what its program wrote to its standard error, with hidden characters as escapes.
    pub stderr: String,
}

impl Server {
    pub(crate) fn new(config: ServerConfig, prompter: Prompter, authorizer: Authorizer) -> Self {
        let breaker = CircuitBreaker::of_tools(config.name(), [""; 0]).tool_errors(is_of_server);
        let (clock, slot) = (prompter.clock.clone(), AsyncMutex::default());
        let (authorization, remembered) = (OnceLock::new(), Mutex::default());
        Self { config, breaker, clock, prompter, authorizer, authorization, slot, remembered }
    }

    pub(crate) fn name(&self) -> &str {
        self.config.name()
    }

    /// The connection, made now if there is none.
    pub(super) async fn live(&self) -> Result<(Arc<Live>, Identity), ServerError> {
        let mut slot = self.slot.lock().await;
        if slot.closed {
            return Err(ServerError::Closed);
        }
        if let Some((live, identity)) = slot.live.take() {
            if !live.is_closed() {
                slot.live = Some((live.clone(), identity.clone()));
                return Ok((live, identity));
            }
            self.facts().stderr = live.stderr();
        }
        match Box::pin(self.open(slot.spoken)).await {
            Ok((live, identity)) => {
                slot.spoken = Some(live.lifecycle);
                slot.live = Some((live.clone(), identity.clone()));
                let mut facts = self.facts();
                (facts.lifecycle, facts.version) =
                    (Some(live.lifecycle), Some(live.version.clone()));
                Ok((live, identity))
            }
            Err(error) => {
                // It may be another server by now: the next attempt asks which it is.
                slot.spoken = None;
                Err(self.noted(error))
            }
        }
    }

    /// A new connection. A person who has to sign in for it has a time of their own.
    async fn open(&self, spoken: Option<Lifecycle>) -> Result<(Arc<Live>, Identity), ServerError> {
        let authorization = self.authorization()?;
        let opening = || {
            self.within(self.config.startup_timeout(), async {
                let identity = identity(&self.config).await?;
                let live = Live::open(&self.config, spoken, &self.prompter, authorization);
                Ok((Arc::new(live.await?), identity))
            })
        };
        let Some(authorization) = authorization else { return opening().await };
        // A request over the connection before this one may have been refused.
        authorization.answer_challenge().await?;
        match opening().await {
            Err(_) if authorization.answer_challenge().await? => opening().await,
            opened => opened,
        }
    }

    fn authorization(&self) -> Result<Option<&Arc<Authorization>>, ServerError> {
        let made = match (self.authorization.get(), &self.config.transport) {
            (Some(made), _) => return Ok(made.as_ref()),
            (None, Transport::Http(http)) => {
                Authorization::of(self.name(), http, &self.authorizer, http_client(http)?)?
            }
            (None, _) => None,
        };
        Ok(self.authorization.get_or_init(|| made.map(Arc::new)).as_ref())
    }

    /// True when the server wants somebody to sign in, and somebody can: the next connection is made with that.
    pub(super) fn is_challenged(&self) -> bool {
        let authorization = self.authorization.get().and_then(Option::as_ref);
        authorization.is_some_and(|authorization| authorization.is_challenged())
    }

    /// The tools as they are listed now, asked for where what is known is too old.
    pub(super) async fn listing(
        &self,
        live: &Arc<Live>,
        identity: &Identity,
    ) -> Result<Arc<Listing>, ServerError> {
        if live.has_changed() {
            self.doubt_listing();
        }
        // A doubt that comes while the list is under way makes that too old.
        let request = ListRequest { time: self.clock.monotonic(), doubts: self.facts().doubts };
        let fresh = self.facts().listing.clone().filter(|known| known.is_fresh(live, request));
        if let Some(listing) = fresh {
            return Ok(listing);
        }
        match self.within(self.config.startup_timeout(), Box::pin(live.list())).await {
            Ok(listed) => {
                let listing =
                    Arc::new(Listing::new(&self.config, identity, &listed, live, request));
                let mut facts = self.facts();
                facts.listing = Some(listing.clone());
                facts.error = None;
                Ok(listing)
            }
            Err(error) => {
                // Whatever it is that does not list its tools: the next use begins anew.
                self.drop_connection(live).await;
                Err(self.noted(error))
            }
        }
    }

    /// Connects, if need be, and lists the tools.
    pub(crate) async fn refresh(&self) -> Result<(), ServerError> {
        self.doubt_listing();
        match self.listed_now().await {
            Err(_) if self.is_challenged() => self.listed_now().await,
            listed => listed,
        }
    }

    async fn listed_now(&self) -> Result<(), ServerError> {
        let (live, identity) = self.live().await?;
        self.listing(&live, &identity).await.map(drop)
    }

    /// The next use asks whether the tools are others.
    pub(super) fn doubt_listing(&self) {
        self.facts().doubts += 1;
    }

    /// Gives up `live`, if it is the connection still.
    pub(super) async fn drop_connection(&self, live: &Arc<Live>) {
        let mut slot = self.slot.lock().await;
        self.facts().stderr = live.stderr();
        slot.live.take_if(|present| Arc::ptr_eq(&present.0, live));
    }

    /// Closes the connection for good, and waits until it is.
    pub(crate) async fn close(&self) {
        let mut slot = self.slot.lock().await;
        slot.closed = true;
        if let Some((live, _)) = slot.live.take() {
            live.has_said().await;
            self.facts().stderr = live.stderr();
            match Arc::try_unwrap(live) {
                Ok(live) => live.close().await,
                // A call under way holds the connection, and ends with it.
                Err(live) => live.stop(),
            }
        }
    }

    /// The tools that were listed last, `None` where none were yet.
    pub(crate) fn listed(&self) -> Option<Vec<Entry>> {
        let listing = self.facts().listing.clone()?;
        Some(listing.tools.values().cloned().collect())
    }

    /// The names of the configuration that no tool has that was listed last; none before the first list.
    pub(crate) fn unlisted(&self) -> Vec<ConfigFault> {
        let listing = self.facts().listing.clone();
        listing.map(|listing| listing.unlisted.clone()).unwrap_or_default()
    }

    pub(crate) fn status(&self) -> ServerStatus {
        let live = self
            .slot
            .try_lock()
            .ok()
            .and_then(|slot| slot.live.as_ref().map(|live| live.0.clone()));
        let facts = self.facts();
        ServerStatus {
            server: self.name().to_owned(),
            is_connected: live.as_ref().is_some_and(|live| !live.is_closed()),
            lifecycle: facts.lifecycle,
            version: facts.version.clone(),
            tools: facts.listing.as_ref().map(|listing| listing.tools.len()),
            error: facts.error.clone(),
            stderr: live.map_or_else(|| facts.stderr.clone(), |live| live.stderr()),
        }
    }

    pub(super) async fn within<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = Result<T, ServerError>>,
    ) -> Result<T, ServerError> {
        match select(pin!(work), self.clock.sleep(limit)).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => Err(ServerError::Silent { after: limit }),
        }
    }

    /// Remembers why the server could not be used.
    pub(super) fn noted(&self, error: ServerError) -> ServerError {
        self.facts().error = Some(line(&Chain(&error).to_string(), 2048));
        error
    }

    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
