//! What no file of this repository holds.

use std::fs;
use std::path::PathBuf;

use crate::fault::Fault;
use crate::result::Result;

/// A longer file holds two ideas. Documentation does not count: examples are long, and belong to their items.
const LONGEST: usize = 700;

/// Files that may be longer, each with the one idea that needs the room.
const LONG: &[(&str, &str)] = &[];

/// Folders of one machine. Written in halves, for this file is checked too.
const MACHINE_PATHS: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Left-overs of work in progress.
const LEFTOVERS: [&str; 3] = ["todo!", "unimplemented!", "dbg!"];

/// Faults in the files that are text of ours.
pub(super) fn check_files(files: &[PathBuf]) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for file in files {
        let path = file.to_string_lossy().replace('\\', "/");
        let path = path.strip_prefix("./").unwrap_or(&path);
        if path.ends_with(".snap.new") || path.ends_with(".pending-snap") {
            faults.push(Fault::new(path, 1, "a snapshot waits for review, accept it or delete it"));
        } else if is_ours(path) {
            match String::from_utf8(fs::read(file)?) {
                Ok(text) => faults.extend(check(path, &text)),
                Err(_) => faults.push(Fault::new(path, 1, "not UTF-8, convert it")),
            }
        }
    }
    Ok(faults)
}

fn is_ours(path: &str) -> bool {
    [".rs", ".toml", ".md", ".yml", ".yaml", ".sh"].iter().any(|end| path.ends_with(end))
        || path.starts_with(".ci/")
}

/// Faults in one file.
fn check(path: &str, text: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let is_rust = path.ends_with(".rs");
    let in_crate = is_rust && path.starts_with("crates/");

    for (index, line) in text.split('\n').enumerate() {
        let mut fault = |what: String| faults.push(Fault::new(path, index + 1, what));
        let unix = line.strip_suffix('\r');
        if unix.is_some() {
            fault("a carriage return at the end of the line, use LF alone".into());
        }
        let line = unix.unwrap_or(line);
        if line.contains('\t') {
            fault("a tab, use spaces (or an escape)".into());
        }
        if line.ends_with(' ') {
            fault("white space at the end of the line, remove it".into());
        }
        if let Some(machine) = MACHINE_PATHS.iter().find(|machine| line.contains(**machine)) {
            fault(format!("the path `{machine}` of one machine, use a relative one"));
        }
        let code = line.trim_start();
        if in_crate && !code.starts_with("//") {
            for leftover in LEFTOVERS.iter().filter(|leftover| calls(code, leftover)) {
                fault(format!("`{leftover}`, finish it or return an error"));
            }
        }
    }

    let lines = text.lines().count();
    if !text.is_empty() && !text.ends_with('\n') {
        faults.push(Fault::new(path, lines, "no newline at the end, add one"));
    }
    if text.ends_with("\n\n") {
        faults.push(Fault::new(path, lines, "empty lines at the end, remove them"));
    }
    let own = text.lines().filter(|line| !is_documentation(line)).count();
    if is_rust && own > LONGEST && !LONG.iter().any(|(long, _)| *long == path) {
        let what = format!(
            "{own} lines besides documentation, at most {LONGEST}: split it by idea, or list it with a reason"
        );
        faults.push(Fault::new(path, lines, what));
    }
    faults
}

fn is_documentation(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("///") || line.starts_with("//!")
}

/// Whether `code` calls the macro `name`, and not one whose name ends in it.
fn calls(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code.get(..at).and_then(|before| before.chars().next_back());
        let after = code.get(at + name.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '"')
            && after.is_some_and(|c| "([{".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> Vec<String> {
        check(path, text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_fault_is_found_on_its_line() {
        let (machine, other) = (MACHINE_PATHS[0], MACHINE_PATHS[1]);
        for (path, text, want) in [
            ("README.md", "fine\n".to_owned(), None),
            ("README.md", "a\n\tb\n".to_owned(), Some("2: a tab, use spaces (or an escape)")),
            (
                "README.md",
                "a \n".to_owned(),
                Some("1: white space at the end of the line, remove it"),
            ),
            (
                "README.md",
                "a\r\n".to_owned(),
                Some("1: a carriage return at the end of the line, use LF alone"),
            ),
            ("README.md", "a\nb".to_owned(), Some("2: no newline at the end, add one")),
            ("README.md", "a\n\n".to_owned(), Some("2: empty lines at the end, remove them")),
            (
                "README.md",
                format!("see {machine}main\n"),
                Some(concat!("1: the path `/wo", "rk/` of one machine, use a relative one")),
            ),
            (
                ".ci/run",
                format!("cd {other}x\n"),
                Some(concat!("1: the path `/ro", "ot/` of one machine, use a relative one")),
            ),
            (
                "crates/a/src/b.rs",
                "fn f() { todo!() }\n".to_owned(),
                Some("1: `todo!`, finish it or return an error"),
            ),
            (
                "crates/a/src/b.rs",
                "    dbg!(x);\n".to_owned(),
                Some("1: `dbg!`, finish it or return an error"),
            ),
            ("crates/a/src/b.rs", "// a todo!() of theirs\nmy_todo!();\n".to_owned(), None),
            ("xtask/src/b.rs", "dbg!(x);\n".to_owned(), None),
        ] {
            let want: Vec<_> = want.map(|want| format!("{path}:{want}")).into_iter().collect();
            assert_eq!(faults(path, &text), want, "{text:?}");
        }
    }

    #[test]
    fn every_fault_is_reported_at_once() {
        assert_eq!(faults("crates/a/src/lib.rs", "mod x; \r\n\ty").len(), 4);
    }

    #[test]
    fn a_file_that_holds_two_ideas_is_found_by_its_length() {
        assert_eq!(faults("crates/a/src/b.rs", &"x\n".repeat(700)), [""; 0]);
        assert_eq!(
            faults("crates/a/src/b.rs", &"x\n".repeat(701)),
            [
                "crates/a/src/b.rs:701: 701 lines besides documentation, at most 700: split it by idea, or list it with a reason"
            ]
        );
        assert_eq!(faults("crates/a/src/b.rs", &"/// x\n".repeat(701)), [""; 0]);
        assert_eq!(faults("docs/long.md", &"x\n".repeat(2000)), [""; 0]);
    }
}
