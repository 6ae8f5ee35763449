//! The versions of SQLite that are safe.

use thiserror::Error;

/// The first release in which one connection that writes and another that checkpoints cannot damage the file: 3.51.3.
const OLDEST: i32 = 3_051_003;

/// A SQLite that is linked and will not do.
#[derive(Debug, Error)]
#[error(
    "SQLite {version} is linked, which can damage a file that two connections write: build with 3.51.3 or newer, as the one that is built in"
)]
pub(crate) struct TooOld {
    version: String,
}

/// Refuses a SQLite by its number, whose text is `version`.
pub(crate) fn admit(number: i32, version: &str) -> Result<(), TooOld> {
    match number < OLDEST {
        true => Err(TooOld { version: version.to_owned() }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P7
    #[test]
    fn a_sqlite_that_can_damage_a_file_is_refused_with_words() {
        for (number, version, admitted) in [
            (3_046_001, "3.46.1", false),
            (3_050_004, "3.50.4", false),
            (3_051_002, "3.51.2", false),
            (3_051_003, "3.51.3", true),
            (3_054_001, "3.54.1", true),
            (4_000_000, "4.0.0", true),
        ] {
            let refused = admit(number, version).map_err(|error| error.to_string());
            assert_eq!(refused.is_ok(), admitted, "{version}");
            assert!(
                refused.err().is_none_or(|message| message.contains(&format!("SQLite {version} ")))
            );
        }
    }

    /// P7: what is built in, whichever rusqlite brings it.
    #[test]
    fn the_sqlite_that_is_built_in_will_do() {
        admit(rusqlite::version_number(), rusqlite::version()).unwrap();
    }
}
