//! Stores that are wrong, for the simulator to find.

use std::sync::atomic::{AtomicUsize, Ordering};

use hanok_checkpoint::{
    Append, AppendId, CheckpointError, Checkpointer, Codec, Guard, Safety, SharedCheckpointer, Tip,
};
use hanok_core::ThreadKey;
use hanok_testkit::{Layer, Layered};

/// One way in which a store could be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongStore {
    /// It does not look at epochs.
    EpochUnchecked,
    /// Of an append of several records it stores the first.
    AppendTorn,
    /// An append now and then is said to be stored and is not.
    AppendDropped,
    /// An append whose answer is lost is made again, under a new id.
    AppendRepeated,
    /// What has to survive the machine is stored as if it had to survive the process.
    MachineForgotten,
}

impl WrongStore {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::EpochUnchecked,
        Self::AppendTorn,
        Self::AppendDropped,
        Self::AppendRepeated,
        Self::MachineForgotten,
    ];

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|store| format!("{store:?}") == name)
    }

    /// The store, made wrong.
    pub fn of(self, store: SharedCheckpointer) -> SharedCheckpointer {
        SharedCheckpointer::new(Layered(Wrong { store, bug: self, appends: AtomicUsize::new(0) }))
    }
}

#[derive(Debug)]
struct Wrong {
    store: SharedCheckpointer,
    bug: WrongStore,
    appends: AtomicUsize,
}

impl Wrong {
    /// The same under the claim that holds, whosever it is, behind whatever is there.
    async fn anyhow(&self, thread: &ThreadKey, append: Append) -> Result<Append, CheckpointError> {
        let Some(head) = self.store.head(thread).await? else { return Ok(append) };
        let guard = match append.guard {
            Guard::Hold(_) => Guard::Hold(head.epoch),
            Guard::Release(_) => Guard::Release(head.epoch),
            guard => guard,
        };
        let (mut tip, codec) = (Tip::of(&head), Codec::default());
        let records = append.records.iter().filter_map(|record| {
            let (_, entry) = record.open(&codec, thread, append.life).ok()?;
            tip.push(&codec, thread, tip.position, &entry).ok()
        });
        let records = records.collect();
        Ok(Append { life: head.life, expected: head.position, guard, records, ..append })
    }
}

impl Layer for Wrong {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        match self.bug {
            WrongStore::EpochUnchecked => {
                self.store.append(thread, self.anyhow(thread, append).await?).await
            }
            WrongStore::AppendTorn => {
                let records = append.records.iter().take(1).cloned().collect();
                self.store.append(thread, Append { records, ..append }).await
            }
            WrongStore::AppendDropped => {
                let nth = self.appends.fetch_add(1, Ordering::SeqCst);
                let drops = nth % 7 == 6 && matches!(append.guard, Guard::Release(_));
                if drops { Ok(()) } else { self.store.append(thread, append).await }
            }
            WrongStore::AppendRepeated => {
                let first = self.store.append(thread, append.clone()).await;
                let Err(CheckpointError::Unavailable { .. }) = first else { return first };
                let again = self.anyhow(thread, append).await?;
                let id = AppendId(again.id.0.wrapping_add(1));
                self.store.append(thread, Append { id, ..again }).await
            }
            WrongStore::MachineForgotten => {
                self.store.append(thread, Append { safety: Safety::Process, ..append }).await
            }
        }
    }
}
