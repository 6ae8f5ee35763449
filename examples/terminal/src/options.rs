//! What every such program is told on its command line.

use std::path::PathBuf;

/// The options that all conversations have.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub struct Options {
    /// The question. Without one: a conversation, one question a line
    pub question: Vec<String>,

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

    /// Print what happens as JSON, an event a line, instead of the answer
    #[arg(long)]
    pub json: bool,

    /// Show each step as it happens: thoughts, calls, observations, time and tokens
    #[arg(long)]
    pub trace: bool,
}

impl Options {
    /// The question, `None` for a conversation.
    pub fn question(&self) -> Option<String> {
        (!self.question.is_empty()).then(|| self.question.join(" "))
    }
}
