//! Notes of the calls of a task: memos under a name that no step has.

use std::collections::BTreeMap;

use hanok_checkpoint::{Body, CheckpointError, Intent, Memo, Safety};
use hanok_core::{Namespace, Spent, Stored};

use crate::node::attempt::{TaskAttempt, locked};

/// The beginning of such a name. A step has no control character in its name by intention.
const NOTE: &str = "\u{1}note/";

/// The name of the memo that is the note of the call `key`.
fn name(key: &str) -> String {
    format!("{NOTE}{key}")
}

/// The key of the call that a memo of this name is the note of.
pub(crate) fn key_of(name: &str) -> Option<&str> {
    name.strip_prefix(NOTE)
}

/// Takes the notes out of `memos`, by the key of their call.
pub(crate) fn taken_from(memos: &mut BTreeMap<String, Stored>) -> BTreeMap<String, Stored> {
    let mut notes = BTreeMap::new();
    memos.retain(|name, value| {
        let key = key_of(name);
        notes.extend(key.map(|key| (key.to_owned(), value.clone())));
        key.is_none()
    });
    notes
}

/// The entries that drop the note of a call of the graph at `path`: it is in doubt from now on.
pub(crate) fn lost(path: &Namespace, intent: &Intent) -> Vec<(Namespace, Body)> {
    let Intent { task, key, .. } = intent;
    let (value, spent) = (Stored::nil(), Spent::default());
    let memo = Memo { task: *task, name: name(key), value, spent };
    let bodies = [Body::Memo(memo), Body::Intent(Intent { noted: false, ..intent.clone() })];
    bodies.map(|body| (path.clone(), body)).into()
}

impl TaskAttempt {
    /// Stores `note` of the call `key`. An intent to make the call, if there is one, is no doubt from now on: whoever makes the
    /// call again goes on from the note.
    pub(crate) async fn note(&self, key: &str, note: Stored) -> Result<(), CheckpointError> {
        self.activity.touch();
        let meant = locked(&self.stored_steps().intents).get(key).cloned();
        let noted = meant.filter(|intent| !intent.repeats());
        let noted = noted.map(|intent| Intent { noted: true, ..intent });
        if self.env.journal.is_kept() {
            self.unsettle(key);
            let spent = self.spend();
            self.env.record_spent(spent);
            let memo = Memo { task: self.id(), name: name(key), value: note.clone(), spent };
            let namespace = &self.task.namespace;
            let bodies = [Body::Memo(memo)].into_iter().chain(noted.clone().map(Body::Intent));
            let entries = bodies.map(|body| (namespace.clone(), body)).collect();
            let _wait = self.awaits_store();
            self.env.journal.append_safely(entries, Safety::Machine).await?;
        }
        locked(&self.stored_steps().notes).insert(key.to_owned(), note);
        if let Some(intent) = noted {
            self.intend(intent);
        }
        Ok(())
    }

    /// The newest note of the call `key`. Nothing is no note: what was dropped reads so.
    pub(crate) fn noted(&self, key: &str) -> Option<Stored> {
        let notes = locked(&self.stored_steps().notes);
        notes.get(key).filter(|note| **note != Stored::nil()).cloned()
    }

    /// Drops the note of the call `key`, which leads nowhere: the call is in doubt again.
    pub(crate) async fn lose(&self, key: &str) -> Result<(), CheckpointError> {
        let meant = locked(&self.stored_steps().intents).get(key).cloned();
        let (Some(meant), Some(_)) = (meant, self.noted(key)) else { return Ok(()) };
        let intent = Intent { noted: false, ..meant };
        self.unsettle(key);
        if self.env.journal.is_kept() {
            let entries = lost(&self.task.namespace, &intent);
            let _wait = self.awaits_store();
            self.env.journal.append_safely(entries, Safety::Machine).await?;
        }
        locked(&self.stored_steps().notes).remove(key);
        self.intend(intent);
        Ok(())
    }
}
