//! Inputs: a new turn, a resume, or answers.

use hanok_core::{RequestId, Stored};
use serde::Serialize;

use crate::error::RunError;
use hanok_state::State;

/// The input of a run: [`Thread::run`](crate::Thread::run).
///
/// ```
/// # use {hanok_core::RequestId, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # async fn ask(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, hanok_core::AskError> {
/// #     Ok(Count::update().n(cx.interrupt("how many?").await?))
/// # }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("ask", ask).edge(START, "ask").edge("ask", END).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
/// let Outcome::Interrupted(requests) = thread.run(Input::New(Count::update()), ()).await? else { panic!() };
/// let answers = Input::Answers(vec![(requests[0].id.clone(), hanok_core::Stored::encode(&7)?)]);
/// assert_eq!(thread.run(answers, ()).await?.done()?.n, 7);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Input<S: State> {
    /// Begins a turn with this update. The turn of a lost run is finished first.
    New(S::Update),
    /// Begins the thread's first turn with this update; a thread that has begun continues as with [`Resume`](Input::Resume). Whoever
    /// may have to say the same twice, such as a client that did not hear an answer, begins one turn.
    Begin(S::Update),
    /// Continues with the due nodes, after a crash, an error, a limit, a breakpoint or a cancellation.
    Resume,
    /// Answers some of the open requests and resumes the run. If one answer is refused, all are. Tasks that still wait
    /// are not started.
    Answers(Vec<(RequestId, Stored)>),
    /// Answers the only open request and resumes the run.
    Reply(Stored),
}

/// The policy for a new input to a thread that runs, or whose turn is unfinished because it waits for a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum NewInput {
    /// The input is refused with [`RunError::Conflict`] or [`RunError::Unfinished`].
    #[default]
    Reject,
    /// The input waits until the turn is finished. Within a process, the order is first come, first served; between
    /// processes, each looks again. A waiting input is lost with its process.
    Queue,
    /// The input replaces the turn. A run is cancelled, wherever it runs. Its committed super-steps stay, due nodes are
    /// dropped, and the new turn begins at [`START`](crate::START).
    Replace,
}

impl<S: State> Input<S> {
    /// An input that answers the request `id`.
    ///
    /// # Errors
    ///
    /// [`RunError::State`] when the answer cannot be stored.
    pub fn answer(id: RequestId, answer: &(impl Serialize + ?Sized)) -> Result<Self, RunError> {
        Ok(Self::Answers(vec![(id, stored(answer)?)]))
    }

    /// An input that answers the only open request.
    ///
    /// # Errors
    ///
    /// [`RunError::State`] when the answer cannot be stored.
    pub fn reply(answer: &(impl Serialize + ?Sized)) -> Result<Self, RunError> {
        Ok(Self::Reply(stored(answer)?))
    }
}

fn stored(answer: &(impl Serialize + ?Sized)) -> Result<Stored, RunError> {
    Stored::encode(answer).map_err(|error| RunError::State(error.into()))
}
