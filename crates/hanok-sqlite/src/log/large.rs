//! Large values. SQLite copies a value before it hands it out, and twice before it writes it. One of more than a megabyte is
//! read and written in its place, so that nothing but the value itself is in memory.

use bytes::Bytes;
use rusqlite::{
    MAIN_DB, Row, ToSql, Transaction,
    types::{ToSqlOutput, Value, ValueRef},
};

use crate::{failure::Failure, number::bound};

/// A table with such values, in its column `bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Records,
    Snapshots,
}

/// The last columns that a query selects of a table: the value if it is not large, and its row. SQLite
/// learns the length without reading the value.
pub(crate) const COLUMNS: &str = "iif(length(bytes) > 1048576, NULL, bytes), rowid";

const LARGE: usize = 1_048_576;

impl Table {
    fn name(self) -> &'static str {
        match self {
            Table::Records => "records",
            Table::Snapshots => "snapshots",
        }
    }

    /// The value of a row whose columns from `at` on are [`COLUMNS`].
    pub(crate) fn read(
        self,
        tx: &Transaction<'_>,
        row: &Row<'_>,
        at: usize,
    ) -> Result<Bytes, Failure> {
        if let Some(bytes) = row.get::<_, Option<Vec<u8>>>(at)? {
            return Ok(bytes.into());
        }
        let blob = tx.blob_open(MAIN_DB, self.name(), "bytes", row.get(at + 1)?, true)?;
        let mut bytes = vec![0; blob.len()];
        blob.read_at_exact(&mut bytes, 0)?;
        Ok(bytes.into())
    }

    /// Writes `bytes` into the newest row, if room was made for them there.
    pub(crate) fn write(self, tx: &Transaction<'_>, bytes: &[u8]) -> Result<(), Failure> {
        if bytes.len() > LARGE {
            let row = tx.last_insert_rowid();
            tx.blob_open(MAIN_DB, self.name(), "bytes", row, false)?.write_all_at(bytes, 0)?;
        }
        Ok(())
    }
}

/// A value to insert, or its length if it is large. The statement makes room for that with `zeroblob`, and the value is
/// to be [written](Table::write) after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Put<'a>(pub(crate) &'a [u8]);

impl ToSql for Put<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let Put(bytes) = self;
        match bytes.len() > LARGE {
            true => Ok(ToSqlOutput::Owned(Value::Integer(bound(bytes.len())))),
            false => Ok(ToSqlOutput::Borrowed(ValueRef::Blob(bytes))),
        }
    }
}
