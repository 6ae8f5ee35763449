//! An index of tools: a question finds those that fit it, where there are more than a model should be shown.
//!
//! - `entry`: one tool as it is stored, with the texts that a search finds and a hash of all that it says.
//! - `query`: a question for tools.
//! - `experience`: how often calls of a tool have succeeded.
//! - `ranking`: the score of a tool, as the sum of its parts. Pure.
//!
//! The index knows no agent and makes no call of a tool. A tool that did not change is neither written nor embedded again.

pub(crate) mod entry;
pub(crate) mod experience;
pub(crate) mod query;
pub(crate) mod ranking;

use std::collections::{BTreeMap, BTreeSet};

use hanok_checkpoint::{
    Batch, Expect, Index, Put, Read, Refresh, Search, SharedStore, Store, StoreError, Ttl, Vector,
    Write,
};
use hanok_core::{
    BoxError, Call, InvalidName, ItemKey, Labels, Stored, StoredError, Tenant, Timestamp,
};
use hanok_model::{Embedder, SharedEmbedder, ToolSpec};
use thiserror::Error;

use self::{
    entry::{IndexedTool, StoredTool},
    query::ToolQuery,
    ranking::{Candidate, RecommendedTool, Scored, ranked},
};

/// The items of one batch of the store, and the texts of one call of the embedder.
const AT_ONCE: usize = 64;

/// The tools of a page when all are listed.
const PAGE: usize = 256;

/// The tools that keywords, and meaning, rank each.
const RANKED: usize = 64;

/// An index of tools over a store across threads: a question finds the tools that fit it.
///
/// - A tool is found by its name, exactly, and by the words of its name, description, parameters and aliases; with an
///   [embedder](Self::embedder) also by its meaning.
/// - [`update`](Self::update) writes and embeds what changed, and nothing else. Many processes may share the store.
/// - An embedder that fails takes nothing away: tools are found by their words, and what has no vector gets it with the next
///   update.
///
/// ```
/// use hanok_agent::{IndexedTool, ToolIndex, ToolQuery};
/// use hanok_checkpoint::{InMemoryStore, SharedStore};
/// use hanok_core::{Labels, Timestamp};
/// use hanok_model::ToolSpec;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tool = |name: &str, about: &str| ToolSpec::new(name, about, json!({}));
/// let tools = [
///     IndexedTool::new(tool("mail__send_message", "Sends a message to an address")?),
///     IndexedTool::new(tool("calendar__create_event", "일정을 만든다")?).aliases(["book_meeting"]),
/// ];
/// let store = SharedStore::new(InMemoryStore::new());
/// let (index, now) = (ToolIndex::new(store, &Labels::new(["catalogue"])?)?, Timestamp(0));
/// assert_eq!(index.update(&tools, now).await?.written, 2);
/// assert_eq!(index.update(&tools, now).await?.written, 0);
///
/// let recommended = index.recommend(&ToolQuery::new("내일 일정 좀 만들어 줘"), now).await?;
/// assert_eq!(recommended.tools[0].name(), "calendar__create_event");
/// let recommended = index.recommend(&ToolQuery::new("use book_meeting for it"), now).await?;
/// assert!(recommended.tools[0].score.exact > 0.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ToolIndex {
    store: SharedStore,
    embedder: Option<(SharedEmbedder, Call)>,
    tenant: Tenant,
    tools: Labels,
    /// The names of tools by what a question may call them.
    names: Labels,
    /// The names of pinned tools.
    pins: Labels,
}

/// The changes of an [update](ToolIndex::update).
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ToolIndexUpdate {
    /// The tools that were new or had changed.
    pub written: usize,
    /// The tools whose vectors were made.
    pub embedded: usize,
    /// The tools that are not offered any more.
    pub removed: usize,
    /// The error of the embedder, if it failed: the tools of this update that have no vector are found by their words.
    pub not_embedded: Option<BoxError>,
}

/// The tools that fit a question.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct RecommendedTools {
    /// The tools that are always offered, by name.
    pub pinned: Vec<RecommendedTool>,
    /// The others, the best first.
    pub tools: Vec<RecommendedTool>,
    /// The error of the embedder, if it failed: the tools are ranked by their words alone.
    pub without_meaning: Option<BoxError>,
}

impl RecommendedTools {
    /// All tools: the pinned ones, and behind them the others.
    ///
    /// ```
    /// # use hanok_agent::RecommendedTools;
    /// assert_eq!(RecommendedTools::default().specs().count(), 0);
    /// ```
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.pinned.iter().chain(&self.tools).map(|tool| &tool.spec)
    }
}

/// The reason why tools were not indexed, or not looked for.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ToolIndexError {
    /// The store failed.
    #[error("the index of tools is not at hand")]
    Store(#[from] StoreError),
    /// An item of the index is none that this build can read. Update the index in labels of its own.
    #[error("item `{key}` of the index is no tool")]
    Item {
        /// The item.
        key: ItemKey,
        /// The fault.
        source: StoredError,
    },
    /// Two tools of an update have one name or alias, or one has the alias that is the other's name. Case does not count.
    #[error("`{first}` and `{second}` are both called `{name}`")]
    Twice {
        /// The name or alias.
        name: String,
        /// The name of a tool.
        first: String,
        /// The name of the other one.
        second: String,
    },
    /// A name or an alias cannot be the key of an item.
    #[error("`{name}` cannot be stored as the name of a tool")]
    Name {
        /// The name.
        name: String,
        /// The fault.
        source: InvalidName,
    },
    /// A tool cannot be stored.
    #[error("tool `{name}` cannot be stored")]
    Tool {
        /// The tool.
        name: String,
        /// The fault.
        source: StoredError,
    },
}

impl ToolIndex {
    /// An index in `store`, in namespaces of its own below `labels`.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] when labels cannot stand below `labels`.
    pub fn new(store: SharedStore, labels: &Labels) -> Result<Self, InvalidName> {
        let [tools, names, pins] = ["tools", "names", "pins"].map(|label| labels.child(label));
        let (tools, names, pins) = (tools?, names?, pins?);
        Ok(Self { store, embedder: None, tenant: Tenant::default(), tools, names, pins })
    }

    /// Sets whose index it is. Default: the default tenant's.
    #[must_use]
    pub fn tenant(self, tenant: Tenant) -> Self {
        Self { tenant, ..self }
    }

    /// Finds tools by their meaning too, with vectors that `embedder` makes within `call`. Default: by their words alone.
    ///
    /// ```
    /// # use hanok_agent::ToolIndex;
    /// # use hanok_checkpoint::{InMemoryStore, SharedStore};
    /// use hanok_core::{Call, Labels};
    /// use hanok_model::{HashEmbedder, SharedEmbedder};
    ///
    /// let store = SharedStore::new(InMemoryStore::new());
    /// let index = ToolIndex::new(store, &Labels::new(["catalogue"])?)?;
    /// let index = index.embedder(SharedEmbedder::new(HashEmbedder::new(64)), Call::detached());
    /// # drop(index);
    /// # Ok::<(), hanok_core::InvalidName>(())
    /// ```
    #[must_use]
    pub fn embedder(self, embedder: SharedEmbedder, call: Call) -> Self {
        Self { embedder: Some((embedder, call)), ..self }
    }

    /// Makes `tools` the tools of the index: writes those that are new or have changed, removes those that are gone, and makes
    /// up for vectors that are missing.
    ///
    /// # Errors
    ///
    /// [`ToolIndexError`]. What was written before it stays; the next update goes on from there.
    ///
    /// # Cancel safety
    ///
    /// A dropped update may have been made in part: update again.
    pub async fn update(
        &self,
        tools: &[IndexedTool],
        now: Timestamp,
    ) -> Result<ToolIndexUpdate, ToolIndexError> {
        let mut offered = offered(tools)?;
        let mut update = ToolIndexUpdate::default();
        let model = self.embedder.as_ref().map(|(embedder, _)| embedder.name());
        let (mut removes, mut known) = (BTreeSet::new(), BTreeSet::new());
        for (key, tool) in self.stored(now).await? {
            let same = offered.get(tool.name()).is_some_and(|new| new.hash == tool.hash);
            if same && tool.model.as_deref() == model {
                offered.remove(tool.name());
                continue;
            }
            removes.extend(self.pointers(&tool)?);
            let is_offered = offered.contains_key(tool.name());
            update.removed += usize::from(!is_offered);
            // Vectors of another model are gone before the first of this one is put.
            if !is_offered || tool.model.is_some() {
                removes.insert(key);
            } else if same {
                known.insert(tool.name().to_owned());
            }
        }
        let mut puts = BTreeMap::new();
        let mut changed: Vec<_> = offered.into_values().collect();
        for tools in changed.chunks_mut(AT_ONCE) {
            let vectors = self.vectors(tools, &mut update).await;
            for (tool, vector) in tools.iter_mut().zip(vectors) {
                // It still waits for its vector.
                if vector.is_none() && known.contains(tool.name()) {
                    for key in self.pointers(tool)? {
                        removes.remove(&key);
                    }
                    continue;
                }
                tool.model = vector.as_ref().and(model).map(str::to_owned);
                update.embedded += usize::from(vector.is_some());
                update.written += usize::from(!known.contains(tool.name()));
                puts.extend(self.puts(tool, vector)?);
            }
        }
        let is_put = |key: &ItemKey| puts.contains_key(key) && *key.labels() != self.tools;
        removes.retain(|key| !is_put(key));
        let removes = removes.into_iter().map(|key| Write::Remove(key, Expect::Any));
        self.write(removes.collect(), now).await?;
        self.write(puts.into_iter().map(|(key, put)| Write::Put(key, put)).collect(), now).await?;
        Ok(update)
    }

    async fn write(&self, writes: Vec<Write>, now: Timestamp) -> Result<(), ToolIndexError> {
        for writes in writes.chunks(AT_ONCE) {
            let batch = Batch { writes: writes.to_vec(), ..Batch::default() };
            self.store.batch(batch, now).await?;
        }
        Ok(())
    }

    /// The tools that fit a question: the pinned ones, and the best of the others.
    ///
    /// # Errors
    ///
    /// [`ToolIndexError`]. An embedder that fails is none: see [`RecommendedTools::without_meaning`].
    pub async fn recommend(
        &self,
        query: &ToolQuery,
        now: Timestamp,
    ) -> Result<RecommendedTools, ToolIndexError> {
        let mut candidates: BTreeMap<String, Candidate> = BTreeMap::new();
        for name in self.exact(query.text(), now).await? {
            candidates.entry(name).or_default().exact = true;
        }
        if !query.text().trim().is_empty() {
            let by_words = self.search().limit(RANKED).text(query.text()).weight(0.0);
            for (rank, name) in self.ranking(&by_words, now).await?.into_iter().enumerate() {
                candidates.entry(name).or_default().keywords = Some(rank);
            }
        }
        let by_meaning = self.meaning(query.text()).await;
        let by_meaning = by_meaning
            .map(|vector| vector.map(|it| self.search().limit(RANKED).vector(it).weight(1.0)));
        let mut without_meaning = None;
        match by_meaning {
            Ok(None) => {}
            Ok(Some(search)) => match self.ranking(&search, now).await {
                Ok(names) => {
                    for (rank, name) in names.into_iter().enumerate() {
                        candidates.entry(name).or_default().meaning = Some(rank);
                    }
                }
                // The vectors of the index are of another model: they can be compared after its next update.
                Err(error @ (StoreError::Model { .. } | StoreError::Dimensions { .. })) => {
                    without_meaning = Some(error.into());
                }
                Err(error) => return Err(error.into()),
            },
            Err(error) => without_meaning = Some(error),
        }
        for name in self.pinned(now).await? {
            candidates.entry(name).or_default().pinned = true;
        }
        let (pinned, tools) = ranked(candidates, query);
        // Only what is offered is read.
        let names = pinned.iter().chain(&tools).map(|(name, _)| name.as_str());
        let mut specs = self.specs(names, now).await?;
        let mut offered = |scored: Scored| {
            // What another process has removed in between is not there any more.
            let with_spec =
                |(name, score)| specs.remove(&name).map(|spec| RecommendedTool { spec, score });
            scored.into_iter().filter_map(with_spec).collect()
        };
        Ok(RecommendedTools { pinned: offered(pinned), tools: offered(tools), without_meaning })
    }

    /// The tools of these names that the index has.
    pub(crate) async fn specs(
        &self,
        names: impl IntoIterator<Item = &str>,
        now: Timestamp,
    ) -> Result<BTreeMap<String, ToolSpec>, ToolIndexError> {
        let names: BTreeSet<_> = names.into_iter().collect();
        let keys = names.into_iter().map(|name| self.key(&self.tools, name));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let mut specs = BTreeMap::new();
        for keys in keys.chunks(AT_ONCE) {
            for (key, value) in self.read(keys.to_vec(), now).await? {
                let tool = read_tool(key, &value)?;
                specs.insert(tool.name().to_owned(), tool.spec);
            }
        }
        Ok(specs)
    }

    /// The whole index by name, `None` if it has more than `most` tools.
    pub(crate) async fn few(
        &self,
        most: usize,
        now: Timestamp,
    ) -> Result<Option<BTreeMap<String, ToolSpec>>, ToolIndexError> {
        let search = self.search().limit(most.saturating_add(1));
        let hits = self.store.search(&search, now).await?.hits;
        if hits.len() > most {
            return Ok(None);
        }
        let tools = hits.into_iter().map(|hit| read_tool(hit.item.key, &hit.item.value));
        let named = tools.map(|tool| tool.map(|tool| (tool.name().to_owned(), tool.spec)));
        named.collect::<Result<_, _>>().map(Some)
    }

    /// A search among the tools.
    fn search(&self) -> Search {
        Search::within(self.tenant.clone(), self.tools.clone()).refresh(Refresh::No)
    }

    /// The names of the tools that the text names.
    async fn exact(&self, text: &str, now: Timestamp) -> Result<Vec<String>, ToolIndexError> {
        let names: BTreeSet<_> = query::names(text).collect();
        let keys = names.into_iter().map(|name| self.key(&self.names, &name));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let items = self.read(keys, now).await?;
        items
            .into_iter()
            .map(|(key, item)| item.decode().map_err(|source| ToolIndexError::Item { key, source }))
            .collect()
    }

    /// The names of the pinned tools.
    async fn pinned(&self, now: Timestamp) -> Result<Vec<String>, ToolIndexError> {
        let search = Search::within(self.tenant.clone(), self.pins.clone());
        let items = self.all(search.refresh(Refresh::No), now).await?;
        Ok(items.into_iter().map(|(key, _)| key.key().to_owned()).collect())
    }

    /// The values of those of `keys` that are there.
    async fn read(
        &self,
        keys: Vec<ItemKey>,
        now: Timestamp,
    ) -> Result<Vec<(ItemKey, Stored)>, ToolIndexError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let reads = keys.into_iter().map(|key| Read { key, refresh: Refresh::No }).collect();
        let batched = self.store.batch(Batch { reads, ..Batch::default() }, now).await?;
        Ok(batched.items.into_iter().flatten().map(|item| (item.key, item.value)).collect())
    }

    /// The names of the tools that `search` finds, the best first.
    async fn ranking(&self, search: &Search, now: Timestamp) -> Result<Vec<String>, StoreError> {
        let hits = self.store.search(search, now).await?.hits;
        Ok(hits.into_iter().map(|hit| hit.item.key.key().to_owned()).collect())
    }

    /// The vector of a text, if there is an embedder.
    async fn meaning(&self, text: &str) -> Result<Option<Vector>, BoxError> {
        let Some((embedder, call)) = self.embedder.as_ref().filter(|_| !text.trim().is_empty())
        else {
            return Ok(None);
        };
        let made = embedder.embed(&[text.to_owned()], call).await?;
        let numbers = made.first().ok_or("the embedder gave no vector")?;
        Ok(Some(Vector::new(numbers)?.made_by(embedder.name())))
    }

    /// The vectors of tools that have to get one; an error is noted, and no vector then.
    async fn vectors(
        &self,
        tools: &[StoredTool],
        update: &mut ToolIndexUpdate,
    ) -> Vec<Option<Vector>> {
        let without = || tools.iter().map(|_| None).collect();
        let Some((embedder, call)) = &self.embedder else { return without() };
        let texts: Vec<_> = tools.iter().map(StoredTool::meaning).collect();
        let vectors = async {
            let made = embedder.embed(&texts, call).await?;
            if made.len() != texts.len() {
                return Err("the embedder gave another number of vectors than of texts".into());
            }
            let vector = |numbers: &Vec<f32>| {
                Ok::<_, BoxError>(Some(Vector::new(numbers)?.made_by(embedder.name())))
            };
            made.iter().map(vector).collect::<Result<Vec<_>, _>>()
        };
        match vectors.await {
            Ok(vectors) => vectors,
            Err(error) => {
                update.not_embedded.get_or_insert(error);
                without()
            }
        }
    }

    /// The items of a tool: itself, and what points to it.
    fn puts(
        &self,
        tool: &StoredTool,
        vector: Option<Vector>,
    ) -> Result<Vec<(ItemKey, Put)>, ToolIndexError> {
        let name = tool.name();
        let failed = |source| ToolIndexError::Tool { name: name.to_owned(), source };
        let put = Put::new(Stored::encode(tool).map_err(failed)?).ttl(Ttl::Never);
        let put = put.index(Index::Fields(StoredTool::texts()));
        let put = vector.into_iter().fold(put, Put::vector);
        let mut puts = vec![(self.key(&self.tools, name)?, put)];
        let pointer = Put::new(Stored::encode(name).map_err(failed)?);
        let pointer = pointer.ttl(Ttl::Never).index(Index::Off);
        puts.extend(self.pointers(tool)?.into_iter().map(|key| (key, pointer.clone())));
        Ok(puts)
    }

    /// The items that point to a tool: the names by which it is found exactly, and its pin.
    fn pointers(&self, tool: &StoredTool) -> Result<Vec<ItemKey>, ToolIndexError> {
        let names: BTreeSet<_> = tool.keys().collect();
        let names = names.iter().map(|name| self.key(&self.names, name));
        let pin = tool.pinned.then(|| self.key(&self.pins, tool.name()));
        names.chain(pin).collect()
    }

    /// All tools of the index, by name.
    async fn stored(&self, now: Timestamp) -> Result<Vec<(ItemKey, StoredTool)>, ToolIndexError> {
        let items = self.all(self.search(), now).await?;
        let tools = items.into_iter().map(|(key, value)| {
            let tool = read_tool(key.clone(), &value)?;
            Ok((key, tool))
        });
        tools.collect()
    }

    /// All items that `search` lists, page by page.
    async fn all(
        &self,
        search: Search,
        now: Timestamp,
    ) -> Result<Vec<(ItemKey, Stored)>, StoreError> {
        let (mut search, mut items) = (search.limit(PAGE), Vec::new());
        loop {
            let page = self.store.search(&search, now).await?;
            items.extend(page.hits.into_iter().map(|hit| (hit.item.key, hit.item.value)));
            let Some(next) = page.next else { return Ok(items) };
            search.after = Some(next);
        }
    }

    fn key(&self, labels: &Labels, name: &str) -> Result<ItemKey, ToolIndexError> {
        ItemKey::new(self.tenant.clone(), labels.clone(), name)
            .map_err(|source| ToolIndexError::Name { name: name.to_owned(), source })
    }
}

/// The tools of an update, by name.
fn offered(tools: &[IndexedTool]) -> Result<BTreeMap<&str, StoredTool>, ToolIndexError> {
    let (mut offered, mut names) = (BTreeMap::new(), BTreeMap::new());
    for tool in tools {
        let (name, stored) = (tool.spec().name(), StoredTool::of(tool));
        let is_new = offered.insert(name, stored.clone()).is_none();
        for exact in stored.keys() {
            let before = names.insert(exact.clone(), name);
            if let Some(first) = before.filter(|before| *before != name || !is_new) {
                let (first, second) = (first.to_owned(), name.to_owned());
                return Err(ToolIndexError::Twice { name: exact, first, second });
            }
        }
    }
    Ok(offered)
}

fn read_tool(key: ItemKey, value: &Stored) -> Result<StoredTool, ToolIndexError> {
    value.decode().map_err(|source| ToolIndexError::Item { key, source })
}
