//! Files with one JSON object a line, of which the first says where the others come from.

use serde::{Deserialize, de::DeserializeOwned};

use super::{DataError, Origin};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    as_of: String,
    source: String,
}

/// The rows of a file, each with its line.
#[derive(Debug)]
pub(super) struct Rows<T> {
    pub(super) origin: Origin,
    pub(super) rows: Vec<(usize, T)>,
}

/// The head and the rows of a text.
pub(super) fn rows<T: DeserializeOwned>(file: &str, text: &str) -> Result<Rows<T>, DataError> {
    let mut lines = (1..).zip(text.lines()).filter(|row| !row.1.trim().is_empty());
    let Some((line, head)) = lines.next() else {
        return Err(DataError::of(
            file,
            "the file is empty; its first line has `as_of` and `source`",
        ));
    };
    let head: Head = read(file, line, head)?;
    let origin = Origin::parse(file, line, &head.as_of, &head.source)?;
    let rows: Result<Vec<(usize, T)>, DataError> =
        lines.map(|row| Ok((row.0, read(file, row.0, row.1)?))).collect();
    let rows = rows?;
    if rows.is_empty() {
        return Err(DataError::of(file, "there is no row behind the first line"));
    }
    Ok(Rows { origin, rows })
}

fn read<T: DeserializeOwned>(file: &str, line: usize, text: &str) -> Result<T, DataError> {
    serde_json::from_str(text).map_err(|error| DataError::at(file, line, reason(&error)))
}

/// What is wrong, without a place: the line is not that of the file.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}
