//! Appends between runs, to a thread whose claim nobody holds.

use std::sync::Arc;

use hanok_checkpoint::{
    Append, AppendId, Body, CheckpointError, Checkpointer, Entry, Guard, Labels, Log, ThreadFold,
    Tip,
};
use hanok_core::{Namespace, Position, Timestamp};

use crate::error::RunError;

/// What an append is named by, and when it is made.
pub(crate) struct Stamp {
    pub(crate) id: AppendId,
    pub(crate) now: Timestamp,
}

/// Appends `entries` to a log with this fold, whose first graph is `new` if it had none. Returns the position of the last one.
pub(crate) async fn append(
    log: &Log,
    Stamp { id, now }: Stamp,
    new: Option<Arc<str>>,
    mut tip: Tip,
    mut fold: ThreadFold,
    entries: Vec<(Namespace, Body)>,
) -> Result<Position, RunError> {
    let (codec, thread) = (log.store().codec(), log.thread());
    let (expected, mut records) = (tip.position, Vec::with_capacity(entries.len()));
    for (namespace, body) in entries {
        let entry = Entry { at: now, namespace, body };
        let record = tip.push(codec, thread, tip.position, &entry);
        records.push(record.map_err(|error| CheckpointError::Encode(error.into()))?);
        fold.apply(tip.position, &entry).map_err(|error| RunError::State(error.into()))?;
    }
    let append = tip.append(codec, thread, id, expected, Guard::Unclaimed, records);
    let graph = new.filter(|_| expected == Position::START);
    let is = Labels::of(&fold);
    let labels = Labels { graph: graph.or(is.graph.clone()), ..is }.since(None);
    log.store().append(thread, Append { updated: Some(now), labels, ..append }).await?;
    Ok(tip.position)
}
