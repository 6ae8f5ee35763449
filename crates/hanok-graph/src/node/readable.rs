//! What a task writes has to be read again: by the next process, or by this one after a crash.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use hanok_core::{Changes, StoredError};
use hanok_state::StateUpdate;

/// The fields of each state of which a value was read back in this run. In a debug build every value is.
#[derive(Debug, Default)]
pub(crate) struct Readable(Mutex<BTreeMap<&'static str, BTreeSet<String>>>);

impl Readable {
    /// Reads back what `changes` write to fields of which nothing was read back yet: what could not be read again fails the
    /// task that wrote it, and not the thread for ever.
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
