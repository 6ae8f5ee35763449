//! The translation of changes that an earlier build stored into the schema of this one.

use hanok_core::{Change, Changes, Field, Fields, Stored, StoredSchema};

use super::compare::within;
use crate::{
    rule::Rule,
    schema::{FieldSchema, Schema},
};

impl Schema {
    /// Translates `changes`, which were written to a state that held `before`, into this schema. Both are stored in `stored`. The
    /// upgraded state before the changes and the one after them are compared, field by field. `None` if there is no certain
    /// translation, as of the input of a reducer in a version whose upgrade may change its meaning.
    ///
    /// ```
    /// use hanok_core::{BoxError, Change, Fields, Stored};
    /// use hanok_state::{State, StateUpdate};
    ///
    /// mod before {
    ///     #[derive(hanok_state::State, Clone, Default)]
    ///     pub struct Account {
    ///         pub euros: u64,
    ///     }
    /// }
    ///
    /// #[derive(State, Clone, Default)]
    /// #[state(version = 2, upgrade = in_cents)]
    /// struct Account {
    ///     cents: u64,
    /// }
    ///
    /// fn in_cents(_: u32, fields: &mut Fields) -> Result<(), BoxError> {
    ///     if let Some(euros) = fields.take("euros") {
    ///         let euros: u64 = euros.to_stored().decode()?;
    ///         fields.apply("cents", &Change::Set(Stored::encode(&(euros * 100))?))?;
    ///     }
    ///     Ok(())
    /// }
    ///
    /// let (stored, fields) = (before::Account::SCHEMA.to_stored(), before::Account::default().to_fields()?);
    /// let changes = before::Account::update().euros(3u64).to_changes()?;
    /// let translated = Account::SCHEMA.translate(&stored, &fields, &changes).ok_or("no translation")?;
    /// assert_eq!(translated, Account::update().cents(300u64).to_changes()?);
    /// # Ok::<(), BoxError>(())
    /// ```
    #[must_use]
    pub fn translate(
        &self,
        stored: &StoredSchema,
        before: &Fields,
        changes: &Changes,
    ) -> Option<Changes> {
        let mut after = before.clone();
        after.apply_all(changes).ok()?;
        let (before, after) = (self.stages(stored, before)?, self.stages(stored, &after)?);
        let upgrades = stored.version < self.version && self.upgrade.is_some();
        let (mut translated, mut read) = (Changes::default(), Vec::new());
        for field in self.stored_fields() {
            let old = Self::source(field, stored).map_or(&*field.name, |(name, _)| name);
            read.push(old);
            let written = changes.0.iter().filter(|(name, _)| name == old);
            let written: Vec<_> = written.map(|(_, change)| change).collect();
            let one = Translation {
                field,
                old,
                stored,
                written: &written,
                upgrades,
                before: &before,
                after: &after,
            };
            for change in one.changes()? {
                translated.push(field.name.clone(), change);
            }
        }
        for (name, change) in changes.0.iter().filter(|(name, _)| !read.contains(&name.as_ref())) {
            if change.has_input() {
                return None;
            }
            let is_left = before.is_left(name) && after.is_left(name);
            match after.upgraded.get(name) {
                _ if is_left => translated.push(name.clone(), change.clone()),
                // The upgrade has made other fields of it.
                None => {}
                Some(_) => return None,
            }
        }
        Some(translated)
    }

    fn stages<'f>(&self, stored: &StoredSchema, fields: &'f Fields) -> Option<Stages<'f>> {
        let mut nested = fields.clone();
        self.upgrade_nested(stored, &mut nested).ok()?;
        let mut upgraded = nested.clone();
        self.upgrade_own(stored, &mut upgraded).ok()?;
        Some(Stages { raw: fields, nested, upgraded })
    }
}

/// A state on its way to another schema.
struct Stages<'f> {
    /// The stored fields.
    raw: &'f Fields,
    /// The fields with upgraded nested states.
    nested: Fields,
    /// The upgraded fields.
    upgraded: Fields,
}

impl Stages<'_> {
    /// Tells that the state's own upgrade does not change a field.
    fn is_left(&self, name: &str) -> bool {
        value(self.nested.get(name)) == value(self.upgraded.get(name))
    }
}

/// The changes to one field, on their way to another schema.
struct Translation<'a> {
    field: &'a FieldSchema,
    /// The name that it is stored under.
    old: &'a str,
    stored: &'a StoredSchema,
    written: &'a [&'a Change],
    /// True when the state's own upgrade function runs.
    upgrades: bool,
    before: &'a Stages<'a>,
    after: &'a Stages<'a>,
}

impl Translation<'_> {
    fn changes(&self) -> Option<Vec<Change>> {
        let held = |stages: &Stages<'_>| {
            let mut names = self.field.names();
            value(names.find_map(|name| stages.upgraded.get(name)))
        };
        let (before, after) = (held(self.before), held(self.after));
        let there = self.stored.fields.get(self.old);
        let is_left = self.before.is_left(self.old) && self.after.is_left(self.old);
        let same = there.is_some_and(|there| there.fingerprint == self.field.fingerprint());
        let has_input = self.written.iter().any(|change| change.has_input());
        let nested = there.and_then(|there| there.nested.as_ref());
        match (self.written, self.field.nested, nested) {
            ([Change::Set(_)], ..) => Some(vec![Change::Set(after?)]),
            ([_, ..], Some(nested), Some(there)) if is_left => self.nested(nested, there),
            ([_, ..], None, None) if has_input => {
                (same && !self.upgrades).then(|| self.written.iter().copied().cloned().collect())
            }
            ([_, ..], None, None) if same && is_left => {
                Some(self.written.iter().copied().cloned().collect())
            }
            _ => difference(self.field.rule, before, after),
        }
    }

    /// Translates the changes of a nested state.
    fn nested(&self, schema: &Schema, stored: &StoredSchema) -> Option<Vec<Change>> {
        let mut before = match self.before.raw.get(self.old) {
            Some(field) => within(field)?.into_owned(),
            None => Fields::default(),
        };
        let written = self.written.iter().map(|change| {
            let Change::Nested(changes) = change else { return None };
            let translated = schema.translate(stored, &before, changes)?;
            before.apply_all(changes).ok()?;
            Some(Change::Nested(translated))
        });
        written.collect()
    }
}

/// The changes by which a field of this rule gets from one value to another, and that leave the writes of others alone.
fn difference(rule: Rule, before: Option<Stored>, after: Option<Stored>) -> Option<Vec<Change>> {
    if before == after {
        return Some(Vec::new());
    }
    let after = after?;
    match rule {
        Rule::LastValue => Some(vec![Change::Set(after)]),
        Rule::Append => {
            let before = before.map_or(Some(Vec::new()), |list| list.to_items().ok())?;
            let after = after.to_items().ok()?;
            let added = after.strip_prefix(before.as_slice())?;
            Some(vec![Change::Append(added.to_vec())])
        }
        Rule::Merge => {
            let before = before.map_or(Some(Vec::new()), |map| map.to_entries().ok())?;
            let after = after.to_entries().ok()?;
            let gone = before.iter().filter(|(key, _)| after.iter().all(|(other, _)| other != key));
            let gone: Vec<_> = gone.map(|(key, _)| key.clone()).collect();
            let new = after.into_iter().filter(|entry| !before.contains(entry)).collect();
            Some(vec![Change::Merge(new), Change::RemoveKeys(gone)])
        }
        _ => None,
    }
}

fn value(field: Option<&Field>) -> Option<Stored> {
    field.map(Field::to_stored)
}
