//! The conversation, as the terminal shows it.

use hanok_core::Stored;
use hanok_graph::Event;
use hanok_memory::{MemoryEvent, Remembers};
use hanok_parse::Language;
use hanok_state::Messages;
use terminal::{
    Ended, Talk,
    progress::{self, short},
};

use crate::{Chat, ChatState, ChatStateUpdate, Progress, tools};

/// A conversation with one agent that remembers.
#[derive(Debug)]
pub struct Talking(Chat);

impl Talking {
    /// A conversation of these parts.
    #[must_use]
    pub fn new(chat: Chat) -> Self {
        Self(chat)
    }

    /// What the next prompt holds, in tokens.
    fn tokens(&self, state: &ChatState) -> String {
        // What will be found for the next question is not known yet.
        let around = self.0.compactor.prompt_parts("");
        let policy = self.0.compactor.policy();
        let count = policy.count(state.messages().iter(), state.memory(), &around);
        let how =
            if count.exact { "tiktoken으로 센 값" } else { "어림값, 실제보다 큰 쪽" };
        format!(
            "시스템 {}, 도구 {}, 기억 {}, 대화 {}, 답을 위해 비워 둔 것 {}: 모두 {}토큰 ({how})",
            count.system,
            count.tools,
            count.memory,
            count.messages,
            count.reserved,
            count.total()
        )
    }
}

impl Talk for Talking {
    type State = ChatState;

    fn ask(&self, question: &str) -> ChatStateUpdate {
        self.0.ask(question)
    }

    fn ended(&self, state: &ChatState) -> Ended {
        Ended { answer: state.agent.answer.clone(), stopped: state.agent.stopped }
    }

    fn messages<'s>(&self, state: &'s ChatState) -> &'s Messages {
        &state.agent.messages
    }

    fn drawing(&self) -> String {
        self.0.graph().map(|graph| graph.mermaid()).unwrap_or_default()
    }

    fn is_answer(&self, event: &Event) -> bool {
        event.path.is_root() && event.node.as_deref() == Some("agent")
    }

    fn line(&self, item: &Stored) -> Option<String> {
        if let Ok(progress) = item.decode::<Progress>() {
            return Some(match progress {
                Progress::Routed { route, reason } => {
                    format!("[router] {route:?} ({})", short(&reason))
                }
                Progress::Searched { sources } if sources.is_empty() => "[rag] 없음".to_owned(),
                Progress::Searched { sources } => format!("[rag] {}", short(&sources.join(", "))),
            });
        }
        if let Ok(event) = item.decode::<MemoryEvent>() {
            return Some(match event {
                MemoryEvent::Compacted { action, before, after, messages, unpinned } => {
                    let full = match unpinned {
                        0 => String::new(),
                        count => format!(", 자리가 없어 고정하지 못한 사실 {count}개"),
                    };
                    format!("[memory] {action}: {before} → {after}토큰, 메시지 {messages}개{full}")
                }
                MemoryEvent::Failed { action, reason } => {
                    format!("[memory] {action} 실패, 대화는 그대로: {}", short(&reason))
                }
                _ => return None,
            });
        }
        progress::line(item)
    }

    fn command(&self, name: &str, state: &ChatState) -> Option<String> {
        match name {
            "summary" => {
                let text = state.memory.text(Language::Korean);
                Some(text.unwrap_or_else(|| "아직 요약이 없습니다.".to_owned()))
            }
            "tokens" => Some(self.tokens(state)),
            "tools" => Some(tools::lines(&self.0.toolbox)),
            _ => None,
        }
    }

    fn commands(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("/summary", "요약과 고정된 사실"),
            ("/tokens", "다음 프롬프트의 토큰"),
            ("/tools", "쓸 수 있는 도구"),
        ]
    }
}
