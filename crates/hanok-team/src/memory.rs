//! What is known of the user: read before the planning, and taught after the answer.

use std::{fmt, sync::Arc};

use hanok_core::{BoxError, BoxFuture};
use hanok_graph::Context;
use serde::{Deserialize, Serialize};

use crate::state::TeamState;

/// What is remembered for a question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Remembered {
    /// The text.
    pub text: String,
    /// Where it comes from, as the user is shown it.
    pub source: String,
    /// How well it fits the question, where that is known.
    pub score: Option<f64>,
}

impl Remembered {
    /// Something that was remembered, and its source.
    pub fn new(text: impl Into<String>, source: impl Into<String>) -> Self {
        Self { text: text.into(), source: source.into(), score: None }
    }

    /// The same with its score.
    #[must_use]
    pub fn score(self, score: f64) -> Self {
        Self { score: Some(score), ..self }
    }
}

/// The memory of a team supervisor. It reads the user from the run's services; where there is none, it knows and learns nothing.
pub trait TeamMemory<C: Send + Sync + 'static>: Send + Sync + 'static {
    /// What is known for `question`, the best first. It is asked once in a turn.
    ///
    /// # Errors
    ///
    /// Whatever the store says. The turn ends with it.
    fn recall(
        &self,
        question: &str,
        context: &Context<C>,
    ) -> impl Future<Output = Result<Vec<Remembered>, BoxError>> + Send;

    /// Hands on what the turn teaches ([`Context::hand_out`]). It leaves with the answer, or not at all. The answer was streamed before.
    ///
    /// # Errors
    ///
    /// Whatever stands in the way. The turn ends with it.
    fn learn(
        &self,
        state: &TeamState,
        answer: &str,
        context: &Context<C>,
    ) -> impl Future<Output = Result<(), BoxError>> + Send;
}

/// A [`TeamMemory`] of whatever type.
pub(crate) struct SharedTeamMemory<C>(Arc<dyn AnyTeamMemory<C>>);

impl<C: Send + Sync + 'static> SharedTeamMemory<C> {
    pub(crate) fn new(memory: impl TeamMemory<C>) -> Self {
        Self(Arc::new(memory))
    }

    pub(crate) async fn recall(
        &self,
        question: &str,
        context: &Context<C>,
    ) -> Result<Vec<Remembered>, BoxError> {
        self.0.recall(question, context).await
    }

    pub(crate) async fn learn(
        &self,
        state: &TeamState,
        answer: &str,
        context: &Context<C>,
    ) -> Result<(), BoxError> {
        self.0.learn(state, answer, context).await
    }
}

impl<C> fmt::Debug for SharedTeamMemory<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedTeamMemory").finish_non_exhaustive()
    }
}

trait AnyTeamMemory<C>: Send + Sync {
    fn recall<'a>(
        &'a self,
        question: &'a str,
        context: &'a Context<C>,
    ) -> BoxFuture<'a, Result<Vec<Remembered>, BoxError>>;

    fn learn<'a>(
        &'a self,
        state: &'a TeamState,
        answer: &'a str,
        context: &'a Context<C>,
    ) -> BoxFuture<'a, Result<(), BoxError>>;
}

impl<C: Send + Sync + 'static, M: TeamMemory<C>> AnyTeamMemory<C> for M {
    fn recall<'a>(
        &'a self,
        question: &'a str,
        context: &'a Context<C>,
    ) -> BoxFuture<'a, Result<Vec<Remembered>, BoxError>> {
        Box::pin(TeamMemory::recall(self, question, context))
    }

    fn learn<'a>(
        &'a self,
        state: &'a TeamState,
        answer: &'a str,
        context: &'a Context<C>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(TeamMemory::learn(self, state, answer, context))
    }
}
