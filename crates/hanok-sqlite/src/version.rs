//! Which SQLite will do.

use thiserror::Error;

/// The first release in which one connection that writes and another that checkpoints cannot damage the file: 3.51.3.
const OLDEST: i32 = 3_051_003;

/// A SQLite that is linked and will not do.
#[derive(Debug, Error)]
#[error(
    "SQLite {found} is linked, which can damage a file that two connections write: build with 3.51.3 or newer, as the one that is built in"
)]
pub(crate) struct TooOld {
    found: String,
}

/// Refuses a SQLite by its number, `found` in words.
pub(crate) fn admit(number: i32, found: &str) -> Result<(), TooOld> {
    match number < OLDEST {
        true => Err(TooOld { found: found.to_owned() }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P7
    #[test]
    fn a_sqlite_that_can_damage_a_file_is_refused_with_words() {
        for (number, found, admitted) in [
            (3_046_001, "3.46.1", false),
            (3_050_004, "3.50.4", false),
            (3_051_002, "3.51.2", false),
            (3_051_003, "3.51.3", true),
            (3_054_001, "3.54.1", true),
            (4_000_000, "4.0.0", true),
        ] {
            let said = admit(number, found).map_err(|error| error.to_string());
            assert_eq!(said.is_ok(), admitted, "{found}");
            assert!(said.err().is_none_or(|said| said.contains(&format!("SQLite {found} "))));
        }
    }

    /// P7: what is built in, whichever rusqlite brings it.
    #[test]
    fn the_sqlite_that_is_built_in_will_do() {
        admit(rusqlite::version_number(), rusqlite::version()).unwrap();
    }
}
