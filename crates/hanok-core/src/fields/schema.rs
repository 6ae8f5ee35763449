//! The schema that a state is stored in, as a log holds it.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    fields::fold::{Field, Fields},
    stored::{
        error::StoredError,
        msgpack::{Reader, Writer},
    },
};

/// The schema that a state is stored in: the version of its type, and per field what its rule and its type are.
///
/// A log holds it beside the state, so that a later build can tell what is different before it reads a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredSchema {
    /// The version of the type.
    pub version: u32,
    /// The fields, by their names. A field that is never stored has no place here.
    pub fields: BTreeMap<String, StoredField>,
}

/// One field of a [`StoredSchema`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredField {
    /// The fingerprint of the field's rule and type. Of a nested state it is that of the rule alone.
    pub fingerprint: u32,
    /// The schema of a nested state.
    pub nested: Option<StoredSchema>,
}

/// A state as a log holds it: the fields, and the schema in which they are stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredState {
    /// The schema.
    pub schema: Arc<StoredSchema>,
    /// The fields.
    pub fields: Fields,
}

impl StoredState {
    /// The state in the field `name`, or `None` if the field does not hold a nested state.
    #[must_use]
    pub fn nested(&self, name: &str) -> Option<Self> {
        let schema = self.schema.fields.get(name)?.nested.clone()?;
        let fields = match self.fields.get(name)? {
            Field::Nested(fields) => fields.clone(),
            whole => Fields::from_stored(&whole.to_stored()).ok()?,
        };
        Some(Self { schema: schema.into(), fields })
    }
}

/// The deepest nesting of states within each other.
const DEEPEST: usize = 64;

impl StoredSchema {
    /// True if a state in this schema has every field of `other`, in the same version, with the same rules and types.
    ///
    /// ```
    /// use hanok_core::{StoredField, StoredSchema};
    ///
    /// let schema = |names: &[&str]| StoredSchema {
    ///     version: 1,
    ///     fields: names.iter().map(|name| (name.to_string(), StoredField::default())).collect(),
    /// };
    /// assert!(schema(&["net", "tax"]).covers(&schema(&["net"])));
    /// assert!(!schema(&["net"]).covers(&schema(&["net", "tax"])));
    /// ```
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.version == other.version
            && other.fields.iter().all(|(name, theirs)| {
                self.fields.get(name).is_some_and(|own| {
                    own.fingerprint == theirs.fingerprint
                        && match (&own.nested, &theirs.nested) {
                            (Some(own), Some(theirs)) => own.covers(theirs),
                            (own, theirs) => own == theirs,
                        }
                })
            })
    }

    /// Writes the schema: its version, and a map of name to field.
    pub fn write(&self, to: &mut Writer) {
        to.array(2).uint(u64::from(self.version)).map(self.fields.len());
        for (name, field) in &self.fields {
            to.str(name);
            match &field.nested {
                None => {
                    to.uint(u64::from(field.fingerprint));
                }
                Some(nested) => nested.write(to.array(2).uint(u64::from(field.fingerprint))),
            }
        }
    }

    /// Reads what [`StoredSchema::write`] wrote.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it is something else.
    pub fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        Self::read_nested(from, 0)
    }

    fn read_nested(from: &mut Reader<'_>, depth: usize) -> Result<Self, StoredError> {
        let at = from.at();
        let malformed = |expected| Err(StoredError::Malformed { at, expected });
        if depth > DEEPEST {
            return malformed("less nesting");
        }
        if from.array()? != 2 {
            return malformed("the two parts of a schema");
        }
        let version = small(from)?;
        let fields = (0..from.map()?)
            .map(|_| Ok((from.str()?.to_owned(), StoredField::read(from, depth)?)))
            .collect::<Result<_, StoredError>>()?;
        Ok(Self { version, fields })
    }
}

impl StoredField {
    fn read(from: &mut Reader<'_>, depth: usize) -> Result<Self, StoredError> {
        let mut ahead = from.clone();
        if ahead.array().is_err() {
            return Ok(Self { fingerprint: small(from)?, nested: None });
        }
        let at = from.at();
        if from.array()? != 2 {
            return Err(StoredError::Malformed { at, expected: "the two parts of a nested state" });
        }
        let fingerprint = small(from)?;
        Ok(Self { fingerprint, nested: Some(StoredSchema::read_nested(from, depth + 1)?) })
    }
}

fn small(from: &mut Reader<'_>) -> Result<u32, StoredError> {
    let at = from.at();
    let small = u32::try_from(from.uint()?).ok();
    small.ok_or(StoredError::Malformed { at, expected: "a number of 32 bits" })
}
