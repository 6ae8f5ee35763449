//! What the tests of files share: threads, and appends to them.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_checkpoint::{Append, AppendId, Body, End, Entry, Guard, Record, RunEnd};
use hanok_core::{Namespace, Position, RunId, Tenant, ThreadKey, Timestamp};

pub(crate) fn key(thread: &str) -> ThreadKey {
    ThreadKey::new(Tenant::default(), thread).unwrap()
}

/// The append of one record that holds `text`, behind `at`.
pub(crate) fn append(thread: &ThreadKey, at: u64, text: &str) -> Append {
    let (run, outcome, spent) = (RunId(1), RunEnd::Done, Default::default());
    let end = End { run, outcome, detail: text.into(), spent, code: None, by: None };
    let entry = Entry { at: Timestamp(at), namespace: Namespace::root(), body: Body::End(end) };
    let record = Record::new(thread, Position(at + 1), Position(at), &entry);
    Append::new(AppendId(at.into()), Position(at), Guard::Unclaimed, vec![record])
}
