//! One call of one tool: what is checked before it, and what becomes of it when the connection is lost.

use std::{pin::pin, sync::Arc};

use futures::future::{Either, select};
use hanok_core::{BoxError, Call, Chain, Effect, LostCall};
use hanok_graph::NotMade;
use hanok_model::ToolError;
use hanok_state::Arguments;
use rmcp::model::{CallToolResult, JsonObject};
use serde_json::Value;

use super::{
    handle::Server,
    note::{AskedNote, CallNote},
};
use crate::{
    catalogue::ToolHash,
    connection::{Answered, Answers, CallFailure, Live},
    error::{McpError, ServerError},
    id::ToolId,
};

/// The code of JSON-RPC for arguments that do not fit, and for a tool that is not known.
const INVALID_PARAMS: i32 = -32602;

/// The most rounds of questions of one call.
const MOST_ROUNDS: u32 = 10;

/// The tool of a call, as it was approved.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) id: ToolId,
    pub(crate) hash: ToolHash,
    pub(crate) effect: Effect,
}

/// The outcome of one attempt.
#[derive(Debug)]
enum Made {
    /// The server's answer.
    Answered(Answered),
    /// The connection was lost before the server had taken the call, or the call may be repeated: another attempt is allowed.
    Again(ToolError),
}

impl Server {
    /// Makes one call of `target`, if it is still what was approved. Where a note says that it is under way, it goes on: with the
    /// answers to the server's questions, or with the task that the server has begun.
    pub(crate) async fn call(
        &self,
        target: &Target,
        arguments: &Arguments,
        call: &Call,
    ) -> Result<CallToolResult, ToolError> {
        let noted = call.noted::<CallNote>();
        let mut note = noted.map_err(|error| doubtful(target, error.into()))?;
        loop {
            let (answers, asked) = match note {
                // What is rare stands apart: a call is as large as the largest that it may wait for.
                Some(CallNote::Task(task)) => {
                    return Box::pin(self.follow(target, &task, call)).await;
                }
                Some(CallNote::Questions(asked)) => {
                    let answers = Box::pin(self.answered(target, &asked, call)).await?;
                    (Some(answers), Some(asked))
                }
                None => (None, None),
            };
            let answer = match self.make(target, arguments, answers, call).await {
                Err(error) if is_unmade(&error) => {
                    // The answers may be sent once more.
                    if let Some(asked) = asked.filter(|_| is_once(target)) {
                        keep(target, &CallNote::Questions(asked), call).await?;
                    }
                    return Err(error);
                }
                answer => answer?,
            };
            let next = match answer {
                Answered::Result(result) => return Ok(result),
                Answered::Task(task) => CallNote::Task(task.into()),
                Answered::Asks(required) => {
                    let round = asked.map_or(0, |asked| asked.round) + 1;
                    if round > MOST_ROUNDS {
                        let error = ServerError::EndlessQuestions { limit: MOST_ROUNDS };
                        return Err(ToolError::failed(self.error(error)));
                    }
                    let requests = required.input_requests.unwrap_or_default();
                    self.screen(&requests)?;
                    let asked = AskedNote::new(&requests, required.request_state, round);
                    CallNote::Questions(asked.map_err(ToolError::failed)?)
                }
            };
            // Before anything else happens: the next process is to go on from here.
            keep(target, &next, call).await?;
            note = Some(next);
        }
    }

    /// True for a call of which there is a note.
    pub(crate) fn is_under_way(call: &Call) -> bool {
        !matches!(call.noted::<CallNote>(), Ok(None))
    }

    /// The answers to the questions of `asked`. A call that must not be repeated is made with them once.
    async fn answered(
        &self,
        target: &Target,
        asked: &AskedNote,
        call: &Call,
    ) -> Result<Answers, ToolError> {
        if asked.sent && is_once(target) {
            let lost = LostCall(self.error(ServerError::AnswersLost).into());
            return Err(ToolError::InDoubt(lost.into()));
        }
        let requests = asked.requests().map_err(|error| doubtful(target, error.into()))?;
        let place = asked.round.to_string();
        let responses = self.answers(target, &requests, &place, call).await?;
        if is_once(target) {
            let sent = AskedNote { sent: true, ..asked.clone() };
            keep(target, &CallNote::Questions(sent), call).await?;
        }
        Ok(Answers { responses, state: asked.state.clone() })
    }

    /// Makes one call, once more where the connection was lost and that is allowed.
    async fn make(
        &self,
        target: &Target,
        arguments: &Arguments,
        answers: Option<Answers>,
        call: &Call,
    ) -> Result<Answered, ToolError> {
        match self.attempt(target, arguments, answers.clone(), call).await? {
            Made::Answered(answer) => Ok(answer),
            Made::Again(_) => match self.attempt(target, arguments, answers, call).await? {
                Made::Answered(answer) => Ok(answer),
                Made::Again(error) => Err(error),
            },
        }
    }

    async fn attempt(
        &self,
        target: &Target,
        arguments: &Arguments,
        answers: Option<Answers>,
        call: &Call,
    ) -> Result<Made, ToolError> {
        // Each attempt gives its arguments away.
        let arguments = object(arguments)?;
        let (live, identity) = self.live().await.map_err(|error| self.not_made(error))?;
        let listing = match self.listing(&live, &identity).await {
            Ok(listing) => listing,
            // The connection was given up: one that was stuck is made again.
            Err(error) => {
                let again = is_of_connection(&error)
                    || matches!(error, ServerError::Silent { .. })
                    || self.is_challenged();
                let error = unmade(self.error(error));
                return if again { Ok(Made::Again(error)) } else { Err(error) };
            }
        };
        match listing.tools.get(target.id.tool()) {
            None => return Err(unmade(McpError::ToolGone { tool: target.id.clone() })),
            Some(entry) if entry.hash != target.hash => {
                return Err(unmade(McpError::ToolChanged { tool: target.id.clone() }));
            }
            Some(_) => {}
        }
        let after = self.config.tool_timeout();
        let calling = live.call(target.id.tool(), arguments, answers, call);
        let time = live.run_out(call.clock(), after);
        let made = match select(pin!(calling), pin!(time)).await {
            Either::Left((made, _)) => made,
            Either::Right(_) => {
                // One that is silent for good is started anew by the next call: it does not list its tools either.
                self.doubt_listing();
                return Err(match target.effect {
                    // That it is cancelled the server does not confirm: it may have been made, or be made yet.
                    Effect::AtMostOnce => {
                        ToolError::InDoubt(self.error(ServerError::Silent { after }).into())
                    }
                    _ => ToolError::TimedOut { after },
                });
            }
        };
        match made {
            Ok(answer) => Ok(Made::Answered(answer)),
            Err(failure) => Box::pin(self.failed(target, &live, failure)).await,
        }
    }

    /// The outcome of a call without a result.
    async fn failed(
        &self,
        target: &Target,
        live: &Arc<Live>,
        failure: CallFailure,
    ) -> Result<Made, ToolError> {
        match failure {
            CallFailure::Refused(error @ ServerError::Refused { code: INVALID_PARAMS, .. }) => {
                self.doubt_listing();
                Err(ToolError::arguments(self.error(error)))
            }
            CallFailure::Refused(error) => Err(ToolError::failed(self.error(error))),
            CallFailure::NotTaken(error) => {
                self.drop_connection(live).await;
                let again = is_of_connection(&error) || self.is_challenged();
                let error = self.not_made(error);
                if again { Ok(Made::Again(error)) } else { Err(error) }
            }
            CallFailure::Lost(error) => {
                self.drop_connection(live).await;
                let again = is_of_connection(&error) && target.effect != Effect::AtMostOnce;
                let error = self.error(self.noted(error));
                match target.effect {
                    Effect::AtMostOnce => Err(ToolError::InDoubt(error.into())),
                    _ if again => Ok(Made::Again(ToolError::failed(error))),
                    _ => Err(ToolError::failed(error)),
                }
            }
        }
    }

    pub(super) fn error(&self, source: ServerError) -> McpError {
        McpError::Server { server: self.name().to_owned(), source }
    }

    fn not_made(&self, error: ServerError) -> ToolError {
        unmade(self.error(self.noted(error)))
    }
}

fn object(arguments: &Arguments) -> Result<JsonObject, ToolError> {
    match serde_json::from_str(arguments.as_str()) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(ToolError::arguments("the arguments are no object")),
        Err(error) => Err(ToolError::arguments(error)),
    }
}

fn is_once(target: &Target) -> bool {
    target.effect == Effect::AtMostOnce
}

/// The error of a call of which is known that it was begun, and no more.
fn doubtful(target: &Target, error: BoxError) -> ToolError {
    match is_once(target) {
        true => ToolError::InDoubt(error),
        false => ToolError::Failed(error),
    }
}

async fn keep(target: &Target, note: &CallNote, call: &Call) -> Result<(), ToolError> {
    call.note(note).await.map_err(|error| doubtful(target, error.into()))
}

fn is_unmade(error: &ToolError) -> bool {
    Chain(error).causes().any(|cause| cause.is::<NotMade>())
}

/// The error of a call that the server surely has not taken.
fn unmade(error: McpError) -> ToolError {
    ToolError::failed(NotMade(error.into()))
}

/// True for an error after which the same may go well: the server itself has done nothing wrong.
fn is_of_connection(error: &ServerError) -> bool {
    matches!(error, ServerError::Ended { .. } | ServerError::Connection(_))
}
