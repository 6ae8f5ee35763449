//! Checks that a task's update can be read again: by the next process, or by this one after a crash.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use hanok_core::{Changes, StoredError};
use hanok_state::StateUpdate;

/// The fields of each state of which a value was read back in this run. A debug build reads every value back.
#[derive(Debug, Default)]
pub(crate) struct Readable(Mutex<BTreeMap<&'static str, BTreeSet<String>>>);

impl Readable {
    /// Reads back the changes of fields of which no value was read back yet. An unreadable value fails the task that
    /// wrote it, and not the thread for ever.
    pub(crate) fn check<U: StateUpdate>(&self, changes: &Changes) -> Result<(), StoredError> {
        if changes.is_empty() {
            return Ok(());
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.entry(std::any::type_name::<U>()).or_default();
        let new = |field: &str| cfg!(debug_assertions) || !known.contains(field);
        let fresh = changes.0.iter().filter(|(field, _)| new(field));
        let fresh = Changes(fresh.cloned().collect());
        if fresh.is_empty() {
            return Ok(());
        }
        U::from_changes(&fresh)?;
        known.extend(fresh.0.into_iter().map(|(field, _)| field.into_owned()));
        Ok(())
    }
}
