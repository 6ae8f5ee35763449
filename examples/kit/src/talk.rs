//! What an example says of itself.

use hanok_agent::StopReason;
use hanok_core::{Answerer, Stored};
use hanok_graph::{Event, Thread};
use hanok_state::{Messages, State};
use serde_json::Value;

use crate::{Lane, failure::Failure, progress};

/// How a turn ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ended {
    /// The answer, if there is one.
    pub answer: Option<String>,
    /// Why the turn is over.
    pub stopped: Option<StopReason>,
}

/// A conversation's own part: its state, and how it is shown.
pub trait Talk: Send + Sync {
    /// The state of its threads.
    type State: State;

    /// The input of a turn in which the user says `question`.
    fn ask(&self, question: &str) -> <Self::State as State>::Update;

    /// How the turn of `state` ended.
    fn ended(&self, state: &Self::State) -> Ended;

    /// The conversation.
    fn messages<'s>(&self, state: &'s Self::State) -> &'s Messages;

    /// The drawing of what runs, as Mermaid.
    fn drawing(&self) -> String;

    /// Whether a piece of text of this event is a piece of the answer. Default: of the thread's own graph.
    fn is_answer(&self, event: &Event) -> bool {
        event.path.is_root()
    }

    /// The line that a step is shown as, `None` where it is not. Default: what agents tell.
    fn line(&self, item: &Stored) -> Option<String> {
        progress::line(item)
    }

    /// What an event changes in the lanes of what runs, which a person sees in place. Default: nothing.
    fn lane(&self, event: &Event) -> Option<Lane> {
        let _ = event;
        None
    }

    /// What a step is told as to programs: an object with the key `event`. Default: as `progress`, with all that it holds.
    fn told(&self, item: &Stored) -> Option<Value> {
        let _ = item;
        None
    }

    /// What the beginning or the end of a tool's call is told as to programs: an object with the key `event`. Default: nothing.
    fn told_call(&self, event: &Event) -> Option<Value> {
        let _ = event;
        None
    }

    /// Does a command of its own (`name` without the `/`, and `rest` behind it) and says what came of it; `None` where it has no such
    /// command.
    ///
    /// # Errors
    ///
    /// [`Failure`] for a command that makes no sense, or that could not be done.
    fn act(
        &self,
        name: &str,
        rest: &str,
        thread: &Thread<Self::State>,
    ) -> impl Future<Output = Result<Option<String>, Failure>> + Send {
        let (_, _, _) = (name, rest, thread);
        async { Ok(None) }
    }

    /// The name of the event that a question to a person is told as. Default: `question`.
    fn question_event(&self) -> &'static str {
        "question"
    }

    /// Has the calls of `tool`, as long as it is what `definition` says, pass without being asked about from now on, and says what came
    /// of that. Default: it cannot.
    ///
    /// # Errors
    ///
    /// [`Failure`] when that cannot be stored.
    fn always(
        &self,
        tool: &str,
        definition: Option<String>,
        answerer: Option<Answerer>,
    ) -> impl Future<Output = Result<String, Failure>> + Send {
        let (_, _, _) = (tool, definition, answerer);
        async {
            Ok("여기서는 늘 그렇게 하도록 할 수 없습니다: 이번만 합니다.".to_owned())
        }
    }

    /// Its own commands, each with what it does.
    fn commands(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
}
