//! The stored parts of a log: records, snapshots, bases, the head's seal.

use bytes::Bytes;
use hanok_core::{Position, ThreadKey};

use crate::{
    backend::checkpointer::Checkpointer,
    backend::head::Head,
    chain::{HeadSeal, Tip},
    entry::body::Entry,
    entry::fold::ThreadFold,
    entry::snapshot::Snapshot,
    error::CheckpointError,
    format::base::BaseState,
    format::envelope::VERSION,
    format::record::{Record, RecordError, Salt},
    format::seal::{self, SealPlace, Sealed, UnsealError},
    life::Life,
    thread::log::{Log, unwritten},
};

impl Log {
    /// Keeps a snapshot of `fold`, in which nothing may be pending, of this life of the thread; returns its size in bytes.
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
    /// assert!(log.put_snapshot(opened.head.life, &opened.fold).await? > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// What the store says. A snapshot is a cache: nothing is lost without it.
    pub async fn put_snapshot(
        &self,
        life: Life,
        fold: &ThreadFold,
    ) -> Result<usize, CheckpointError> {
        Ok(self.put_snapshot_within(life, fold, usize::MAX).await?.unwrap_or_default())
    }

    /// As [`put_snapshot`](Log::put_snapshot), unless the snapshot has more than `most` bytes: then `None`.
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
    /// assert_eq!(log.put_snapshot_within(opened.head.life, &opened.fold, 3).await?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// As [`put_snapshot`](Log::put_snapshot).
    pub async fn put_snapshot_within(
        &self,
        life: Life,
        fold: &ThreadFold,
        most: usize,
    ) -> Result<Option<usize>, CheckpointError> {
        let payload = Snapshot::of(fold).after(seal::ROOM);
        let place = self.place(life, fold.position);
        let bytes = seal::seal_after(self.store().codec(), Sealed::Snapshot, place, payload);
        let bytes = bytes.map_err(unwritten)?;
        let size = bytes.len();
        if size > most {
            return Ok(None);
        }
        self.store().put_snapshot(self.thread(), life, fold.position, bytes).await?;
        Ok(Some(size))
    }

    pub(crate) fn read(
        &self,
        life: Life,
        record: &Record,
        last_good: Position,
    ) -> Result<(Position, Entry), CheckpointError> {
        record
            .open(self.store().codec(), self.thread(), life)
            .map_err(|error| self.unread(error, record.position, last_good))
    }

    /// As [`read`](Log::read), with the salt of a chained record.
    pub(crate) fn read_salted(
        &self,
        life: Life,
        record: &Record,
        last_good: Position,
    ) -> Result<(Position, Entry, Option<Salt>), CheckpointError> {
        record
            .open_salted(self.store().codec(), self.thread(), life)
            .map_err(|error| self.unread(error, record.position, last_good))
    }

    /// The error of a record at `position` that is not read.
    pub(crate) fn unread(
        &self,
        error: RecordError,
        position: Position,
        last_good: Position,
    ) -> CheckpointError {
        match error {
            RecordError::Version { format } if format > VERSION => {
                CheckpointError::TooNew { format: u32::from(format), supported: u32::from(VERSION) }
            }
            RecordError::Codec(error) => UnsealError::Codec(error).at(self.thread(), position),
            error => self.corrupt(position, error.to_string(), last_good),
        }
    }

    /// The fold of a snapshot of the thread, or of its base.
    pub(super) fn restore(
        &self,
        head: &Head,
        position: Position,
        bytes: &Bytes,
    ) -> Result<ThreadFold, UnsealError> {
        if position == head.floor {
            let base = self.unseal_base(head.life, position, bytes)?;
            return base.to_fold(position).map_err(|_checksum_fits| UnsealError::Damaged);
        }
        Ok(self.unseal(head.life, position, bytes)?.to_fold(position))
    }

    pub(crate) fn unseal(
        &self,
        life: Life,
        position: Position,
        bytes: &[u8],
    ) -> Result<Snapshot, UnsealError> {
        let place = self.place(life, position);
        let payload = seal::unseal(self.store().codec(), Sealed::Snapshot, place, bytes)?;
        Snapshot::from_bytes(&payload).map_err(|_checksum_fits| UnsealError::Damaged)
    }

    /// The base of the records up to `floor`, as the store's codec makes it.
    pub(crate) fn seal_base(
        &self,
        thread: &ThreadKey,
        life: Life,
        floor: Position,
        base: &BaseState,
    ) -> Result<Bytes, CheckpointError> {
        let place = SealPlace { thread, life, position: floor };
        seal::seal(self.store().codec(), Sealed::Base, place, base.to_bytes()).map_err(unwritten)
    }

    pub(crate) fn unseal_base(
        &self,
        life: Life,
        floor: Position,
        bytes: &[u8],
    ) -> Result<BaseState, UnsealError> {
        let place = self.place(life, floor);
        let payload = seal::unseal(self.store().codec(), Sealed::Base, place, bytes)?;
        BaseState::from_bytes(&payload).map_err(|_checksum_fits| UnsealError::Damaged)
    }

    fn place(&self, life: Life, position: Position) -> SealPlace<'_> {
        SealPlace { thread: self.thread(), life, position }
    }

    /// Refuses a head that was not written with a key that the codec has, if it has any.
    pub(crate) fn check_seal(&self, head: &Head) -> Result<(), CheckpointError> {
        let keys = self.store().codec().chain_keys();
        if keys.is_empty() {
            return Ok(());
        }
        let tip = Tip::of(head);
        let fits = |seal: &HeadSeal| {
            keys.iter().any(|key| HeadSeal::of(key, self.thread(), &tip).is(seal))
        };
        if head.seal.as_ref().is_some_and(fits) {
            return Ok(());
        }
        let reason = "the thread's head was not sealed here: later records may be gone".to_owned();
        Err(self.corrupt(head.position, reason, head.position))
    }
}
