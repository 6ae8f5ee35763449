//! A store that is chosen at run time.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use hanok_core::{BoxFuture, Position, ThreadKey, Timestamp};

use crate::{
    backend::append::{Append, Trim},
    backend::checkpointer::{Checkpointer, Opened, Snapshots},
    backend::head::Head,
    backend::threads::{ThreadInfo, Which},
    claim::Epoch,
    codec::Codec,
    entry::outbox::{Cursor, OutboxItem},
    erased::erased,
    error::CheckpointError,
    life::Life,
};

/// The number of threads that are listed at once.
const PAGE: usize = 256;

/// Any [`Checkpointer`], chosen at run time. Clones share the store.
#[derive(Debug, Clone)]
pub struct SharedCheckpointer {
    store: Arc<dyn ErasedAppend>,
    codec: Codec,
    is_chained: bool,
}

impl SharedCheckpointer {
    /// Shares `store`, with its codec.
    pub fn new(store: impl Checkpointer) -> Self {
        let (codec, is_chained) = (store.codec(), store.is_chained());
        Self { store: Arc::new(store), codec, is_chained }
    }

    /// Sets the codec of the bytes that go into the store, and come out of it. Default: none.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// let store = SharedCheckpointer::new(InMemoryCheckpointer::new()).with_codec(Codec::new());
    /// assert!(!store.is_chained());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_codec(self, codec: Codec) -> Self {
        Self { codec, ..self }
    }

    /// The codec of the bytes that go into the store.
    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// As [`append`](Checkpointer::append), as a future that holds what it needs: whoever waits for it may be dropped, and
    /// somebody else goes on with it.
    pub fn append_owned(
        &self,
        thread: ThreadKey,
        append: Append,
    ) -> BoxFuture<'static, Result<(), CheckpointError>> {
        self.store.clone().append_owned(thread, append)
    }

    /// All threads that `which` names, by tenant and name.
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
    /// assert_eq!(store.all_threads(&Which::All).await?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn all_threads(&self, which: &Which) -> Result<Vec<ThreadInfo>, CheckpointError> {
        let mut all: Vec<ThreadInfo> = Vec::new();
        loop {
            let after = all.last().map(|info| &info.thread);
            let page = Checkpointer::threads(self, which.clone(), after, PAGE).await?;
            let last = page.len() < PAGE;
            all.extend(page);
            if last {
                return Ok(all);
            }
        }
    }
}

/// Appends as a future that holds the store.
trait ErasedAppend: Erased {
    fn append_owned(
        self: Arc<Self>,
        thread: ThreadKey,
        append: Append,
    ) -> BoxFuture<'static, Result<(), CheckpointError>>;
}

impl<C: Checkpointer> ErasedAppend for C {
    fn append_owned(
        self: Arc<Self>,
        thread: ThreadKey,
        append: Append,
    ) -> BoxFuture<'static, Result<(), CheckpointError>> {
        Box::pin(async move { Checkpointer::append(&*self, &thread, append).await })
    }
}

erased! {
    Erased of Checkpointer for SharedCheckpointer.store, CheckpointError;
    fn head(thread: ref ThreadKey) -> Option<Head>;
    fn append(thread: ref ThreadKey, append: own Append) -> ();
    fn open(thread: ref ThreadKey, at: own Option<Position>, snapshots: own Snapshots) -> Option<Opened>;
    fn history(thread: ref ThreadKey, before: own Option<Position>, limit: own usize) -> Option<Opened>;
    fn put_snapshot(thread: ref ThreadKey, life: own Life, position: own Position, snapshot: own Bytes) -> ();
    fn beat(thread: ref ThreadKey, life: own Life, epoch: own Epoch, now: own Timestamp) -> ();
    fn silence(thread: ref ThreadKey, epoch: own Epoch) -> Option<Duration>;
    fn delete(thread: ref ThreadKey, expected: maybe Head) -> bool;
    fn trim(thread: ref ThreadKey, trim: own Trim) -> ();
    fn threads(which: own Which, after: maybe ThreadKey, limit: own usize) -> Vec<ThreadInfo>;
    fn beyond(thread: ref ThreadKey, after: own Position) -> Position;
    fn outbox(consumer: ref str, topic: ref str, limit: own usize) -> Vec<OutboxItem>;
    fn advance(consumer: ref str, topic: ref str, to: own Cursor) -> ();
    impl {
        fn codec(&self) -> Codec {
            self.codec.clone()
        }

        fn is_chained(&self) -> bool {
            self.is_chained
        }
    }
}
