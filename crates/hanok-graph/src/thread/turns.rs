//! The turns of a thread: where each ended, back to the end of one, and another thread that begins there.

use std::collections::HashSet;

use hanok_checkpoint::{CheckpointError, RunEnd};
use hanok_core::{Position, ThreadKey};
use hanok_state::{Message, Messages, State};
use serde::{Deserialize, Serialize};

use crate::{
    error::{RunError, state_error},
    observe::event::{EventKind, Mode},
    thread::{handle::Thread, restart::Restarted},
};

/// The end of a run of the thread's own graph: of a turn, unless the turn goes on after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnd {
    /// The position of the end in the log.
    pub position: Position,
    /// How the run ended. [`RunEnd::Done`] for a turn that is over.
    pub outcome: RunEnd,
}

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    /// The ends of the thread's runs, the oldest first, on the way that led to where it is: not those before a rewind's place
    /// that it left, and not those of the thread that it is a fork of.
    ///
    /// # Errors
    ///
    /// [`RunError::Checkpoint`] when the log cannot be read.
    pub async fn turn_ends(&self) -> Result<Vec<TurnEnd>, RunError> {
        // Ends are told whatever is shown, and no state is made for them.
        let events = self.clone().modes([]).events(None).await?;
        let ends = events.into_iter().filter(|event| event.path.is_root());
        let ends = ends.filter_map(|event| match event.kind {
            EventKind::Ended { outcome, .. } => {
                Some(TurnEnd { position: event.id?.position, outcome })
            }
            _ => None,
        });
        Ok(ends.collect())
    }

    /// Rewinds the thread to where it was before its last `turns` turns: to the end of the one before them. A turn that is not
    /// done counts as one, too.
    ///
    /// ```
    /// # use hanok_graph::*;
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// for _ in 0..3 {
    ///     thread.invoke(Count::update(), ()).await?;
    /// }
    /// thread.rewind_turns(2).await?;
    /// assert_eq!(thread.state(None).await?.map(|state| state.n), Some(1));
    /// let error = thread.rewind_turns(7).await.unwrap_err();
    /// assert_eq!(error.to_string(), "thread `default/t1` cannot go back 7 turns; it can go back 0");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::NoSuchTurn`] when there are not that many before it, or `turns` is 0; as [`rewind`](Thread::rewind).
    pub async fn rewind_turns(&self, turns: usize) -> Result<Restarted, RunError> {
        let ends = self.turn_ends().await?;
        let is_done = ends.last().is_none_or(|end| end.outcome == RunEnd::Done);
        let done: Vec<_> = ends.iter().filter(|end| end.outcome == RunEnd::Done).collect();
        // Where the last turn is done, its end is where the thread is.
        let here = usize::from(is_done);
        let most = done.len().saturating_sub(here);
        let to = (1..=most).contains(&turns).then(|| done.len().checked_sub(turns + here));
        let to = to.flatten().and_then(|at| done.get(at));
        match to {
            Some(end) => self.rewind(end.position).await,
            None => Err(RunError::NoSuchTurn { thread: self.key().clone(), turns, most }),
        }
    }

    /// Forks the thread as it is now, under a name that no thread has: its own with a number, `chat-2`, `chat-3` …
    ///
    /// ```
    /// # use hanok_graph::*;
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("chat")?);
    /// thread.invoke(Count::update(), ()).await?;
    /// assert_eq!(thread.fork_numbered().await?.key().thread(), "chat-2");
    /// assert_eq!(thread.fork_numbered().await?.key().thread(), "chat-3");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`fork`](Thread::fork); [`RunError::State`] when a name with a number is no name of a thread, for it is too long.
    pub async fn fork_numbered(&self) -> Result<Self, RunError> {
        let mut number = 2_u64;
        loop {
            let name = format!("{}-{number}", self.key().thread());
            let key = ThreadKey::new(self.key().tenant().clone(), &name)
                .map_err(|error| RunError::State(error.into()))?;
            match self.fork(None, &key).await {
                Err(RunError::Checkpoint(CheckpointError::ThreadExists(_))) => number += 1,
                forked => return forked.map(|_| self.app.thread(key)),
            }
        }
    }

    /// Every message that stood in a conversation of the state on the way to where the thread is, in the order in which they
    /// came: those that were taken out since as well, when the conversation was summarised.
    ///
    /// ```
    /// # use hanok_graph::*;
    /// # #[derive(State, Clone, Debug, Default)] struct Chat { messages: Messages }
    /// # async fn say(_: Snapshot<Chat>, _: Context) -> Result<ChatUpdate, std::io::Error> { Ok(Chat::update().message(Message::assistant("네"))) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Chat>::builder("chat").node("say", say).edge(START, "say").edge("say", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("chat")?);
    /// thread.invoke(Chat::update().message(Message::user("졸리니?")), ()).await?;
    /// let all = thread.all_messages(|chat| &chat.messages).await?;
    /// assert_eq!(all.iter().map(|message| message.text()).collect::<Vec<_>>(), ["졸리니?", "네"]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::Checkpoint`] when the log cannot be read, [`RunError::State`] when a state in it does not fit its type.
    pub async fn all_messages(
        &self,
        conversation: impl Fn(&S) -> &Messages,
    ) -> Result<Vec<Message>, RunError> {
        let mut states = Vec::new();
        for event in self.clone().modes([Mode::Values]).events(None).await? {
            if let (true, EventKind::Values(state)) = (event.path.is_root(), &event.kind) {
                states.push(state.get::<S>().map_err(state_error)?);
            }
        }
        // A fork begins with a state and no history.
        states.extend(self.state(None).await?);
        let mut known = HashSet::new();
        let messages = states.iter().flat_map(|state| conversation(state).iter());
        let new = messages.filter(|it| it.id().is_none_or(|id| known.insert(id.to_owned())));
        Ok(new.cloned().collect())
    }
}
