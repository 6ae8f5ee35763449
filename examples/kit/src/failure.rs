//! What goes wrong, in one sentence, and with which exit.

use std::{path::PathBuf, process::ExitCode};

use hanok_checkpoint::CheckpointError;
use hanok_core::{BoxError, InvalidName};
use hanok_graph::RunError;
use hanok_model::ModelError;
use thiserror::Error;

use crate::{Screen, messages};

/// The thread is in use.
const IN_USE: u8 = 3;

/// A limit stopped the answer.
pub const LIMIT: u8 = 4;

/// The turn waits for a person.
pub const WAITS: u8 = 5;

/// Ctrl-C stopped the program.
pub const INTERRUPTED: u8 = 130;

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum Failure {
    /// The model's server cannot be used.
    #[error("모델을 쓸 수 없습니다")]
    Model(#[source] ModelError),
    /// Something that the program needs cannot be read.
    #[error("{what} 읽을 수 없습니다")]
    Unreadable {
        /// What, with its particle: `문서를`.
        what: &'static str,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// Something that the program needs is not to be had now.
    #[error("{what} 쓸 수 없습니다")]
    Unusable {
        /// What, with its particle: `서버를`.
        what: &'static str,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// What was said on the command line or in a command makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The file of conversations cannot be used.
    #[error("대화 파일 {path}을(를) 쓸 수 없습니다")]
    Database {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<CheckpointError>,
    },
    /// The thread's name is none.
    #[error("대화 이름으로 쓸 수 없습니다")]
    Thread(#[source] InvalidName),
    /// The log of the conversation cannot be used.
    #[error("대화의 기록을 쓸 수 없습니다")]
    Log(#[source] Box<CheckpointError>),
    /// The run could not go on.
    #[error("답하지 못했습니다")]
    Run(#[source] Box<RunError>),
    /// The questions cannot be read.
    #[error("입력을 읽을 수 없습니다")]
    Input(#[source] std::io::Error),
    /// The answer's screen is gone or broken.
    #[error("출력할 수 없습니다")]
    Output(#[from] std::io::Error),
    /// The parts of the program do not fit together.
    #[error("프로그램을 조립하지 못했습니다")]
    Wiring(#[source] BoxError),
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }
}

impl Failure {
    /// A part that does not fit.
    pub fn wiring(error: impl Into<BoxError>) -> Self {
        Self::Wiring(error.into())
    }

    /// Something that cannot be read; `what` has its particle: `문서를`.
    pub fn unreadable(what: &'static str, error: impl Into<BoxError>) -> Self {
        Self::Unreadable { what, source: error.into() }
    }

    /// `what` needs a feature that this build does not have. The line has the command to type.
    pub fn not_built(what: &str, feature: &str) -> Self {
        let program = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
        let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self::Usage(format!(
            "{what}에 필요한 부분이 이 빌드에 없습니다. 이렇게 실행하세요: cargo run --example {name} -F {feature}"
        ))
    }

    /// The exit that says what kind of failure it is.
    pub fn code(&self) -> u8 {
        match self {
            Self::Run(error) if matches!(**error, RunError::Conflict { .. }) => IN_USE,
            Self::Run(error) if is_no_answer(error) => 2,
            Self::Thread(_) | Self::Usage(_) => 2,
            _ => 1,
        }
    }

    /// Whether the reader of the output has gone: nobody is left to tell.
    fn is_closed_output(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// The failure and its cause, as one line in the user's language.
    pub fn line(&self) -> String {
        match messages::cause(self) {
            Some(cause) => format!("{self}: {cause}"),
            None => self.to_string(),
        }
    }
}

/// The program's exit; a failure is told in one line first.
pub fn exit(screen: &Screen, result: Result<ExitCode, Failure>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(failure) if failure.is_closed_output() => ExitCode::SUCCESS,
        Err(failure) => {
            screen.tell(&format!("오류: {}", failure.line()));
            ExitCode::from(failure.code())
        }
    }
}

/// True for an answer that was not taken, because it fits nothing that is asked.
fn is_no_answer(error: &RunError) -> bool {
    matches!(
        error,
        RunError::WrongAnswer { .. }
            | RunError::NothingAsked(_)
            | RunError::NoSuchRequest(_)
            | RunError::AlreadyAnswered(_)
            | RunError::Stale(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_built_in_is_wrong_usage_and_says_what_to_type() {
        let failure = Failure::not_built("OPENAI_BASE_URL", "server");
        assert_eq!(failure.code(), 2);
        let line = failure.line();
        assert!(line.starts_with("OPENAI_BASE_URL") && line.ends_with("-F server"), "{line}");
    }
}
