//! The fields of a state, as data.

use std::{borrow::Cow, fmt};

use hanok_core::{BoxError, Fields, StoredField, StoredSchema};

use crate::rule::Rule;

/// The fields of a state, as data.
///
/// ```
/// use hanok_state::{Rule, State};
///
/// #[derive(State, Clone, Default)]
/// #[state(version = 2, upgrade = no_change)]
/// struct Notes {
///     #[reduce(append)]
///     #[state(alias = "rows")]
///     lines: Vec<String>,
/// }
/// # fn no_change(_: u32, _: &mut hanok_core::Fields) -> Result<(), hanok_core::BoxError> { Ok(()) }
///
/// assert_eq!(Notes::SCHEMA.version, 2);
/// let lines = Notes::SCHEMA.field("lines").ok_or("no field")?;
/// assert_eq!((lines.rule, lines.aliases), (Rule::Append, &["rows"][..]));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// The name of the type, or of the schema when its fields are declared at run time.
    pub name: Cow<'static, str>,
    /// The version of `#[state(version = …)]`. 1 without it.
    pub version: u32,
    /// The fingerprint of the fields. It changes whenever a field, its rule or its type changes, or one of a nested state.
    /// The attributes `private` and `ephemeral` are not stored, so they do not count.
    pub fingerprint: u64,
    /// The fields, in the order they are declared.
    pub fields: Cow<'static, [FieldSchema]>,
    /// The function of `#[state(upgrade = …)]`.
    pub upgrade: Option<Upgrade>,
}

/// One field of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldSchema {
    /// The field's name.
    pub name: Cow<'static, str>,
    /// The names that the field had in earlier builds, from `#[state(alias = …)]`.
    pub aliases: &'static [&'static str],
    /// Its rule.
    pub rule: Rule,
    /// Its type, as written.
    pub kind: Cow<'static, str>,
    /// The schema of a nested state.
    pub nested: Option<&'static Schema>,
    /// True for a field that a run does not return, and that only a node sees whose [`View`](crate::View) names it.
    pub private: bool,
    /// True for a field that has its value for one super-step only: the one after the write.
    pub ephemeral: bool,
}

/// A function that changes the stored fields of an earlier version of a type into those of its version.
///
/// It is a pure function of the fields, and may be called more than once. Nested states are upgraded before it is called.
/// Fields have the names that they are stored under. [`upgraded`](crate::upgraded) tests one.
#[derive(Clone, Copy)]
pub struct Upgrade(pub fn(from: u32, fields: &mut Fields) -> Result<(), BoxError>);

/// Equal upgrades are the same function.
impl PartialEq for Upgrade {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

impl Eq for Upgrade {}

impl fmt::Debug for Upgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Upgrade(…)")
    }
}

impl Schema {
    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&FieldSchema> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The schema as a log holds it.
    pub fn to_stored(&self) -> StoredSchema {
        let fields = self.stored_fields().map(|field| (field.name.to_string(), field.to_stored()));
        StoredSchema { version: self.version, fields: fields.collect() }
    }

    /// The fields that are stored.
    pub(crate) fn stored_fields(&self) -> impl Iterator<Item = &FieldSchema> {
        self.fields.iter().filter(|field| field.rule.is_stored())
    }
}

impl FieldSchema {
    /// The name of the field, and then its aliases.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.name).chain(self.aliases.iter().copied())
    }

    /// The fingerprint of the rule and the type. The type of a nested state is its fields.
    pub(crate) fn fingerprint(&self) -> u32 {
        let kind = if self.nested.is_some() { "" } else { &*self.kind };
        let bytes = self.rule.name().bytes().chain(*b"\n").chain(kind.bytes());
        // FNV-1a with 32 bits (<https://www.rfc-editor.org/rfc/rfc9923>).
        bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    fn to_stored(&self) -> StoredField {
        let nested = self.nested.map(Schema::to_stored);
        StoredField { fingerprint: self.fingerprint(), nested }
    }
}

/// The fingerprint of a state whose own fields have the fingerprint `own` and whose nested states have those of `nested`.
pub const fn fingerprint(own: u64, nested: &[u64]) -> u64 {
    // FNV-1a goes on with the bytes of each.
    let (mut hash, mut at) = (own, nested);
    while let [first, rest @ ..] = at {
        let mut shift = 0;
        while shift < 64 {
            hash = (hash ^ ((*first >> shift) & 0xff)).wrapping_mul(0x0000_0100_0000_01b3);
            shift += 8;
        }
        at = rest;
    }
    hash
}
