//! Inputs: a new turn, a resume, or answers.

use hanok_core::{RequestId, Stored};
use serde::{Deserialize, Serialize};

use crate::{
    error::RunError,
    node::command::{IntoTargets, Target},
    run::turn_start::NewTurn,
};
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
    /// Answers some of the open requests, or none, merges `update` into the state, and resumes the run: in one append, so that no
    /// node reads the one without the other. Due nodes stay due. A question is the same only if its node asks the same in the
    /// changed state; otherwise the answer counts for nothing, and [the outcome](crate::Waiting::voided) says so.
    Edited {
        /// The answers.
        answers: Vec<(RequestId, Stored)>,
        /// The update of the state of the thread's own graph.
        update: S::Update,
    },
    /// Begins a turn with an update at these nodes, in place of those that [`START`](crate::START) leads to. The turn of a lost run
    /// is finished first, and a thread that waits for people refuses it, as it refuses [`New`](Input::New).
    Goto {
        /// The update.
        update: S::Update,
        /// The targets: nodes, or sends with inputs of their own.
        targets: Vec<Target>,
    },
}

/// The policy for a new input to a thread that runs, or whose turn is unfinished because it waits for a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

    /// An input that begins a turn at `targets`: the name of a node, a [`SendTo`](crate::SendTo), or several of them.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::ThreadKey, hanok_graph::*, hanok_state::State, hanok_state::List};
    /// # #[derive(State, Clone, Debug, Default)] struct Log { #[reduce(append)] lines: List<String> }
    /// # async fn work(_: Snapshot<Log>, cx: Context) -> Result<LogUpdate, std::io::Error> { Ok(Log::update().push_lines(cx.node().to_owned())) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Log>::builder("two").node("draft", work).node("send", work);
    /// let graph = graph.sequence([START, "draft", "send", END]).build()?;
    /// let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// let state = thread.run(Input::goto(Log::update().push_lines("by hand"), "send")?, ()).await?.done()?;
    /// assert_eq!(state.lines.iter().collect::<Vec<_>>(), ["by hand", "send"]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::State`] when the targets cannot be made.
    pub fn goto(update: S::Update, targets: impl IntoTargets) -> Result<Self, RunError> {
        let targets = targets.into_targets().map_err(RunError::State)?;
        Ok(Self::Goto { update, targets })
    }

    /// An input that answers the request `id` and merges `update` into the state.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{AskError, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Bill { by: String, paid: bool }
    /// async fn pay(bill: Snapshot<Bill>, context: Context) -> Result<BillUpdate, AskError> {
    ///     let yes: bool = context.interrupt("pay?").await?;
    ///     Ok(Bill::update().paid(yes && bill.by == "Ada"))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Bill>::builder("bill").node("pay", pay).sequence([START, "pay", END]).build()?;
    /// let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// let Outcome::Interrupted(waiting) = thread.invoke(Bill::update(), ()).await? else { panic!() };
    /// let answer = Input::answer_and_edit(waiting[0].id.clone(), &true, Bill::update().by("Ada"))?;
    /// assert!(thread.run(answer, ()).await?.done()?.paid);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::State`] when the answer cannot be stored.
    pub fn answer_and_edit(
        id: RequestId,
        answer: &(impl Serialize + ?Sized),
        update: S::Update,
    ) -> Result<Self, RunError> {
        Ok(Self::Edited { answers: vec![(id, stored(answer)?)], update })
    }

    /// The new turn that the input begins, if it begins one.
    pub(crate) fn as_new(&self) -> Option<NewTurn<S::Update>> {
        match self {
            Self::New(update) => Some(update.clone().into()),
            Self::Goto { update, targets } => {
                Some(NewTurn { update: update.clone(), goto: Some(targets.clone()) })
            }
            Self::Begin(_)
            | Self::Resume
            | Self::Answers(_)
            | Self::Reply(_)
            | Self::Edited { .. } => None,
        }
    }

    /// The new turn that the input begins, or the input.
    pub(crate) fn into_new(self) -> Result<NewTurn<S::Update>, Self> {
        match self {
            Self::New(update) => Ok(update.into()),
            Self::Goto { update, targets } => Ok(NewTurn { update, goto: Some(targets) }),
            other => Err(other),
        }
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
