//! The parts of a stored state that a build does not know, at every depth: they ride along.

use hanok_core::{Change, Changes, Field, Fields};

use super::compare::within;
use crate::schema::{FieldSchema, Schema};

impl Schema {
    /// The parts of `fields` that this schema does not know, within nested states too.
    #[must_use]
    pub fn unknown(&self, fields: &Fields) -> Fields {
        let mut unknown = Fields::default();
        for (name, value) in fields.iter() {
            let Some(field) = self.reader_of(fields, name) else {
                unknown.insert(name, value.clone());
                continue;
            };
            if let Some(nested) = field.nested
                && let Some(fields) = within(value)
            {
                let rest = nested.unknown(&fields);
                if !rest.is_empty() {
                    unknown.insert(&*field.name, Field::Nested(rest));
                }
            }
        }
        unknown
    }

    /// The field of this schema that reads `name`, one of `fields`.
    fn reader_of(&self, fields: &Fields, name: &str) -> Option<&FieldSchema> {
        let read = |field: &&FieldSchema| {
            field.names().find(|name| fields.get(name).is_some()) == Some(name)
        };
        self.stored_fields().find(read)
    }

    /// The parts of `changes` to fields that this schema does not know, within nested states too.
    #[must_use]
    pub fn unknown_changes(&self, changes: &Changes) -> Changes {
        let mut unknown = Changes::default();
        for (name, change) in &changes.0 {
            let Some(field) = self.stored_fields().find(|field| field.name == *name) else {
                unknown.push(name.clone(), change.clone());
                continue;
            };
            let Some(nested) = field.nested else { continue };
            let rest = match change {
                Change::Nested(changes) => nested.unknown_changes(changes),
                Change::Set(whole) => {
                    let fields = Fields::from_stored(whole).unwrap_or_default();
                    let rest = nested.unknown(&fields);
                    let set = |(name, field): (&str, &Field)| {
                        (name.to_owned().into(), Change::Set(field.to_stored()))
                    };
                    Changes(rest.iter().map(set).collect())
                }
                _ => continue,
            };
            if !rest.is_empty() {
                unknown.push(name.clone(), Change::Nested(rest));
            }
        }
        unknown
    }
}
