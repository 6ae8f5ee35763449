//! One dead server does not hold up the others.

mod bulkhead;
mod circuit;
mod rejection;

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use hanok_core::Call;
use hanok_model::{ChatReply, ChatRequest, ModelError, ToolError, ToolOutput};

use self::{bulkhead::Bulkhead, circuit::Circuit, rejection::Rejection};
use super::{
    Interceptor, ToolRequest,
    attempt::{ModelErrorFilter, is_tool_down},
    chain::{NextModel, NextTool},
};

type ToolErrorFilter = Arc<dyn Fn(&ToolError) -> bool + Send + Sync>;

/// A circuit breaker and a bulkhead around one server: a model's provider, or the server of some tools.
///
/// After so many failures in a row within a window the circuit opens: calls are refused at once, in a typed error that the
/// model reads, for as long as it cools down. Then one call is let through, whose end closes it or opens it again. Of the
/// calls that are made at once, those beyond the bulkhead wait for a moment and are refused then.
///
/// Where a [`Fallback`](super::fallback::Fallback) asks other models, the breaker of one stands around that model
/// ([`Intercepted`](crate::Intercepted)) and not around the agent.
///
/// Clones are the same breaker: give one to all agents that use the server. It is of this process alone, and its time is
/// that of the calls' clock.
///
/// ```
/// use std::time::Duration;
///
/// use hanok_agent::{CircuitBreaker, ReactAgent};
/// use hanok_model::ScriptedModel;
///
/// let wiki = CircuitBreaker::of_tools("wiki", ["wiki_search", "wiki_page"]).failures(3).at_once(4);
/// let provider = CircuitBreaker::of_model("provider").cool_down(Duration::from_secs(10));
/// let agent = ReactAgent::builder("rules", "Knows the rules", ScriptedModel::new([]))
///     .intercept(provider)
///     .intercept(wiki)
///     .build()?;
/// # Ok::<(), hanok_agent::AgentBuildError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct CircuitBreaker {
    server: Arc<str>,
    tools: Option<BTreeSet<String>>,
    failures: u32,
    window: Duration,
    cool_down: Duration,
    patience: Duration,
    circuit: Arc<Circuit>,
    bulkhead: Option<Arc<Bulkhead>>,
    of_model: ModelErrorFilter,
    of_tool: ToolErrorFilter,
}

impl CircuitBreaker {
    /// Around the model. `server` names it, for errors and people.
    ///
    /// ```
    /// use hanok_agent::{CircuitBreaker, Fallback, Intercepted};
    /// use hanok_model::ScriptedModel;
    ///
    /// # let (large, local) = (ScriptedModel::new([]), ScriptedModel::new([]));
    /// // The breaker of one provider stands around its model alone.
    /// let guarded = Intercepted::new(large).intercept(CircuitBreaker::of_model("provider"));
    /// let model = Intercepted::new(guarded).intercept(Fallback::to(local));
    /// # drop(model);
    /// ```
    pub fn of_model(server: impl Into<Arc<str>>) -> Self {
        Self::new(server.into(), None)
    }

    /// Around these tools, which one server stands behind.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hanok_agent::CircuitBreaker;
    ///
    /// let wiki = CircuitBreaker::of_tools("wiki", ["wiki_search", "wiki_page"])
    ///     .failures(3)
    ///     .cool_down(Duration::from_secs(60))
    ///     .at_once(4);
    /// # drop(wiki);
    /// ```
    pub fn of_tools<S: Into<String>>(
        server: impl Into<Arc<str>>,
        tools: impl IntoIterator<Item = S>,
    ) -> Self {
        Self::new(server.into(), Some(tools.into_iter().map(Into::into).collect()))
    }

    fn new(server: Arc<str>, tools: Option<BTreeSet<String>>) -> Self {
        Self {
            server,
            tools,
            failures: 5,
            window: Duration::from_secs(60),
            cool_down: Duration::from_secs(30),
            patience: Duration::from_secs(5),
            circuit: Arc::default(),
            bulkhead: None,
            of_model: Arc::new(ModelError::is_transient),
            of_tool: Arc::new(is_tool_down),
        }
    }

    /// Sets the number of failures in a row that open the circuit, at least one. Default: 5.
    pub fn failures(self, failures: u32) -> Self {
        Self { failures: failures.max(1), ..self }
    }

    /// Sets the time within which those failures have to happen. Default: 60 s.
    pub fn window(self, window: Duration) -> Self {
        Self { window, ..self }
    }

    /// Sets the time that the circuit stays open. Default: 30 s.
    pub fn cool_down(self, cool_down: Duration) -> Self {
        Self { cool_down, ..self }
    }

    /// Limits the calls that are made at once, at least one. Default: no limit.
    pub fn at_once(self, calls: usize) -> Self {
        Self { bulkhead: Some(Arc::new(Bulkhead::new(calls.max(1)))), ..self }
    }

    /// Sets the time that a call beyond that limit waits for a permit. Default: 5 s.
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Selects the errors of a model that are failures of its server. Default: transient errors.
    ///
    /// ```
    /// use hanok_agent::CircuitBreaker;
    /// use hanok_model::ModelError;
    ///
    /// // A busy server is not a dead one.
    /// let breaker = CircuitBreaker::of_model("provider")
    ///     .model_errors(|error| error.is_transient() && !matches!(error, ModelError::RateLimited { .. }));
    /// # drop(breaker);
    /// ```
    pub fn model_errors(self, when: impl Fn(&ModelError) -> bool + Send + Sync + 'static) -> Self {
        Self { of_model: Arc::new(when), ..self }
    }

    /// Selects the errors of a tool that are failures of its server. Default: failures, time-outs and a lack of threads.
    ///
    /// ```
    /// use hanok_agent::CircuitBreaker;
    /// use hanok_model::ToolError;
    ///
    /// let breaker = CircuitBreaker::of_tools("wiki", ["wiki_search"])
    ///     .tool_errors(|error| matches!(error, ToolError::TimedOut { .. }));
    /// # drop(breaker);
    /// ```
    pub fn tool_errors(self, when: impl Fn(&ToolError) -> bool + Send + Sync + 'static) -> Self {
        Self { of_tool: Arc::new(when), ..self }
    }

    /// Makes one call of a tool whose server this breaker guards, for what calls the server by itself and not through an agent:
    /// the tools of one server share a breaker, and whoever runs them needs none.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// use hanok_agent::CircuitBreaker;
    /// use hanok_core::Call;
    /// use hanok_model::{ToolError, ToolOutput};
    ///
    /// let breaker = CircuitBreaker::of_tools("wiki", [""; 0]).failures(1);
    /// let call = Call::detached();
    /// let down = async { Err(ToolError::failed("connection refused")) };
    /// assert!(matches!(breaker.guard(&call, down).await, Err(ToolError::Failed(_))));
    /// // The circuit is open: this one is not made.
    /// let unmade = async { Ok(ToolOutput::new("never")) };
    /// assert!(matches!(breaker.guard(&call, unmade).await, Err(ToolError::Unavailable { .. })));
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// That of `made`; [`ToolError::Unavailable`] when the call is not made, [`ToolError::Cancelled`] when it is stopped before
    /// it is.
    pub async fn guard(
        &self,
        call: &Call,
        made: impl Future<Output = Result<ToolOutput, ToolError>>,
    ) -> Result<ToolOutput, ToolError> {
        let failed = |made: &Result<ToolOutput, ToolError>| match made {
            Ok(_) => Some(false),
            Err(
                ToolError::Cancelled
                | ToolError::OverBudget(_)
                | ToolError::Suspended(_)
                | ToolError::Waiting(_),
            ) => None,
            Err(error) => Some((self.of_tool)(error)),
        };
        match self.through(call, made, failed).await {
            Ok(made) => made,
            Err(Rejection::Stopped) => Err(ToolError::Cancelled),
            Err(Rejection::Unavailable(retry_after)) => {
                Err(ToolError::Unavailable { server: self.server.to_string(), retry_after })
            }
        }
    }

    /// Makes a call, if it may be made; `failed` says whether its end is a failure of the server, `None` that it says nothing.
    async fn through<T>(
        &self,
        call: &Call,
        made: impl Future<Output = T>,
        failed: impl FnOnce(&T) -> Option<bool>,
    ) -> Result<T, Rejection> {
        let _turn = match &self.bulkhead {
            Some(bulkhead) => Some(bulkhead.enter(call, self.patience).await?),
            None => None,
        };
        let clock = call.clock();
        let pass = self.circuit.enter(clock.now(), self.cool_down);
        let pass = pass.map_err(|open| Rejection::Unavailable(Some(open)))?;
        let made = made.await;
        match failed(&made) {
            Some(true) => pass.failed(clock.now(), self.failures, self.window),
            Some(false) => pass.succeeded(),
            None => {}
        }
        Ok(made)
    }
}

impl Interceptor for CircuitBreaker {
    async fn around_tool(
        &self,
        request: &ToolRequest<'_>,
        call: &Call,
        next: NextTool<'_>,
    ) -> Result<ToolOutput, ToolError> {
        if self.tools.as_ref().is_none_or(|tools| !tools.contains(&request.call.name)) {
            return next.run(call).await;
        }
        self.guard(call, next.run(call)).await
    }

    async fn around_model(
        &self,
        request: ChatRequest,
        call: &Call,
        next: NextModel<'_>,
    ) -> Result<ChatReply, ModelError> {
        if self.tools.is_some() {
            return next.run(request, call).await;
        }
        let failed = |made: &Result<ChatReply, ModelError>| match made {
            Ok(_) => Some(false),
            Err(error) if error.ends_the_run() => None,
            Err(error) => Some((self.of_model)(error)),
        };
        match self.through(call, next.run(request, call), failed).await {
            Ok(made) => made,
            Err(Rejection::Stopped) => Err(ModelError::Cancelled),
            Err(Rejection::Unavailable(retry_after)) => {
                Err(ModelError::Unavailable { server: self.server.to_string(), retry_after })
            }
        }
    }
}

impl fmt::Debug for CircuitBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CircuitBreaker")
            .field("server", &self.server)
            .field("tools", &self.tools)
            .field("failures", &self.failures)
            .field("window", &self.window)
            .field("cool_down", &self.cool_down)
            .field("circuit", &self.circuit)
            .finish_non_exhaustive()
    }
}
