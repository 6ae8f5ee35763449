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

/// The place of entries between runs.
pub(crate) struct AppendPlace {
    /// The end of the log.
    pub(crate) tip: Tip,
    /// The earlier position to which the first entry goes back, if it is a [`Rewind`](Body::Rewind).
    pub(crate) back_to: Option<Position>,
    /// The fold that the entries follow.
    pub(crate) fold: ThreadFold,
}

impl AppendPlace {
    /// The place at the end of a log with this fold.
    pub(crate) fn end(tip: Tip, fold: ThreadFold) -> Self {
        Self { tip, back_to: None, fold }
    }
}

/// Appends `entries` to a log, whose first graph is `new` if it had none. Returns the position of the last one.
pub(crate) async fn append(
    log: &Log,
    Stamp { id, now }: Stamp,
    new: Option<Arc<str>>,
    AppendPlace { mut tip, back_to, mut fold }: AppendPlace,
    entries: Vec<(Namespace, Body)>,
) -> Result<Position, RunError> {
    let (codec, thread) = (log.store().codec(), log.thread());
    let (expected, mut records) = (tip.position, Vec::with_capacity(entries.len()));
    for (namespace, body) in entries {
        let entry = Entry { at: now, namespace, body };
        let follows = back_to.filter(|_| records.is_empty()).unwrap_or(tip.position);
        let record = tip.push(codec, thread, follows, &entry);
        records.push(record.map_err(|error| CheckpointError::Encode(error.into()))?);
        fold.apply(tip.position, &entry).map_err(|error| RunError::State(error.into()))?;
    }
    let append = tip.append(codec, thread, id, expected, Guard::Unclaimed, records);
    let graph = new.filter(|_| expected == Position::START);
    let is = Labels::of(&fold);
    let labels = Labels { graph: graph.or(is.graph.clone()), ..is }.since(None);
    log.store().append(thread, Append { updated: Some(now), labels, ..append }).await?;
    if let Some(to) = back_to {
        let again = AppendId(id.0.wrapping_add(1));
        log.is_uncut(tip, (to, expected), Guard::Unclaimed, again, now).await?;
    }
    Ok(tip.position)
}
