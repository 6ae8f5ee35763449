//! Notes of the calls of a task: memos under a name that no step has.

use hanok_checkpoint::{Body, CheckpointError, Doubt, Intent, Memo, Safety};
use hanok_core::Stored;

use crate::node::attempt::{TaskAttempt, locked};

/// The name of the memo that is the note of the call `key`. A step has no control character in its name by intention.
fn name(key: &str) -> String {
    format!("\u{1}note/{key}")
}

impl TaskAttempt {
    /// Stores `note` of the call `key`. An intent to make the call, if there is one, is no doubt from now on: whoever makes the
    /// call again goes on from the note.
    pub(crate) async fn note(&self, key: &str, note: Stored) -> Result<(), CheckpointError> {
        self.activity.touch();
        let name = name(key);
        let meant = locked(&self.stored_steps().intents).get(key).cloned();
        let repeats = meant
            .filter(|intent| intent.doubt != Doubt::Repeat)
            .map(|intent| Intent { doubt: Doubt::Repeat, ..intent });
        if self.env.journal.is_kept() {
            let spent = self.spend();
            self.env.record_spent(spent);
            let memo = Memo { task: self.id(), name: name.clone(), value: note.clone(), spent };
            let namespace = &self.task.namespace;
            let bodies = [Body::Memo(memo)].into_iter().chain(repeats.clone().map(Body::Intent));
            let entries = bodies.map(|body| (namespace.clone(), body)).collect();
            self.env.journal.append_safely(entries, Safety::Machine).await?;
        }
        locked(&self.stored_steps().memos).insert(name, note);
        if let Some(intent) = repeats {
            locked(&self.stored_steps().intents).insert(key.to_owned(), intent);
        }
        Ok(())
    }

    /// The newest note of the call `key`.
    pub(crate) fn noted(&self, key: &str) -> Option<Stored> {
        let memos = locked(&self.stored_steps().memos);
        memos.get(&name(key)).filter(|note| **note != Stored::nil()).cloned()
    }

    /// Drops the note of the call `key`, which leads nowhere: the call is in `doubt` again.
    pub(crate) async fn lose(&self, key: &str, doubt: Doubt) -> Result<(), CheckpointError> {
        let meant = locked(&self.stored_steps().intents).get(key).cloned();
        let (Some(meant), Some(_)) = (meant, self.noted(key)) else { return Ok(()) };
        let (name, intent) = (name(key), Intent { doubt, ..meant });
        if self.env.journal.is_kept() {
            let spent = self.spend();
            self.env.record_spent(spent);
            let value = Stored::nil();
            let memo = Memo { task: self.id(), name: name.clone(), value, spent };
            let bodies = [Body::Memo(memo), Body::Intent(intent.clone())];
            let entries = bodies.map(|body| (self.task.namespace.clone(), body)).into();
            self.env.journal.append_safely(entries, Safety::Machine).await?;
        }
        locked(&self.stored_steps().memos).remove(&name);
        locked(&self.stored_steps().intents).insert(key.to_owned(), intent);
        Ok(())
    }
}
