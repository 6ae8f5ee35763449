//! Arguments of commands.

use std::fmt;

use crate::result::{Error, Result};

/// Arguments that make no sense: a sentence about the first one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misuse(pub(crate) String);

impl std::error::Error for Misuse {}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The options of a command (a flag has an empty value), and its other words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) options: Vec<(String, String)>,
    pub(crate) words: Vec<String>,
}

pub(crate) fn misuse(what: impl Into<String>) -> Error {
    Misuse(what.into()).into()
}

/// Takes the options that are `known` out of `arguments`, each with what its value has to be: nothing for a flag.
pub(crate) fn read(arguments: &[String], known: &[(&str, &str)]) -> Result<Options> {
    let (mut read, mut rest) = (Options::default(), arguments.iter().cloned());
    while let Some(word) = rest.next() {
        match known.iter().find(|(name, _)| *name == word) {
            Some((_, "")) => read.options.push((word, String::new())),
            Some((name, needed)) => {
                let value = rest.next().filter(|value| !value.starts_with('-'));
                let value = value.ok_or_else(|| misuse(format!("`{name}` needs {needed}")))?;
                read.options.push((word, value));
            }
            None if word.starts_with('-') => return Err(meaningless(&word)),
            None => read.words.push(word),
        }
    }
    Ok(read)
}

/// The options where there are no other words.
pub(crate) fn only(arguments: &[String], known: &[(&str, &str)]) -> Result<Vec<(String, String)>> {
    let read = read(arguments, known)?;
    match read.words.first() {
        Some(word) => Err(meaningless(word)),
        None => Ok(read.options),
    }
}

fn meaningless(word: &str) -> Error {
    misuse(format!("`{word}` means nothing here"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_what_is_none_is_named() {
        let known = [("--full", ""), ("--base", "a commit")];
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let text = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let options = [("--full", ""), ("--base", "main")].map(text).to_vec();
        let want = Options { options, words: words("a b") };
        assert_eq!(read(&words("a --full --base main b"), &known).unwrap(), want);
        for (line, want) in [
            ("--base", "`--base` needs a commit"),
            ("--base --full", "`--base` needs a commit"),
            ("--all", "`--all` means nothing here"),
            ("now", "`now` means nothing here"),
        ] {
            assert_eq!(only(&words(line), &known).unwrap_err().to_string(), want);
        }
    }
}
