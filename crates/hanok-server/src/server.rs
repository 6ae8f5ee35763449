//! A server, put together.

use std::{fmt, sync::Arc, time::Duration};

use axum::{Router, extract::DefaultBodyLimit, middleware};
use hanok_checkpoint::SharedStore;
use hanok_core::{BoxError, Cancellation};
use hanok_graph::{AnyApp, AnyUpdate, App, Caller, Runtime};
use hanok_state::{State, StateUpdate};
use thiserror::Error;
use tokio::sync::Semaphore;

use crate::{
    dispatch::apps::{Apps, Asks},
    doors,
    http::{
        answers,
        auth::{Anybody, Authenticate, Recogniser},
        hosts::{self, Hosts},
        limits::{self, Limits},
        service::Service,
    },
    runs::Runs,
};

/// The WebSockets at once.
const SOCKETS: usize = 10_000;

/// A server of graphs.
///
/// ```no_run
/// # use {hanok_checkpoint::{InMemoryCheckpointer, InMemoryStore, SharedStore}, hanok_graph::*};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// # let (logs, items) = (InMemoryCheckpointer::new(), InMemoryStore::new());
/// use hanok_server::{Server, TokenFile};
///
/// let server = Server::new(SharedStore::new(items))
///     .graph("count", graph.checkpointer(logs), |_caller| Ok(()))
///     .authenticate(TokenFile::open("tokens.jsonl")?);
/// server.start()?.run("127.0.0.1:2024").await?;
/// # Ok(()) }
/// ```
#[must_use]
pub struct Server {
    store: SharedStore,
    graphs: Vec<(String, Arc<dyn AnyApp>)>,
    asks: Asks,
    recogniser: Option<Recogniser>,
    lets_anybody_in: bool,
    hosts: Vec<String>,
    origins: Vec<String>,
    requests: u32,
    runtime: Runtime,
    pub(crate) grace: Duration,
}

/// Why a server does not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// Nothing is served.
    #[error("there is no graph: give the server one with `graph`")]
    NoGraph,
    /// Two graphs have one name.
    #[error("two graphs are called `{0}`: give one of them another name")]
    TwoGraphs(String),
    /// Nobody said who may call.
    #[error(
        "nobody said who may call: give the server a file of tokens with `authenticate`, or say `no_auth` for one that listens on \
         this machine alone"
    )]
    NoAuth,
    /// Everybody would be let in, from other machines too.
    #[error(
        "{0} is reached from other machines, and everybody would be let in: give the server tokens"
    )]
    Open(std::net::SocketAddr),
    /// The address cannot be listened on.
    #[error("{address} cannot be listened on: {source}")]
    Address {
        /// The address.
        address: String,
        /// The cause.
        source: std::io::Error,
    },
}

impl Server {
    /// A server whose rows are in `store`.
    pub fn new(store: SharedStore) -> Self {
        Self {
            store,
            graphs: Vec::new(),
            asks: Asks::new(),
            recogniser: None,
            lets_anybody_in: false,
            hosts: ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).into(),
            origins: Vec::new(),
            requests: limits::REQUESTS,
            runtime: Runtime::default(),
            grace: Duration::from_secs(25),
        }
    }

    /// Serves `app` as `name`. `services` makes the services of each run for its caller; an error in words refuses the run. The first
    /// graph is that of requests that name none.
    pub fn graph<S: State, C: Send + Sync + 'static>(
        self,
        name: impl Into<String>,
        app: App<S, C>,
        services: impl Fn(&Caller) -> Result<C, BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.any_graph(name, Arc::new(app.any(services)))
    }

    /// As [`graph`](Server::graph), for an app of any type.
    pub fn any_graph(mut self, name: impl Into<String>, app: Arc<dyn AnyApp>) -> Self {
        self.graphs.push((name.into(), app));
        self
    }

    /// Sets what the words of a user write to the state of the graph `name`, for the ways in that give a graph words. Default: a message
    /// of the user's in the field `messages`.
    pub fn asking<U: StateUpdate>(
        mut self,
        name: impl Into<String>,
        asks: impl Fn(&str) -> U + Send + Sync + 'static,
    ) -> Self {
        self.asks.insert(name.into(), Arc::new(move |words| AnyUpdate::new(asks(words))));
        self
    }

    /// Sets who recognises callers, such as a [`TokenFile`](crate::TokenFile).
    pub fn authenticate(self, by: impl Authenticate) -> Self {
        Self { recogniser: Some(Arc::new(by)), lets_anybody_in: false, ..self }
    }

    /// Lets everybody do everything. The server then refuses to listen on an address that other machines reach.
    pub fn no_auth(self) -> Self {
        Self { lets_anybody_in: true, ..self.authenticate(Anybody) }
    }

    /// Adds a host by which the server is known. It is known as `localhost`, `127.0.0.1` and `[::1]`.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Adds an origin whose pages may ask the server, such as `https://chat.example.org`. Its own pages may.
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Sets how many requests a principal makes a second. Default: 50.
    pub fn requests(self, a_second: u32) -> Self {
        Self { requests: a_second, ..self }
    }

    /// Sets how long runs may take to finish their super-steps when the server is told to end. Default: 25 s.
    pub fn grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Sets the sources of time, ids and tasks.
    pub fn runtime(self, runtime: Runtime) -> Self {
        Self { runtime, ..self }
    }

    /// Starts to take up runs, and gives the server's routes.
    ///
    /// # Errors
    ///
    /// [`StartError::NoGraph`], [`StartError::TwoGraphs`], [`StartError::NoAuth`].
    pub fn start(self) -> Result<Served, StartError> {
        let Some((default, _)) = self.graphs.first() else { return Err(StartError::NoGraph) };
        let default_graph = Arc::from(default.as_str());
        let mut names: Vec<&str> = self.graphs.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        if let Some([name, _]) = names.windows(2).find(|pair| matches!(pair, [a, b] if a == b)) {
            return Err(StartError::TwoGraphs((*name).to_owned()));
        }
        let recogniser = self.recogniser.ok_or(StartError::NoAuth)?;
        let apps = Apps::new(self.graphs, self.asks);
        let runs = Runs::start_apps(self.store, apps, self.runtime);
        let limits = Limits::new(runs.clock(), self.requests);
        let (draining, sockets) = (Cancellation::default(), Arc::new(Semaphore::new(SOCKETS)));
        let service = Service { runs, recogniser, default_graph, limits, draining, sockets };
        let hosts = Hosts { hosts: self.hosts.into(), origins: self.origins.into() };
        let (grace, lets_anybody_in) = (self.grace, self.lets_anybody_in);
        Ok(Served { service, hosts, grace, lets_anybody_in })
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("graphs", &self.graphs).finish_non_exhaustive()
    }
}

/// A server that takes up runs.
#[derive(Debug, Clone)]
pub struct Served {
    pub(crate) service: Service,
    hosts: Hosts,
    pub(crate) grace: Duration,
    pub(crate) lets_anybody_in: bool,
}

impl Served {
    /// The routes, to be nested in a program's own.
    pub fn router(&self) -> Router {
        let routes = doors::routes().layer(DefaultBodyLimit::max(limits::BODY));
        let routes = routes.with_state(self.service.clone());
        let guarded =
            routes.layer(middleware::from_fn_with_state(self.hosts.clone(), hosts::guard));
        let service = self.service.clone();
        guarded.layer(middleware::from_fn_with_state(service, answers::answer))
    }

    /// The runs.
    pub fn runs(&self) -> &Runs {
        &self.service.runs
    }
}
