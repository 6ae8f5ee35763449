//! Failed calls that are made again.

use std::{fmt, sync::Arc, time::Duration};

use hanok_core::{Call, Effect, Timestamp};
use hanok_model::{ChatReply, ChatRequest, ModelError, ToolError, ToolOutput};

use super::{
    Interceptor, ToolRequest,
    attempt::{Attempt, ModelErrorFilter, is_tool_down, pause},
    chain::{NextModel, NextTool},
};

type ToolErrorFilter = Arc<dyn Fn(&str, &ToolError) -> bool + Send + Sync>;

/// Makes failed calls of the model and of tools again: `Retrying::attempts(3)`.
///
/// The wait before attempt *n* + 1 is `first` × 2^(*n* − 1), at most `cap`, and of it a part between a half and the whole
/// that differs from call to call. A server's own wait (`Retry-After`) replaces it; one that is longer than `cap` ends the
/// attempts. No attempt begins behind the time limit of the call, and each is a call of the budget.
///
/// By default, calls of a model are made again when the error is [transient](ModelError::is_transient), and calls of a tool
/// when it failed, took too long or found no thread. A tool that is [`AtMostOnce`](Effect::AtMostOnce) is never called
/// again. Watchers of a reply that broke off take back its pieces ([`Token::Retracted`](hanok_core::Token::Retracted)). The
/// models of `hanok-openai` try again by themselves.
///
/// ```
/// use std::time::Duration;
///
/// use hanok_agent::{ReactAgent, Retrying};
/// use hanok_model::ScriptedModel;
///
/// let retrying = Retrying::attempts(3).first(Duration::from_millis(200)).within(Duration::from_secs(60));
/// let agent = ReactAgent::builder("rules", "Knows the rules", ScriptedModel::new([]))
///     .intercept(retrying)
///     .build()?;
/// # Ok::<(), hanok_agent::AgentBuildError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Retrying {
    attempts: u32,
    first: Duration,
    cap: Duration,
    within: Option<Duration>,
    of_model: ModelErrorFilter,
    of_tool: ToolErrorFilter,
}

impl Retrying {
    /// Makes a call at most `attempts` times, the first one included.
    pub fn attempts(attempts: u32) -> Self {
        Self {
            attempts,
            first: Duration::from_millis(500),
            cap: Duration::from_secs(30),
            within: None,
            of_model: Arc::new(ModelError::is_transient),
            of_tool: Arc::new(|_, error| is_tool_down(error)),
        }
    }

    /// Sets the wait before the second attempt. Default: 500 ms.
    pub fn first(self, first: Duration) -> Self {
        Self { first, ..self }
    }

    /// Limits every wait. Default: 30 s.
    pub fn cap(self, cap: Duration) -> Self {
        Self { cap, ..self }
    }

    /// Limits the time from the first attempt to the start of the last one. Default: the time limit of the call.
    pub fn within(self, within: Duration) -> Self {
        Self { within: Some(within), ..self }
    }

    /// Selects the errors of a model that are tried again. Default: transient errors.
    ///
    /// ```
    /// use hanok_agent::Retrying;
    /// use hanok_model::ModelError;
    ///
    /// let retrying = Retrying::attempts(3)
    ///     .model_errors(|error| matches!(error, ModelError::RateLimited { .. }));
    /// # drop(retrying);
    /// ```
    pub fn model_errors(self, when: impl Fn(&ModelError) -> bool + Send + Sync + 'static) -> Self {
        Self { of_model: Arc::new(when), ..self }
    }

    /// Selects the errors of tools, by the tool's name, that are tried again. Default: failures, time-outs and a lack of
    /// threads.
    ///
    /// ```
    /// use hanok_agent::Retrying;
    /// use hanok_model::ToolError;
    ///
    /// let retrying = Retrying::attempts(2)
    ///     .tool_errors(|tool, error| tool == "wiki" && matches!(error, ToolError::TimedOut { .. }));
    /// # drop(retrying);
    /// ```
    pub fn tool_errors(
        self,
        when: impl Fn(&str, &ToolError) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { of_tool: Arc::new(when), ..self }
    }

    /// The wait after `failed` attempts, `None` without another attempt.
    fn wait(
        &self,
        failed: u32,
        requested: Option<Duration>,
        call: &Call,
        started: Timestamp,
    ) -> Option<Duration> {
        if failed >= self.attempts {
            return None;
        }
        let wait = requested.unwrap_or_else(|| self.backed_off(failed, call));
        let elapsed = call.clock().now().since(started);
        let is_late = |limit: Option<Duration>, elapsed: Duration| {
            limit.is_some_and(|limit| elapsed.saturating_add(wait) >= limit)
        };
        let late = is_late(self.within, elapsed) || is_late(call.time_left(), Duration::ZERO);
        (wait <= self.cap && !late).then_some(wait)
    }

    fn backed_off(&self, failed: u32, call: &Call) -> Duration {
        let doubled = 2_u32.saturating_pow(failed.saturating_sub(1));
        let ceiling = self.first.saturating_mul(doubled).min(self.cap);
        // Those who failed together are different calls, and do not come back together.
        let hash = call
            .key()
            .as_str()
            .bytes()
            .fold(failed, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        ceiling.mul_f64(0.5 + f64::from(hash) / f64::from(u32::MAX) / 2.0)
    }
}

/// The wait that a server asks for.
fn retry_after(error: &ModelError) -> Option<Duration> {
    match error {
        ModelError::RateLimited { retry_after, .. } | ModelError::Server { retry_after, .. } => {
            *retry_after
        }
        _ => None,
    }
}

impl Interceptor for Retrying {
    async fn around_model(
        &self,
        request: ChatRequest,
        call: &Call,
        next: NextModel<'_>,
    ) -> Result<ChatReply, ModelError> {
        let (started, mut failed) = (call.clock().now(), 0);
        loop {
            let attempt = Attempt::at(call);
            let error = match next.run(request.clone(), &attempt.call).await {
                Err(error) if (self.of_model)(&error) => error,
                reply => return reply,
            };
            failed += 1;
            let Some(wait) = self.wait(failed, retry_after(&error), call, started) else {
                return Err(error);
            };
            attempt.give_up();
            if !pause(call, wait).await {
                return Err(ModelError::Cancelled);
            }
        }
    }

    async fn around_tool(
        &self,
        request: &ToolRequest<'_>,
        call: &Call,
        next: NextTool<'_>,
    ) -> Result<ToolOutput, ToolError> {
        let (started, mut failed) = (call.clock().now(), 0);
        loop {
            let error = match next.run(&Attempt::at(call).call).await {
                Err(error)
                    if request.effect != Effect::AtMostOnce
                        && (self.of_tool)(&request.call.name, &error) =>
                {
                    error
                }
                made => return made,
            };
            failed += 1;
            let Some(wait) = self.wait(failed, None, call, started) else {
                return Err(error);
            };
            if !pause(call, wait).await {
                return Err(ToolError::Cancelled);
            }
        }
    }
}

impl fmt::Debug for Retrying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retrying")
            .field("attempts", &self.attempts)
            .field("first", &self.first)
            .field("cap", &self.cap)
            .field("within", &self.within)
            .finish_non_exhaustive()
    }
}
