//! A schema that was checked, and what it makes of an update.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use hanok_core::Changes;

use super::{
    DynamicRule, DynamicSchema, DynamicSchemaError, DynamicState, SchemaFault,
    json::{self, Misfit},
    slots::{AnySlot, AnyValue},
    update::{Bound, Told},
};
use crate::{
    error::{ReduceError, Refused},
    schema::{FieldSchema, Schema},
    state::State,
};

/// A schema that was checked.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) schema: Schema,
    pub(crate) fields: Vec<Field>,
    /// Where each field stands among them.
    places: BTreeMap<Arc<str>, usize>,
}

/// One of its fields.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: Arc<str>,
    pub(crate) rule: DynamicRule,
    pub(crate) initial: AnyValue,
}

/// The offset basis of FNV-1a: the fingerprint of a schema without fields.
pub(crate) const NO_FIELDS: u64 = 0xcbf2_9ce4_8422_2325;

impl Declared {
    /// A schema without fields.
    pub(crate) fn empty() -> Self {
        Self { schema: DynamicState::SCHEMA.clone(), fields: Vec::new(), places: BTreeMap::new() }
    }

    pub(crate) fn new(said: &DynamicSchema) -> Result<Arc<Self>, DynamicSchemaError> {
        let mut faults = said.faulty_names();
        let mut fields = Vec::new();
        let mut rows = Vec::new();
        for (name, field) in said.fields() {
            let rule = field.rule;
            match initial(name, rule, field.default.clone()) {
                Ok(initial) => fields.push(Field { name: name.into(), rule, initial }),
                Err(fault) => faults.push(fault),
            }
            rows.push(FieldSchema {
                name: Cow::Owned(name.to_owned()),
                aliases: &[],
                rule: rule.in_schema(),
                kind: Cow::Borrowed(rule.kind()),
                nested: None,
                private: field.private,
                ephemeral: field.ephemeral,
            });
        }
        if !faults.is_empty() {
            return Err(DynamicSchemaError { schema: said.name().to_owned(), faults });
        }
        let schema = Schema {
            name: Cow::Owned(said.name().to_owned()),
            version: 1,
            fingerprint: fingerprint(&rows),
            fields: Cow::Owned(rows),
            upgrade: None,
        };
        let places = fields.iter().enumerate().map(|(at, field)| (field.name.clone(), at));
        Ok(Arc::new(Self { schema, places: places.collect(), fields }))
    }

    /// Where the field of this name stands, and the field.
    pub(crate) fn field(&self, name: &str) -> Option<(usize, &Field)> {
        let at = *self.places.get(name)?;
        self.fields.get(at).map(|field| (at, field))
    }

    /// What `node` said, as writes under the rules of this schema's fields.
    pub(crate) fn bind(
        self: &Arc<Self>,
        node: &Arc<str>,
        told: Told,
    ) -> Result<Bound, ReduceError> {
        let mut bound = Bound { declared: self.clone(), slots: BTreeMap::new() };
        match told {
            Told::Bound(other) if Arc::ptr_eq(&other.declared, self) => bound = other,
            Told::Bound(other) => {
                for (at, slot) in other.slots {
                    let Some(field) = other.declared.fields.get(at) else { continue };
                    let (at, rule) = self.known(node, &field.name)?;
                    if slot.rule() != rule {
                        let misfit =
                            Misfit::Shape("made for a state in which the field has this rule");
                        return Err(refused(node, &field.name, misfit.of(node)));
                    }
                    bound.slots.insert(at, slot);
                }
            }
            Told::Said(name, said) => {
                let (at, rule) = self.known(node, &name)?;
                let slot = json::slot(rule, said)
                    .map_err(|misfit| refused(node, &name, misfit.of(node)))?;
                bound.slots.insert(at, slot);
            }
            Told::Stored(changes) => bound.slots = self.stored(node, &changes)?,
            Told::All(several) => {
                for told in several {
                    bound = bound.and(self.bind(node, told)?);
                }
            }
            Told::Steps(several) => {
                for told in several {
                    let after = self.bind(node, told)?;
                    let both = bound.then(after);
                    bound =
                        both.map_err(|error| ReduceError { nodes: vec![node.clone()], ..error })?;
                }
            }
        }
        Ok(bound)
    }

    /// What a log says. A field that this schema does not have was one of an older build, and is no mistake of a node.
    fn stored(
        &self,
        node: &Arc<str>,
        changes: &Changes,
    ) -> Result<BTreeMap<usize, AnySlot>, ReduceError> {
        let names: BTreeSet<&str> = changes.0.iter().map(|(name, _)| name.as_ref()).collect();
        let known = names.into_iter().filter_map(|name| self.field(name));
        known
            .map(|(at, field)| match AnySlot::load(field.rule, &field.name, changes) {
                Ok(slot) => Ok((at, slot)),
                Err(error) => Err(refused(node, &field.name, error.into())),
            })
            .collect()
    }

    fn known(&self, node: &Arc<str>, name: &str) -> Result<(usize, DynamicRule), ReduceError> {
        if let Some((at, field)) = self.field(name) {
            return Ok((at, field.rule));
        }
        let known = self.fields.iter().map(|field| field.name.to_string()).collect();
        Err(refused(node, name, Refused::UnknownField { node: node.clone(), known }))
    }
}

fn refused(node: &Arc<str>, field: &str, reason: Refused) -> ReduceError {
    ReduceError { field: field.to_owned(), nodes: vec![node.clone()], reason }
}

/// The value of a field before the first write.
fn initial(
    name: &str,
    rule: DynamicRule,
    default: Option<serde_json::Value>,
) -> Result<AnyValue, SchemaFault> {
    let Some(default) = default else { return Ok(AnyValue::empty(rule)) };
    let wrong = |expected: String| SchemaFault::Default { name: name.to_owned(), expected };
    let mut value = json::whole(rule, default).map_err(|misfit| match misfit {
        Misfit::Shape(expected) => wrong(expected.to_owned()),
        Misfit::Message(reason) => wrong(format!("an array of messages: {reason}")),
        Misfit::TooDeep => DynamicSchema::too_deep(name),
    })?;
    if let AnyValue::Messages(messages) = &mut value {
        let mut count = 0;
        messages.complete(&mut || {
            count += 1;
            format!("{name}-{count}")
        });
    }
    Ok(value)
}

/// FNV-1a with 64 bits (<https://www.rfc-editor.org/rfc/rfc9923>) of names, rules and types by name: an object of JSON
/// has no order, and neither have stored fields.
fn fingerprint(rows: &[FieldSchema]) -> u64 {
    let mut rows: Vec<_> = rows.iter().map(|row| (&row.name, row.rule.name(), &row.kind)).collect();
    rows.sort();
    let spelled: String =
        rows.into_iter().map(|(name, rule, kind)| format!("{name}\n{rule}\n{kind}\n")).collect();
    spelled
        .bytes()
        .fold(NO_FIELDS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
