//! Calls of tools, made as an agent makes them, from any node.

mod call_end;
mod judged;
pub(crate) mod once_result;
pub(crate) mod place;
pub(crate) mod restriction;
pub(crate) mod tool_result;
pub(crate) mod writes;

use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use futures_util::future::join_all;
use hanok_core::{BoxError, Call, Effect, Spent};
use hanok_graph::{Context, Doubt, NotMade, StepError, ToolEvent};
use hanok_model::{Tool, ToolError, ToolOutput};
use hanok_parse::Language;
use hanok_state::{Messages, ToolCall};
use hanok_telemetry::ContentCapture;
use tracing::Instrument;

pub use self::place::ToolTurn;
use self::{
    call_end::{ended, failed},
    once_result::OnceResult,
    place::{CallPlace, Place, tool_call},
    restriction::Restrictions,
    tool_result::ToolResult,
};
pub(crate) use self::{
    judged::{Judged, JudgedCall},
    place::ToolRound,
};
use crate::{
    bound_tool::BoundTool,
    error::ToolCallError,
    intercept::{
        Interceptor, SharedInterceptor, ToolRequest, TurnContext,
        admission::{Admitted, admit},
        chain::NextTool,
    },
    large_results::Shortening,
    observation::{FaultKind, Observation, Observed},
    prompt,
    tools::{
        execution::{suspends, was_not_made},
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
    /// The tools that are never called.
    pub(crate) denied: Arc<BTreeSet<String>>,
    /// What a catalogue says of the calls, if there is one.
    restrictions: Option<Restrictions>,
    pub(crate) capture: ContentCapture,
    pub(crate) shortening: Shortening,
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

    /// Never calls a tool of these names.
    pub(crate) fn deny(mut self, names: impl IntoIterator<Item = String>) -> Self {
        Arc::make_mut(&mut self.denied).extend(names);
        self
    }

    /// The same for calls of which a catalogue says this.
    pub(crate) fn restricted(self, restrictions: Restrictions) -> Self {
        Self { restrictions: Some(restrictions), ..self }
    }

    /// The observation of a call of `registered` that a catalogue does not let be made now.
    fn refusal(&self, call: &ToolCall, registered: &Registered) -> Option<Observation> {
        let restrictions = self.restrictions.as_ref()?;
        restrictions.refusal(&call.name, registered.tool.spec(), self.language)
    }

    /// The binding of a tool that the model called though it was not offered, or had another definition when it was.
    pub(crate) fn called_unbound(&self, judged: &JudgedCall<'_>) -> Option<BoundTool> {
        let name = &judged.call.name;
        let spec = match &judged.outcome {
            Ok(Judged::Make(_, registered)) => registered.tool.spec(),
            Ok(Judged::Observed(it)) if it.observation.fault != Some(FaultKind::Denied) => {
                self.tools.spec(name)?
            }
            _ => return None,
        };
        self.restrictions.as_ref()?.binding(name, spec)
    }

    /// The observation of a call for which there is no tool.
    fn no_tool(&self, call: &ToolCall) -> Observation {
        match &self.restrictions {
            Some(restrictions) => restrictions.no_tool(&call.name, self.language),
            None => self.tools.unknown(call, self.language),
        }
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

    /// The language of observations.
    pub(crate) fn words(&self) -> Language {
        self.language
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
        let tool_context = tool_call(context, call);
        let place = Place { turn, before: &[], is_unmarked: false };
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
        let round = ToolRound { turn, calls, provide: &|call| call };
        let judged = self.judge_all(context, round, |_| None).await;
        self.make_all(context, round, judged, &|_, _| {}).await
    }

    /// Judges the calls of `round`: those that have a `fault` are not made.
    pub(crate) async fn judge_all<'a, C: Send + Sync + 'static>(
        &self,
        context: &Context<C>,
        round: ToolRound<'a>,
        fault: impl Fn(&ToolCall) -> Option<Observation>,
    ) -> Vec<JudgedCall<'a>> {
        let ToolRound { turn, calls, .. } = round;
        // The keys of equal calls differ by their order, which is that of the reply and not that of their ends.
        let contexts: Vec<_> = calls.iter().map(|call| round.call(context, call)).collect();
        let judging =
            calls.iter().zip(contexts).enumerate().map(|(index, (call, tool_context))| {
                let before = calls.get(..index).unwrap_or_default();
                let fault = fault(call);
                async move {
                    let place = Place { turn, before, is_unmarked: false };
                    let outcome = match fault {
                        // An interceptor may have the tool that the parser does not know.
                        Some(fault) if fault.fault == Some(FaultKind::UnknownTool) => {
                            let judged = self.judge(context, place, call, &tool_context).await;
                            match judged {
                                Ok(Judged::Observed(judged)) if judged.is_unknown_tool() => {
                                    Ok(Judged::Observed(fault.into()))
                                }
                                judged => judged,
                            }
                        }
                        // A person may say that it is meant.
                        Some(fault) if fault.fault == Some(FaultKind::TextCall) => {
                            let place = Place { is_unmarked: true, ..place };
                            match self.judge(context, place, call, &tool_context).await {
                                Ok(Judged::Observed(judged)) if judged.is_denied() => {
                                    Ok(Judged::Observed(fault.into()))
                                }
                                judged => judged,
                            }
                        }
                        Some(fault) => Ok(Judged::Observed(fault.into())),
                        None => self.judge(context, place, call, &tool_context).await,
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
        round: ToolRound<'_>,
        judged: Vec<JudgedCall<'_>>,
        observed: &(dyn Fn(&ToolCall, &Observation) + Sync),
    ) -> Result<Vec<ToolResult>, ToolCallError> {
        let judged = judged.into_iter().map(|judged| match &judged.outcome {
            // What is made with other arguments is another call, and has a key of its own.
            Ok(Judged::Make(Cow::Owned(call), _)) => {
                let context = round.call(context, call);
                JudgedCall { context, ..judged }
            }
            _ => judged,
        });
        let judged: Vec<_> = judged.collect();
        let made = judged.into_iter().enumerate().map(|(index, judged)| {
            let before = round.calls.get(..index).unwrap_or_default();
            let place = Place { turn: round.turn, before, is_unmarked: false };
            self.observe(context, place, judged, observed)
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
        let registered = match self.registered(call, tool_context).await? {
            Ok(registered) => registered,
            Err(observation) => return Ok(Judged::Observed(observation.into())),
        };
        // Nobody judges a call that is not made. It may have been, by an earlier run, and has its stored result then.
        if self.refusal(call, &registered).is_some() {
            return Ok(Judged::Make(Cow::Borrowed(call), registered));
        }
        if let Err(observation) = registered.check(call, self.language) {
            return Ok(Judged::Observed(observation.into()));
        }
        if let Some(need) = tool_context.lacks(&registered.tool.needs()) {
            let (tool, id) = (call.name.clone(), call.id.clone());
            let source = ToolError::NotProvided { need };
            return Err(ToolCallError::Failed { tool, call: id, source });
        }
        let request = self.request_of(place, call, &registered);
        let admitted = admit(context, &self.interceptors, &registered, request, tool_context).await;
        Ok(self.follow(call, registered, admitted.map_err(|error| failed(call, error))?))
    }

    /// The tool of `call`: the agent's own, or one that an interceptor has for it.
    async fn registered(
        &self,
        call: &ToolCall,
        tool_context: &Call,
    ) -> Result<Result<Arc<Registered>, Observation>, ToolCallError> {
        if self.denied.contains(&call.name) {
            let text =
                prompt::refused(&call.name, prompt::not_permitted(self.language), self.language);
            return Ok(Err(Observation::fault(FaultKind::Denied, text)));
        }
        if self.restrictions.as_ref().is_some_and(|it| it.hides(&call.name)) {
            return Ok(Err(self.no_tool(call)));
        }
        if let Some(registered) = self.tools.get(&call.name) {
            return Ok(Ok(registered.clone()));
        }
        for interceptor in &self.interceptors {
            match interceptor.unregistered_tool(call, tool_context).await {
                Ok(None) => {}
                Ok(Some(tool)) => {
                    let registered = Registered::new(tool).map_err(ToolError::failed);
                    return match registered {
                        Ok(registered) => Ok(Ok(Arc::new(registered))),
                        Err(error) => Ok(Err(self.refused(call, &error))),
                    };
                }
                Err(error) if suspends(&error) => {
                    return Err(failed(call, StepError::Failed(error.into())));
                }
                Err(error) => return Ok(Err(self.refused(call, &error))),
            }
        }
        Ok(Err(self.no_tool(call)))
    }

    fn refused(&self, call: &ToolCall, error: &ToolError) -> Observation {
        let text = prompt::refused(&call.name, &error.report(), self.language);
        Observation::fault(FaultKind::Denied, text)
    }

    fn follow<'a>(
        &self,
        call: &'a ToolCall,
        registered: Arc<Registered>,
        admitted: Admitted,
    ) -> Judged<'a> {
        let arguments = match admitted {
            Admitted::Make => return Judged::Make(Cow::Borrowed(call), registered),
            Admitted::Refuse(reason) => {
                let text = prompt::refused(&call.name, &reason, self.language);
                return Judged::Observed(Observation::fault(FaultKind::Denied, text).into());
            }
            Admitted::Reject(reason) => {
                let text = prompt::refused(&call.name, &reason, self.language);
                return Judged::Observed(Observation::fault(FaultKind::Rejected, text).into());
            }
            Admitted::Give(output) => {
                return Judged::Observed(Observed::of(output, self.language));
            }
            Admitted::Change(arguments) => arguments,
        };
        let call = ToolCall { arguments, ..call.clone() };
        match registered.check(&call, self.language) {
            Ok(()) => Judged::Make(Cow::Owned(call), registered),
            Err(observation) => Judged::Observed(observation.into()),
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
            is_unmarked: place.is_unmarked,
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
            Judged::Observed(observed) => ToolResult::new(context, observed, Spent::default()),
            Judged::Make(call, tool) => {
                let place = CallPlace { place, call: &call, tool: &tool };
                let mut result = self.made(context, place, tool_context).await?;
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
        place: CallPlace<'_>,
        tool_context: Call,
    ) -> Result<ToolResult, ToolCallError> {
        let call = place.call;
        let work = async |tool_context: &Call| {
            if let Some(observation) = self.refusal(call, place.tool) {
                return Ok(ToolResult::new(context, observation, Spent::default()));
            }
            let arguments = || call.arguments.as_str().to_owned();
            context.tool_event(tool_context, || ToolEvent::Started { arguments: arguments() });
            let through = |metered| async move { self.through(place, &metered).await };
            let (mut made, spent) = tool_context.metered(through).await;
            // A result with calls in doubt behind it is none: the call is made again once a person has said what became of them.
            if !made.as_ref().is_err_and(suspends)
                && let Err(doubt) = context.settled_within(tool_context).await
            {
                made = Err(ToolError::Suspended(doubt.into()));
            }
            // A call that stops with its run is not over: it begins again when that goes on.
            if !made.as_ref().is_err_and(suspends) {
                context.tool_event(tool_context, || ended(&made));
            }
            made.map(|observed| ToolResult::new(context, observed, spent))
        };
        let effect = place.tool.tool.effect();
        if effect == Effect::Idempotent {
            // A lost run is not to make another call than this one.
            context.barrier().await.map_err(|error| failed(call, error))?;
        }
        // The build that began the call may have declared another effect: what its way of recording holds counts.
        let step = format!("tool-{}", call.id);
        if effect != Effect::AtMostOnce && !context.is_announced(&tool_context) {
            let made = context.step(&step, || work(&tool_context)).await;
            return made.map_err(|error| failed(call, error));
        }
        if let Some(made) = context.memoised(&step).map_err(|error| failed(call, error))? {
            return Ok(made);
        }
        // Nobody but a person can tell whether such a call was made, if the run was lost while it was.
        let arguments = call.arguments.as_str();
        let once = |tool_context: Call| async move {
            let made = work(&tool_context).await.map(|made| OnceResult::Record(Box::new(made)));
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
            Ok(OnceResult::Record(made)) => Ok(*made),
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

    /// Makes the call with what stands around it, within a span.
    async fn through(
        &self,
        CallPlace { place, call, tool }: CallPlace<'_>,
        tool_context: &Call,
    ) -> Result<Observed, ToolError> {
        let request = self.request_of(place, call, tool);
        let span = hanok_telemetry::tool(&call.name, &call.id);
        self.capture.arguments(&span, || call.arguments.as_str().to_owned());
        let next = NextTool::new(&self.interceptors, tool, &request);
        let made = next.run(tool_context).instrument(span.clone()).await;
        let (made, stored) = self.shortening.shorten(call, made, tool_context, self.language).await;
        let made = self.tools.observed(call, made, self.language).map(|made| made.stored(stored));
        let is_fault = match &made {
            Ok(made) => made.observation.fault.is_some(),
            Err(error) => !suspends(error),
        };
        if is_fault {
            hanok_telemetry::record_error(&span, "tool");
        }
        if let Ok(made) = &made {
            self.capture.result(&span, || made.observation.text.clone());
        }
        made
    }
}
