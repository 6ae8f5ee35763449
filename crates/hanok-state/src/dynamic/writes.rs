//! The writes of an update, before and after they are bound to the rules of a schema.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use hanok_core::Changes;

use super::{
    any_slot::AnySlot,
    bound::Bound,
    declared::{Declared, refused},
    json::{self, JsonWrite, Misfit},
};
use crate::error::ReduceError;

/// The writes of an update so far.
#[derive(Clone)]
pub(crate) enum DynamicWrites {
    /// A write of a program to one field.
    Field(Arc<str>, JsonWrite),
    /// The stored changes of a log.
    Stored(Changes),
    /// Writes that are bound to the rules.
    Bound(Bound),
    /// Writes of one super-step.
    Together(Vec<DynamicWrites>),
    /// Writes of one super-step after the other.
    Steps(Vec<DynamicWrites>),
}

impl DynamicWrites {
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Field(..) => false,
            Self::Stored(changes) => changes.is_empty(),
            Self::Bound(bound) => bound.slots.is_empty(),
            Self::Together(several) | Self::Steps(several) => several.iter().all(Self::is_empty),
        }
    }

    pub(crate) fn written<'a>(&'a self, names: &mut Vec<Cow<'a, str>>) {
        let mut add = |name: &'a str| {
            if !names.iter().any(|written| written == name) {
                names.push(Cow::Borrowed(name));
            }
        };
        match self {
            Self::Field(field, _) => add(field),
            Self::Stored(changes) => changes.0.iter().for_each(|(field, _)| add(field)),
            Self::Bound(bound) => bound.written().for_each(|(field, _)| add(field)),
            Self::Together(several) | Self::Steps(several) => {
                several.iter().for_each(|part| part.written(names));
            }
        }
    }

    /// Binds the writes of `node` to the rules of `declared`.
    pub(crate) fn bind(
        self,
        declared: &Arc<Declared>,
        node: &Arc<str>,
    ) -> Result<Bound, ReduceError> {
        let mut bound = Bound { declared: Arc::clone(declared), slots: BTreeMap::new() };
        match self {
            Self::Bound(other) if other.is_of(declared) => bound = other,
            Self::Bound(other) => {
                for (at, slot) in other.slots {
                    let Some(field) = other.declared.fields.get(at) else { continue };
                    let (at, rule) = declared.resolve(node, &field.name)?;
                    if slot.rule() != rule {
                        let misfit =
                            Misfit::Shape("made for a state in which the field has this rule");
                        return Err(refused(node, &field.name, misfit.of(node)));
                    }
                    bound.slots.insert(at, slot);
                }
            }
            Self::Field(name, write) => {
                let (at, rule) = declared.resolve(node, &name)?;
                let slot = json::slot(rule, write)
                    .map_err(|misfit| refused(node, &name, misfit.of(node)))?;
                bound.slots.insert(at, slot);
            }
            Self::Stored(changes) => bound.slots = load(declared, node, &changes)?,
            Self::Together(parts) => {
                for part in parts {
                    bound = bound.and(part.bind(declared, node)?);
                }
            }
            Self::Steps(steps) => {
                for step in steps {
                    let both = bound.then(step.bind(declared, node)?);
                    bound = both
                        .map_err(|error| ReduceError { nodes: vec![Arc::clone(node)], ..error })?;
                }
            }
        }
        Ok(bound)
    }
}

/// Reads the changes of a log. A field that this schema does not have was one of an older build, and is no mistake of a node.
fn load(
    declared: &Declared,
    node: &Arc<str>,
    changes: &Changes,
) -> Result<BTreeMap<usize, AnySlot>, ReduceError> {
    let names: BTreeSet<&str> = changes.0.iter().map(|(name, _)| name.as_ref()).collect();
    let fields = names.into_iter().filter_map(|name| declared.field(name));
    fields
        .map(|(at, field)| match AnySlot::load(field.rule, &field.name, changes) {
            Ok(slot) => Ok((at, slot)),
            Err(error) => Err(refused(node, &field.name, error.into())),
        })
        .collect()
}
