//! The links of a log, from its records.

use hanok_core::Position;

use crate::{
    backend::checkpointer::{Checkpointer, Snapshots},
    backend::head::Head,
    chain::{Ancestor, Link},
    error::CheckpointError,
    format::base::BaseState,
    format::record::Part,
    format::seal::UnsealError,
    life::Life,
    thread::log::{Log, previous},
};

/// The number of records that are read at a time.
const PAGE: usize = 256;

impl Log {
    /// The thread that this one is a fork or a copy of, as its first record says; `None` for any other, and for one whose first
    /// record was cut off.
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
    /// assert_eq!(log.ancestor().await?, None);
    /// let fork = ThreadKey::new(Tenant::default(), "fork")?;
    /// log.fork(None, &fork, AppendId(2), Timestamp(8)).await?;
    /// let origin = Log::new(store, fork).ancestor().await?.map(|ancestor| ancestor.life);
    /// assert_eq!(origin, Some(Life::new(1)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] for a damaged record; what the store says.
    pub async fn ancestor(&self) -> Result<Option<Ancestor>, CheckpointError> {
        let Some(head) = self.store().head(self.thread()).await? else { return Ok(None) };
        let first = Some(head.floor.next());
        let Some(opened) = self.store().open(self.thread(), first, Snapshots::Ignore).await? else {
            return Ok(None);
        };
        let Some(record) = opened.records.first() else { return Ok(None) };
        let ancestor = record.ancestor(self.thread(), opened.head.life);
        ancestor.map_err(|error| self.unread(error, record.position, previous(record.position)))
    }

    /// The link of the record at `to` of a thread that is at `head`; `None` where records are not chained.
    pub(crate) async fn link_at(
        &self,
        head: &Head,
        to: Position,
    ) -> Result<Option<Link>, CheckpointError> {
        if head.link.is_none() || to == head.position {
            return Ok(head.link);
        }
        let link = match head.floor {
            Position::START => Some(Link::BEFORE_ALL),
            _ => self.base_state(head).await?.link,
        };
        let Some(mut link) = link else { return Ok(None) };
        for part in self.parts(head.life, head.floor, to).await? {
            link = part
                .link(self.store().codec(), head.life, &link)
                .map_err(|error| UnsealError::Codec(error).at(self.thread(), part.position))?;
        }
        Ok(Some(link))
    }

    /// The base of a log: what stands for the records that were cut off.
    pub(crate) async fn base_state(&self, head: &Head) -> Result<BaseState, CheckpointError> {
        let opened = self.store().open(self.thread(), Some(head.floor), Snapshots::Ignore).await?;
        let base = opened.and_then(|opened| opened.snapshot).map(|(_, bytes)| bytes);
        let Some(bytes) = base else {
            let reason = "what stands for the entries before it is missing".to_owned();
            return Err(self.corrupt(head.floor, reason, Position::START));
        };
        let base = self.unseal_base(head.life, head.floor, &bytes);
        base.map_err(|error| error.at(self.thread(), head.floor))
    }

    /// The parts of which the links of the records after `from` up to `to` are made, in order.
    pub(crate) async fn parts(
        &self,
        life: Life,
        from: Position,
        to: Position,
    ) -> Result<Vec<Part>, CheckpointError> {
        let (mut parts, mut due) = (Vec::new(), to);
        while due > from {
            let page = self.store().history(self.thread(), Some(due.next()), PAGE).await?;
            let records = match page {
                Some(page) => {
                    page.head.life.admit(self.thread(), life)?;
                    page.records
                }
                None => Vec::new(),
            };
            if records.is_empty() {
                return Err(self.corrupt(due, "it is missing".to_owned(), previous(due)));
            }
            for record in records {
                if due == from {
                    break;
                }
                let part = match record.part(self.store().codec(), self.thread(), life) {
                    Ok(Some(part)) if record.position == due => part,
                    Ok(Some(_)) => {
                        return Err(self.corrupt(due, "it is missing".to_owned(), previous(due)));
                    }
                    Ok(None) => {
                        let reason = "it is not chained, and the thread is".to_owned();
                        return Err(self.corrupt(due, reason, previous(due)));
                    }
                    Err(error) => return Err(self.unread(error, due, previous(due))),
                };
                parts.push(part);
                due = previous(due);
            }
        }
        parts.reverse();
        Ok(parts)
    }
}
