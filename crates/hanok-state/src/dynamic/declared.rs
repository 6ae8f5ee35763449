//! A schema that was checked.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    any_value::AnyValue,
    fault::{DynamicSchemaError, SchemaFault},
    field::DynamicField,
    json::{self, Misfit},
    rule::DynamicRule,
};
use crate::{
    error::{ReduceError, Refused},
    read_json::DEEPEST,
    schema::{FieldSchema, Schema},
};

/// A schema that was checked.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) schema: Schema,
    pub(crate) fields: Vec<Field>,
    /// The index of each field in `fields`.
    places: BTreeMap<Arc<str>, usize>,
}

/// A field of a checked schema.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: Arc<str>,
    pub(crate) rule: DynamicRule,
    pub(crate) initial: AnyValue,
}

/// The offset basis of FNV-1a: the fingerprint of a schema without fields.
const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// The schema of a state without fields.
pub(crate) const NO_FIELDS: Schema = Schema {
    name: Cow::Borrowed("state"),
    version: 1,
    fingerprint: OFFSET_BASIS,
    fields: Cow::Borrowed(&[]),
    upgrade: None,
};

impl Declared {
    /// Makes a schema without fields.
    pub(crate) fn empty() -> Self {
        Self { schema: NO_FIELDS, fields: Vec::new(), places: BTreeMap::new() }
    }

    pub(crate) fn new(
        schema: &str,
        declared: &[(String, DynamicField)],
    ) -> Result<Arc<Self>, DynamicSchemaError> {
        let mut faults = faulty_names(declared);
        let mut fields = Vec::new();
        let mut rows = Vec::new();
        for (name, field) in declared {
            let rule = field.rule;
            match initial(name, rule, field.default.clone()) {
                Ok(initial) => fields.push(Field { name: name.as_str().into(), rule, initial }),
                Err(fault) => faults.push(fault),
            }
            rows.push(FieldSchema {
                name: Cow::Owned(name.clone()),
                aliases: &[],
                rule: rule.in_schema(),
                kind: Cow::Borrowed(rule.kind()),
                nested: None,
                private: field.private,
                ephemeral: field.ephemeral,
            });
        }
        if !faults.is_empty() {
            return Err(DynamicSchemaError { schema: schema.to_owned(), faults });
        }
        let schema = Schema {
            name: Cow::Owned(schema.to_owned()),
            version: 1,
            fingerprint: fingerprint(&rows),
            fields: Cow::Owned(rows),
            upgrade: None,
        };
        let places = fields.iter().enumerate().map(|(at, field)| (Arc::clone(&field.name), at));
        Ok(Arc::new(Self { schema, places: places.collect(), fields }))
    }

    /// The index of the field of this name, and the field.
    pub(crate) fn field(&self, name: &str) -> Option<(usize, &Field)> {
        let at = *self.places.get(name)?;
        self.fields.get(at).map(|field| (at, field))
    }

    /// The index and the rule of the field that `node` wrote by its name.
    pub(crate) fn resolve(
        &self,
        node: &Arc<str>,
        name: &str,
    ) -> Result<(usize, DynamicRule), ReduceError> {
        if let Some((at, field)) = self.field(name) {
            return Ok((at, field.rule));
        }
        let fields = self.fields.iter().map(|field| field.name.to_string()).collect();
        Err(refused(node, name, Refused::UnknownField { node: Arc::clone(node), fields }))
    }
}

/// The error of a write of `node` to `field`.
pub(super) fn refused(node: &Arc<str>, field: &str, reason: Refused) -> ReduceError {
    ReduceError { field: field.to_owned(), nodes: vec![Arc::clone(node)], reason }
}

/// The faults of the names.
fn faulty_names(fields: &[(String, DynamicField)]) -> Vec<SchemaFault> {
    let mut names = BTreeSet::new();
    let mut faults = Vec::new();
    for (name, _) in fields {
        if name.is_empty() || name.chars().any(char::is_control) {
            faults.push(SchemaFault::Name { name: name.clone() });
        }
        if !names.insert(name) {
            faults.push(SchemaFault::Twice { name: name.clone() });
        }
    }
    faults
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
        Misfit::Messages(unread) => wrong(format!("an array of messages: {}", unread.into_first())),
        Misfit::TooDeep => SchemaFault::TooDeep { name: name.to_owned(), deepest: DEEPEST },
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
    spelled.bytes().fold(OFFSET_BASIS, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
