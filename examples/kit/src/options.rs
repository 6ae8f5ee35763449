//! What every such program is told on its command line.

use std::path::PathBuf;

use hanok_core::{RequestId, Stored};
use serde_json::Value;

use crate::failure::Failure;

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

    /// Answer an open question of the thread: its id, and the answer as JSON. May stand several times
    #[arg(long, num_args = 2, value_names = ["ID", "JSON"], requires = "db", conflicts_with_all = ["question", "resume"])]
    pub answer: Vec<String>,

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
    /// The answers to open questions, each with the id of its question.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] for an answer that is no JSON.
    pub(crate) fn answers(&self) -> Result<Vec<(RequestId, Stored)>, Failure> {
        let pairs = self.answer.chunks_exact(2).map(|pair| {
            let [id, json] = pair else { return Err(Failure::Usage("--answer ID JSON".into())) };
            let wrong = |error: &dyn std::fmt::Display| {
                Failure::Usage(format!(
                    "`{id}`의 답이 JSON이 아닙니다(글은 따옴표로 묶으세요): {error}"
                ))
            };
            let value: Value = serde_json::from_str(json).map_err(|error| wrong(&error))?;
            let stored = Stored::encode(&value).map_err(|error| wrong(&error))?;
            Ok((RequestId(id.as_str().into()), stored))
        });
        pairs.collect()
    }

    /// The question, `None` for a conversation.
    pub fn question(&self) -> Option<String> {
        (!self.question.is_empty()).then(|| self.question.join(" "))
    }
}
