//! The conversation with the office.

use hanok_core::Stored;
use hanok_state::Messages;
use hanok_supervisor::{Supervisor, SupervisorProgress, SupervisorState, SupervisorStateUpdate};
use kit::{
    Ended, Talk, messages,
    progress::{self, short},
};

/// A conversation with a supervisor and its agents.
#[derive(Debug)]
pub struct Office(pub Supervisor);

impl Talk for Office {
    type State = SupervisorState;

    fn ask(&self, question: &str) -> SupervisorStateUpdate {
        self.0.ask(question)
    }

    fn ended(&self, state: &SupervisorState) -> Ended {
        Ended { answer: state.answer.clone(), stopped: state.stopped }
    }

    fn messages<'s>(&self, state: &'s SupervisorState) -> &'s Messages {
        &state.messages
    }

    /// The supervisor, then each agent.
    fn drawing(&self) -> String {
        self.0.drawing().mermaid()
    }

    fn line(&self, item: &Stored) -> Option<String> {
        progress::line(item).or_else(|| supervisor(item.decode().ok()?))
    }
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
            format!("[{name}] 끝: {}", messages::stopped(stopped))
        }
        SupervisorProgress::Settled { agent, .. } => {
            format!("[supervisor] 같은 위임이 되풀이되어 {agent}의 답으로 마칩니다")
        }
        SupervisorProgress::Ended { stopped } => {
            format!("[supervisor] 멈춤: {}", messages::stopped(stopped))
        }
        _ => return None,
    })
}
