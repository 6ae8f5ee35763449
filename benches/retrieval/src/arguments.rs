//! What the command line asks for.

use std::path::PathBuf;

use crate::stores::{ALL, Store};

/// One invocation.
#[derive(Debug)]
pub(crate) enum Request {
    /// Print the usage.
    Help,
    /// Ask the questions, with every embedder at hand.
    Questions {
        /// The folder of an encoder's files.
        encoder: Option<PathBuf>,
        /// The folder of a dictionary, by which keywords are morphemes.
        dictionary: Option<PathBuf>,
        /// Whether ways to join are compared, too.
        fusion: bool,
    },
    /// Fill every store with passages, each in a process of its own.
    Passages { passages: usize },
    /// Fill this one, in this process.
    Store { store: Store, passages: usize },
}

/// Reads the arguments after the program's name.
///
/// # Errors
///
/// A sentence about the first argument that makes no sense here.
pub(crate) fn read(arguments: impl IntoIterator<Item = String>) -> Result<Request, String> {
    let mut arguments = arguments.into_iter();
    let (mut encoder, mut dictionary, mut fusion) = (None, None, false);
    let (mut passages, mut store) = (None, None);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("`{argument}` needs a value"));
        match argument.as_str() {
            "--help" | "-h" => return Ok(Request::Help),
            "--encoder" => encoder = Some(value()?.into()),
            "--dictionary" => dictionary = Some(value()?.into()),
            "--fusion" => fusion = true,
            "--passages" => passages = Some(count(&value()?)?),
            "--store" => store = Some(named(&value()?)?),
            other => return Err(format!("`{other}` means nothing here")),
        }
    }
    match (store, passages) {
        (Some(store), Some(passages)) => Ok(Request::Store { store, passages }),
        (Some(_), None) => Err("`--store` is for `--passages`".to_owned()),
        (None, Some(_)) if fusion || encoder.is_some() || dictionary.is_some() => {
            Err("`--passages` is for itself".to_owned())
        }
        (None, Some(passages)) => Ok(Request::Passages { passages }),
        (None, None) => Ok(Request::Questions { encoder, dictionary, fusion }),
    }
}

fn count(value: &str) -> Result<usize, String> {
    let count = value.parse().ok().filter(|count| *count > 0);
    count.ok_or(format!("`{value}` is no number of passages"))
}

fn named(name: &str) -> Result<Store, String> {
    let named = ALL.into_iter().find(|store| store.name() == name);
    named.ok_or(format!("no store `{name}`"))
}

/// What `--help` prints.
pub(crate) fn usage() -> String {
    let stores = ALL.map(Store::name).join(", ");
    format!(
        "usage: cargo xtask evaluate                    questions over the sample documents
                            [--encoder FOLDER]  also by an encoder whose files are there
                            [--dictionary FOLDER]  by morphemes in place of bigrams
                            [--fusion]          and how keywords and vectors are best joined
       cargo xtask evaluate --passages COUNT   how fast generated passages are indexed and found
                            [--store NAME]      in this store alone, as JSON: {stores}

OPENAI_EMBEDDING_MODEL, with OPENAI_BASE_URL or OPENAI_API_KEY, adds a server's embedder."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_knows_and_names_what_it_does_not() {
        for (line, want) in [
            ("", "Questions { encoder: None, dictionary: None, fusion: false }"),
            (
                "--encoder a --dictionary b --fusion",
                "Questions { encoder: Some(\"a\"), dictionary: Some(\"b\"), fusion: true }",
            ),
            ("--passages 9", "Passages { passages: 9 }"),
            ("-h", "Help"),
            ("--passages 0", "`0` is no number of passages"),
            ("--passages 9 --fusion", "`--passages` is for itself"),
            ("--store memory", "`--store` is for `--passages`"),
            ("--store disk --passages 9", "no store `disk`"),
            ("--encoder", "`--encoder` needs a value"),
            ("fast", "`fast` means nothing here"),
        ] {
            let read = read(line.split_whitespace().map(str::to_owned));
            assert_eq!(read.map_or_else(|wrong| wrong, |it| format!("{it:?}")), want, "{line}");
        }
        let one = read(["--store", "memory", "--passages", "9"].map(str::to_owned));
        assert!(matches!(one, Ok(Request::Store { store: Store::Memory, passages: 9 })));
    }
}
