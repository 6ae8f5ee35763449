//! A replacement in a text.

use serde::{Deserialize, Serialize};

use super::{FileError, FilePath, folder::shown};

/// The replacement of a text that stands in a file once.
///
/// ```
/// use hanok_sandbox::{FilePath, TextEdit};
///
/// let path = FilePath::new("rules.md")?;
/// let edit = TextEdit { old: "15".into(), new: "20".into() };
/// assert_eq!(edit.apply(&path, "15 days")?, "20 days");
/// let twice = edit.apply(&path, "15 or 15").unwrap_err().to_string();
/// assert!(twice.starts_with("the text to replace stands 2 times"));
/// # Ok::<(), hanok_sandbox::FileError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextEdit {
    /// What stands there.
    pub old: String,
    /// What is to stand there.
    pub new: String,
}

impl TextEdit {
    /// `text`, the content of `path`, with the replacement.
    ///
    /// # Errors
    ///
    /// [`FileError::Occurrences`] where [`old`](TextEdit::old) does not stand in it once, or is empty.
    pub fn apply(&self, path: &FilePath, text: &str) -> Result<String, FileError> {
        let lines = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
        match replaced(text, &self.old, &self.new) {
            // Who reads a file line by line does not see how its lines end.
            Err(0) if text.contains("\r\n") => replaced(text, &lines(&self.old), &lines(&self.new)),
            result => result,
        }
        .map_err(|count| FileError::Occurrences { path: shown(path.as_str()), count })
    }
}

/// `text` with `new` in the one place where `old` stands, or the number of those places, which may overlap.
fn replaced(text: &str, old: &str, new: &str) -> Result<String, usize> {
    let Some(first) = old.chars().next() else { return Err(0) };
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(old)) {
        places.push(from + at);
        from += at + first.len_utf8();
    }
    let [at] = places.as_slice() else { return Err(places.len()) };
    let (before, after) = (text.get(..*at), text.get(at + old.len()..));
    Ok([before, Some(new), after].into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_replaced_where_it_stands_once_however_lines_end() {
        let path = FilePath::new("a").unwrap();
        for (text, old, new, want) in [
            ("a b c", "b", "가", Ok("a 가 c")),
            ("a\r\nb\r\nc", "a\nb", "x\ny", Ok("x\r\ny\r\nc")),
            ("a\nb", "a\nb", "", Ok("")),
            ("a a a", "a", "b", Err(3)),
            ("a", "b", "c", Err(0)),
            ("a", "", "c", Err(0)),
            ("aaa", "aa", "b", Err(2)),
        ] {
            let edit = TextEdit { old: old.into(), new: new.into() };
            match (edit.apply(&path, text), want) {
                (Ok(after), Ok(want)) => assert_eq!(after, want),
                (Err(FileError::Occurrences { count, .. }), Err(want)) => assert_eq!(count, want),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
