//! The conversation, as the terminal shows it.

use hanok_core::Stored;
use hanok_graph::{Event, Thread};
use hanok_memory::MemoryEvent;
use hanok_state::Messages;
use kit::{
    Ended, Talk,
    failure::Failure,
    progress::{self, short},
};

use crate::{Chat, ChatState, ChatStateUpdate, Progress, Route, summary, tools};

impl Chat {
    /// What the next prompt holds, in tokens.
    fn tokens(&self, state: &ChatState) -> String {
        let around = self.compactor.prompt_parts();
        let policy = self.compactor.policy();
        let count = policy.count(state.agent.messages.iter(), &state.agent.memory, &around);
        let how =
            if count.exact { "tiktoken으로 센 값" } else { "어림값, 실제보다 큰 쪽" };
        format!(
            "시스템 {}, 도구 {}, 기억 {}, 자료 {}, 대화 {}, 답을 위해 비워 둔 것 {}: 모두 {}토큰 ({how})",
            count.system,
            count.tools,
            count.memory,
            count.context,
            count.messages,
            count.reserved,
            count.total()
        )
    }
}

impl Talk for Chat {
    type State = ChatState;

    fn ask(&self, question: &str) -> ChatStateUpdate {
        self.agent.ask(question).route(None)
    }

    fn ended(&self, state: &ChatState) -> Ended {
        Ended { answer: state.agent.answer.clone(), stopped: state.agent.stopped }
    }

    fn messages<'s>(&self, state: &'s ChatState) -> &'s Messages {
        &state.agent.messages
    }

    fn drawing(&self) -> String {
        self.graph().map(|graph| graph.mermaid()).unwrap_or_default()
    }

    fn is_answer(&self, event: &Event) -> bool {
        event.path.is_root() && event.node.as_deref() == Some("agent")
    }

    fn line(&self, item: &Stored) -> Option<String> {
        if let Ok(progress) = item.decode::<Progress>() {
            return Some(match progress {
                Progress::Routed { route, reason } => {
                    let route = match route {
                        Route::Rag => "문서 검색",
                        Route::Agent => "대화",
                    };
                    format!("[router] {route} ({})", short(&reason))
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

    async fn act(
        &self,
        name: &str,
        rest: &str,
        thread: &Thread<ChatState>,
    ) -> Result<Option<String>, Failure> {
        Ok(Some(match (name, rest) {
            ("summary", rest) => summary::command(self, rest, thread).await?,
            ("tokens", "") => self.tokens(&thread.state(None).await?.unwrap_or_default()),
            ("tools", "") => tools::lines(&self.toolbox),
            _ => return Ok(None),
        }))
    }

    fn commands(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("/summary", "요약과 고정된 사실"),
            (
                "/summary N",
                "요약 N이 대신하는 메시지. 뒤에 undo: 요약을 되돌리기, again: 다시 요약하기",
            ),
            ("/tokens", "다음 프롬프트의 토큰"),
            ("/tools", "쓸 수 있는 도구"),
        ]
    }
}
