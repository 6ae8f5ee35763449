//! A history page by page, and the checkpoints in it.

use std::collections::BTreeMap;

use hanok_core::{Namespace, Position, RunId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    backend::checkpointer::Checkpointer,
    entry::body::{Body, Entry},
    entry::fold::ThreadFold,
    entry::frontier::Frontier,
    error::CheckpointError,
    format::record::Record,
    life::Life,
    thread::log::{Log, LogEntry, previous},
    thread::select::{EntryPlace, Select},
};

/// The number of records that are read at a time.
const PAGE: usize = 128;

/// The number of records that are held at a time.
const MOST: usize = 64 * PAGE;

/// The origin of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// An input: a turn begins.
    Input,
    /// A super-step.
    Loop,
    /// An edit from outside.
    Edit,
    /// A fork: another thread.
    Fork,
}

impl Source {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Loop => "loop",
            Self::Edit => "edit",
            Self::Fork => "fork",
        }
    }
}

/// A position at which the state of a graph stands between two super-steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The position, which [`Log::open`], [`Log::rewind`] and [`Log::fork`] take.
    pub position: Position,
    /// The checkpoint of the same graph that it follows; `None` for the first.
    pub parent: Option<Position>,
    /// When it was written.
    pub at: Timestamp,
    /// Which graph's it is: the thread's own (the root), or a subgraph's.
    pub path: Namespace,
    /// The number of super-steps of the turn that are done.
    pub step: u32,
    /// The origin.
    pub source: Source,
    /// The nodes that ran.
    pub nodes: Vec<String>,
    /// The nodes that are due.
    pub next: Vec<String>,
    /// The run that made it, or that ran last.
    pub run: Option<RunId>,
    /// The tags that the run's caller gave it.
    pub tags: BTreeMap<String, String>,
}

/// The entries of a history that were asked for, page by page, newest first, on all branches.
#[derive(Debug)]
pub struct Pages {
    scan: HistoryScan,
    size: usize,
}

impl Pages {
    /// The next page; `None` after the last. A page before the last is full.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] for a damaged record.
    ///
    /// # Cancel safety
    ///
    /// Entries of a page that was not waited for are not told again.
    pub async fn next(&mut self) -> Result<Option<Vec<LogEntry>>, CheckpointError> {
        let mut page = Vec::new();
        while page.len() < self.size
            && let Some(entry) = self.scan.next(|_| true).await?
        {
            page.push(entry);
        }
        Ok((!page.is_empty()).then_some(page))
    }
}

impl Log {
    /// The entries that `select` asks for, `size` (at least one) at a time.
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
    /// let mut pages = log.pages(Select::all().kind(Kind::Edit), 50);
    /// while let Some(page) = pages.next().await? {
    ///     assert_eq!(page[0].position, Position(1));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn pages(&self, select: Select, size: usize) -> Pages {
        Pages { scan: HistoryScan::new(self.clone(), select), size: size.max(1) }
    }

    /// The checkpoints that `select` asks for, newest first, on all branches.
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
    /// let checkpoints = log.checkpoints(Select::all().limit(10)).await?;
    /// assert_eq!(checkpoints[0].source, Source::Edit);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] for a damaged record.
    pub async fn checkpoints(&self, select: Select) -> Result<Vec<Checkpoint>, CheckpointError> {
        let mut scan = HistoryScan::new(self.clone(), select);
        let mut all = Vec::new();
        while let Some(entry) = scan.next(|entry| source(entry).is_some()).await? {
            let Some(source) = source(&entry.entry) else { continue };
            let place = scan.cache.place(entry.position).await?;
            let nodes: Vec<_> = match &entry.entry.body {
                Body::Commit(commit) => commit.nodes.iter().map(ToString::to_string).collect(),
                Body::Edit(edit) => edit.node.iter().cloned().collect(),
                _ => Vec::new(),
            };
            all.push(Checkpoint {
                position: entry.position,
                parent: place.parent,
                at: entry.entry.at,
                path: entry.entry.namespace,
                step: place.step,
                source,
                nodes,
                next: place.next,
                run: place.run,
                tags: place.tags,
            });
        }
        Ok(all)
    }
}

/// The source of the checkpoint that an entry makes, if it makes one.
pub(crate) fn source(entry: &Entry) -> Option<Source> {
    match &entry.body {
        Body::Begin(begin) => begin.frontier.is_some().then_some(Source::Input),
        Body::Commit(_) => Some(Source::Loop),
        Body::Edit(_) => Some(Source::Edit),
        Body::Origin(_) => Some(Source::Fork),
        _ => None,
    }
}

/// A walk over all entries, newest first.
#[derive(Debug)]
struct HistoryScan {
    cache: EntryCache,
    select: Select,
    /// The entry that was looked at last; `None` before the first.
    at: Option<Position>,
    remaining: usize,
}

impl HistoryScan {
    fn new(log: Log, select: Select) -> Self {
        let remaining = select.limit.unwrap_or(usize::MAX);
        let (floor, life) = (Position::START, Life::default());
        let cache = EntryCache { log, floor, life, records: BTreeMap::new(), base: None };
        Self { cache, select, at: None, remaining }
    }

    /// The next entry that is asked for and that `is`.
    async fn next(
        &mut self,
        is: impl Fn(&Entry) -> bool,
    ) -> Result<Option<LogEntry>, CheckpointError> {
        while self.remaining > 0 {
            let at = match self.at {
                Some(at) => previous(at),
                None => self.cache.begin(self.select.before).await?,
            };
            self.at = Some(at);
            let Some(entry) = self.cache.entry(at).await? else {
                self.at = Some(Position::START);
                return Ok(None);
            };
            if !is(&entry.entry) || !self.select.fits(&entry.entry) {
                continue;
            }
            if self.select.asks_place() {
                let place = self.cache.place(at).await?;
                if !self.select.fits_place(&place) {
                    continue;
                }
            }
            self.remaining -= 1;
            return Ok(Some(entry));
        }
        Ok(None)
    }
}

/// Parts of a place that no entry above the floor says.
struct Missing {
    due: bool,
    run: bool,
    parent: bool,
}

/// Entries that were looked at, with some around them.
#[derive(Debug)]
struct EntryCache {
    log: Log,
    floor: Position,
    life: Life,
    records: BTreeMap<Position, Record>,
    base: Option<ThreadFold>,
}

impl EntryCache {
    /// The newest position before `before`.
    async fn begin(&mut self, before: Option<Position>) -> Result<Position, CheckpointError> {
        let head = self.log.store().head(self.log.thread()).await?;
        let Some(head) = head else { return Ok(Position::START) };
        (self.floor, self.life) = (head.floor, head.life);
        Ok(before.map_or(head.position, |before| previous(before).min(head.position)))
    }

    /// The entry at `at`; `None` where the log begins.
    async fn entry(&mut self, at: Position) -> Result<Option<LogEntry>, CheckpointError> {
        if at <= self.floor {
            return Ok(None);
        }
        if !self.records.contains_key(&at) {
            if self.records.len() > MOST {
                self.records.clear();
            }
            let (thread, before) = (self.log.thread(), Some(at.next()));
            if let Some(page) = self.log.store().history(thread, before, PAGE).await? {
                page.head.life.admit(thread, self.life)?;
                let records = page.records.into_iter();
                self.records.extend(records.map(|record| (record.position, record)));
            }
        }
        let last_good = previous(at);
        let Some(record) = self.records.get(&at) else {
            return Err(self.log.corrupt(at, "it is missing".to_owned(), last_good));
        };
        let (parent, entry) = self.log.read(self.life, record, last_good)?;
        // A parent stands before its child, or the walk would not end.
        if parent >= at {
            let reason = "its parent does not stand before it".to_owned();
            return Err(self.log.corrupt(at, reason, last_good));
        }
        Ok(Some(LogEntry { position: at, parent, entry }))
    }

    /// The place of the entry at `at`: what it says itself, and what leads to it.
    async fn place(&mut self, at: Position) -> Result<EntryPlace, CheckpointError> {
        let mut place = EntryPlace::default();
        let Some(mut entry) = self.entry(at).await? else { return Ok(place) };
        let path = entry.entry.namespace.clone();
        let (mut due, mut run, mut parent) = (false, false, false);
        loop {
            let own = entry.entry.namespace == path;
            if own && !parent && entry.position != at && source(&entry.entry).is_some() {
                (place.parent, parent) = (Some(entry.position), true);
            }
            due = due || schedule(&mut place, &entry, &path);
            if !run && let Some(run_and_tags) = beginning(&entry) {
                (place.run, place.tags) = run_and_tags;
                run = true;
            }
            if due && run && parent {
                return Ok(place);
            }
            let before = entry.parent;
            match self.entry(before).await? {
                Some(next) => entry = next,
                None => {
                    let missing = Missing { due: !due, run: !run, parent: !parent };
                    return self.at_the_floor(place, &path, missing, before).await;
                }
            }
        }
    }

    /// Reads the rest from the base of the log.
    async fn at_the_floor(
        &mut self,
        mut place: EntryPlace,
        path: &Namespace,
        missing: Missing,
        before: Position,
    ) -> Result<EntryPlace, CheckpointError> {
        // A branch that left before it is known from where it is not cut off.
        if before == Position::START || before < self.floor {
            return Ok(place);
        }
        if self.base.is_none() {
            let opened = self.log.open(Some(self.floor)).await?;
            self.base = Some(opened.map(|opened| opened.fold).unwrap_or_default());
        }
        let Some(base) = &self.base else { return Ok(place) };
        if let Some(graph) = base.run(path) {
            if missing.due {
                place.scheduled(&graph.frontier);
            }
            if missing.parent {
                place.parent = Some(self.floor);
            }
        }
        if missing.run {
            place.run = base.run(&Namespace::root()).and_then(|root| root.run);
        }
        Ok(place)
    }
}

/// Notes what is due in the graph at `path` after an entry; tells whether the entry says so.
fn schedule(place: &mut EntryPlace, entry: &LogEntry, path: &Namespace) -> bool {
    let frontier = match &entry.entry.body {
        // What begins with a whole state says of every graph what is due.
        Body::Origin(origin) => {
            let fold = origin.snapshot.to_fold(entry.position);
            let run = fold.run(path).map_or_else(Frontier::default, |run| run.frontier.clone());
            place.scheduled(&run);
            return true;
        }
        _ if entry.entry.namespace != *path => None,
        Body::Begin(begin) => begin.frontier.as_ref(),
        Body::Commit(commit) => Some(&commit.frontier),
        Body::Edit(edit) => edit.frontier.as_ref(),
        _ => None,
    };
    frontier.inspect(|frontier| place.scheduled(frontier)).is_some()
}

/// The run that begins with an entry, if one of the thread does.
fn beginning(entry: &LogEntry) -> Option<(Option<RunId>, BTreeMap<String, String>)> {
    match &entry.entry.body {
        Body::Begin(begin) if entry.entry.namespace.is_root() => {
            Some((Some(begin.run), begin.tags.clone()))
        }
        _ => None,
    }
}
