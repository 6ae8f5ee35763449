//! What no file of this repository holds.

use std::fs;
use std::path::PathBuf;

use crate::fault::Fault;
use crate::result::Result;

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
    faults
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
        let machine = |folder: &str| format!("see {folder}main\n");
        for (path, text, want) in [
            ("README.md", "fine\n".to_owned(), ""),
            ("README.md", "a\n\tb\n".to_owned(), "2: a tab"),
            ("README.md", "a \n".to_owned(), "1: white space"),
            ("README.md", "a\r\n".to_owned(), "1: a carriage return"),
            ("README.md", "a\nb".to_owned(), "2: no newline"),
            ("README.md", "a\n\n".to_owned(), "2: empty lines"),
            ("README.md", machine(MACHINE_PATHS[0]), "1: the path"),
            (".ci/run", machine(MACHINE_PATHS[1]), "1: the path"),
            ("crates/a/src/b.rs", "fn f() { todo!() }\n".to_owned(), "1: `todo!`"),
            ("crates/a/src/b.rs", "// a todo!() of theirs\nmy_todo!();\n".to_owned(), ""),
            ("xtask/src/b.rs", "dbg!(x);\n".to_owned(), ""),
        ] {
            let faults = faults(path, &text);
            assert_eq!(faults.len(), usize::from(!want.is_empty()), "{text:?}: {faults:?}");
            let want = format!("{path}:{want}");
            assert!(faults.iter().all(|fault| fault.starts_with(&want)), "{text:?}: {faults:?}");
        }
        assert_eq!(faults("crates/a/src/lib.rs", "mod x; \r\n\ty").len(), 4);
    }
}
