//! Other models, where one does not answer.

use std::{fmt, sync::Arc};

use hanok_core::Call;
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError, SharedModel, Wait};

use super::{
    Interceptor,
    attempt::{Attempt, ModelErrorFilter},
    chain::NextModel,
};

/// Asks another model when one does not answer, in the order in which they were added. Interceptors that were added later
/// stand around each of them; what is for one of them alone stands around that model ([`Intercepted`](crate::Intercepted)).
/// [`ChatReply::model`] says which one answered; the error is the last one's.
///
/// By default another model is asked when a server cannot be reached, is late, broken or busy, or does not know the model,
/// the key or the quota; not when the request itself is refused, is too long, or the call has no time or budget left.
///
/// ```
/// use hanok_agent::{Fallback, ReactAgent};
/// use hanok_model::{ModelError, ScriptedModel};
///
/// # let (large, local) = (ScriptedModel::new([]), ScriptedModel::new([]));
/// let agent = ReactAgent::builder("rules", "Knows the rules", large)
///     .intercept(Fallback::to(local).when(ModelError::is_transient))
///     .build()?;
/// # Ok::<(), hanok_agent::AgentBuildError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Fallback {
    models: Vec<SharedModel>,
    when: ModelErrorFilter,
}

impl Fallback {
    /// Asks `model` when the first one does not answer.
    pub fn to(model: impl ChatModel) -> Self {
        Self { models: vec![SharedModel::new(model)], when: Arc::new(is_elsewhere_better) }
    }

    /// Asks `model` when those that were added before do not answer either.
    ///
    /// ```
    /// use hanok_agent::{Fallback, Intercepted};
    /// use hanok_core::{Call, CallKey};
    /// use hanok_model::{ChatModel, ChatRequest, Exchange, ModelError, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let call = Call::new(CallKey::new("1"), hanok_graph::Runtime::default().clock);
    /// let dead = || ScriptedModel::new([Exchange::fails(ModelError::BadKey { sent: true, source: None })]);
    /// let local = ScriptedModel::new([Exchange::says("15일")]).named("local");
    /// let model = Intercepted::new(dead()).intercept(Fallback::to(dead()).or(local));
    /// assert_eq!(model.chat(ChatRequest::new(["연차는?"]), &call).await?.model, "local");
    /// # Ok(())
    /// # }
    /// ```
    pub fn or(mut self, model: impl ChatModel) -> Self {
        self.models.push(SharedModel::new(model));
        self
    }

    /// Selects the errors after which the next model is asked. Default: errors that say nothing against the request.
    ///
    /// ```
    /// use hanok_agent::Fallback;
    /// use hanok_model::{ModelError, ScriptedModel};
    ///
    /// # let local = ScriptedModel::new([]);
    /// // The local model has the longer window.
    /// let longer = Fallback::to(local).when(|error| matches!(error, ModelError::ContextTooLong { .. }));
    /// # drop(longer);
    /// ```
    pub fn when(self, when: impl Fn(&ModelError) -> bool + Send + Sync + 'static) -> Self {
        Self { when: Arc::new(when), ..self }
    }
}

/// True for an error after which another server may answer.
fn is_elsewhere_better(error: &ModelError) -> bool {
    match error {
        ModelError::TimedOut { what, .. } => *what != Wait::Deadline,
        ModelError::OverBudget(_)
        | ModelError::Cancelled
        | ModelError::BadRequest { .. }
        | ModelError::ContentFiltered { .. }
        | ModelError::ContextTooLong { .. } => false,
        _ => true,
    }
}

impl Interceptor for Fallback {
    async fn around_model(
        &self,
        request: ChatRequest,
        call: &Call,
        next: NextModel<'_>,
    ) -> Result<ChatReply, ModelError> {
        let (mut next, mut models) = (next, self.models.iter());
        loop {
            let attempt = Attempt::at(call);
            let error = match next.run(request.clone(), &attempt.call).await {
                Err(error) if (self.when)(&error) => error,
                reply => return reply,
            };
            let Some(model) = models.next() else { return Err(error) };
            attempt.give_up();
            next = next.to(model);
        }
    }
}

impl fmt::Debug for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fallback").field("models", &self.models).finish_non_exhaustive()
    }
}
