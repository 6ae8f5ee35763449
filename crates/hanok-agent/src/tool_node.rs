//! The tools of a graph of one's own, as a node.

use std::{collections::BTreeSet, sync::Arc};

use hanok_core::{BoxError, BoxFuture, Call};
use hanok_graph::{Command, Context, END, Node};
use hanok_model::ToolTarget;
use hanok_state::{Json, Message, Messages, Role, State, StateUpdate, ToolCall};

use crate::{
    conversation,
    error::ToolCallError,
    intercept::Interceptor,
    observation::FaultKind,
    runner::{ToolRound, ToolRunner, ToolTurn, writes::ToolWrites},
    state::{AgentState, AgentStateUpdate},
    usage::TurnUsage,
};

/// A state that holds a conversation, and where its messages stand.
///
/// ```
/// use hanok_agent::Conversation;
/// use hanok_state::{Message, Messages, State};
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Chat {
///     talk: Messages,
///     customer: String,
/// }
///
/// impl Conversation for Chat {
///     fn messages(&self) -> &Messages {
///         &self.talk
///     }
///
///     fn add(update: ChatUpdate, message: Message) -> ChatUpdate {
///         update.talk_message(message)
///     }
/// }
/// # let chat = Chat::default();
/// # assert!(chat.messages().iter().next().is_none());
/// ```
pub trait Conversation: State {
    /// The messages, oldest first. A model's calls stand in its message, their results in messages of the role tool.
    fn messages(&self) -> &Messages;

    /// Writes `message` behind the others.
    #[must_use]
    fn add(update: Self::Update, message: Message) -> Self::Update;
}

impl Conversation for AgentState {
    fn messages(&self) -> &Messages {
        &self.messages
    }

    fn add(update: AgentStateUpdate, message: Message) -> AgentStateUpdate {
        update.message(message)
    }
}

/// A node that makes the calls of the last message of the model, all at once, and writes their results behind it, one message
/// of the role tool for each, in their order.
///
/// It is a [`ToolRunner`], so a call is checked, intercepted, memoised and held to its time as an agent's is. Calls that have a
/// result already are left alone, and so is a conversation without any. A model's message and those results stay behind one
/// another only where nothing else writes messages in the same super-step.
///
/// [`CallLimits`](crate::CallLimits) of tools count the calls since the last message of the user.
///
/// ```
/// use hanok_agent::{Conversation, ToolNode, ToolRegistry, ToolRunner, tools_condition};
/// use hanok_graph::{Context, END, Graph, START, Snapshot};
/// use hanok_model::{ChatModel, ChatRequest, Exchange, FnTool, ScriptedModel, SharedTool, ToolSpec};
/// use hanok_state::{Message, Messages, State, ToolCall};
/// use serde_json::json;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Chat {
///     messages: Messages,
/// }
///
/// impl Conversation for Chat {
///     fn messages(&self) -> &Messages {
///         &self.messages
///     }
///
///     fn add(update: ChatUpdate, message: Message) -> ChatUpdate {
///         update.message(message)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let spec = ToolSpec::new("weather", "The weather of a city", json!({"properties": {"city": {"type": "string"}}}))?;
/// let weather = FnTool::untyped(spec, |_, _| async { Ok("sunny".into()) });
/// let tools = ToolNode::new(ToolRunner::new(ToolRegistry::new([SharedTool::new(weather)])?));
///
/// let model = ScriptedModel::new([
///     Exchange::calls([ToolCall::new("1", "weather", json!({"city": "Seoul"}).to_string())]),
///     Exchange::says("It is sunny in Seoul.").contains("sunny"),
/// ]);
/// let specs = tools.runner().tools().specs().cloned().collect::<Vec<_>>();
/// let ask = move |state: Snapshot<Chat>, context: Context| {
///     let (model, specs) = (model.clone(), specs.clone());
///     async move {
///         let request = ChatRequest::new(state.messages.iter().cloned()).tools(specs);
///         let call = context.call("model", model.name(), "");
///         let reply = context.step("model", || async { model.chat(request, &call).await }).await?;
///         Ok::<_, hanok_graph::StepError>(Chat::update().message(reply.message))
///     }
/// };
/// let graph = Graph::<Chat>::builder("chat")
///     .node("model", ask)
///     .node("tools", tools)
///     .edge(START, "model")
///     .branch("model", tools_condition, ["tools", END])
///     .edge("tools", "model")
///     .build()?;
/// let chat = graph.invoke(Chat::update().message("The weather in Seoul?"), ()).await?.done()?;
/// let last = chat.messages.iter().last().map(|message| message.text().into_owned());
/// assert_eq!(last.as_deref(), Some("It is sunny in Seoul."));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ToolNode {
    runner: Arc<ToolRunner>,
}

impl ToolNode {
    /// Makes calls as `runner` does.
    pub fn new(runner: ToolRunner) -> Self {
        Self { runner: Arc::new(runner) }
    }

    /// Puts `interceptor` around the calls, within those that were added before. Default: those of the runner.
    pub fn intercept(self, interceptor: impl Interceptor) -> Self {
        Self::new(Arc::unwrap_or_clone(self.runner).intercept(interceptor))
    }

    /// The part that makes the calls.
    pub fn runner(&self) -> &ToolRunner {
        &self.runner
    }

    /// The update with the results of the calls that `state` waits for: the node as a function, for a node of one's own that
    /// does more. A tool that lets the run go on elsewhere does so in the node alone ([`command`](Self::command)).
    ///
    /// # Errors
    ///
    /// As those of [`ToolRunner::run_all`].
    pub async fn run<S: Conversation, C: Send + Sync + 'static>(
        &self,
        state: &S,
        context: &Context<C>,
    ) -> Result<S::Update, ToolCallError> {
        let state = Arc::new(state.clone());
        Ok(self.written(&state, context).await?.0)
    }

    /// The same as the node's command: the update, and where the run goes on, if a tool says so
    /// ([`ToolOutput::goto`](hanok_model::ToolOutput::goto)). The graph has to declare those targets, as those of any command.
    ///
    /// # Errors
    ///
    /// As those of [`ToolRunner::run_all`].
    pub async fn command<S: Conversation, C: Send + Sync + 'static>(
        &self,
        state: &Arc<S>,
        context: &Context<C>,
    ) -> Result<Command<S>, ToolCallError> {
        let (update, target) = self.written(state, context).await?;
        let command = match update.is_empty() {
            true => Command::new(),
            false => Command::new().update(update),
        };
        Ok(match target {
            None => command,
            Some(ToolTarget::Node(node)) => command.goto(node).only(),
            Some(ToolTarget::Parent(node)) => {
                command.goto(END).only().parent(Command::<S>::new().goto(node))
            }
            Some(_) => command.goto(END).only(),
        })
    }

    async fn written<S: Conversation, C: Send + Sync + 'static>(
        &self,
        state: &Arc<S>,
        context: &Context<C>,
    ) -> Result<(S::Update, Option<ToolTarget>), ToolCallError> {
        let messages = state.messages();
        let (calls, usage) = (pending_calls(messages), usage_of(messages));
        let turn = ToolTurn { messages, usage: &usage };
        let provide = |call: Call| call.provide(state.clone());
        let round = ToolRound { turn, calls: &calls, provide: &provide };
        let judged = self.runner.judge_all(context, round, |_| None).await;
        let results = self.runner.make_all(context, round, judged, &|_, _| {}).await?;
        let results = calls.iter().zip(results).collect();
        let language = self.runner.words();
        let writes = ToolWrites::new(&**state, context, language, S::messages);
        let written = writes.join(results, |results| {
            let messages = results.iter().map(|(call, result)| result.clone().message(call));
            messages.fold(S::update(), S::add)
        });
        Ok((written.update, written.target.map(|(_, target)| target)))
    }
}

#[diagnostic::do_not_recommend]
impl<S: Conversation, C: Send + Sync + 'static> Node<S, C, Self> for ToolNode {
    fn run(
        &self,
        state: &Arc<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>> {
        let (tools, state) = (self.clone(), state.clone());
        Box::pin(async move { Ok(tools.command(&state, &context).await?) })
    }
}

/// The router behind a model: `"tools"` while the last message of the model has calls without a result, else [`END`]. The name
/// is that of a [`ToolNode`] in the graph.
///
/// ```
/// use hanok_agent::{AgentState, tools_condition};
/// use hanok_graph::END;
/// use hanok_state::{Message, ToolCall};
///
/// let mut state = AgentState::default();
/// assert_eq!(tools_condition(&state), END);
/// let call = ToolCall::new("1", "weather", "{}");
/// state.messages = [Message::user("?"), Message::assistant("").with_tool_calls([call])].into_iter().collect();
/// assert_eq!(tools_condition(&state), "tools");
/// ```
#[must_use]
pub fn tools_condition<S: Conversation>(state: &S) -> &'static str {
    if pending_calls(state.messages()).is_empty() { END } else { "tools" }
}

/// The calls of the model's last message that have no result.
fn pending_calls(messages: &Messages) -> Vec<ToolCall> {
    let messages: Vec<_> = messages.iter().collect();
    let by_model = |message: &&Message| message.role() == Role::Assistant;
    let Some(last) = messages.iter().rposition(by_model) else { return Vec::new() };
    let (Some(message), results) = (messages.get(last), messages.iter().skip(last + 1)) else {
        return Vec::new();
    };
    let made: BTreeSet<_> = results.filter_map(|message| message.tool_call_id()).collect();
    let calls = message.tool_calls().iter();
    calls.filter(|call| !made.contains(call.id.as_str())).cloned().collect()
}

/// The calls that were made since the user's last message.
fn usage_of(messages: &Messages) -> TurnUsage {
    const NOT_MADE: [FaultKind; 8] = [
        FaultKind::Unreadable,
        FaultKind::UnknownTool,
        FaultKind::BadArguments,
        FaultKind::TooMany,
        FaultKind::Denied,
        FaultKind::Exhausted,
        FaultKind::Unavailable,
        FaultKind::NotMade,
    ];
    let mut usage = TurnUsage::default();
    let messages: Vec<_> = messages.iter().collect();
    let turn = messages.iter().rev().take_while(|message| !conversation::is_from_user(message));
    for message in turn.filter(|message| message.tool_call_id().is_some()) {
        let note = |key| message.metadata().get(key).and_then(|Json(note)| note.as_str());
        let made = note("fault").is_none_or(|code| NOT_MADE.iter().all(|kind| kind.code() != code));
        if let Some(tool) = note("tool").filter(|_| made) {
            *usage.tools.entry(tool.to_owned()).or_default() += 1;
        }
    }
    usage
}
