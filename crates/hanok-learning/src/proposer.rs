//! Preferences that a model or rules propose for what a user said.

use std::future::Future;

use hanok_core::{BoxError, Call};
use hanok_graph::Context;
use hanok_state::Message;

use super::{
    error::LearningError,
    evidence::Actor,
    long_term::LongTerm,
    preference::{Preference, PreferenceProposal, PreferenceStatement},
};

/// The most preferences that one message states.
const MOST: usize = 20;

/// Whatever proposes the preferences that a message states: a model, as a rule.
///
/// A proposal is data: it counts when its quote stands in the user's message, and is dropped otherwise.
///
/// # Contract
///
/// - It reads the message and nothing that was recalled or that a tool returned.
/// - It fails only where the run has to end, as at a limit or when it is stopped. A model that does not answer proposes nothing.
///
/// ```
/// use hanok_core::{BoxError, Call};
/// use hanok_learning::{PreferenceProposal, PreferenceProposer};
/// use hanok_state::Message;
///
/// /// Asks a small model: with `hanok_agent::Structured`, as a rule.
/// struct OwnModel;
///
/// impl PreferenceProposer for OwnModel {
///     async fn propose(&self, message: &Message, _: &Call) -> Result<Vec<PreferenceProposal>, BoxError> {
///         let quote = message.text().into_owned();
///         Ok(vec![PreferenceProposal { key: "language".into(), value: "Korean".into(), quote }])
///     }
/// }
/// ```
pub trait PreferenceProposer: Send + Sync {
    /// The preferences that `message`, of a user, states.
    ///
    /// # Errors
    ///
    /// Whatever ends the run.
    fn propose(
        &self,
        message: &Message,
        call: &Call,
    ) -> impl Future<Output = Result<Vec<PreferenceProposal>, BoxError>> + Send;
}

/// Nobody: rules alone propose.
#[derive(Debug, Clone, Copy, Default)]
pub struct RulesAlone;

impl PreferenceProposer for RulesAlone {
    async fn propose(&self, _: &Message, _: &Call) -> Result<Vec<PreferenceProposal>, BoxError> {
        Ok(Vec::new())
    }
}

impl LongTerm {
    /// Teaches the preferences that `message` states, as `rules` and `model` propose them, and gives those; none when there is no
    /// user. What the rules propose comes first, and of two proposals for one preference the first one counts.
    ///
    /// The model is asked in a memoised step of the node: a task that runs again learns the same. Call it when the answer is written,
    /// so that no answer waits for the model.
    ///
    /// ```
    /// use hanok_graph::{BoxError, Context};
    /// use hanok_learning::{LongTerm, RulesAlone, stated_preferences};
    /// use hanok_state::Message;
    ///
    /// async fn learn(of_user: &LongTerm, said: &Message, context: &Context) -> Result<(), BoxError> {
    ///     let rules = stated_preferences(said);
    ///     let learned = of_user.learn_preferences(context, "memory", said, rules, &RulesAlone).await?;
    ///     tracing::debug!("{} preferences", learned.len());
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LearningError::Step`] when the model's step ends the run, and as [`teach`](crate::teach).
    pub async fn learn_preferences<C: Send + Sync + 'static>(
        &self,
        context: &Context<C>,
        topic: &str,
        message: &Message,
        rules: Vec<PreferenceProposal>,
        model: &impl PreferenceProposer,
    ) -> Result<Vec<PreferenceStatement>, LearningError> {
        if self.memories().is_none() {
            return Ok(Vec::new());
        }
        let call = context.call("model", "preferences", &message.text());
        let proposed = context.step("preferences", || model.propose(message, &call)).await?;
        let mut statements: Vec<PreferenceStatement> = Vec::new();
        for statement in PreferenceStatement::stated(rules.into_iter().chain(proposed), message) {
            if statements.iter().all(|other| other.key() != statement.key()) {
                statements.push(statement);
            }
        }
        statements.truncate(MOST);
        let turn = message.id().unwrap_or_default();
        for statement in &statements {
            let (key, body) = (statement.key(), statement.clone());
            self.teach::<Preference, C>(context, topic, key, Actor::User, turn, body)?;
        }
        Ok(statements)
    }
}
