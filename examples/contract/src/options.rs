//! What the program is told on its command line.

use std::path::PathBuf;

use clap::Parser;
use hanok_encoder::Morphology;
use hanok_retrieval::{SharedMorphemes, Terms};
use kit::failure::Failure;

/// Answers questions about a contract out of its articles, and compares it with a standard contract.
///
/// Without a question it holds a conversation: one line a turn, from a terminal or a pipe; /help lists its commands. With
/// OPENAI_BASE_URL or OPENAI_API_KEY set (and OPENAI_MODEL) it asks that server's model, built with `-F server`; without them an
/// offline model of rules answers. It is no legal advice.
///
/// Exit: 0 answered, 1 failed, 2 wrong usage, 3 the thread is in use, 4 stopped by a limit, 5 waits for a person, 130
/// stopped by Ctrl-C.
#[derive(Debug, Clone, Parser)]
#[command(name = "contract", version, verbatim_doc_comment)]
pub struct Options {
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would take the place of the program's own help"
    )]
    pub talk: kit::Options,

    /// The contract: .txt or .md, built with `-F documents` .html, .docx, .hwpx or .pdf too [default: a sample, a service agreement]
    #[arg(long, value_name = "FILE")]
    pub contract: Option<PathBuf>,

    /// The standard contract to compare with [default: the sample that is most like the contract]
    #[arg(long, value_name = "FILE")]
    pub standard: Option<PathBuf>,

    /// How often it may look for more before it answers with what there is
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub max_iterations: u32,

    /// Ask the model again for what it has answered before
    #[arg(long)]
    pub no_cache: bool,

    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would take the place of the program's own help"
    )]
    pub meaning: kit::MeaningOptions,

    /// A folder with a Korean dictionary of MeCab's form: words are then compared by what they are made of
    #[arg(long, value_name = "FOLDER")]
    pub dictionary: Option<PathBuf>,
}

impl Options {
    /// What the words of a contract are taken for.
    pub(crate) fn terms(&self) -> Result<Terms, Failure> {
        let Some(folder) = &self.dictionary else { return Ok(Terms::default()) };
        let dictionary = Morphology::open(folder);
        let dictionary = dictionary.map_err(|error| Failure::unreadable("사전을", error))?;
        Ok(Terms::Morphemes(SharedMorphemes::new(dictionary)))
    }
}
