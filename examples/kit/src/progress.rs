//! What agents do, in a line each.

use hanok_agent::AgentProgress;
use hanok_core::Stored;

use crate::messages;

/// The most characters of a text that a line shows.
const LONGEST: usize = 160;

/// The line for what an agent tells; `None` for what is no such thing, or shown otherwise.
pub fn line(item: &Stored) -> Option<String> {
    Some(match item.decode::<AgentProgress>().ok()? {
        AgentProgress::Thought { agent, text } => format!("[{agent}] 생각: {}", short(&text)),
        AgentProgress::Call { agent, tool, arguments, .. } => {
            format!("[{agent}] 호출: {tool} {}", short(arguments.as_str()))
        }
        AgentProgress::Observation { agent, text, fault, .. } => {
            let fault =
                fault.map(|fault| format!(" ({})", messages::fault(fault))).unwrap_or_default();
            format!("[{agent}] 관찰{fault}: {}", short(&text))
        }
        AgentProgress::Answer { agent, text } => format!("[{agent}] 답: {}", short(&text)),
        AgentProgress::Stopped { agent, reason } => {
            format!("[{agent}] 멈춤: {}", messages::stopped(reason))
        }
        _ => return None,
    })
}

/// Whether a person who watches sees it as it is written.
pub(crate) fn is_seen_anyway(item: &Stored) -> bool {
    let written = item.decode::<AgentProgress>();
    matches!(written, Ok(AgentProgress::Thought { .. } | AgentProgress::Answer { .. }))
}

/// A text as one line of bounded length.
pub fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or(&line)),
        None => line,
    }
}
