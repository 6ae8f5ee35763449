//! Caches of the results of nodes.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_channel::oneshot;
use hanok_checkpoint::SharedStore;
use hanok_core::{Clock, Stored, StoredError, Tenant, Timestamp};
use hanok_state::State;
use serde::Serialize;

use crate::{ids::Digest, node::command::Command};

/// The most results that a graph caches.
const ENTRIES: usize = 1_024;

type KeyOf<S, C> = Arc<dyn Fn(&S, &C) -> Result<Stored, StoredError> + Send + Sync>;

/// A cache of a node's results: their lifetime and their key. Two tasks of one node with equal keys are one call. Tasks
/// of different nodes or tenants never share a result, and neither do tasks with different `SendTo` inputs.
///
/// Results stay in this process, with the graph, at most 1,024 of them, unless they are [stored](Cache::stored_in). Results of tasks that failed or asked a person
/// are not cached.
///
/// ```
/// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[derive(State, Clone, Debug, Default)] struct Page { url: String, loads: u32 }
/// # use std::{sync::atomic::{AtomicU32, Ordering}, time::Duration};
/// static LOADS: AtomicU32 = AtomicU32::new(0);
/// async fn load(_: Snapshot<Page>, _: Context) -> Result<PageUpdate, std::io::Error> {
///     Ok(Page::update().loads(LOADS.fetch_add(1, Ordering::SeqCst) + 1))
/// }
/// let cache = Cache::new(Duration::from_secs(60), |page: &Page, _: &()| page.url.clone());
/// let graph = Graph::<Page>::builder("page").node("load", load.cache(cache)).edge(START, "load").edge("load", END).build()?;
/// for _ in 0..2 {
///     assert_eq!(graph.invoke(Page::update().url("a"), ()).await?.done()?.loads, 1);
/// }
/// # Ok(()) }
/// ```
#[must_use]
pub struct Cache<S, C = ()> {
    pub(crate) ttl: Duration,
    pub(crate) key: KeyOf<S, C>,
    /// The store in which processes share the results.
    pub(crate) store: Option<SharedStore>,
}

impl<S: State, C> Cache<S, C> {
    /// Caches a result for `ttl`, under the key that `key` makes of the state, and of the services (the user, the model's
    /// name) if they matter.
    pub fn new<K: Serialize>(
        ttl: Duration,
        key: impl Fn(&S, &C) -> K + Send + Sync + 'static,
    ) -> Self {
        let key = move |state: &S, services: &C| Stored::encode(&key(state, services));
        Self { ttl, key: Arc::new(key), store: None }
    }

    /// Shares the results with other processes and later ones: in `store`, in the tenant of the thread, under the namespace
    /// `cache`, the graph and the node, where an operator can remove them. A result that this process has is not looked up. A
    /// build whose state has another schema does not use a result: its node runs, and so it does when the store fails. Default:
    /// results stay in this process.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Page { url: String, text: String }
    /// # use {std::time::Duration, hanok_checkpoint::{InMemoryStore, SharedStore}};
    /// # async fn load(page: Snapshot<Page>, _: Context) -> Result<PageUpdate, std::io::Error> { Ok(Page::update().text(page.url.clone())) }
    /// let cache = Cache::new(Duration::from_secs(60), |page: &Page, _: &()| page.url.clone());
    /// let cache = cache.stored_in(SharedStore::new(InMemoryStore::new()));
    /// let graph = Graph::<Page>::builder("page").node("load", load.cache(cache)).sequence([START, "load", END]).build()?;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn stored_in(self, store: SharedStore) -> Self {
        Self { store: Some(store), ..self }
    }
}

impl<S, C> Clone for Cache<S, C> {
    fn clone(&self) -> Self {
        Self { ttl: self.ttl, key: self.key.clone(), store: self.store.clone() }
    }
}

impl<S, C> fmt::Debug for Cache<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("ttl", &self.ttl).finish_non_exhaustive()
    }
}

/// The key of a cached result.
pub(crate) type CacheKey = [u8; 16];

pub(crate) fn key(tenant: &Tenant, node: &str, key: &Stored, input: Option<&Stored>) -> CacheKey {
    let digest = Digest::new("cache")
        .part(tenant.as_str().as_bytes())
        .part(node.as_bytes())
        .part(key.as_bytes());
    match input {
        Some(input) => digest.part(input.as_bytes()),
        None => digest,
    }
    .bytes()
}

/// The cached results of a graph's nodes.
pub(crate) struct Results<S: State>(Mutex<BTreeMap<CacheKey, Entry<S>>>);

enum Entry<S: State> {
    /// A task makes the result, and the others wait.
    Making(Vec<oneshot::Sender<()>>),
    Made {
        command: Command<S>,
        until: Timestamp,
    },
}

/// The result of a lookup.
pub(crate) enum CacheLookup<'a, S: State> {
    /// The result is cached.
    Hit(Command<S>),
    /// The result has to be made.
    Miss(Making<'a, S>),
}

/// The duty to make a result. Dropped without a result, it passes to the next task that waits.
pub(crate) struct Making<'a, S: State> {
    results: &'a Results<S>,
    key: CacheKey,
}

impl<S: State> Results<S> {
    /// Looks up the result under `key`, and waits while another task makes it.
    pub(crate) async fn look(&self, key: CacheKey, clock: &dyn Clock) -> CacheLookup<'_, S> {
        loop {
            let wait = {
                let mut entries = self.entries();
                match entries.get_mut(&key) {
                    Some(Entry::Made { command, until }) if clock.now() < *until => {
                        return CacheLookup::Hit(command.clone());
                    }
                    Some(Entry::Making(waiting)) => {
                        let (made, wait) = oneshot::channel();
                        waiting.push(made);
                        wait
                    }
                    Some(Entry::Made { .. }) | None => {
                        entries.insert(key, Entry::Making(Vec::new()));
                        return CacheLookup::Miss(Making { results: self, key });
                    }
                }
            };
            // Made, or given up: either way there is something to look at.
            let (Ok(()) | Err(_)) = wait.await;
        }
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<CacheKey, Entry<S>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: State> Making<'_, S> {
    /// Caches the result for `ttl`.
    pub(crate) fn keep(self, command: Command<S>, ttl: Duration, clock: &dyn Clock) {
        let now = clock.now();
        let mut entries = self.results.entries();
        if entries.len() >= ENTRIES {
            entries.retain(|_, entry| !matches!(entry, Entry::Made { until, .. } if *until <= now));
        }
        if entries.len() >= ENTRIES {
            let soonest = entries
                .iter()
                .filter_map(|(key, entry)| match entry {
                    Entry::Made { until, .. } => Some((*until, *key)),
                    Entry::Making(_) => None,
                })
                .min();
            if let Some((_, key)) = soonest {
                entries.remove(&key);
            }
        }
        let before = entries.insert(self.key, Entry::Made { command, until: now.plus(ttl) });
        drop(entries);
        wake(before);
    }
}

impl<S: State> Drop for Making<'_, S> {
    fn drop(&mut self) {
        let mut entries = self.results.entries();
        let given_up = match entries.get(&self.key) {
            Some(Entry::Making(_)) => entries.remove(&self.key),
            _ => None,
        };
        drop(entries);
        wake(given_up);
    }
}

fn wake<S: State>(entry: Option<Entry<S>>) {
    if let Some(Entry::Making(waiting)) = entry {
        // Who has gone does not want to know.
        waiting.into_iter().for_each(|made| {
            let (Ok(()) | Err(())) = made.send(());
        });
    }
}

impl<S: State> Default for Results<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}
