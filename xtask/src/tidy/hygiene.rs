//! What no file of this repository holds.

use std::fs;
use std::path::PathBuf;

use crate::fault::Fault;
use crate::result::Result;

/// Folders of one machine. Written in halves, for this file is checked too.
const MACHINE_PATHS: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// The ends of the names of files that are text of ours.
const OURS: [&str; 6] = [".rs", ".toml", ".md", ".yml", ".yaml", ".sh"];

/// Faults in the files that are text of ours.
pub(super) fn check_files(files: &[PathBuf]) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for file in files {
        let path = file.to_string_lossy().replace('\\', "/");
        let path = path.strip_prefix("./").unwrap_or(&path);
        if path.ends_with(".snap.new") || path.ends_with(".pending-snap") {
            faults.push(Fault::new(path, 1, "a snapshot waits for review, accept it or delete it"));
        } else if OURS.iter().any(|end| path.ends_with(end)) || path.starts_with(".ci/") {
            match String::from_utf8(fs::read(file)?) {
                Ok(text) => faults.extend(check(path, &text)),
                Err(_) => faults.push(Fault::new(path, 1, "not UTF-8, convert it")),
            }
        }
    }
    Ok(faults)
}

/// Faults in one file.
fn check(path: &str, text: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (line, number) in text.split('\n').zip(1..) {
        let mut fault = |what: &str| faults.push(Fault::new(path, number, what));
        let unix = line.strip_suffix('\r').unwrap_or(line);
        if unix != line {
            fault("a carriage return at the end of the line, use LF alone");
        }
        if unix.contains('\t') {
            fault("a tab, use spaces (or an escape)");
        }
        if unix.ends_with(' ') {
            fault("white space at the end of the line, remove it");
        }
        if let Some(machine) = MACHINE_PATHS.iter().find(|machine| line.contains(**machine)) {
            fault(&format!("the path `{machine}` of one machine, use a relative one"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_found_on_its_line() {
        let machine = |folder: &str| format!("see {folder}main\n");
        for (text, want) in [
            ("fine\n".to_owned(), ""),
            ("a\n\tb\n".to_owned(), "2: a tab"),
            ("a \n".to_owned(), "1: white space"),
            ("a\r\n".to_owned(), "1: a carriage return"),
            ("a\nb".to_owned(), "2: no newline"),
            ("a\n\n".to_owned(), "2: empty lines"),
            (machine(MACHINE_PATHS[0]), "1: the path"),
            (machine(MACHINE_PATHS[1]), "1: the path"),
        ] {
            let faults = check("a.md", &text);
            assert_eq!(faults.len(), usize::from(!want.is_empty()), "{text:?}: {faults:?}");
            let starts = |fault: &Fault| fault.to_string().starts_with(&format!("a.md:{want}"));
            assert!(faults.iter().all(starts), "{text:?}: {faults:?}");
        }
        assert_eq!(check("a.rs", "mod x; \r\n\ty").len(), 4);
    }
}
