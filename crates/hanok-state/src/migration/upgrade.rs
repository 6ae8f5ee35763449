//! The upgrade of what an earlier version of a type stored.

use hanok_core::{BoxError, Field, Fields, Panicked, StoredError, StoredSchema};
use thiserror::Error;

use super::compare::{NewerVersion, place, within};
use crate::{schema::Schema, state::State};

/// The failure to read fields that a version of a type stored.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MigrationError {
    /// A newer version of the type stored them.
    #[error("{0}")]
    NewerVersion(#[from] NewerVersion),
    /// The upgrade function refused them.
    #[error("{0}")]
    Upgrade(#[from] UpgradeError),
    /// A field was stored in another shape than the type has.
    #[error("{0}")]
    Stored(#[from] StoredError),
}

/// Reads the `fields` of a thread that `version` of the type `S` stored, as a run of this build does. A test of an upgrade
/// function calls it. Nested states are those of this build. The upgrade of one is tested with its own type.
///
/// ```
/// use hanok_core::{BoxError, Change, Fields, Stored};
/// use hanok_state::{State, upgraded};
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
/// let stored = Stored::encode(&std::collections::BTreeMap::from([("euros", 3)]))?;
/// let account: Account = upgraded(1, Fields::from_stored(&stored)?)?;
/// assert_eq!(account.cents, 300);
/// # Ok::<(), BoxError>(())
/// ```
///
/// # Errors
///
/// [`MigrationError`] when the fields cannot be read.
pub fn upgraded<S: State>(version: u32, mut fields: Fields) -> Result<S, MigrationError> {
    let stored = StoredSchema { version, ..S::SCHEMA.to_stored() };
    S::SCHEMA.compare(&stored, &fields)?;
    S::SCHEMA.upgrade(&stored, &mut fields)?;
    Ok(S::from_fields(&mut fields)?)
}

/// A state that an upgrade function refused.
#[derive(Debug, Error)]
#[error("{} was not upgraded from version {from} to {to}", place(field))]
pub struct UpgradeError {
    /// The nested state, as `memories.plan`; empty for the state itself.
    pub field: String,
    /// The version that it is stored in.
    pub from: u32,
    /// The version of the build.
    pub to: u32,
    /// The error of the function.
    #[source]
    pub source: BoxError,
}

impl Schema {
    /// Upgrades `fields`, which are stored in `stored`, to the version of this schema. Nested states come first, each by the
    /// version that it is stored in. Fields keep the names that they are stored under.
    ///
    /// # Errors
    ///
    /// [`UpgradeError`] when an upgrade function fails.
    pub fn upgrade(&self, stored: &StoredSchema, fields: &mut Fields) -> Result<(), UpgradeError> {
        self.upgrade_nested(stored, fields)?;
        self.upgrade_own(stored, fields)
    }

    pub(super) fn upgrade_nested(
        &self,
        stored: &StoredSchema,
        fields: &mut Fields,
    ) -> Result<(), UpgradeError> {
        for field in self.stored_fields() {
            let source = Self::source(field, stored);
            let (Some(nested), Some((name, there))) = (field.nested, source) else { continue };
            let Some(there) = &there.nested else { continue };
            let Some(inner) = fields.get(name).and_then(within) else { continue };
            let mut inner = inner.into_owned();
            let at = |error: UpgradeError| match error.field.as_str() {
                "" => UpgradeError { field: field.name.to_string(), ..error },
                inner => UpgradeError { field: format!("{}.{inner}", field.name), ..error },
            };
            nested.upgrade(there, &mut inner).map_err(at)?;
            fields.insert(name, Field::Nested(inner));
        }
        Ok(())
    }

    pub(super) fn upgrade_own(
        &self,
        stored: &StoredSchema,
        fields: &mut Fields,
    ) -> Result<(), UpgradeError> {
        let (from, to) = (stored.version, self.version);
        match self.upgrade.filter(|_| from < to) {
            Some(upgrade) => {
                let upgraded = Panicked::catch(|| (upgrade.0)(from, fields));
                let upgraded = upgraded.unwrap_or_else(|panicked| Err(panicked.into()));
                upgraded.map_err(|source| {
                    let field = String::new();
                    UpgradeError { field, from, to, source }
                })
            }
            None => Ok(()),
        }
    }
}
