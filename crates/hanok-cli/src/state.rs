//! How far a thread is, in a word or two for a list.

use hanok_checkpoint::{Holder, Log, RunEnd, STATUS, SharedCheckpointer, Status, ThreadInfo};
use hanok_core::Namespace;

use crate::store::id;

/// `running`, `lost`, `asks`, `done`, or how a turn that is not over was left and the nodes that are due: `due: tools`,
/// `failed: tools`. Empty where the row cannot be read.
///
/// The log is read of such a turn alone, and its nodes are left out where it cannot be.
pub(crate) async fn state(store: &SharedCheckpointer, info: &ThreadInfo) -> String {
    let status = info.labels.get(STATUS).map(String::as_str).unwrap_or_default();
    if info.damage.is_some() {
        return String::new();
    }
    // A thread that somebody owns runs, whatever its last run left.
    if let Some(claim) = &info.head.claim {
        let lost = claim.is_known_dead(&Holder::this_process(id().0));
        return if lost { "lost" } else { "running" }.to_owned();
    }
    let is = |end: RunEnd| status == end.as_str();
    if is(RunEnd::Done) || status.is_empty() {
        return status.to_owned();
    }
    if is(RunEnd::Interrupted) || is(RunEnd::InDoubt) {
        return "asks".to_owned();
    }
    let left = if status == Status::Running.as_str() { Status::Due.as_str() } else { status };
    let log = Log::new(store.clone(), info.thread.clone());
    let opened = log.open(None).await.ok().flatten();
    let root = opened.as_ref().and_then(|opened| opened.fold.run(&Namespace::root()));
    let due = root.iter().flat_map(|run| &run.frontier.due).map(|due| due.node.to_string());
    let mut due: Vec<_> = due.collect();
    due.sort();
    due.dedup();
    if due.is_empty() { left.to_owned() } else { format!("{left}: {}", due.join(", ")) }
}
