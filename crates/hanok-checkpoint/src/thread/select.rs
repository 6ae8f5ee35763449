//! Which entries of a history are asked for.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
};

use hanok_core::{Namespace, Position, RunId, Timestamp};

use crate::{
    entry::body::{Body, Entry, Kind},
    entry::frontier::Frontier,
};

/// Which entries of a history are asked for: those that everything said here fits. Names and tags are compared as they are.
///
/// ```
/// # use hanok_checkpoint::*;
/// # futures::executor::block_on(async {
/// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
/// # let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
/// # let thread = ThreadKey::new(Tenant::default(), "t")?;
/// # let log = Log::new(store.clone(), thread.clone());
/// # let nothing = Edit { frontier: Some(Frontier::default()), ..Edit::default() };
/// # let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Edit(nothing) };
/// # let mut tip = Tip::new(Life::new(1), false);
/// # let record = tip.push(&codec, &thread, Position::START, &entry)?;
/// # let append = tip.append(&codec, &thread, AppendId(1), Position::START, Guard::Unclaimed, vec![record]);
/// # store.append(&thread, append).await?;
/// let asked = Select::all().kind(Kind::Question).kind(Kind::Answer).path(Namespace::root());
/// let lately = Select::all().since(Timestamp(5)).until(Timestamp(9)).before(Position(2)).limit(20);
/// assert!(log.checkpoints(asked).await?.is_empty());
/// assert_eq!(log.checkpoints(lately).await?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Select {
    kinds: BTreeSet<Kind>,
    path: Option<Namespace>,
    steps: Option<RangeInclusive<u32>>,
    node: Option<String>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    run: Option<RunId>,
    tags: BTreeMap<String, String>,
    pub(crate) before: Option<Position>,
    pub(crate) limit: Option<usize>,
}

impl Select {
    /// All entries.
    pub fn all() -> Self {
        Self::default()
    }

    /// Those of this kind, or of another that was named. Default: of any.
    #[must_use]
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kinds.insert(kind);
        self
    }

    /// Those of the graph at `path`, not of its subgraphs. Default: of all graphs.
    #[must_use]
    pub fn path(self, path: Namespace) -> Self {
        Self { path: Some(path), ..self }
    }

    /// Those after which so many super-steps of their turn are done. Default: any number.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
    /// # let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// # let log = Log::new(store.clone(), thread.clone());
    /// # let nothing = Edit { frontier: Some(Frontier::default()), ..Edit::default() };
    /// # let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Edit(nothing) };
    /// # let mut tip = Tip::new(Life::new(1), false);
    /// # let record = tip.push(&codec, &thread, Position::START, &entry)?;
    /// # let append = tip.append(&codec, &thread, AppendId(1), Position::START, Guard::Unclaimed, vec![record]);
    /// # store.append(&thread, append).await?;
    /// assert!(log.checkpoints(Select::all().steps(3..=5)).await?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn steps(self, steps: RangeInclusive<u32>) -> Self {
        Self { steps: Some(steps), ..self }
    }

    /// Those that name this node. Default: any.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
    /// # let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// # let log = Log::new(store.clone(), thread.clone());
    /// # let nothing = Edit { frontier: Some(Frontier::default()), ..Edit::default() };
    /// # let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Edit(nothing) };
    /// # let mut tip = Tip::new(Life::new(1), false);
    /// # let record = tip.push(&codec, &thread, Position::START, &entry)?;
    /// # let append = tip.append(&codec, &thread, AppendId(1), Position::START, Guard::Unclaimed, vec![record]);
    /// # store.append(&thread, append).await?;
    /// assert!(log.checkpoints(Select::all().node("search")).await?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn node(self, node: impl Into<String>) -> Self {
        Self { node: Some(node.into()), ..self }
    }

    /// Those that were written then or later. Default: at any time.
    #[must_use]
    pub fn since(self, since: Timestamp) -> Self {
        Self { since: Some(since), ..self }
    }

    /// Those that were written before then. Default: at any time.
    #[must_use]
    pub fn until(self, until: Timestamp) -> Self {
        Self { until: Some(until), ..self }
    }

    /// Those of this run. Default: of any.
    #[must_use]
    pub fn run(self, run: RunId) -> Self {
        Self { run: Some(run), ..self }
    }

    /// Those of runs with this tag, and with all others that were named. Default: of any.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
    /// # let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// # let log = Log::new(store.clone(), thread.clone());
    /// # let nothing = Edit { frontier: Some(Frontier::default()), ..Edit::default() };
    /// # let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Edit(nothing) };
    /// # let mut tip = Tip::new(Life::new(1), false);
    /// # let record = tip.push(&codec, &thread, Position::START, &entry)?;
    /// # let append = tip.append(&codec, &thread, AppendId(1), Position::START, Guard::Unclaimed, vec![record]);
    /// # store.append(&thread, append).await?;
    /// let mut pages = log.pages(Select::all().tag("user", "kim"), 50);
    /// assert!(pages.next().await?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn tag(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.insert(key.into(), value.into());
        self
    }

    /// Those that stand before `before`. Default: up to the log's end.
    #[must_use]
    pub fn before(self, before: Position) -> Self {
        Self { before: Some(before), ..self }
    }

    /// At most so many. Default: all.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Checks whether what the entry itself says fits.
    pub(crate) fn fits(&self, entry: &Entry) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&entry.body.kind()))
            && self.path.as_ref().is_none_or(|path| entry.namespace == *path)
            && self.since.is_none_or(|since| entry.at >= since)
            && self.until.is_none_or(|until| entry.at < until)
            && self.node.as_ref().is_none_or(|node| names(&entry.body, node))
    }

    /// Checks whether the place of an entry has to be known.
    pub(crate) fn asks_place(&self) -> bool {
        self.steps.is_some() || self.run.is_some() || !self.tags.is_empty()
    }

    /// Checks whether the place of the entry fits.
    pub(crate) fn fits_place(&self, place: &EntryPlace) -> bool {
        self.steps.as_ref().is_none_or(|steps| steps.contains(&place.step))
            && self.run.is_none_or(|run| place.run == Some(run))
            && self.tags.iter().all(|(key, value)| place.tags.get(key) == Some(value))
    }
}

/// Checks whether an entry is about `node`.
fn names(body: &Body, node: &str) -> bool {
    match body {
        Body::Write(write) => &*write.node == node,
        Body::Commit(commit) => commit.nodes.iter().any(|ran| **ran == *node),
        Body::Intent(intent) => intent.node == node,
        Body::Question(question) => question.node == node,
        Body::Failed(failed) => failed.node == node,
        Body::Edit(edit) => edit.node.as_deref() == Some(node),
        _ => false,
    }
}

/// The place of an entry in its graph.
#[derive(Debug, Default)]
pub(crate) struct EntryPlace {
    /// The super-steps of the turn that are done.
    pub(crate) step: u32,
    pub(crate) next: Vec<String>,
    pub(crate) run: Option<RunId>,
    pub(crate) tags: BTreeMap<String, String>,
    pub(crate) parent: Option<Position>,
}

impl EntryPlace {
    pub(crate) fn scheduled(&mut self, frontier: &Frontier) {
        self.step = frontier.step;
        self.next = frontier.due.iter().map(|due| due.node.to_string()).collect();
    }
}
