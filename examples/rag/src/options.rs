//! What the program is told on its command line.

use std::path::PathBuf;

use clap::Parser;

/// Answers questions out of your documents, an internal directory, and with a calculator and a clock.
///
/// Without a question it holds a conversation: one question a line, from a terminal or a pipe; /help lists its commands. With
/// OPENAI_BASE_URL or OPENAI_API_KEY set (and OPENAI_MODEL) it asks that server's model, built with `-F server`; without them an
/// offline model of rules answers.
///
/// Exit: 0 answered, 1 failed, 2 wrong usage, 3 the thread is in use, 4 stopped by a limit, 5 waits for a person, 130
/// stopped by Ctrl-C.
#[derive(Debug, Clone, Parser)]
#[command(name = "rag", version, verbatim_doc_comment)]
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

    /// A file with `mcpServers`, built with `-F mcp`: tools for external_agent. Those that may do more than read ask first
    #[arg(long, value_name = "FILE")]
    pub mcp: Option<PathBuf>,

    /// Approve the tools of the servers as they are now
    #[arg(long, requires = "mcp")]
    pub accept: bool,

    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would take the place of the program's own help"
    )]
    pub meaning: kit::MeaningOptions,
}
