//! The ledger of what nodes did outside of their world.

use std::collections::BTreeMap;

use hanok_core::Stored;

/// The calls that were made, with what they gave, and how often anything was noted.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) made: BTreeMap<String, Vec<Stored>>,
    pub(crate) counts: BTreeMap<String, usize>,
}
