//! What happens, in a line each.

use hanok_agent::AgentProgress;
use hanok_core::Stored;
use hanok_supervisor::SupervisorProgress;

/// The most characters of a text that a line shows.
const LONGEST: usize = 160;

/// The line for what a supervisor or an agent tells; `None` for what is shown otherwise.
pub(crate) fn line(item: &Stored) -> Option<String> {
    if let Ok(progress) = item.decode::<AgentProgress>() {
        return agent(progress);
    }
    supervisor(item.decode().ok()?)
}

fn agent(progress: AgentProgress) -> Option<String> {
    Some(match progress {
        AgentProgress::Thought { agent, text } => format!("[{agent}] 생각: {}", short(&text)),
        AgentProgress::Call { agent, tool, arguments, .. } => {
            format!("[{agent}] 호출: {tool} {}", short(arguments.as_str()))
        }
        AgentProgress::Observation { agent, text, fault, .. } => {
            let fault = fault.map(|fault| format!(" ({fault:?})")).unwrap_or_default();
            format!("[{agent}] 관찰{fault}: {}", short(&text))
        }
        AgentProgress::Answer { agent, text } => format!("[{agent}] 답: {}", short(&text)),
        AgentProgress::Stopped { agent, reason } => format!("[{agent}] 멈춤: {reason:?}"),
        _ => return None,
    })
}

fn supervisor(progress: SupervisorProgress) -> Option<String> {
    Some(match progress {
        SupervisorProgress::Routed { to, task, reason, skipped } => {
            let task = task.map(|task| format!(" - {}", short(&task))).unwrap_or_default();
            let reason = reason.map(|reason| format!(" ({})", short(&reason))).unwrap_or_default();
            let skipped = match skipped.is_empty() {
                true => String::new(),
                false => format!(" [나중으로 미룸: {}]", short(&skipped.join(", "))),
            };
            format!("[supervisor] 라우팅: {to}{task}{reason}{skipped}")
        }
        SupervisorProgress::Corrected { with } => {
            format!("[supervisor] 다시 물음: {}", short(&with))
        }
        SupervisorProgress::AgentStarted { name } => format!("[{name}] 시작"),
        SupervisorProgress::AgentFinished { name, stopped, .. } => {
            format!("[{name}] 끝: {stopped:?}")
        }
        SupervisorProgress::Settled { agent, .. } => {
            format!("[supervisor] 같은 위임이 되풀이되어 {agent}의 답으로 마칩니다")
        }
        SupervisorProgress::Ended { stopped } => format!("[supervisor] 멈춤: {stopped:?}"),
        _ => return None,
    })
}

/// A text as one line of bounded length.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or(&line)),
        None => line,
    }
}
