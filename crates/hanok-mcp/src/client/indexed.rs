//! The tools of a client in an index, which is kept to what they are.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hanok_agent::{IndexedTool, ToolIndex, ToolIndexError};
use hanok_checkpoint::SharedStore;
use hanok_core::{Call, InvalidName, Labels, Timestamp};
use hanok_model::SharedEmbedder;

use super::mcp_client::McpClient;
use crate::catalogue::ToolHash;

/// The tools of a client in a [`ToolIndex`]: for more tools than a model should be shown. Names, pins and aliases are the operator's.
/// Clones are the same.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::{path::Path, time::Duration};
///
/// use hanok_agent::ToolQuery;
/// use hanok_checkpoint::{InMemoryStore, SharedStore};
/// use hanok_core::Timestamp;
/// use hanok_mcp::{IndexedClient, McpClient, McpConfig};
///
/// let client = McpClient::connect(McpConfig::reader().parse(r#"{"mcpServers": {}}"#)?).await?;
/// let (store, now) = (SharedStore::new(InMemoryStore::new()), Timestamp(0));
/// let tools = IndexedClient::new(client, store, None, Path::new("mcp.json"), now).await?;
/// let tools = tools.look_every(Duration::from_secs(300));
/// // Before each step of a program:
/// tools.look(now).await?;
/// let found = tools.index().recommend(&ToolQuery::new("write a note"), now).await?;
/// # assert_eq!(found.specs().count(), 0);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct IndexedClient {
    client: McpClient,
    index: ToolIndex,
    every: Option<Duration>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    /// The time at which the servers were asked last.
    asked: Timestamp,
    /// The tools that the index has.
    fits: Option<Vec<(String, ToolHash)>>,
}

impl IndexedClient {
    /// The tools of `client`, looked for in `store`, by meaning too where there is an embedder. `config` is the file that names the
    /// servers: those of another file, or of other names, have an index of their own in the same store.
    ///
    /// # Errors
    ///
    /// [`ToolIndexError`] when the store fails.
    pub async fn new(
        client: McpClient,
        store: SharedStore,
        embedder: Option<SharedEmbedder>,
        config: &Path,
        now: Timestamp,
    ) -> Result<Self, ToolIndexError> {
        let name = |source| ToolIndexError::Name { name: config.display().to_string(), source };
        let index = ToolIndex::new(store, &labels(&client, config).map_err(name)?).map_err(name)?;
        let index = match embedder {
            Some(embedder) => index.embedder(embedder, Call::detached()),
            None => index,
        };
        // The client has asked its servers when it connected.
        let state = Arc::new(Mutex::new(State { asked: now, fits: None }));
        let indexed = Self { client, index, every: None, state };
        indexed.fit(now).await?;
        Ok(indexed)
    }

    /// Sets the time after which [`look`](Self::look) asks the servers again. Default: never.
    #[must_use]
    pub fn look_every(self, every: Duration) -> Self {
        Self { every: Some(every), ..self }
    }

    /// The client.
    pub fn client(&self) -> &McpClient {
        &self.client
    }

    /// The index.
    pub fn index(&self) -> &ToolIndex {
        &self.index
    }

    /// Asks the servers again if it is time, and makes the index fit what the client offers now.
    ///
    /// # Errors
    ///
    /// [`ToolIndexError`] when the store fails.
    pub async fn look(&self, now: Timestamp) -> Result<(), ToolIndexError> {
        let asked = self.state().asked;
        match self.every.is_some_and(|every| now.since(asked) >= every) {
            true => self.look_again(now).await,
            false => self.fit(now).await,
        }
    }

    /// Asks the servers again at once: a call that failed may have failed because its tool is another by now.
    ///
    /// # Errors
    ///
    /// [`ToolIndexError`] when the store fails.
    pub async fn look_again(&self, now: Timestamp) -> Result<(), ToolIndexError> {
        self.client.refresh().await;
        self.state().asked = now;
        self.fit(now).await
    }

    /// Makes the index fit what the client offers now, as after an approval. Asks no server.
    ///
    /// # Errors
    ///
    /// [`ToolIndexError`] when the store fails.
    pub async fn fit(&self, now: Timestamp) -> Result<(), ToolIndexError> {
        let offer = self.client.offer();
        let fits = offer.iter().map(|(name, tool)| (name.clone(), tool.hash.clone())).collect();
        if self.state().fits.as_ref() != Some(&fits) {
            let indexed = offer.values().map(|offered| {
                let settings = &offered.settings;
                let tool = IndexedTool::new(offered.spec().clone());
                let tool = tool.aliases(settings.aliases.clone());
                if settings.pinned { tool.pinned() } else { tool }
            });
            self.index.update(&indexed.collect::<Vec<_>>(), now).await?;
        }
        self.state().fits = Some(fits);
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of the index in the store: an update removes what its own servers do not have.
fn labels(client: &McpClient, config: &Path) -> Result<Labels, InvalidName> {
    let mut hasher = blake3::Hasher::new();
    let names = client.status().into_iter().map(|status| status.server);
    for part in names.chain([config.display().to_string()]) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    Labels::new(["catalogue", hasher.finalize().to_hex().as_str()])
}
