//! The calls that a thread makes again when it goes back, or begins elsewhere.

use std::collections::BTreeSet;

use hanok_core::Position;

use crate::{
    backend::checkpointer::Checkpointer,
    entry::body::{Body, Entry},
    entry::task::Intent,
    error::CheckpointError,
    thread::log::Log,
    thread::walk::Walk,
};

/// The answer to a doubt about a call that was not made.
pub const NOT_MADE: &str = "not_made";

impl Log {
    /// The calls that must not be made twice and that were, or may have been, made since `at` (`None`: the end) or in the
    /// super-step that is due there, the oldest first. Whoever goes on from there makes them again, under other keys: a
    /// thread that is [rewound](Log::rewind) to it, and a [fork](Log::fork).
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
    /// assert!(log.calls_since(Some(Position(1))).await?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] when the log cannot be read; [`CheckpointError::Pruned`] when `at` was cut off.
    pub async fn calls_since(&self, at: Option<Position>) -> Result<Vec<Intent>, CheckpointError> {
        let Some(head) = self.store().head(self.thread()).await? else { return Ok(Vec::new()) };
        let at = at.unwrap_or(head.position);
        if at < head.floor {
            return Err(self.pruned(at, head.floor));
        }
        let (mut calls, mut listed, mut withdrawn) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        // What the thread did since, then what was done of the super-step that is due there.
        let stretches = [(head.position, at, false), (at, head.floor, true)];
        for (from, to, stops) in stretches {
            let mut walk = Walk::new(self, &head, from, to);
            while let Some(read) = walk.next().await? {
                if stops && schedules(&read.entry) {
                    break;
                }
                match read.entry.body {
                    // Newest first: a call that was not made is said so before it.
                    Body::Answer(answer) if matches!(answer.value.as_str(), Ok(NOT_MADE)) => {
                        withdrawn.insert(answer.id);
                    }
                    // One call may be announced more than once, as one that goes on from a note is.
                    Body::Intent(intent)
                        if !withdrawn.contains(&intent.id)
                            && listed.insert((intent.task, intent.key.clone())) =>
                    {
                        calls.push(intent);
                    }
                    _ => {}
                }
            }
        }
        calls.reverse();
        Ok(calls)
    }
}

/// Checks whether an entry schedules tasks of the thread's own graph.
fn schedules(entry: &Entry) -> bool {
    entry.namespace.is_root()
        && match &entry.body {
            Body::Commit(_) | Body::Rewind(_) | Body::Origin(_) => true,
            Body::Begin(begin) => begin.frontier.is_some(),
            Body::Edit(edit) => edit.frontier.is_some(),
            _ => false,
        }
}
