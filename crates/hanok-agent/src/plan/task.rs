//! The task of a plan–act–evaluate loop.

use hanok_core::BoxError;
use hanok_graph::Context;
use hanok_state::{State, ToolCall};

use super::planning::{Evaluation, PlanMode, Planned};
use crate::{error::ToolCallError, observation::Observation};

/// The update of a task's state.
pub(crate) type UpdateOf<T> = <<T as PlanTask>::State as State>::Update;

/// The task of a [`PlanLoop`](crate::PlanLoop): how calls are proposed, what becomes of their results, and when they are enough.
///
/// What a model is asked in here belongs into a [step](Context::step), as in any node.
pub trait PlanTask: Send + Sync + 'static {
    /// The state of the graph.
    type State: Planned;
    /// The services of the graph.
    type Services: Send + Sync + 'static;
    /// The error of its nodes.
    type Error: Into<BoxError> + From<ToolCallError> + Send + 'static;

    /// Proposes the calls of round `round`, counted from 1. Those that were made before are left out by the loop.
    fn propose(
        &self,
        state: &Self::State,
        round: u32,
        context: &Context<Self::Services>,
    ) -> impl Future<Output = Result<Vec<ToolCall>, Self::Error>> + Send;

    /// Completes `call` by what `state` holds, when it is planned and once more before it is made in turn. Default: as it is.
    fn complete(&self, call: ToolCall, state: &Self::State) -> ToolCall {
        let _ = state;
        call
    }

    /// True for a call that takes what those before it give: such a plan is made in turn. Default: none does.
    fn depends(&self, call: &ToolCall) -> bool {
        let _ = call;
        false
    }

    /// What else a plan writes, and whom it is reported to. Default: nothing.
    fn planned(
        &self,
        state: &Self::State,
        plan: &MadePlan,
        context: &Context<Self::Services>,
    ) -> UpdateOf<Self>
    where
        Self: Sized,
    {
        let (_, _, _) = (state, plan, context);
        Self::State::update()
    }

    /// Takes the result of `call` over into `state`, which calls in turn read at once ([`complete`](Self::complete)).
    fn observe(
        &self,
        state: &mut Self::State,
        call: &ToolCall,
        observation: Observation,
        context: &Context<Self::Services>,
    );

    /// The update with all that [`observe`](Self::observe) wrote into `state`.
    fn observed(&self, state: Self::State) -> UpdateOf<Self>
    where
        Self: Sized;

    /// Judges whether what `state` holds is enough.
    fn evaluate(
        &self,
        state: &Self::State,
        context: &Context<Self::Services>,
    ) -> impl Future<Output = Result<Evaluation, Self::Error>> + Send;

    /// What else an evaluation writes, and whom it is reported to. `forced` says that the loop ends though something is
    /// missing. Default: nothing.
    fn evaluated(
        &self,
        state: &Self::State,
        evaluation: &Evaluation,
        forced: bool,
        context: &Context<Self::Services>,
    ) -> UpdateOf<Self>
    where
        Self: Sized,
    {
        let (_, _, _, _) = (state, evaluation, forced, context);
        Self::State::update()
    }
}

/// A plan of one round.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MadePlan {
    /// The round, from 1.
    pub round: u32,
    /// The way in which the calls are made.
    pub mode: PlanMode,
    /// The calls.
    pub calls: Vec<ToolCall>,
    /// The calls that were proposed and were made before, or stand among the others.
    pub skipped: Vec<ToolCall>,
}
