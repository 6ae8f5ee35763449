//! Erasure of threads, with their forks.

use std::collections::BTreeSet;

use hanok_core::ThreadKey;

use crate::{
    backend::checkpointer::Checkpointer, backend::threads::Which, error::CheckpointError,
    thread::log::Log,
};

/// The fate of the forks of what is erased: they hold it too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Forks {
    /// They are removed as well, and the forks of forks.
    #[default]
    Too,
    /// They stay.
    Keep,
}

impl Log {
    /// Removes the thread and all that belongs to it, and, with [`Forks::Too`], its forks and theirs; says which threads
    /// were removed. What was begun and broke off is finished by another call.
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
    /// let fork = ThreadKey::new(Tenant::default(), "fork")?;
    /// log.fork(None, &fork, AppendId(2), Timestamp(8)).await?;
    /// assert_eq!(log.erase_thread(Forks::Too).await?, [fork, thread]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn erase_thread(&self, forks: Forks) -> Result<Vec<ThreadKey>, CheckpointError> {
        let mut gone = Vec::new();
        if forks == Forks::Too {
            gone = self.erase_forks().await?;
        }
        if self.store().delete(self.thread(), None).await? {
            gone.push(self.thread().clone());
        }
        if forks == Forks::Too {
            gone.extend(self.erase_forks().await?);
        }
        Ok(gone)
    }

    /// Removes the forks of the thread, and theirs; says which.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn erase_forks(&self) -> Result<Vec<ThreadKey>, CheckpointError> {
        let mut gone = Vec::new();
        loop {
            let forks = self.forks().await?;
            if forks.is_empty() {
                return Ok(gone);
            }
            // A fork of a fork first: while its origin is there it can be found.
            for fork in forks.into_iter().rev() {
                if self.store().delete(&fork, None).await? {
                    gone.push(fork);
                }
            }
        }
    }

    /// The forks of the thread, and theirs: none before the one that it is a fork of.
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
    /// let fork = ThreadKey::new(Tenant::default(), "fork")?;
    /// log.fork(None, &fork, AppendId(2), Timestamp(8)).await?;
    /// assert_eq!(log.forks().await?, [fork]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn forks(&self) -> Result<Vec<ThreadKey>, CheckpointError> {
        let (mut forks, mut names): (Vec<ThreadKey>, _) = (Vec::new(), BTreeSet::new());
        names.insert(self.thread().clone());
        let mut next = 0;
        let mut of = Some(self.thread().clone());
        while let Some(origin) = of {
            for fork in self.store().all_threads(&Which::ForksOf(origin)).await? {
                // A name that was given again may make a fork of its own fork.
                if names.insert(fork.thread.clone()) {
                    forks.push(fork.thread);
                }
            }
            of = forks.get(next).cloned();
            next += 1;
        }
        Ok(forks)
    }
}
