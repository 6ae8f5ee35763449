//! The writes of one update, bound to the rules of a schema.

use std::{collections::BTreeMap, sync::Arc};

use super::{any_slot::AnySlot, declared::Declared};
use crate::error::ReduceError;

/// The writes of an update, by the place of their field in a schema.
#[derive(Clone)]
pub(crate) struct Bound {
    pub(crate) declared: Arc<Declared>,
    pub(crate) slots: BTreeMap<usize, AnySlot>,
}

impl Bound {
    /// Joins two updates of one super-step and one schema: this, and then `after`.
    pub(crate) fn and(mut self, after: Self) -> Self {
        for (at, slot) in after.slots {
            let slot = match self.slots.remove(&at) {
                Some(before) => before.and(slot),
                None => slot,
            };
            self.slots.insert(at, slot);
        }
        self
    }

    /// Joins the updates of two super-steps and one schema: this, and then `after`.
    pub(crate) fn then(mut self, after: Self) -> Result<Self, ReduceError> {
        for (at, slot) in after.slots {
            let slot = match (self.slots.remove(&at), self.declared.fields.get(at)) {
                (Some(before), Some(field)) => before.then(&field.name, slot)?,
                _ => slot,
            };
            self.slots.insert(at, slot);
        }
        Ok(self)
    }

    /// The names of the fields that are written, with the writes.
    pub(crate) fn written(&self) -> impl Iterator<Item = (&Arc<str>, &AnySlot)> {
        let field = |at: &usize| self.declared.fields.get(*at);
        self.slots.iter().filter_map(move |(at, slot)| Some((&field(at)?.name, slot)))
    }

    /// Tells that the writes are bound to `declared`.
    pub(crate) fn is_of(&self, declared: &Arc<Declared>) -> bool {
        Arc::ptr_eq(&self.declared, declared)
    }
}
