//! What the program is told on its command line.

use std::path::PathBuf;

use clap::Parser;

/// Talks, remembers what was said, answers out of your documents, calculates and knows the time.
///
/// Without a question it holds a conversation: one line a turn, from a terminal or a pipe; /help lists its commands. With
/// OPENAI_BASE_URL or OPENAI_API_KEY set (and OPENAI_MODEL) it asks that server's model, built with `-F server`; without them an
/// offline model of rules answers.
///
/// Exit: 0 answered, 1 failed, 2 wrong usage, 3 the thread is in use, 4 stopped by a limit, 5 waits for a person, 130
/// stopped by Ctrl-C.
#[derive(Debug, Clone, Parser)]
#[command(name = "chat", version, verbatim_doc_comment)]
pub struct Options {
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would take the place of the program's own help"
    )]
    pub talk: kit::Options,

    /// A folder of .txt and .md files, built with `-F documents` of .html, .docx, .hwpx and .pdf files too [default: the sample documents]
    #[arg(long, value_name = "FOLDER")]
    pub docs: Option<PathBuf>,

    /// At how many messages the older half is summarised
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(4..))]
    pub max_messages: u16,

    /// At how many tokens of the prompt it is made smaller, whatever the number of messages
    #[arg(long, value_name = "N", default_value_t = 16_000, value_parser = clap::value_parser!(u32).range(4_000..))]
    pub max_tokens: u32,

    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would take the place of the program's own help"
    )]
    pub store: crate::store::StoreOptions,

    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would take the place of the program's own help"
    )]
    pub meaning: kit::MeaningOptions,

    /// Let a model's server run Python, in a jail (Linux, bubblewrap)
    #[arg(long)]
    pub python: bool,
}
