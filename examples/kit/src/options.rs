//! What every such program is told on its command line.

use std::path::PathBuf;

use clap::{Parser, error::ErrorKind};
use hanok_core::{RequestId, Stored};

use crate::{Screen, failure::Failure};

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

/// What is said on the command line, as `O` has it. What makes no sense ends the program with 2, in the words of its user; `--help` with 0.
#[must_use]
pub fn command_line<O: Parser>() -> O {
    O::try_parse().unwrap_or_else(|error| {
        let Some(line) = wrong(&error) else { error.exit() };
        Screen::new(false)
            .telling()
            .tell(&format!("오류: {line}. 쓸 수 있는 것은 --help로 봅니다."));
        std::process::exit(error.exit_code())
    })
}

/// What is wrong with a command line; `None` where nothing is.
fn wrong(error: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue};
    let said = |kind| match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(", ")),
        _ => None,
    };
    let argument = said(ContextKind::InvalidArg).unwrap_or_default();
    let value = said(ContextKind::InvalidValue).filter(|value| !value.is_empty());
    Some(match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => return None,
        ErrorKind::UnknownArgument => format!("`{argument}` 옵션은 없습니다"),
        ErrorKind::ArgumentConflict => match said(ContextKind::PriorArg) {
            Some(other) if other != argument => {
                format!("`{argument}`은(는) `{other}`와(과) 함께 쓸 수 없습니다")
            }
            _ => format!("`{argument}`은(는) 한 번만 쓸 수 있습니다"),
        },
        ErrorKind::MissingRequiredArgument => format!("`{argument}`이(가) 있어야 합니다"),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => match value {
            Some(value) => {
                let source = std::error::Error::source(error);
                let why = source.map(|source| format!(": {source}")).unwrap_or_default();
                format!("`{argument}`에 `{value}`은(는) 쓸 수 없습니다{why}")
            }
            None => format!("`{argument}` 뒤에 값이 있어야 합니다"),
        },
        ErrorKind::TooFewValues | ErrorKind::TooManyValues | ErrorKind::WrongNumberOfValues => {
            format!("`{argument}` 뒤의 값이 모자라거나 많습니다")
        }
        _ => error.to_string().lines().next().unwrap_or_default().to_owned(),
    })
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
            let stored = serde_json::from_str(json).map_err(|error| {
                Failure::Usage(format!(
                    "`{id}`의 답이 JSON이 아닙니다(글은 따옴표로 묶으세요): {error}"
                ))
            })?;
            Ok((RequestId(id.as_str().into()), stored))
        });
        pairs.collect()
    }

    /// The question, `None` for a conversation.
    pub fn question(&self) -> Option<String> {
        (!self.question.is_empty()).then(|| self.question.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Parser)]
    struct All {
        #[command(flatten)]
        talk: Options,
        #[arg(long)]
        most: Option<u8>,
    }

    #[test]
    fn what_makes_no_sense_is_said_in_the_user_s_words() {
        for (line, want) in [
            ("--nothing", "`--nothing` 옵션은 없습니다"),
            ("--thread", "`--thread <NAME>` 뒤에 값이 있어야 합니다"),
            ("--resume", "`--db <FILE>`이(가) 있어야 합니다"),
            ("--resume --db a hello", "`--resume`은(는) `[QUESTION]...`와(과) 함께 쓸 수 없습니다"),
            ("--db a --db b", "`--db <FILE>`은(는) 한 번만 쓸 수 있습니다"),
            (
                "--most many",
                "`--most <MOST>`에 `many`은(는) 쓸 수 없습니다: invalid digit found in string",
            ),
            ("--answer id --db a", "`--answer <ID> <JSON>` 뒤의 값이 모자라거나 많습니다"),
        ] {
            let words = ["rag"].into_iter().chain(line.split(' '));
            let error = All::try_parse_from(words).unwrap_err();
            assert_eq!(wrong(&error).as_deref(), Some(want), "{line}: {error}");
        }
        let help = All::try_parse_from(["rag", "--help"]).unwrap_err();
        assert_eq!(wrong(&help), None);
    }
}
