//! Cuts and erasures of a thread.

use hanok_core::{Namespace, Position, Timestamp};

use bytes::Bytes;

use crate::{
    backend::append::{Append, AppendId, Guard, Trim},
    backend::checkpointer::Checkpointer,
    backend::head::Head,
    chain::{Link, Tip},
    entry::body::{Body, Entry},
    entry::fold::ThreadFold,
    entry::pending::pending,
    entry::snapshot::Snapshot,
    entry::state::{Edit, Erased},
    error::CheckpointError,
    format::base::BaseState,
    format::record::Record,
    format::write::Erasure,
    thread::labels::Labels,
    thread::log::{Log, previous, unwritten},
    thread::page::source,
    thread::walk::Walk,
};

/// The number of times that a cut is tried while runs go on.
const ATTEMPTS: usize = 16;

/// The number of records that are read at a time to be erased.
const PAGE: usize = 256;

/// The checkpoints that a cut keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The newest checkpoint.
    Newest,
    /// So many of the newest checkpoints; none counts as one.
    Last(usize),
    /// The checkpoints since then, and the newest if there are none.
    Since(Timestamp),
}

/// Whose change it is, with the id of its append and its time.
struct Authored<'a> {
    by: &'a str,
    id: AppendId,
    now: Timestamp,
}

impl Log {
    /// Cuts off what precedes the checkpoints that `keep` names, and gives the position up to which nothing is left; `None`
    /// when nothing has to go. What is kept reads as it did, with all that is pending; earlier positions, and branches that
    /// begin there, are [`CheckpointError::Pruned`]. The head does not move, and a run may go on meanwhile.
    ///
    /// Items for others stay until their consumers are done with them.
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
    /// assert_eq!(log.prune(Keep::Last(1)).await?, Some(Position(1)));
    /// assert!(log.open(Some(Position(1))).await?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] when the thread cannot be read; [`CheckpointError::Conflict`] when it moves faster than
    /// it can be cut.
    pub async fn prune(&self, keep: Keep) -> Result<Option<Position>, CheckpointError> {
        let mut cut: Option<(Head, Position, Bytes)> = None;
        let mut attempt = 0;
        loop {
            let Some(head) = self.store().head(self.thread()).await? else { return Ok(None) };
            let (floor, base) = match cut.take() {
                // What came meanwhile follows: the cut is still right.
                Some((before, floor, base)) if self.leads(&before, &head).await? => (floor, base),
                _ => match self.floor_for(keep, &head).await? {
                    Some(fold) => (fold.position, self.base_of(&head, &fold).await?),
                    None => return Ok(None),
                },
            };
            let (life, expected) = (head.life, Some(head.position));
            let (envelopes, then) = (Vec::new(), None);
            let trim = Trim { life, floor, base: base.clone(), expected, envelopes, then };
            match self.store().trim(self.thread(), trim).await {
                Ok(()) => return Ok(Some(floor)),
                Err(CheckpointError::Conflict { .. }) if attempt < ATTEMPTS => {
                    attempt += 1;
                    cut = Some((head, floor, base));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The base of the records up to the position of `fold`, in which nothing is pending.
    async fn base_of(&self, head: &Head, fold: &ThreadFold) -> Result<Bytes, CheckpointError> {
        let floor = fold.position;
        let link = match self.link_at(head, floor).await {
            // The damage goes with what is cut off, and what could be said of the chain up to here.
            Err(CheckpointError::Corrupt { .. }) => None,
            link => link?,
        };
        let (start, snapshot, pending) = ((floor, link), Snapshot::of(fold), Vec::new());
        let base = BaseState { link, start, snapshot, pending };
        self.seal_base(self.thread(), head.life, floor, &base)
    }

    /// Checks whether the thread at `head` goes on from where it was at `before`, with nothing cut off since.
    async fn leads(&self, before: &Head, head: &Head) -> Result<bool, CheckpointError> {
        let mut walk = Walk::new(self, head, head.position, before.position);
        let mut first = head.position;
        while let Some(entry) = walk.next().await? {
            first = entry.parent;
        }
        let same = head.life == before.life && head.floor == before.floor;
        Ok(same && first == before.position)
    }

    /// The fold at the newest quiet checkpoint that leaves what `keep` names.
    async fn floor_for(
        &self,
        keep: Keep,
        head: &Head,
    ) -> Result<Option<ThreadFold>, CheckpointError> {
        let Some(oldest) = self.oldest_kept(keep, head).await? else { return Ok(None) };
        let mut walk = Walk::new(self, head, oldest, head.floor);
        while let Some(entry) = walk.next().await? {
            if !is_checkpoint(&entry.entry) {
                continue;
            }
            let opened = self.open(Some(entry.position)).await?;
            if let Some(opened) = opened.filter(|opened| opened.fold.is_quiet()) {
                return Ok(Some(opened.fold));
            }
        }
        Ok(None)
    }

    async fn oldest_kept(
        &self,
        keep: Keep,
        head: &Head,
    ) -> Result<Option<Position>, CheckpointError> {
        let mut walk = Walk::new(self, head, head.position, head.floor);
        let (mut count, mut oldest) = (0, None);
        while let Some(entry) = walk.next().await? {
            if !is_checkpoint(&entry.entry) {
                continue;
            }
            count += 1;
            match keep {
                Keep::Newest => return Ok(Some(entry.position)),
                Keep::Last(n) if count >= n => return Ok(Some(entry.position)),
                // Clocks go back: an earlier entry may have a later time.
                Keep::Since(since) if entry.entry.at >= since || count == 1 => {
                    oldest = Some(entry.position);
                }
                Keep::Last(_) | Keep::Since(_) => {}
            }
        }
        Ok(oldest)
    }

    /// Writes the thread anew: what `fold` amounts to stands in the place of all that was said up to `head`, nothing of
    /// which stays. The log says that it happened, and by whom. What is pending in `fold` stays pending. Returns the position
    /// of that entry.
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
    /// let opened = log.open(None).await?.ok_or("no log")?;
    /// log.rewrite(&opened.head, opened.fold, "an operator", AppendId(2), Timestamp(8)).await?;
    /// let left: Vec<_> = log.history(None, 10).await?.iter().map(|e| e.entry.body.kind()).collect();
    /// assert_eq!(left, [Kind::Erased]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Fenced`] while a run owns the thread; [`CheckpointError::Conflict`] when someone else appended
    /// first.
    pub async fn rewrite(
        &self,
        head: &Head,
        fold: ThreadFold,
        by: &str,
        id: AppendId,
        now: Timestamp,
    ) -> Result<Position, CheckpointError> {
        self.written_anew(
            head,
            (Guard::Unclaimed, Guard::Unclaimed),
            fold,
            Authored { by, id, now },
        )
        .await
    }

    /// [Rewrites](Self::rewrite) a thread that [was taken](Self::claim) for it, and releases it in the same append. `head` is what that
    /// returned.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Fenced`] when another run has taken the thread since, or `head` has no claim; [`CheckpointError::Conflict`] when
    /// someone else appended.
    pub async fn rewrite_held(
        &self,
        head: &Head,
        fold: ThreadFold,
        by: &str,
        id: AppendId,
        now: Timestamp,
    ) -> Result<Position, CheckpointError> {
        let guards = (Guard::Hold(head.epoch), Guard::Release(head.epoch));
        self.written_anew(head, guards, fold, Authored { by, id, now }).await
    }

    /// Writes the thread anew under guards: the first is of what comes before the last append, the second of that.
    async fn written_anew(
        &self,
        head: &Head,
        (before_last, last): (Guard, Guard),
        mut fold: ThreadFold,
        Authored { by, id, now }: Authored<'_>,
    ) -> Result<Position, CheckpointError> {
        let (mut tip, mut envelopes) = (Tip::of(head), Vec::new());
        let (codec, thread) = (self.store().codec(), self.thread());
        let append = |id, guard, tip: &mut Tip, body| {
            let (before, entry) =
                (tip.position, Entry { at: now, namespace: Namespace::root(), body });
            let record = tip.push(codec, thread, before, &entry).map_err(unwritten)?;
            Ok::<_, CheckpointError>(tip.append(codec, thread, id, before, guard, vec![record]))
        };
        // A log that was cut at its head has a base there, which gives way to none but a later one.
        if head.floor == tip.position {
            let nothing = Edit::default();
            let id = AppendId(id.0.wrapping_add(1));
            let append = append(id, before_last, &mut tip, Body::Edit(nothing))?;
            self.store().append(thread, append).await?;
        }
        let floor = tip.position;
        let mut start = (floor, tip.link);
        if tip.link.is_some() {
            match self.remains_of(head, floor, &Erasure { at: now, by }).await {
                Ok(remains) => (start, envelopes) = remains,
                // Of what is damaged nothing can be left that the chain leads through: it begins here.
                Err(CheckpointError::Corrupt { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        fold.position = floor;
        let labels = Labels::of(&fold).since(None);
        let (pending, snapshot) = (pending(&mut fold, now), Snapshot::of_calls(&fold));
        let base = BaseState { link: tip.link, start, snapshot, pending };
        let base = self.seal_base(thread, head.life, floor, &base)?;
        let erased = append(id, last, &mut tip, Body::Erased(Erased { by: by.to_owned() }))?;
        let then = Some(Append { labels, updated: Some(now), ..erased });
        let trim = Trim { life: head.life, floor, base, expected: None, envelopes, then };
        self.store().trim(thread, trim).await?;
        Ok(tip.position)
    }

    /// The remains of the records up to `to` when they are erased: where their chain begins, with the link there, and their
    /// envelopes.
    async fn remains_of(
        &self,
        head: &Head,
        to: Position,
        erasure: &Erasure<'_>,
    ) -> Result<((Position, Option<Link>), Vec<Record>), CheckpointError> {
        let mut start = (Position::START, Some(Link::BEFORE_ALL));
        if head.floor > Position::START {
            start = self.base_state(head).await?.start;
        }
        Ok((start, self.envelopes(head, to, erasure).await?))
    }

    /// Envelopes of the records up to `to` when they are erased: they say when and by whom.
    async fn envelopes(
        &self,
        head: &Head,
        to: Position,
        erasure: &Erasure<'_>,
    ) -> Result<Vec<Record>, CheckpointError> {
        let (codec, thread) = (self.store().codec(), self.thread());
        let (mut envelopes, mut before) = (Vec::new(), Some(to.next()));
        loop {
            let page = self.store().history(thread, before, PAGE).await?;
            let Some(page) = page.filter(|page| !page.records.is_empty()) else { break };
            page.head.life.admit(thread, head.life)?;
            for record in &page.records {
                let position = record.position;
                let erased = record.erased(codec, thread, head.life, erasure);
                let erased =
                    erased.map_err(|error| self.unread(error, position, previous(position)));
                envelopes.push(erased?);
            }
            before = page.records.last().map(|record| record.position);
        }
        envelopes.reverse();
        Ok(envelopes)
    }
}

/// Checks whether the state of the thread's own graph stands here, between two super-steps.
fn is_checkpoint(entry: &Entry) -> bool {
    entry.namespace.is_root() && source(entry).is_some()
}
