//! Reading a table past its damage.

use rusqlite::{Connection, ErrorCode, Row, types::Value};

use crate::failure::Failure;

/// The number of rows that are looked for one by one behind a damage, before the steps get longer.
const NEAR: u32 = 10_000;

/// Gives every row of `table` that can be read, with its number first, in the order of their numbers; says whether some could not.
pub(crate) fn rows(
    connection: &Connection,
    table: &str,
    columns: &str,
    mut each: impl FnMut(Vec<Value>) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    let newest =
        connection.query_row(&format!("SELECT max(rowid) FROM {table}"), (), |row| row.get(0));
    let newest: i64 = match newest {
        Ok(newest) => Option::unwrap_or(newest, 0),
        Err(error) if is_damage(&error) => i64::MAX,
        Err(error) => return Err(error.into()),
    };
    let sql =
        format!("SELECT rowid, {columns} FROM {table} NOT INDEXED WHERE rowid > ?1 ORDER BY rowid");
    let (mut last, mut misses, mut lost) = (0_i64, 0_u32, false);
    loop {
        match from(connection, &sql, &mut last, &mut misses, &mut each) {
            Ok(()) => return Ok(lost),
            Err(Failure::Sql(error)) if is_damage(&error) => {}
            Err(failure) => return Err(failure),
        }
        lost = true;
        let step = 1_i64 << misses.saturating_sub(NEAR).min(62);
        misses += 1;
        last = last.saturating_add(step);
        if last >= newest {
            return Ok(lost);
        }
    }
}

fn from(
    connection: &Connection,
    sql: &str,
    last: &mut i64,
    misses: &mut u32,
    each: &mut impl FnMut(Vec<Value>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([*last])?;
    while let Some(row) = rows.next()? {
        let values = values(row)?;
        let Some(Value::Integer(number)) = values.first() else { continue };
        // A damaged page may name one twice.
        if *number > *last {
            *last = *number;
            *misses = 0;
            each(values)?;
        }
    }
    Ok(())
}

/// The values of a row. A text that is none is left as bytes.
pub(crate) fn values(row: &Row<'_>) -> Result<Vec<Value>, Failure> {
    let count = row.as_ref().column_count();
    let value = |column| {
        let value = row.get_ref(column)?;
        Ok(Value::try_from(value)
            .unwrap_or_else(|_| Value::Blob(value.as_bytes().unwrap_or_default().to_vec())))
    };
    (0..count).map(value).collect()
}

/// True when the file is damaged where it was read.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}
