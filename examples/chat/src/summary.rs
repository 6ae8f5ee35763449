//! The command `/summary`: summaries, what they stand for, and the way back.

use hanok_core::Call;
use hanok_graph::{Runtime, Thread};
use hanok_memory::{ExpandError, Expanded, Remembers, expand};
use hanok_parse::Language;
use kit::{failure::Failure, progress::short};

use crate::{Chat, ChatState};

/// What `/summary` does with what stands behind it.
pub(crate) async fn command(
    chat: &Chat,
    rest: &str,
    thread: &Thread<ChatState>,
) -> Result<String, Failure> {
    let state = thread.state(None).await?.unwrap_or_default();
    if rest.is_empty() {
        let text = state.agent.memory.text(Language::Korean);
        return Ok(text.unwrap_or_else(|| "아직 요약이 없습니다.".to_owned()));
    }
    let (number, act) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let count = state.agent.memory.summaries().count();
    let number: usize = number.parse().unwrap_or(0);
    let summary = number.checked_sub(1).and_then(|at| state.agent.memory.summaries().nth(at));
    let Some(summary) = summary else {
        let usage = format!("요약은 {count}개입니다. /summary 1처럼 번호를 쓰세요.");
        return Err(Failure::Usage(usage));
    };
    let expanded = expand(thread, summary).await.map_err(failed)?;
    match act.trim() {
        "" => Ok(messages(&expanded)),
        "undo" => {
            let count = expanded.messages.len();
            thread.edit(ChatState::remember(expanded.undo(&state))).await?;
            Ok(format!(
                "요약 {number}을(를) 되돌렸습니다: 메시지 {count}개가 다시 대화에 있습니다."
            ))
        }
        "again" => {
            let (runtime, compactor) = (Runtime::default(), &chat.compactor);
            let made = expanded.again(compactor, &state, &*runtime.rng, &Call::detached()).await;
            thread.edit(ChatState::remember(made.map_err(failed)?)).await?;
            let state = thread.state(None).await?.unwrap_or_default();
            let text = state.agent.memory.summaries().nth(number - 1);
            Ok(text.map(|summary| summary.text.clone()).unwrap_or_default())
        }
        other => Err(Failure::Usage(format!(
            "`{other}`은(는) 없습니다. /summary {number} undo나 /summary {number} again을 쓰세요."
        ))),
    }
}

/// What a summary stands for, a message a line.
fn messages(expanded: &Expanded) -> String {
    let lines = expanded.messages.iter().map(|message| {
        let calls = message.tool_calls().iter().map(|call| format!(" → {}", call.name));
        format!("[{}] {}{}", message.role(), short(&message.text()), calls.collect::<String>())
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn failed(error: ExpandError) -> Failure {
    match error {
        ExpandError::Run(error) => Failure::from(error),
        ExpandError::Pruned => Failure::Usage(
            "요약이 대신하는 메시지가 기록에 없습니다: 지워졌거나, 이 대화가 갈라져 나온 대화에 있습니다.".to_owned(),
        ),
        ExpandError::NotApplied(_) | ExpandError::NoSummary(_) => {
            Failure::Usage("새 요약이 쓸 만하지 않아 그대로 두었습니다.".to_owned())
        }
        error => Failure::wiring(error),
    }
}
