//! Calls of tools, made as an agent makes them, from any node.

mod judged;
pub(crate) mod tool_result;

use std::borrow::Cow;

use futures::future::join_all;
use hanok_core::{BoxError, Call, Effect, Spent};
use hanok_graph::{Context, Doubt, NotMade, StepError};
use hanok_model::{Tool, ToolError, ToolOutput};
use hanok_parse::Language;
use hanok_state::{Messages, ToolCall};
use hanok_telemetry::ContentCapture;
use tracing::Instrument;

pub(crate) use self::judged::{Judged, JudgedCall};
use self::tool_result::{OnceResult, ToolResult};
use crate::{
    error::ToolCallError,
    intercept::{
        Interceptor, SharedInterceptor, ToolRequest, TurnContext,
        admission::{Admitted, admit},
        chain::NextTool,
    },
    observation::{FaultKind, Observation},
    prompt,
    tools::{
        execution::{metered, suspends, was_not_made},
        registry::{Registered, ToolRegistry},
    },
    usage::TurnUsage,
};

/// Makes calls of tools from any node, with all that stands around the calls of an agent. Clones share the tools.
///
/// - The call is checked against the tool's schema; an unknown tool and bad arguments are observations.
/// - The [interceptors](Interceptor) judge it, once and for all of the task's runs, and a person may be asked.
/// - It is a memoised step, so a resumed run does not make it again. A call that is
///   [`AtMostOnce`](hanok_core::Effect::AtMostOnce) is announced in the log first, and one that a lost run may have made ends the
///   run in doubt ([`Outcome::InDoubt`](hanok_graph::Outcome::InDoubt)), or as [`in_doubt`](Self::in_doubt) says.
/// - It takes no longer than the tool may, counts in the budget of the run, is a span of the trace, and its panic stays in it.
///
/// The calls of one node have ids of their own: the steps are named by them. A failed call is an observation, or an error where
/// the registry's [`ToolErrors`](crate::ToolErrors) propagate it.
///
/// ```
/// use hanok_agent::{ToolRegistry, ToolRunner};
/// use hanok_graph::{Context, END, Graph, START, Snapshot};
/// use hanok_model::{FnTool, SharedTool, ToolSpec};
/// use hanok_state::{State, ToolCall};
/// use serde_json::json;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Weather {
///     city: String,
///     report: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let spec = ToolSpec::new("weather", "The weather of a city", json!({"properties": {"city": {"type": "string"}}}))?;
/// let weather = FnTool::untyped(spec, |arguments, _| async move { Ok(format!("sunny in {arguments}").into()) });
/// let runner = ToolRunner::new(ToolRegistry::new([SharedTool::new(weather)])?);
///
/// let look = move |state: Snapshot<Weather>, context: Context| {
///     let runner = runner.clone();
///     async move {
///         let call = ToolCall::new("1", "weather", json!({"city": state.city}).to_string());
///         let result = runner.run(&context, &call).await?;
///         Ok::<_, hanok_agent::ToolCallError>(Weather::update().report(result.observation.text))
///     }
/// };
/// let graph = Graph::<Weather>::builder("weather").node("look", look);
/// let graph = graph.edge(START, "look").edge("look", END).build()?;
/// let state = graph.invoke(Weather::update().city("Seoul"), ()).await?.done()?;
/// assert_eq!(state.report, r#"sunny in {"city":"Seoul"}"#);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct ToolRunner {
    pub(crate) tools: ToolRegistry,
    pub(crate) interceptors: Vec<SharedInterceptor>,
    agent: String,
    language: Language,
    in_doubt: Doubt,
    pub(crate) capture: ContentCapture,
}

/// The turn that calls belong to: what interceptors see of it.
#[derive(Debug, Clone, Copy)]
pub struct ToolTurn<'a> {
    /// The conversation, to the reply that asks for the calls.
    pub messages: &'a Messages,
    /// The usage of the turn before them.
    pub usage: &'a TurnUsage,
}

/// A call among those that are made with it.
#[derive(Clone, Copy)]
struct Place<'a> {
    turn: ToolTurn<'a>,
    before: &'a [ToolCall],
}

impl ToolRunner {
    /// Makes calls of `tools`, with nothing around them yet.
    pub fn new(tools: ToolRegistry) -> Self {
        Self { tools, ..Self::default() }
    }

    /// The same with other tools.
    pub(crate) fn with_tools(self, tools: ToolRegistry) -> Self {
        Self { tools, ..self }
    }

    /// Puts `interceptor` around the calls, within those that were added before. Default: none.
    ///
    /// ```
    /// use hanok_agent::{Approval, ToolRegistry, ToolRunner};
    ///
    /// let runner = ToolRunner::new(ToolRegistry::new([])?).intercept(Approval::new().tool("send_mail"));
    /// # drop(runner);
    /// # Ok::<(), hanok_agent::RegistryError>(())
    /// ```
    pub fn intercept(mut self, interceptor: impl Interceptor) -> Self {
        self.interceptors.push(SharedInterceptor::new(interceptor));
        self
    }

    /// Names the agent in questions to people ([`ApprovalRequest::agent`](crate::ApprovalRequest::agent)). Default: no name.
    pub fn agent(self, agent: impl Into<String>) -> Self {
        Self { agent: agent.into(), ..self }
    }

    /// Sets the language of observations. Default: English.
    pub fn language(self, language: Language) -> Self {
        Self { language, ..self }
    }

    /// Sets the handling of a call that must not be repeated and whose run was lost without a result. Default: a person is
    /// asked. With [`Doubt::GiveUp`] its observation says that nobody knows whether it took effect.
    pub fn in_doubt(self, in_doubt: Doubt) -> Self {
        Self { in_doubt, ..self }
    }

    /// Records the texts of calls in their spans. Default: they are not recorded.
    pub fn capture(self, capture: ContentCapture) -> Self {
        Self { capture, ..self }
    }

    /// The tools.
    pub fn tools(&self) -> &ToolRegistry {
        &self.tools
    }

    /// Makes `call`, once and for all of the task's runs. Interceptors see an empty conversation; [`run_all`](Self::run_all)
    /// shows them the turn.
    ///
    /// # Errors
    ///
    /// As those of [`run_all`](Self::run_all).
    pub async fn run<C: Send + Sync + 'static>(
        &self,
        context: &Context<C>,
        call: &ToolCall,
    ) -> Result<ToolResult, ToolCallError> {
        let (messages, usage) = (Messages::default(), TurnUsage::default());
        let turn = ToolTurn { messages: &messages, usage: &usage };
        let tool_context = context.call("tool", &call.name, call.arguments.as_str());
        let place = Place { turn, before: &[] };
        let outcome = self.judge(context, place, call, &tool_context).await;
        let judged = JudgedCall { call, outcome, context: tool_context };
        self.observe(context, place, judged, &|_, _| {}).await
    }

    /// Makes `calls`, all at once and once and for all of the task's runs, and returns their results in their order. Those
    /// beside one that has to wait are made.
    ///
    /// ```
    /// use hanok_agent::{ToolCallError, ToolRegistry, ToolResult, ToolRunner, ToolTurn, TurnUsage};
    /// use hanok_graph::Context;
    /// use hanok_state::Messages;
    ///
    /// /// Makes the calls of the last message.
    /// async fn make(
    ///     runner: &ToolRunner,
    ///     context: &Context,
    ///     messages: &Messages,
    /// ) -> Result<Vec<ToolResult>, ToolCallError> {
    ///     let Some(last) = messages.iter().last() else { return Ok(Vec::new()) };
    ///     let turn = ToolTurn { messages, usage: &TurnUsage::default() };
    ///     runner.run_all(context, turn, last.tool_calls()).await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ToolCallError::Suspended`] when a call waits for a person or is asked to stop: hand it on. [`ToolCallError::Failed`] with
    /// the tool's error where [`ToolErrors`](crate::ToolErrors) propagate it. [`ToolCallError::Step`] when a result cannot be
    /// stored, or two calls have one id.
    pub async fn run_all<C: Send + Sync + 'static>(
        &self,
        context: &Context<C>,
        turn: ToolTurn<'_>,
        calls: &[ToolCall],
    ) -> Result<Vec<ToolResult>, ToolCallError> {
        let judged = self.judge_all(context, turn, calls, |_| None).await;
        self.make_all(context, turn, calls, judged, &|_, _| {}).await
    }

    /// Judges `calls`: those that have a `fault` are not made.
    pub(crate) async fn judge_all<'a, C: Send + Sync + 'static>(
        &self,
        context: &Context<C>,
        turn: ToolTurn<'_>,
        calls: &'a [ToolCall],
        fault: impl Fn(&ToolCall) -> Option<Observation>,
    ) -> Vec<JudgedCall<'a>> {
        // The keys of equal calls differ by their order, which is that of the reply and not that of their ends.
        let contexts =
            calls.iter().map(|call| context.call("tool", &call.name, call.arguments.as_str()));
        let contexts: Vec<_> = contexts.collect();
        let judging =
            calls.iter().zip(contexts).enumerate().map(|(index, (call, tool_context))| {
                let before = calls.get(..index).unwrap_or_default();
                let fault = fault(call);
                async move {
                    let outcome = match fault {
                        Some(fault) => Ok(Judged::Observed(fault)),
                        None => {
                            self.judge(context, Place { turn, before }, call, &tool_context).await
                        }
                    };
                    JudgedCall { call, outcome, context: tool_context }
                }
            });
        join_all(judging).await
    }

    /// Makes the calls that are to be made. `observed` hears of each as soon as it has its observation.
    pub(crate) async fn make_all<C: Send + Sync + 'static>(
        &self,
        context: &Context<C>,
        turn: ToolTurn<'_>,
        calls: &[ToolCall],
        judged: Vec<JudgedCall<'_>>,
        observed: &(dyn Fn(&ToolCall, &Observation) + Sync),
    ) -> Result<Vec<ToolResult>, ToolCallError> {
        let judged = judged.into_iter().map(|judged| match &judged.outcome {
            // What is made with other arguments is another call, and has a key of its own.
            Ok(Judged::Make(Cow::Owned(call))) => {
                let context = context.call("tool", &call.name, call.arguments.as_str());
                JudgedCall { context, ..judged }
            }
            _ => judged,
        });
        let judged: Vec<_> = judged.collect();
        let made = judged.into_iter().enumerate().map(|(index, judged)| {
            let before = calls.get(..index).unwrap_or_default();
            self.observe(context, Place { turn, before }, judged, observed)
        });
        // All run to their end, even when one of them has to wait for a person.
        join_all(made).await.into_iter().collect()
    }

    /// Judges a call by its schema and the interceptors, once and for all of the task's runs.
    async fn judge<'a, C: Send + Sync + 'static>(
        &self,
        context: &Context<C>,
        place: Place<'_>,
        call: &'a ToolCall,
        tool_context: &Call,
    ) -> Result<Judged<'a>, ToolCallError> {
        let registered = match self.tools.check(call, self.language) {
            Ok(registered) => registered,
            Err(observation) => return Ok(Judged::Observed(observation)),
        };
        let request = self.request_of(place, call, registered);
        let admitted = admit(context, &self.interceptors, registered, request, tool_context).await;
        Ok(self.follow(call, admitted.map_err(|error| failed(call, error))?))
    }

    fn follow<'a>(&self, call: &'a ToolCall, admitted: Admitted) -> Judged<'a> {
        let arguments = match admitted {
            Admitted::Make => return Judged::Make(Cow::Borrowed(call)),
            Admitted::Refuse(reason) => {
                let text = prompt::refused(&call.name, &reason, self.language);
                return Judged::Observed(Observation::fault(FaultKind::Denied, text));
            }
            Admitted::Give(output) => {
                return Judged::Observed(prompt::result(output, self.language));
            }
            Admitted::Change(arguments) => arguments,
        };
        let call = ToolCall { arguments, ..call.clone() };
        match self.tools.check(&call, self.language) {
            Ok(_) => Judged::Make(Cow::Owned(call)),
            Err(observation) => Judged::Observed(observation),
        }
    }

    /// The call as interceptors see it.
    fn request_of<'a>(
        &'a self,
        place: Place<'a>,
        call: &ToolCall,
        registered: &'a Registered,
    ) -> ToolRequest<'a> {
        let usage = place.turn.usage;
        ToolRequest {
            call: call.clone(),
            spec: registered.tool.spec(),
            effect: registered.tool.effect(),
            messages: place.turn.messages,
            before: place.before,
            turn: TurnContext { agent: &self.agent, usage, language: self.language },
        }
    }

    /// The result of a call, which is made or not as it was judged.
    async fn observe<C: Send + Sync + 'static>(
        &self,
        context: &Context<C>,
        place: Place<'_>,
        judged: JudgedCall<'_>,
        observed: &(dyn Fn(&ToolCall, &Observation) + Sync),
    ) -> Result<ToolResult, ToolCallError> {
        let JudgedCall { call: written, outcome, context: tool_context } = judged;
        let result = match outcome? {
            Judged::Observed(observation) => {
                ToolResult::new(context, observation, Spent::default())
            }
            Judged::Make(call) => {
                let mut result = self.made(context, place, &call, tool_context).await?;
                if let Cow::Owned(call) = call {
                    let text = &mut result.observation.text;
                    *text = prompt::changed(&call.arguments, text, self.language);
                }
                result
            }
        };
        observed(written, &result.observation);
        Ok(result)
    }

    /// Makes `call`, once and for all of the task's runs.
    async fn made<C: Send + Sync + 'static>(
        &self,
        context: &Context<C>,
        place: Place<'_>,
        call: &ToolCall,
        tool_context: Call,
    ) -> Result<ToolResult, ToolCallError> {
        let work = async |tool_context: &Call| {
            let through = |metered| async move { self.through(place, call, &metered).await };
            let (made, spent) = metered(tool_context, through).await;
            made.map(|observation| ToolResult::new(context, observation, spent))
        };
        let effect = self.tools.effect(&call.name);
        if effect == Some(Effect::Idempotent) {
            // A lost run is not to make another call than this one.
            context.barrier().await.map_err(|error| failed(call, error))?;
        }
        if effect != Some(Effect::AtMostOnce) {
            let made = context.step(&format!("tool-{}", call.id), || work(&tool_context)).await;
            return made.map_err(|error| failed(call, error));
        }
        // Nobody but a person can tell whether such a call was made, if the run was lost while it was.
        let arguments = call.arguments.as_str();
        let once = |tool_context: Call| async move {
            let made = work(&tool_context).await.map(OnceResult::Record);
            made.map_err(|error| match was_not_made(&error) {
                true => NotMade(error.into()).into(),
                false => BoxError::from(error),
            })
        };
        let (tool, doubt) = (call.name.as_str(), self.in_doubt);
        let made = context.once_as(tool_context, tool, arguments, doubt, once).await;
        let was_made = Spent { tool_calls: 1, ..Spent::default() };
        let by_person = |output: ToolOutput| {
            ToolResult::new(context, prompt::result(output, self.language), was_made)
        };
        match made {
            Ok(OnceResult::Record(made)) => Ok(made),
            Ok(OnceResult::Text(text)) => Ok(by_person(text.into())),
            Ok(OnceResult::Json(value)) => Ok(by_person(value.to_string().into())),
            Err(StepError::GivenUp { .. }) => {
                let text = prompt::in_doubt(&call.name, self.language);
                let observation = Observation::fault(FaultKind::InDoubt, text);
                Ok(ToolResult::new(context, observation, was_made))
            }
            Err(error) => Err(failed(call, error)),
        }
    }

    /// Makes `call` with what stands around it, within a span.
    async fn through(
        &self,
        place: Place<'_>,
        call: &ToolCall,
        tool_context: &Call,
    ) -> Result<Observation, ToolError> {
        let registered = match self.tools.check(call, self.language) {
            Ok(registered) => registered,
            Err(observation) => return Ok(observation),
        };
        let request = self.request_of(place, call, registered);
        let span = hanok_telemetry::tool(&call.name, &call.id);
        self.capture.arguments(&span, || call.arguments.as_str().to_owned());
        let next = NextTool::new(&self.interceptors, registered, &request);
        let made = next.run(tool_context).instrument(span.clone()).await;
        let made = self.tools.observed(call, made, self.language);
        if made.as_ref().map_or(true, |made| made.fault.is_some()) {
            hanok_telemetry::record_error(&span, "tool");
        }
        if let Ok(made) = &made {
            self.capture.result(&span, || made.text.clone());
        }
        made
    }
}

fn failed(call: &ToolCall, error: StepError) -> ToolCallError {
    let tool = call.name.clone();
    match error {
        StepError::Failed(cause) => match tool_error(cause) {
            Ok(source) if suspends(&source) => ToolCallError::Suspended { tool, source },
            Ok(source) => ToolCallError::Failed { tool, call: call.id.clone(), source },
            Err(cause) => ToolCallError::Step(StepError::Failed(cause)),
        },
        source => ToolCallError::Step(source),
    }
}

/// The tool's own error that a step failed with.
fn tool_error(cause: BoxError) -> Result<ToolError, BoxError> {
    let cause = match cause.downcast::<NotMade>() {
        Ok(not_made) => not_made.0,
        Err(cause) => cause,
    };
    cause.downcast::<ToolError>().map(|error| *error)
}
