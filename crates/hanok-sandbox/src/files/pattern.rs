//! Patterns of paths.

use std::fmt;

use super::{
    FileError,
    folder::shown,
    path::{is_folder, names},
};

/// A pattern of paths: names with `/` between them, where `*` is any text within a name, `?` one character of it, and a name
/// `**` any number of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    text: String,
    names: Vec<Name>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    /// `**`
    Any,
    Like(Vec<char>),
}

impl Pattern {
    /// Reads a pattern. One that can match nothing is an error: a rule that looks like one would protect nothing.
    pub(super) fn new(text: &str) -> Result<Self, FileError> {
        let refused = |why| FileError::Pattern { pattern: shown(text), why };
        let names = names(text).map_err(refused)?;
        if names.is_empty() {
            return Err(refused("it is empty"));
        }
        if is_folder(text) {
            return Err(refused("write `**` behind a folder for what is in it"));
        }
        if names.iter().any(|name| name.contains("**") && *name != "**") {
            return Err(refused("`**` is a whole name"));
        }
        let name = |name: &&str| match *name {
            "**" => Name::Any,
            name => Name::Like(name.chars().collect()),
        };
        Ok(Self { text: names.join("/"), names: names.iter().map(name).collect() })
    }

    /// True for a path that the pattern is of.
    pub(super) fn matches(&self, path: &str) -> bool {
        let path: Vec<Vec<char>> = path.split('/').map(|name| name.chars().collect()).collect();
        // For each number of names of the path: whether the pattern so far matches just those.
        let mut reached = vec![false; path.len() + 1];
        if let Some(first) = reached.first_mut() {
            *first = true;
        }
        for name in &self.names {
            reached = match name {
                Name::Any => reached
                    .iter()
                    .scan(false, |any, is_reached| {
                        *any |= is_reached;
                        Some(*any)
                    })
                    .collect(),
                Name::Like(like) => {
                    let next =
                        reached.iter().zip(&path).map(|pair| *pair.0 && is_like(like, pair.1));
                    std::iter::once(false).chain(next).collect()
                }
            };
        }
        reached.last().copied().unwrap_or(false)
    }

    /// The pattern for a path whose letters are small.
    pub(super) fn lower_case(&self) -> Self {
        let name = |name: &Name| match name {
            Name::Any => Name::Any,
            Name::Like(like) => Name::Like(like.iter().flat_map(|c| c.to_lowercase()).collect()),
        };
        Self { text: self.text.clone(), names: self.names.iter().map(name).collect() }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// True for a name that `like` is of. It goes back to the last `*` alone, so it takes at most the product of the lengths.
fn is_like(like: &[char], name: &[char]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut star = None;
    while let Some(character) = name.get(seen) {
        match like.get(at) {
            Some('*') => {
                star = Some((at + 1, seen));
                at += 1;
            }
            Some(wild) if wild == character || *wild == '?' => {
                at += 1;
                seen += 1;
            }
            _ => match star {
                Some((after, from)) => {
                    (at, seen) = (after, from + 1);
                    star = Some((after, from + 1));
                }
                None => return false,
            },
        }
    }
    like.get(at..).is_some_and(|rest| rest.iter().all(|c| *c == '*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stays_in_its_name_and_two_are_any_names() {
        for (pattern, matching, other) in [
            (
                "notes/*.md",
                &["notes/a.md", "notes/.md"][..],
                &["notes/a/b.md", "a.md", "notes/a"][..],
            ),
            ("**", &["a", "a/b/c"], &[]),
            ("notes/**", &["notes/a", "notes/a/b", "notes"], &["note", "a/notes/b"]),
            ("**/*.key", &["a.key", "x/y/a.key"], &["a.keys", "a.key/b"]),
            ("a/**/z", &["a/z", "a/b/c/z"], &["a/b/zz", "z", "a"]),
            ("?.md", &["a.md", "가.md"], &["ab.md", ".md"]),
            ("*a*b*", &["ab", "xaxbx", "aab"], &["ba", "a"]),
            ("[a]{b}", &["[a]{b}"], &["a", "b"]),
        ] {
            let pattern = Pattern::new(pattern).unwrap();
            for path in matching {
                assert!(pattern.matches(path), "{pattern} and {path}");
            }
            for path in other {
                assert!(!pattern.matches(path), "{pattern} and not {path}");
            }
        }
        for nothing in ["", "/etc/**", "../x", "notes/", "a**", "./"] {
            let error = Pattern::new(nothing).unwrap_err();
            assert!(matches!(error, FileError::Pattern { .. }), "{nothing}: {error}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = Pattern::new(&format!("{}b", "*a".repeat(200))).unwrap();
        assert!(!pattern.matches(&"a".repeat(1000)));
        let folders = Pattern::new(&format!("{}b", "**/a/".repeat(100))).unwrap();
        assert!(!folders.matches(&"a/".repeat(500)));
    }
}
