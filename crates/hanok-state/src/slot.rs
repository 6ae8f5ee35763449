//! One field of an update, and the writes of one super-step to it.

use std::{borrow::Cow, fmt, sync::Arc};

use hanok_core::{Change, Changes, Field, Fields, StoredError};

use crate::{Reduce, ReduceError, Refused};

/// What an update holds for one field of type `T` under the rule `R`: nothing, or a write.
pub struct Slot<T, R: Reduce<T>>(Option<Write<T, R>>);

/// One write to a field.
pub enum Write<T, R: Reduce<T>> {
    /// A write that the field's rule merges.
    Plain(R::Write),
    /// A value that takes the place of the old one and of all other writes.
    Overwrite(T),
}

impl<T: Clone, R: Reduce<T>> Slot<T, R> {
    /// A slot that holds `write`.
    pub(crate) fn plain(write: R::Write) -> Self {
        Self(Some(Write::Plain(write)))
    }

    /// A slot that holds `value` over everything.
    pub(crate) fn whole(value: T) -> Self {
        Self(Some(Write::Overwrite(value)))
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Writes `write`, after what was written before. An overwrite stays: it wins over every other write.
    pub fn write(&mut self, write: R::Write) {
        self.0 = Some(match self.0.take() {
            Some(Write::Plain(before)) => Write::Plain(R::then(before, write)),
            Some(Write::Overwrite(value)) => Write::Overwrite(value),
            None => Write::Plain(write),
        });
    }

    /// Writes `value` over everything.
    pub fn overwrite(&mut self, value: T) {
        self.0 = Some(Write::Overwrite(value));
    }

    /// The writes of this and then of `after`, of one node in one super-step.
    #[must_use]
    pub fn and(mut self, after: Self) -> Self {
        match after.0 {
            Some(Write::Plain(write)) => self.write(write),
            Some(Write::Overwrite(value)) => self.overwrite(value),
            None => {}
        }
        self
    }

    /// One write of `field` that does what this does, and then, in a later super-step, `after`.
    ///
    /// # Errors
    ///
    /// [`ReduceError`], which names no node, when `after` does not fit the value that this overwrites with.
    pub fn then(self, field: &str, after: Self) -> Result<Self, ReduceError> {
        let write = match (self.0, after.0) {
            (before, None) => return Ok(Self(before)),
            (None, after) | (_, after @ Some(Write::Overwrite(_))) => return Ok(Self(after)),
            (Some(Write::Plain(before)), Some(Write::Plain(after))) => {
                R::later(before, after).map(Write::Plain)
            }
            (Some(Write::Overwrite(value)), Some(Write::Plain(after))) => {
                merged::<T, R>(value, after).map(Write::Overwrite)
            }
        };
        write.map(|write| Self(Some(write))).map_err(|reason| nameless(field, reason))
    }

    /// Gives ids to what has none.
    pub fn complete(&mut self, ids: &mut dyn FnMut() -> String) {
        match &mut self.0 {
            Some(Write::Plain(write)) => R::complete(write, ids),
            Some(Write::Overwrite(value)) => R::complete_value(value, ids),
            None => {}
        }
    }

    /// Adds the write, as stored, to `changes`.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a value's `Serialize` fails.
    pub fn store(
        &self,
        field: impl Into<Cow<'static, str>>,
        changes: &mut Changes,
    ) -> Result<(), StoredError> {
        let field = field.into();
        match &self.0 {
            None => {}
            Some(Write::Plain(write)) => {
                R::store(write)?.into_iter().for_each(|change| changes.push(field.clone(), change));
            }
            Some(Write::Overwrite(value)) => {
                if let Some(field_value) = R::store_value(value)? {
                    changes.push(field, Change::Set(field_value.to_stored()));
                }
            }
        }
        Ok(())
    }

    /// Reads the write of `field` out of `changes`.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it was stored in another shape.
    pub fn load(field: &str, changes: &Changes) -> Result<Self, StoredError> {
        let of_field: Vec<_> =
            changes.0.iter().filter(|(name, _)| name == field).map(|(_, change)| change).collect();
        match of_field.as_slice() {
            [] => Ok(Self(None)),
            [Change::Set(value)] if R::HAS_OVERWRITE => {
                Ok(Self(Some(Write::Overwrite(R::load_value(Field::Value(value.clone()))?))))
            }
            several => Ok(Self(Some(Write::Plain(R::load(several)?)))),
        }
    }
}

impl<T, R: Reduce<T>> Slot<T, R> {
    /// Whether what `node` alone writes can be merged into `value`.
    ///
    /// # Errors
    ///
    /// [`ReduceError`] when it cannot.
    #[inline]
    pub fn check_one(&self, field: &str, value: &T, node: &Arc<str>) -> Result<(), ReduceError> {
        match &self.0 {
            Some(Write::Plain(write)) => {
                R::check_one(value, node, write).map_err(|reason| refused(field, node, reason))
            }
            Some(Write::Overwrite(_)) | None => Ok(()),
        }
    }

    /// Merges what `node` alone writes into `value` and adds to `changes` what cannot be told from the write, if it is to
    /// be `told`. The slot is empty afterwards.
    ///
    /// # Errors
    ///
    /// [`ReduceError`] when it cannot be merged; [`Slot::check_one`] says so before anything is changed.
    #[inline]
    pub fn apply_one(
        &mut self,
        field: &'static str,
        value: &mut T,
        node: &Arc<str>,
        told: (&mut Changes, bool),
    ) -> Result<(), ReduceError> {
        // Of a wide state few slots are written: the others cost no call.
        match self.0.is_none() {
            true => Ok(()),
            false => self.merge_one(field, value, node, told),
        }
    }

    fn merge_one(
        &mut self,
        field: &'static str,
        value: &mut T,
        node: &Arc<str>,
        (changes, told): (&mut Changes, bool),
    ) -> Result<(), ReduceError> {
        match self.0.take() {
            None => {}
            Some(Write::Overwrite(whole)) => *value = whole,
            Some(Write::Plain(write)) => {
                let resolved = R::reduce_one(value, node, write, told);
                let resolved = resolved.map_err(|reason| refused(field, node, reason))?;
                resolved.into_iter().for_each(|change| changes.push(field, change));
            }
        }
        Ok(())
    }

    /// Adds the value of this slot's field to `fields`, unless it is transient.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the value's `Serialize` fails.
    pub fn store_value(name: &str, value: &T, fields: &mut Fields) -> Result<(), StoredError> {
        if let Some(field) = R::store_value(value)? {
            fields.insert(name, field);
        }
        Ok(())
    }

    /// Takes this slot's field out of `fields`, under the first of `names` that is there.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it was stored in another shape.
    pub fn load_value(names: &[&str], fields: &mut Fields) -> Result<Option<T>, StoredError> {
        let found = names.iter().find_map(|name| fields.take(name));
        found.map(R::load_value).transpose()
    }
}

/// `value` after a super-step in which `write` was all that was written to it.
fn merged<T, R: Reduce<T>>(mut value: T, write: R::Write) -> Result<T, Refused> {
    let writes = vec![(Arc::from(""), write)];
    R::check(&value, &writes)?;
    // What the reducer resolved is within the value, which is stored whole.
    R::reduce(&mut value, writes)?;
    Ok(value)
}

/// The error of what one node wrote.
#[cold]
fn refused(field: &str, node: &Arc<str>, reason: Refused) -> ReduceError {
    match reason {
        Refused::Nested(inner) => inner.within(field),
        reason => ReduceError { field: field.to_owned(), nodes: vec![node.clone()], reason },
    }
}

/// The error of writes that no node is known of.
fn nameless(field: &str, reason: Refused) -> ReduceError {
    match reason {
        Refused::Nested(inner) => ReduceError { nodes: Vec::new(), ..inner.within(field) },
        reason => ReduceError { field: field.to_owned(), nodes: Vec::new(), reason },
    }
}

impl<T: Clone, R: Reduce<T>> Clone for Slot<T, R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T, R: Reduce<T>> Default for Slot<T, R> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T, R: Reduce<T>> fmt::Debug for Slot<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            None => "nothing",
            Some(Write::Plain(_)) => "a write",
            Some(Write::Overwrite(_)) => "an overwrite",
        })
    }
}

impl<T: Clone, R: Reduce<T>> Clone for Write<T, R> {
    fn clone(&self) -> Self {
        match self {
            Self::Plain(write) => Self::Plain(write.clone()),
            Self::Overwrite(value) => Self::Overwrite(value.clone()),
        }
    }
}

impl<T, R: Reduce<T>> fmt::Debug for Write<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain(…)",
            Self::Overwrite(_) => "Overwrite(…)",
        })
    }
}

/// The writes of one super-step to one field, in task order.
pub struct Writes<T, R: Reduce<T>> {
    plain: Vec<(Arc<str>, R::Write)>,
    overwrites: Vec<(Arc<str>, T)>,
}

impl<T: Clone, R: Reduce<T>> Writes<T, R> {
    /// Adds what `node` wrote.
    pub fn push(&mut self, node: &Arc<str>, slot: Slot<T, R>) {
        match slot.0 {
            None => {}
            Some(Write::Plain(write)) => self.plain.push((node.clone(), write)),
            Some(Write::Overwrite(value)) => self.overwrites.push((node.clone(), value)),
        }
    }

    /// Whether the writes can be merged into `value`.
    ///
    /// # Errors
    ///
    /// [`ReduceError`] when they cannot.
    pub fn check(&self, field: &str, value: &T) -> Result<(), ReduceError> {
        match self.overwrites.as_slice() {
            [(first, _), (second, _), ..] => {
                let (first, second) = (first.clone(), second.clone());
                Err(self.refused(field, Refused::TwoOverwrites { first, second }))
            }
            [_] => Ok(()),
            [] if self.plain.is_empty() => Ok(()),
            [] => R::check(value, &self.plain).map_err(|reason| self.refused(field, reason)),
        }
    }

    /// Merges the writes into `value` and adds to `changes` what cannot be told from the writes alone.
    ///
    /// # Errors
    ///
    /// [`ReduceError`] when they cannot be merged; [`Writes::check`] says so before anything is changed.
    pub fn apply(
        mut self,
        field: impl Into<Cow<'static, str>>,
        value: &mut T,
        changes: &mut Changes,
    ) -> Result<(), ReduceError> {
        let field = field.into();
        if let Some((_, whole)) = self.overwrites.pop() {
            if !self.plain.is_empty() {
                let stored = R::store_value(&whole);
                let stored = stored.map_err(|error| self.refused(&field, error.into()))?;
                if let Some(stored) = stored {
                    changes.push(field, Change::Set(stored.to_stored()));
                }
            }
            *value = whole;
            return Ok(());
        }
        if self.plain.is_empty() {
            return Ok(());
        }
        let nodes: Vec<_> = self.plain.iter().map(|(node, _)| node.clone()).collect();
        let resolved = R::reduce(value, self.plain).map_err(|reason| ReduceError {
            field: field.to_string(),
            nodes,
            reason,
        })?;
        resolved.into_iter().for_each(|change| changes.push(field.clone(), change));
        Ok(())
    }

    fn refused(&self, field: &str, reason: Refused) -> ReduceError {
        let plain = self.plain.iter().map(|(node, _)| node.clone());
        let over = self.overwrites.iter().map(|(node, _)| node.clone());
        match reason {
            Refused::Nested(inner) => inner.within(field),
            reason => {
                ReduceError { field: field.to_owned(), nodes: plain.chain(over).collect(), reason }
            }
        }
    }
}

impl<T, R: Reduce<T>> Default for Writes<T, R> {
    fn default() -> Self {
        Self { plain: Vec::new(), overwrites: Vec::new() }
    }
}

impl<T, R: Reduce<T>> fmt::Debug for Writes<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.plain.iter().map(|(node, _)| node)).finish()
    }
}
