//! The differences between the schema that a state is stored in and that of a build.

use std::borrow::Cow;

use hanok_core::{Field, Fields, StoredField, StoredSchema};
use thiserror::Error;

use crate::schema::{FieldSchema, Schema};

/// The differences between the schema that a state is stored in and that of a build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// True when the version, or the type, the rule or the name of a field that both know is different. The state has to be
    /// written anew before an update is written to it.
    pub rewritten: bool,
    /// The fields that the build has and the log has not, each with the fields around it.
    pub added: Vec<Vec<String>>,
    /// The fields that the log has and the build of the same version has not, as `memories.mood`.
    pub unknown: Vec<String>,
}

/// A state that was stored in a newer version of its type than the build has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{} was stored in version {stored} of its type, and this build has version {supported}; it takes a build that has version {stored}",
    place(field)
)]
pub struct NewerVersion {
    /// The nested state, as `memories.plan`; empty for the state itself.
    pub field: String,
    /// The version that it is stored in.
    pub stored: u32,
    /// The version that the build has.
    pub supported: u32,
}

/// The name of a state in a message.
pub(crate) fn place(field: &str) -> String {
    if field.is_empty() { "the state".to_owned() } else { format!("the nested state `{field}`") }
}

impl Schema {
    /// Compares this schema with the one that `fields` are stored in.
    ///
    /// ```
    /// use hanok_core::Fields;
    /// use hanok_state::State;
    ///
    /// mod before {
    ///     #[derive(hanok_state::State, Clone, Default)]
    ///     pub struct Chat {
    ///         pub topic: String,
    ///         pub mood: String,
    ///     }
    /// }
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Chat {
    ///     topic: String,
    ///     turns: u32,
    /// }
    ///
    /// let stored = before::Chat::SCHEMA.to_stored();
    /// let fields = before::Chat::default().to_fields()?;
    /// let differences = Chat::SCHEMA.compare(&stored, &fields)?;
    /// assert!(!differences.rewritten);
    /// assert_eq!(differences.added, [["turns"]]);
    /// assert_eq!(differences.unknown, ["mood"]);
    ///
    /// // What this build does not know rides along.
    /// assert!(Chat::SCHEMA.unknown(&fields).get("mood").is_some());
    /// assert_eq!(Chat::SCHEMA.extended(&stored).fields.len(), 3);
    /// # Ok::<(), hanok_core::BoxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`NewerVersion`] when a newer version of the type, or of the type of a nested state, stored it.
    pub fn compare(
        &self,
        stored: &StoredSchema,
        fields: &Fields,
    ) -> Result<Differences, NewerVersion> {
        let mut differences = Differences::default();
        self.compare_at(
            stored,
            &|| Some(Cow::Borrowed(fields)),
            &mut Vec::new(),
            &mut differences,
        )?;
        Ok(differences)
    }

    /// Compares the state at `path`. `fields` gives its stored fields, which are needed only where a field is not in the
    /// stored schema.
    fn compare_at<'f>(
        &self,
        stored: &StoredSchema,
        fields: &dyn Fn() -> Option<Cow<'f, Fields>>,
        path: &mut Vec<String>,
        to: &mut Differences,
    ) -> Result<(), NewerVersion> {
        if stored.version > self.version {
            let (stored, supported) = (stored.version, self.version);
            return Err(NewerVersion { field: path.join("."), stored, supported });
        }
        to.rewritten |= stored.version < self.version;
        for field in self.stored_fields() {
            let Some(there) = stored.fields.get(&*field.name) else {
                let held = fields().unwrap_or_default();
                let renamed = field.aliases.iter().any(|name| stored.fields.contains_key(*name));
                match renamed || field.names().any(|name| held.get(name).is_some()) {
                    true => to.rewritten = true,
                    false => to.added.push([&path[..], &[field.name.to_string()]].concat()),
                }
                continue;
            };
            to.rewritten |= there.fingerprint != field.fingerprint();
            match (field.nested, &there.nested) {
                (Some(nested), Some(there)) => {
                    path.push(field.name.to_string());
                    let within =
                        || within(fields()?.get(&field.name)?).map(Cow::into_owned).map(Cow::Owned);
                    nested.compare_at(there, &within, path, to)?;
                    path.pop();
                }
                (None, None) => {}
                _ => to.rewritten = true,
            }
        }
        if stored.version == self.version {
            let unknown = stored.fields.keys().filter(|name| self.reader(stored, name).is_none());
            let whole = |name: &String| [&path[..], std::slice::from_ref(name)].concat().join(".");
            to.unknown.extend(unknown.map(whole));
        }
        Ok(())
    }

    /// The field of this schema that reads the stored field `name`: the one of that name, or else one with that alias, unless a
    /// value is stored under its name of this build.
    fn reader(&self, stored: &StoredSchema, name: &str) -> Option<&FieldSchema> {
        let renamed = |field: &&FieldSchema| {
            field.aliases.contains(&name) && !stored.fields.contains_key(&*field.name)
        };
        self.field(name).or_else(|| self.fields.iter().find(renamed))
    }

    /// The stored field that `field` is read from.
    pub(crate) fn source<'s>(
        field: &FieldSchema,
        stored: &'s StoredSchema,
    ) -> Option<(&'s str, &'s StoredField)> {
        let mut names = field.names();
        let entry = names.find_map(|name| stored.fields.get_key_value(name));
        entry.map(|(name, field)| (name.as_str(), field))
    }

    /// Adds the unknown fields of the stored schema to this one: they ride along. A newer version than the stored one knows all
    /// fields that there are.
    #[must_use]
    pub fn extended(&self, stored: &StoredSchema) -> StoredSchema {
        let mut all = StoredSchema { version: self.version, ..StoredSchema::default() };
        if stored.version == self.version {
            let unknown = stored.fields.iter();
            let unknown = unknown.filter(|(name, _)| self.reader(stored, name).is_none());
            all.fields.extend(unknown.map(|(name, field)| (name.clone(), field.clone())));
        }
        for field in self.stored_fields() {
            let there = Self::source(field, stored).and_then(|(_, there)| there.nested.as_ref());
            let nested = field.nested.map(|nested| match there {
                Some(there) => nested.extended(there),
                None => nested.to_stored(),
            });
            let stored = StoredField { fingerprint: field.fingerprint(), nested };
            all.fields.insert(field.name.to_string(), stored);
        }
        all
    }
}

/// The fields of a nested state.
pub(crate) fn within(field: &Field) -> Option<Cow<'_, Fields>> {
    match field {
        Field::Nested(fields) => Some(Cow::Borrowed(fields)),
        whole => Fields::from_stored(&whole.to_stored()).ok().map(Cow::Owned),
    }
}
