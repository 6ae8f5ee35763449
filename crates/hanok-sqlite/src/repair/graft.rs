//! A store whose list of tables is damaged: every store begins with the same pages, so a new one's are put in their place.
//!
//! How pages and cells lie in a file says <https://www.sqlite.org/fileformat2.html>, 1.3 and 1.6.

use std::{fs, path::Path};

use rusqlite::Connection;

use crate::{failure::Failure, file::format};

/// The size of a page, which no store changes.
const PAGE: usize = 4096;

/// The offset at which the first page's tree begins.
const FIRST: usize = 100;

/// The kind of a page that names others.
const INTERIOR: u8 = 5;

/// The tables that a store cannot be without.
const TABLES: [&str; 9] = [
    "threads",
    "records",
    "labels",
    "snapshots",
    "outbox",
    "consumers",
    "tenants",
    "items",
    "vectors",
];

/// True when the list of tables can be read.
pub(crate) fn is_readable(connection: &Connection) -> bool {
    TABLES.iter().all(|table| {
        let sql = format!("SELECT rowid FROM {table} LIMIT 0");
        let without = format!("SELECT 1 FROM {table} LIMIT 0");
        connection.prepare(&sql).or_else(|_| connection.prepare(&without)).is_ok()
    })
}

/// Puts the list of tables of a new store, which is made at `new`, into the file `to`.
pub(crate) fn tables(to: &Path, new: &Path) -> Result<(), Failure> {
    let mut connection = Connection::open(new)?;
    format::begin(&mut connection)?;
    connection.close().map_err(|(_, error)| error)?;
    let damaged = |error: std::io::Error| Failure::Damaged(error.into());
    let whole = fs::read(new).map_err(damaged)?;
    let mut bytes = fs::read(to).map_err(damaged)?;
    // What was cut off of the pages that every store has is put back as a new one has it: empty.
    bytes.truncate(bytes.len() / PAGE * PAGE);
    let there = bytes.len().min(whole.len());
    bytes.extend_from_slice(whole.get(there..).unwrap_or_default());
    let pages = bytes.len() / PAGE;
    for page in list_of_tables(&whole) {
        let place = page * PAGE..(page + 1) * PAGE;
        if let (Some(to), Some(from)) = (bytes.get_mut(place.clone()), whole.get(place)) {
            to.copy_from_slice(from);
        }
    }
    // How many pages the file has, and that none of them is free.
    let size = u32::try_from(pages).unwrap_or(u32::MAX).to_be_bytes();
    for (place, number) in [(28..32, size), (32..36, [0; 4]), (36..40, [0; 4])] {
        if let Some(to) = bytes.get_mut(place) {
            to.copy_from_slice(&number);
        }
    }
    fs::write(to, bytes).map_err(damaged)
}

/// Which pages hold the list: the first one, and those that it names. No entry is longer than a page.
fn list_of_tables(file: &[u8]) -> Vec<usize> {
    let mut pages = vec![0];
    if file.get(FIRST) != Some(&INTERIOR) {
        return pages;
    }
    let number = |at: usize, length: usize| {
        let bytes = file.get(at..at + length)?;
        Some(bytes.iter().fold(0_usize, |number, byte| number << 8 | usize::from(*byte)))
    };
    let cells = number(FIRST + 3, 2).unwrap_or_default();
    let children = (0..cells).filter_map(|cell| number(number(FIRST + 12 + 2 * cell, 2)?, 4));
    let last = number(FIRST + 8, 4);
    pages.extend(children.chain(last).filter_map(|page| page.checked_sub(1)));
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_tables_that_is_gone_is_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        let mut connection = Connection::open(&old).unwrap();
        format::begin(&mut connection).unwrap();
        connection.execute("INSERT INTO consumers VALUES ('topic', 'me', 7)", ()).unwrap();
        drop(connection);
        let mut bytes = fs::read(&old).unwrap();
        let list = list_of_tables(&bytes);
        assert!(list.len() > 1, "{list:?}");
        for page in list {
            bytes[page * PAGE..(page + 1) * PAGE].fill(0);
        }
        fs::write(&old, bytes).unwrap();
        assert!(!is_readable(&Connection::open(&old).unwrap()));
        tables(&old, &new).unwrap();
        let connection = Connection::open(&old).unwrap();
        assert!(is_readable(&connection));
        let done = connection.query_row("SELECT done FROM consumers", (), |row| row.get(0));
        assert_eq!(done, Ok(7));
    }
}
