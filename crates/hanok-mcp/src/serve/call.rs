//! One call: the thread that it is, its run, and what the client reads of that.

use std::{error::Error, pin::pin, time::Duration};

use blake3::Hasher;
use futures::future::{Either, select};
use hanok_core::{Answerer, Cancellation, Chain, Ids, RequestId};
use hanok_graph::{
    AnyInput, AnyState, AnyThread, Caller, NewAnswer, Outcome, Pending, RunError, RunSettings,
    SystemIds, answer, checkpoint::AppendId, open_requests,
};
use rmcp::{
    ErrorData,
    model::{CallToolResponse, InputRequests, InputRequiredResult, InputResponses, JsonObject},
};
use tokio_util::sync::CancellationToken;

use super::{
    form::{Form, FormAnswer},
    graph_tool::GraphTool,
    outcome::Place,
    seal::{SealedCall, SealedQuestion},
    serving::Serving,
};
use crate::{catalogue::feed, text::line};

/// The first and the longest time before a thread is tried again that another run has.
const AGAIN_FIRST: Duration = Duration::from_millis(10);
const AGAIN_LONGEST: Duration = Duration::from_secs(1);

/// The longest key of a call, in bytes.
const LONGEST_KEY: usize = 1024;

/// The most questions that a client is asked at once.
const MOST_QUESTIONS: usize = 16;

/// A call as a client makes it.
#[derive(Debug)]
pub(super) struct ServedCall<'a> {
    pub(super) serving: &'a Serving,
    pub(super) tool: &'a GraphTool,
    pub(super) arguments: JsonObject,
    /// The key that the client gives it, by which it may be made again.
    pub(super) key: Option<String>,
    pub(super) state: Option<String>,
    pub(super) responses: InputResponses,
    pub(super) by: Option<Answerer>,
    pub(super) asks: ClientAsks,
    pub(super) stop: Stops,
}

/// The reasons for which a call is given up.
#[derive(Debug)]
pub(super) struct Stops {
    /// The client does not want it any more.
    pub(super) request: CancellationToken,
    /// The client is gone, or the server closes.
    pub(super) connection: CancellationToken,
}

impl Stops {
    fn is_cancelled(&self) -> bool {
        self.request.is_cancelled() || self.connection.is_cancelled()
    }

    async fn cancelled(&self) {
        select(pin!(self.request.cancelled()), pin!(self.connection.cancelled())).await;
    }
}

/// The questions that a client puts to its user.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClientAsks {
    pub(super) forms: bool,
    pub(super) addresses: bool,
}

impl ClientAsks {
    fn takes(self, form: &Form) -> bool {
        if form.is_address() { self.addresses } else { self.forms }
    }
}

impl ServedCall<'_> {
    /// Makes the call, or goes on with it.
    pub(super) async fn make(self) -> Result<CallToolResponse, ErrorData> {
        if self.key.as_ref().is_some_and(|key| key.is_empty() || key.len() > LONGEST_KEY) {
            let what = format!("`_meta` names the call by a key of 1 to {LONGEST_KEY} bytes");
            return Err(ErrorData::invalid_params(what, None));
        }
        let binding = self.digest(self.key.as_deref().unwrap_or_default());
        let (key, name, answered) = match &self.state {
            Some(state) => {
                let Some(sealed) = self.serving.seal.open(state, binding.as_bytes()) else {
                    let what = "this `requestState` was not given for this call by this server";
                    return Err(ErrorData::invalid_params(what, None));
                };
                (sealed.key, sealed.thread, sealed.questions)
            }
            None => {
                let new = || format!("{:032x}", SystemIds.id());
                let key = self.key.clone().unwrap_or_else(new);
                let digest = self.digest(&key).to_hex();
                let digest = digest.get(..32).unwrap_or(&digest);
                (key, format!("mcp.{}.{digest}", self.tool.spec().name()), Vec::new())
            }
        };
        let place = Place { thread: &name, key: &key };
        let mut caller = Caller::new(self.serving.tenant.clone());
        caller.principal.clone_from(&self.by);
        let thread = match self.tool.app().thread(&caller, &name) {
            Ok(thread) => thread,
            Err(error) => return Ok(place.failed(&error.into()).into()),
        };
        let mut faults = match self.take_answers(&*thread, &answered).await? {
            Taken::All(faults) => faults,
            Taken::Forbidden(words) => return Ok(place.stopped(&words).into()),
        };
        loop {
            return match self.run(&*thread).await? {
                Ok(Outcome::Done(state)) => Ok(match self.tool.result(&state) {
                    Ok(output) => place.done(output).into(),
                    Err(error) => place.failed(&error).into(),
                }),
                Ok(Outcome::Interrupted(questions) | Outcome::InDoubt(questions)) => {
                    Ok(self.ask_client(&place, binding.as_bytes(), &questions, &faults))
                }
                Ok(ended) => Ok(place.stopped(&words(&ended)).into()),
                Err(RunError::WrongAnswer { id, faults: wrong, .. })
                    if faults.len() < MOST_QUESTIONS =>
                {
                    faults.push((id, wrong));
                    continue;
                }
                // The arguments are none for the graph: the same once more would not go on.
                Err(error @ (RunError::Json(_) | RunError::Input { .. })) => {
                    Err(ErrorData::invalid_params(told(&error), None))
                }
                Err(error @ RunError::NotAdmitted(_)) => {
                    Err(ErrorData::invalid_request(told(&error), None))
                }
                Err(error) => Ok(place.failed(&error.into()).into()),
            };
        }
    }

    /// The digest of all that makes the call this one and no other.
    fn digest(&self, key: &str) -> blake3::Hash {
        let mut hasher = Hasher::new_derive_key("hanok mcp served call 1");
        let by = self.by.as_ref().map(|by| by.name.as_str()).unwrap_or_default();
        for part in [self.serving.name.as_str(), self.tool.spec().name(), by, key] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        feed(&mut hasher, &self.arguments.clone().into());
        hasher.finalize()
    }

    /// Stores what the client answers. An answer to what is not open any more changes nothing: the thread says what became of it.
    async fn take_answers(
        &self,
        thread: &dyn AnyThread,
        questions: &[SealedQuestion],
    ) -> Result<Taken, ErrorData> {
        let mut faults = Vec::new();
        if questions.is_empty() || self.responses.is_empty() {
            return Ok(Taken::All(faults));
        }
        let log = thread.log();
        let mut pause = AGAIN_FIRST;
        let failed =
            |error: &dyn Error| ErrorData::internal_error(line(&error.to_string(), 1024), None);
        'again: loop {
            let open = open_requests(&log, self.serving.clock.now()).await;
            let open = open.map_err(|error| failed(&error))?;
            faults.clear();
            for question in questions {
                let Some(response) = self.responses.get(&question.key) else { continue };
                let Some(pending) = open.iter().find(|it| *it.id.0 == *question.id) else {
                    continue;
                };
                let Some(form) = Form::of(pending) else { continue };
                let value = match form.answer(response) {
                    Ok(FormAnswer::Value(value)) => value,
                    Ok(FormAnswer::Declined) => {
                        let words = format!(
                            "The question `{}` has no such answer and stays open.",
                            question.id
                        );
                        return Ok(Taken::Forbidden(words));
                    }
                    Err(error) => {
                        faults.push((pending.id.clone(), vec![Chain(&*error).to_string()]));
                        continue;
                    }
                };
                let given = NewAnswer::of(pending.id.clone(), value);
                let given = given.key(format!("mcp {}", question.id)).shown(question.shown.clone());
                let (id, now) = (AppendId(SystemIds.id()), self.serving.clock.now());
                match answer(&log, vec![given], self.by.as_ref(), id, now).await {
                    Ok(_) => {}
                    Err(RunError::Conflict { .. }) => {
                        self.pause(&mut pause).await?;
                        continue 'again;
                    }
                    // Somebody else was first, or the graph asks something else by now.
                    Err(
                        RunError::AlreadyAnswered(_)
                        | RunError::Stale(_)
                        | RunError::NoSuchRequest(_)
                        | RunError::NothingAsked(_)
                        | RunError::Expired { .. },
                    ) => {}
                    Err(error @ RunError::Forbidden { .. }) => {
                        return Ok(Taken::Forbidden(line(&error.to_string(), 1024)));
                    }
                    Err(RunError::WrongAnswer { id, faults: wrong, .. }) => {
                        faults.push((id, wrong))
                    }
                    Err(error) => return Err(failed(&error)),
                }
            }
            return Ok(Taken::All(faults));
        }
    }

    /// Runs the thread, once whoever has it is done with it.
    async fn run(
        &self,
        thread: &dyn AnyThread,
    ) -> Result<Result<Outcome<AnyState>, RunError>, ErrorData> {
        let update = self.tool.update(self.arguments.clone());
        let update = update.map_err(|error| ErrorData::invalid_params(told(&*error), None))?;
        let mut pause = AGAIN_FIRST;
        loop {
            let stop = Cancellation::default();
            let settings = RunSettings { cancellation: stop.clone(), ..RunSettings::default() };
            let running = thread.run(AnyInput::Begin(update.clone()), settings);
            let ended = match select(running, pin!(self.stop.cancelled())).await {
                Either::Left((ended, _)) => ended,
                Either::Right(((), running)) => {
                    stop.cancel();
                    running.await
                }
            };
            match ended {
                Err(RunError::Conflict { .. } | RunError::Superseded { .. }) => {
                    self.pause(&mut pause).await?;
                }
                // Whoever stopped it was another call of the same.
                Ok(Outcome::Cancelled(_)) if !self.stop.is_cancelled() => {
                    self.pause(&mut pause).await?;
                }
                ended => return Ok(ended),
            }
        }
    }

    /// Waits before the thread is tried again.
    async fn pause(&self, pause: &mut Duration) -> Result<(), ErrorData> {
        let sleep = self.serving.clock.sleep(*pause);
        *pause = AGAIN_LONGEST.min(*pause * 2);
        match select(sleep, pin!(self.stop.cancelled())).await {
            Either::Left(_) => Ok(()),
            Either::Right(_) => Err(ErrorData::internal_error("the call was cancelled", None)),
        }
    }

    /// Asks the client those of `questions` that it can be asked; where there is none, says how they are answered.
    fn ask_client(
        &self,
        place: &Place<'_>,
        binding: &[u8],
        questions: &[Pending],
        faults: &[(RequestId, Vec<String>)],
    ) -> CallToolResponse {
        let (mut requests, mut sealed) = (InputRequests::new(), Vec::new());
        for question in questions.iter().filter(|it| it.audience.admits(self.by.as_ref())) {
            let Some(form) = Form::of(question).filter(|form| self.asks.takes(form)) else {
                continue;
            };
            if requests.len() == MOST_QUESTIONS {
                break;
            }
            // By the node that asks; of several questions of one, all but the first have a number.
            let node = line(&question.node, 64);
            let key = match requests.contains_key(&node) {
                true => format!("{node}.{}", requests.len() + 1),
                false => node,
            };
            let wrong = faults.iter().rev().find(|(id, _)| *id == question.id);
            let wrong = wrong.map(|(_, faults)| faults.as_slice()).unwrap_or_default();
            requests.insert(key.clone(), form.request(wrong));
            let (id, shown) = (question.id.0.to_string(), question.digest());
            sealed.push(SealedQuestion { key, id, shown });
        }
        if requests.is_empty() {
            return place.waits(questions).into();
        }
        let (key, thread) = (place.key.to_owned(), place.thread.to_owned());
        let state = SealedCall { key, thread, questions: sealed };
        match self.serving.seal.seal(&state, binding) {
            Ok(sealed) => InputRequiredResult::new(Some(requests), Some(sealed)).into(),
            Err(error) => place.failed(&error.into()).into(),
        }
    }
}

/// What became of a client's answers.
enum Taken {
    /// They are stored, but for those with these faults.
    All(Vec<(RequestId, Vec<String>)>),
    /// One cannot be taken, in words.
    Forbidden(String),
}

/// The end of a run that is neither done nor waits.
fn words(ended: &Outcome<AnyState>) -> String {
    match ended {
        Outcome::Breakpoint(at) => {
            format!("the run stopped at a breakpoint of {}", at.nodes.join(", "))
        }
        Outcome::LimitReached { which, .. } => format!("the turn reached its limit of {which}"),
        Outcome::Poisoned(poisoned) => format!(
            "{} runs in a row were lost with {}",
            poisoned.takeovers,
            poisoned.tasks.join(", ")
        ),
        Outcome::Cancelled(_) => "the run was cancelled".to_owned(),
        _ => "the run was drained".to_owned(),
    }
}

/// The words of a refusal.
fn told(error: &(dyn Error + 'static)) -> String {
    line(&Chain(error).to_string(), 4096)
}

/// The result of a call of no tool.
pub(super) fn unknown(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no tool `{}`", line(name, 128)), None)
}
