//! The graph that a run is one of, as a log names it.

use std::sync::Arc;

use hanok_core::{Reader, StoredError, Writer};

use crate::wire::{Wire, array_of};

/// The graph of a run: its name, and the fingerprint of its nodes and ways.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphId {
    /// Its name; `None` in logs that earlier builds wrote.
    pub name: Option<Arc<str>>,
    /// Its fingerprint. It changes whenever a node or a way is added, removed or renamed.
    pub fingerprint: u64,
}

/// An array of the name and the fingerprint; the fingerprint alone where the name is not known.
impl Wire for GraphId {
    fn write(&self, to: &mut Writer) {
        if let Some(name) = &self.name {
            to.array(2).str(name);
        }
        to.uint(self.fingerprint);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        if from.is_uint() {
            return Ok(Self { name: None, fingerprint: from.uint()? });
        }
        array_of(from, 2, "the name and the fingerprint of a graph")?;
        Ok(Self { name: Some(from.str()?.into()), fingerprint: from.uint()? })
    }
}
