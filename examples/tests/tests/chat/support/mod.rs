//! A conversation for tests, and what a turn of it did.

use std::{
    fmt::Write,
    sync::{Arc, Mutex},
};

use chat::{Chat, ChatState, Progress, Route, tools};
use futures::StreamExt;
use hanok_agent::AgentProgress;
use hanok_checkpoint::SharedCheckpointer;
use hanok_core::{Call, Spent, Tenant, ThreadKey};
use hanok_documents::{Library, LoadOptions};
use hanok_graph::{Event, EventKind, Input, Thread};
use hanok_memory::{Compaction, MemoryEvent};
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, Exchange, ModelError, ResponseFormat, SharedModel, Usage,
};
use hanok_retrieval::SharedRetriever;
use hanok_state::{Arguments, Message, Role, ToolCall};
use kit::Talk as _;

/// A conversation on one thread.
pub(crate) struct Talk {
    chat: Chat,
    thread: Thread<ChatState>,
}

/// What a turn did.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    steps: Vec<String>,
    pub(crate) route: Option<Route>,
    pub(crate) answer: Option<String>,
    pub(crate) spent: Spent,
}

pub(crate) fn talk(
    model: &(impl ChatModel + Clone),
    store: SharedCheckpointer,
    policy: Compaction,
) -> Talk {
    let documents = format!("{}/../rag/documents", env!("CARGO_MANIFEST_DIR"));
    let documents = Library::open(LoadOptions::new(), documents).unwrap();
    let documents = SharedRetriever::new(documents);
    let model = SharedModel::new(model.clone());
    let chat = Chat::of(model, policy, documents, tools::offline().unwrap()).unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = chat.graph().unwrap().checkpointer(store).thread(key);
    Talk { chat, thread }
}

impl Talk {
    pub(crate) async fn say(&self, text: &str) -> Turn {
        let mut turn = Turn::default();
        let mut events = self.thread.stream(Input::New(self.chat.ask(text)), ());
        while let Some(event) = events.next().await {
            turn.event(&event);
        }
        let state = events.outcome().await.unwrap().done().unwrap();
        turn.route = state.route.map(|decision| decision.route);
        turn.answer = state.agent.answer;
        turn
    }

    pub(crate) async fn state(&self) -> ChatState {
        self.thread.state(None).await.unwrap().unwrap()
    }
}

impl Turn {
    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::TaskStarted { .. } => {
                self.steps.push(event.node.as_deref().unwrap_or_default().to_owned());
            }
            EventKind::Ended { spent, .. } => self.spent = *spent,
            EventKind::Custom(item) => {
                let more = if let Ok(Progress::Routed { route, .. }) = item.decode() {
                    format!(" -> {route:?}")
                } else if let Ok(Progress::Searched { sources }) = item.decode() {
                    format!(": {}", sources.join(", "))
                } else if let Ok(MemoryEvent::Compacted { action, messages, .. }) = item.decode() {
                    format!(": {action}, {messages} messages left")
                } else {
                    match item.decode() {
                        Ok(AgentProgress::Call { tool, arguments, .. }) => {
                            self.steps.push(format!("tools: {tool}({arguments})"));
                            return;
                        }
                        Ok(AgentProgress::Observation { text, .. }) => format!(" -> {text}"),
                        _ => return,
                    }
                };
                if let Some(step) = self.steps.last_mut() {
                    step.push_str(&more);
                }
            }
            _ => {}
        }
    }

    /// How often a model was asked.
    pub(crate) fn calls(&self) -> u64 {
        self.spent.model_calls
    }

    /// What happened, in order.
    pub(crate) fn course(&self) -> String {
        let mut course = String::new();
        let mut steps = self.steps.iter().peekable();
        while let Some(step) = steps.next() {
            // The node `tools` is told by its calls.
            if step.starts_with("tools: ") {
                let result = steps.next().and_then(|node| node.strip_prefix("tools"));
                writeln!(course, "{step}{}", result.unwrap_or_default()).unwrap();
            } else {
                writeln!(course, "{step}").unwrap();
            }
        }
        let answer = self.answer.as_deref().unwrap_or("none");
        let Spent { model_calls, tool_calls, .. } = self.spent;
        write!(course, "answer: {answer}\nmodel calls: {model_calls}, tool calls: {tool_calls}")
            .unwrap();
        course
    }
}

pub(crate) fn routed(route: &str) -> Exchange {
    Exchange::says(format!(r#"{{"route":"{route}","reason":"…"}}"#))
}

pub(crate) fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: "1".into(), name: name.into(), arguments: Arguments::new(arguments.to_owned()) }
}

/// A model that always answers, and keeps what it was asked last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answering(Arc<Mutex<String>>);

impl Answering {
    pub(crate) fn last(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

impl ChatModel for Answering {
    fn name(&self) -> &str {
        "answering"
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        call.spend().add(Usage::default().spent());
        let system = request.messages.iter().find(|message| message.role() == Role::System);
        let system = system.map(|system| system.text().into_owned()).unwrap_or_default();
        let text = if matches!(request.response_format, ResponseFormat::JsonSchema { .. }) {
            r#"{"route":"agent","reason":"…"}"#
        } else if system.contains("합치세요") {
            "짧은 요약"
        } else if system.contains("요약하세요") {
            "앞의 이야기 몇 가지를 요약한 글"
        } else {
            *self.0.lock().unwrap() =
                request.messages.iter().map(|message| message.text() + "\n").collect();
            "네, 계속 이야기해 주세요. 잘 듣고 있습니다."
        };
        Ok(ChatReply::new(Message::assistant(text), "answering"))
    }
}
