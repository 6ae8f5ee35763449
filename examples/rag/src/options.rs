//! What the program is told on its command line.

use std::path::PathBuf;

use clap::Parser;

/// Answers questions out of your documents, an internal directory, and with a calculator and a clock.
///
/// Without a question it holds a conversation: one question a line, from a terminal or a pipe. With OPENAI_BASE_URL or
/// OPENAI_API_KEY set (and OPENAI_MODEL) it asks that server's model; without them an offline model of rules answers.
///
/// Exit: 0 answered, 1 failed, 2 wrong usage, 3 the thread is in use, 4 stopped by a limit, 130 stopped by Ctrl-C.
#[derive(Debug, Clone, Parser)]
#[command(name = "rag", version, verbatim_doc_comment)]
pub struct Options {
    /// The question. Without one: a conversation
    pub question: Vec<String>,

    /// A folder of .txt, .md and .pdf files [default: the sample documents]
    #[arg(long, value_name = "FOLDER")]
    pub docs: Option<PathBuf>,

    /// The conversation to go on with
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub thread: String,

    /// A file that keeps conversations. Without one nothing outlives the program
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,

    /// Go on with what an earlier run left unfinished
    #[arg(long, requires = "db", conflicts_with = "question")]
    pub resume: bool,

    /// Print a Mermaid drawing of what runs, and end
    #[arg(long)]
    pub graph: bool,

    /// Show each step as it happens: routing, thoughts, calls, observations, time and tokens
    #[arg(long)]
    pub trace: bool,
}

impl Options {
    /// The question, `None` for a conversation.
    pub fn question(&self) -> Option<String> {
        (!self.question.is_empty()).then(|| self.question.join(" "))
    }
}
