//! The marks by which a file is a store of this format, and the beginning of a new one.

use hanok_checkpoint::CheckpointError;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use thiserror::Error;

use super::tables::{ITEMS, THREADS};
use crate::failure::Failure;

/// Marks the file as ours: `hnok`.
const APPLICATION: i32 = 0x686e_6f6b;

/// The format that this build reads and writes. Of what earlier ones hold, nothing says in which life of its thread a task was.
pub(crate) const FORMAT: i32 = 4;

/// Why a file is no store.
#[derive(Debug, Error)]
enum Unfit {
    #[error("it belongs to another program (application id {0:#010x})")]
    Foreign(i32),
    #[error("it holds tables that are not ours")]
    Tables,
    #[error("its format is {0}, which no build writes")]
    Format(i32),
    #[error(
        "its format is {0}, of a build before 0.1; this one reads format {FORMAT} and does not upgrade it: begin a new store"
    )]
    Older(i32),
}

/// The kind of a file that may become or be a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Empty,
    Store,
}

/// Reads which kind the file is; refuses one of another program or format.
pub(crate) fn kind(tx: &Transaction<'_>) -> Result<Kind, Failure> {
    let number = |name| tx.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let tables = tx.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    let unfit = |unfit: Unfit| Err(Failure::Damaged(unfit.into()));
    match (number("application_id")?, number("user_version")?, tables) {
        (0, 0, 0) => Ok(Kind::Empty),
        (0, _, _) => unfit(Unfit::Tables),
        (APPLICATION, FORMAT, _) => Ok(Kind::Store),
        (APPLICATION, format @ 1..FORMAT, _) => unfit(Unfit::Older(format)),
        (APPLICATION, format, _) if format < FORMAT => unfit(Unfit::Format(format)),
        (APPLICATION, format, _) => Err(Failure::Refused(CheckpointError::TooNew {
            format: format.unsigned_abs(),
            supported: FORMAT.unsigned_abs(),
        })),
        (other, _, _) => unfit(Unfit::Foreign(other)),
    }
}

/// Makes the tables, unless another process was faster.
pub(crate) fn begin(connection: &mut Connection) -> Result<(), Failure> {
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if kind(&tx)? == Kind::Empty {
        tx.execute_batch(THREADS)?;
        tx.execute_batch(ITEMS)?;
        tx.pragma_update(None, "application_id", APPLICATION)?;
        tx.pragma_update(None, "user_version", FORMAT)?;
    }
    tx.commit()?;
    Ok(())
}
