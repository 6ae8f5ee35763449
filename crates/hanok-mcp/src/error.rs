//! Why a server, its tools or the lock file cannot be used.

use std::{path::PathBuf, time::Duration};

use hanok_core::{BoxError, Chain};
use hanok_model::ToolError;
use thiserror::Error;

use crate::id::ToolId;

/// The reason for which one server cannot be used. It costs that server's tools and no others.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The program was not started.
    #[error("the program `{command}` could not be started; is it installed, and on PATH?")]
    NotStarted {
        /// The program, as the configuration has it.
        command: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The client for HTTP could not be made.
    #[error("no client for HTTP could be made")]
    NoHttp(#[source] BoxError),
    /// The server did not answer in time.
    #[error("the server did not answer within {after:?}; raise its timeout if it needs longer")]
    Silent {
        /// The time that was waited.
        after: Duration,
    },
    /// The connection ended.
    #[error("the connection ended{}", stderr_tail(stderr))]
    Ended {
        /// The last lines of what the program wrote to its standard error, with hidden characters as escapes.
        stderr: String,
    },
    /// The connection was not made, or broke.
    #[error("the connection failed")]
    Connection(#[source] BoxError),
    /// A line or body is too long. The connection was closed.
    #[error("the server sent more than {limit} bytes in one message")]
    TooLong {
        /// The most bytes that are read.
        limit: usize,
    },
    /// A message is nested too deeply. The connection was closed.
    #[error("the server sent JSON of more than {limit} levels")]
    TooDeep {
        /// The most levels that are read.
        limit: usize,
    },
    /// The server sent message after message without an answer to anything. The connection was closed.
    #[error("the server sent {messages} messages without answering anything")]
    Babbling {
        /// The messages.
        messages: u32,
    },
    /// The program writes something else than MCP to its standard output. The connection was closed.
    #[error("the program wrote {bytes} bytes that are no MCP; its log belongs on standard error")]
    NoProtocol {
        /// The bytes.
        bytes: usize,
    },
    /// The server could not agree on a version of the protocol, or answered what the protocol has not.
    #[error("the server does not keep to the protocol")]
    Protocol(#[source] BoxError),
    /// The server sends elsewhere. Redirects are not followed: what is approved and what has the keys is this address.
    #[error("the server sends to `{to}`, which is not followed; write that address if it is right")]
    Redirected {
        /// The address.
        to: String,
    },
    /// The server wants to know who asks.
    #[error(
        "the server wants an authorization; write a token into its `headers`, or sign in by `oauth`"
    )]
    Unauthorized,
    /// Nobody could sign in to the server, or its tokens cannot be used.
    #[error("nobody is signed in to the server")]
    SignIn(#[source] BoxError),
    /// The server lists more tools, resources or prompts than are taken, or pages without an end.
    #[error("the server lists more than {limit} items or pages")]
    TooManyTools {
        /// The most that are taken.
        limit: usize,
    },
    /// The server refused a request, in its own words.
    #[error("the server refused ({code}): {message}")]
    Refused {
        /// The code of JSON-RPC.
        code: i32,
        /// The server's words, with hidden characters as escapes.
        message: String,
    },
    /// The server asks for more input before it answers, and nobody can give it here.
    #[error("the server asks for more input, which it cannot be given")]
    InputRequired,
    /// The server asks a person for a secret. It was not asked for: where one is needed, the server has to have it by other ways.
    #[error(
        "the server asks for `{field}`, which looks like a secret, and nobody is asked for one"
    )]
    SecretAsked {
        /// The field of the form.
        field: String,
    },
    /// The server asks too much at once before it answers. Nothing of it was put to anybody.
    #[error("the server asks more than {limit} questions at once, and is not answered")]
    TooManyQuestions {
        /// The most questions of one round.
        limit: usize,
    },
    /// The server asks again and again before it answers.
    #[error("the server asked {limit} times before it answered, and is not answered again")]
    EndlessQuestions {
        /// The most rounds of one call.
        limit: u32,
    },
    /// The server does not know a task any more that it began for a call. What became of the call nobody knows.
    #[error("the server has forgotten the task `{task}` that it began for the call")]
    TaskForgotten {
        /// The task, as the server names it.
        task: String,
    },
    /// The task of a call was cancelled: by its server, or because its turn was stopped.
    #[error("the task of the call was cancelled{}", message.as_deref().map(|text| format!(": {text}")).unwrap_or_default())]
    TaskCancelled {
        /// The server's words, with hidden characters as escapes.
        message: Option<String>,
    },
    /// A call was made once more with a person's answers, and the process ended before its result was known.
    #[error("the call went on with a person's answers, and its result is lost")]
    AnswersLost,
    /// There is no server of this name.
    #[error("there is no such server in the configuration")]
    Unknown,
    /// The client was closed.
    #[error("the client was closed")]
    Closed,
}

/// The reason for which there is no client, or for which it does not do something.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum McpError {
    /// A server cannot be used, or refused.
    #[error("server `{server}`")]
    Server {
        /// The server.
        server: String,
        /// The cause.
        source: ServerError,
    },
    /// The tool is no longer there. Prepare the step again with the tools that there are.
    #[error("the tool `{tool}` is no longer there")]
    ToolGone {
        /// The tool.
        tool: ToolId,
    },
    /// The tool is another than the one that was approved. Look at the difference, then approve it or do without.
    #[error("the tool `{tool}` has changed since it was approved, and is not called")]
    ToolChanged {
        /// The tool.
        tool: ToolId,
    },
    /// Tools differ from the lock file, and no difference is allowed.
    #[error("the tools differ from the lock file{}", listed(changes))]
    Locked {
        /// Each difference in a line.
        changes: Vec<String>,
    },
    /// The client allows no change of the lock file.
    #[error("the lock file may not be changed by this client")]
    ReadOnly,
    /// The lock file cannot be read or written.
    #[error("the lock file `{}` cannot be used", path.display())]
    LockFile {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: BoxError,
    },
}

impl McpError {
    /// The error of this crate that stands in a tool's error, if one does.
    ///
    /// ```
    /// use hanok_mcp::{McpError, ToolId};
    /// use hanok_model::ToolError;
    ///
    /// let gone = ToolError::failed(McpError::ToolGone { tool: ToolId::new("files", "read") });
    /// assert!(matches!(McpError::of(&gone), Some(McpError::ToolGone { tool }) if tool.tool() == "read"));
    /// assert!(McpError::of(&ToolError::Panicked).is_none());
    /// ```
    pub fn of(error: &ToolError) -> Option<&Self> {
        Chain(error).causes().find_map(|cause| cause.downcast_ref())
    }
}

/// True for an error of a call by which its server is down, and no mere answer of it.
pub(crate) fn is_of_server(error: &ToolError) -> bool {
    match McpError::of(error) {
        Some(McpError::Server { source, .. }) => !matches!(
            source,
            ServerError::Refused { .. }
                | ServerError::InputRequired
                | ServerError::SecretAsked { .. }
                | ServerError::TooManyQuestions { .. }
                | ServerError::EndlessQuestions { .. }
                | ServerError::TaskForgotten { .. }
                | ServerError::TaskCancelled { .. }
                | ServerError::AnswersLost
        ),
        Some(_) => false,
        None => matches!(error, ToolError::TimedOut { .. }),
    }
}

fn stderr_tail(stderr: &str) -> String {
    match stderr.is_empty() {
        true => String::new(),
        false => format!("; it wrote last: {stderr}"),
    }
}

fn listed(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n- {line}")).collect()
}
