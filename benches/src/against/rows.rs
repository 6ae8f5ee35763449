//! Which rows are compared.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::Result;

/// Who has a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Both,
    /// The other build alone.
    Base,
    /// This build alone.
    Tree,
}

/// The rows that `program` has.
///
/// # Errors
///
/// It does not list them.
pub(super) fn of_program(program: &Path) -> Result<Vec<String>> {
    let output = Command::new(program).arg("--help").stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    let rows = of_help(&String::from_utf8(output.stdout)?);
    match rows.is_empty() {
        true => Err(format!("`{} --help` lists no rows", program.display()).into()),
        false => Ok(rows),
    }
}

/// The rows that a `--help` lists: the first word of each line below `rows:`.
fn of_help(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "rows:").skip(1);
    let lines = lines.take_while(|line| line.starts_with("  "));
    lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// The rows that are `named`, and who has them. If none is named: all of this build (`here`), then what the other one (`there`) has
/// besides.
///
/// # Errors
///
/// Neither build has a row of that name.
pub(super) fn selected(
    named: &[String],
    here: &[&str],
    there: &[String],
    called: &str,
) -> Result<Vec<(String, Presence)>, String> {
    let row = |name: &str| {
        let presence = match (here.contains(&name), there.iter().any(|row| row == name)) {
            (true, true) => Presence::Both,
            (true, false) => Presence::Tree,
            (false, true) => Presence::Base,
            (false, false) => return Err(unknown(name, called)),
        };
        Ok((name.to_owned(), presence))
    };
    if !named.is_empty() {
        return named.iter().map(|name| row(name)).collect();
    }
    let others = there.iter().map(String::as_str).filter(|name| !here.contains(name));
    here.iter().copied().chain(others).map(row).collect()
}

fn unknown(name: &str, called: &str) -> String {
    format!(
        "no row `{name}`, neither in {called} nor in this tree; `cargo xtask bench --help` lists them"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{arguments::usage, works::ALL};

    /// An older program is asked in this way, and one day this one will be.
    #[test]
    fn the_help_lists_every_row() {
        let names: Vec<_> = ALL.iter().map(|work| work.name).collect();
        assert_eq!(of_help(&usage()), names);
        assert_eq!(of_help("usage: something else"), [""; 0]);
    }

    #[test]
    fn a_row_that_one_build_has_is_no_error_and_one_that_none_has_is() {
        let there = ["loop".to_owned(), "old".to_owned()];
        let rows_of = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            selected(&names, &["loop", "new"], &there, "1a2b3c4")
        };
        let rows = [("loop", Presence::Both), ("new", Presence::Tree), ("old", Presence::Base)];
        let rows = rows.map(|(name, presence)| (name.to_owned(), presence));
        assert_eq!(rows_of(&[]), Ok(rows.to_vec()));
        assert_eq!(rows_of(&["new", "loop"]), Ok(vec![rows[1].clone(), rows[0].clone()]));
        assert_eq!(
            rows_of(&["loop", "lop"]).unwrap_err(),
            "no row `lop`, neither in 1a2b3c4 nor in this tree; `cargo xtask bench --help` lists them"
        );
    }
}
