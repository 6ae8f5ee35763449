//! Tools: what a model may call.

use std::{fmt, sync::Arc, time::Duration};

use hanok_core::{AskError, BoxError, BoxFuture, Call, Chain, Effect, Limit, Need};
use hanok_state::{Arguments, Json, StateUpdate, StateWrite};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{ToolSpec, limited::limited};

/// The result of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolOutput {
    /// The text for the model.
    pub text: String,
    /// The same for programs, where there is more to say. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// The pictures that the model sees beside the text. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// The write to the state of the graph that called. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<StateWrite>,
    /// Where the graph that called goes on. Default: as it would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<ToolTarget>,
}

/// Where a run goes on after a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolTarget {
    /// At a node of the graph that called.
    Node(String),
    /// At a node of the graph that called that one.
    Parent(String),
    /// Nowhere: the graph that called ends.
    End,
}

impl ToolOutput {
    /// An output that reads `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The same for programs. Default: nothing.
    ///
    /// ```
    /// use hanok_model::ToolOutput;
    /// use serde_json::json;
    ///
    /// // The model reads the sentence; a program reads the number.
    /// let output = ToolOutput::new("연차는 15일입니다.").data(json!({"days": 15}));
    /// assert_eq!(output.data.map(|data| data.0["days"].clone()), Some(json!(15)));
    /// ```
    #[must_use]
    pub fn data(self, data: impl Into<Json>) -> Self {
        Self { data: Some(data.into()), ..self }
    }

    /// Adds a picture: its URL, or its bytes as a `data:` URL. Default: none.
    #[must_use]
    pub fn image(mut self, url: impl Into<String>) -> Self {
        self.images.push(url.into());
        self
    }

    /// Writes `update` into the state of the graph that called, with its super-step and once. It may add messages, but no result
    /// of a call: that is the text. Default: nothing.
    ///
    /// An agent takes updates of its own state; the calls of one reply are joined in their order. What two of them set, the
    /// first has set: the model reads that the later one's was not applied.
    ///
    /// ```
    /// use hanok_model::ToolOutput;
    /// use hanok_state::State;
    ///
    /// #[derive(State, Clone, Debug, Default)]
    /// struct Desk {
    ///     customer: String,
    /// }
    ///
    /// let output = ToolOutput::new("It is Kim's order.").update(&Desk::update().customer("Kim"))?;
    /// assert!(output.update.is_some());
    /// # Ok::<(), hanok_model::ToolError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ToolError::Failed`] when a value cannot be stored.
    pub fn update<U: StateUpdate>(self, update: &U) -> Result<Self, ToolError> {
        let update = StateWrite::of(update).map_err(ToolError::failed)?;
        Ok(Self { update: Some(update), ..self })
    }

    /// Lets the graph that called go on at its node `node`, which it has declared. Default: as it would.
    #[must_use]
    pub fn goto(self, node: impl Into<String>) -> Self {
        Self { target: Some(ToolTarget::Node(node.into())), ..self }
    }

    /// Ends the graph that called, and lets the graph that called that one go on at `node`.
    #[must_use]
    pub fn goto_parent(self, node: impl Into<String>) -> Self {
        Self { target: Some(ToolTarget::Parent(node.into())), ..self }
    }

    /// Ends the graph that called: an agent's answer is the text then.
    #[must_use]
    pub fn end(self) -> Self {
        Self { target: Some(ToolTarget::End), ..self }
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

/// The error of a tool.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The arguments are not what the tool takes. A model can correct them.
    #[error("the arguments do not fit the tool")]
    Arguments(#[source] BoxError),
    /// The tool failed, in its own words.
    #[error("{0}")]
    Failed(#[source] BoxError),
    /// The tool does not do this.
    #[error("refused: {reason}")]
    Refused {
        /// The reason.
        reason: String,
    },
    /// The tool took too long.
    #[error("the tool did not answer within {after:?}")]
    TimedOut {
        /// The time that was waited.
        after: Duration,
    },
    /// The tool panicked. What it said is not for a model.
    #[error("the tool broke down")]
    Panicked,
    /// The tool's server is not asked now, because it failed again and again or is asked by too many.
    #[error("the server `{server}` is not asked now")]
    Unavailable {
        /// The server, as whoever guards it calls it.
        server: String,
        /// The wait before it is asked again, if that is known.
        retry_after: Option<Duration>,
    },
    /// Too many calls blocked a thread and never ended; none is made until one of them does.
    #[error("{leaked} calls never ended, and no other is made until one of them does")]
    PoolExhausted {
        /// The threads that were given up.
        leaked: usize,
    },
    /// The call was made and its answer is lost: nobody knows whether it took effect. A run in which a tool that is
    /// [`AtMostOnce`](Effect::AtMostOnce) says so leaves that doubt to a person.
    #[error("nobody knows whether the call took effect")]
    InDoubt(#[source] BoxError),
    /// The call was asked to stop.
    #[error("the call was stopped")]
    Cancelled,
    /// The turn may make no more calls: this one was not made. Hand it on: the run ends with that limit.
    #[error("the turn has reached its limit of {0}")]
    OverBudget(Limit),
    /// The call does not carry a part of the run that the tool needs: a mistake of the program, which fails the run.
    #[error("the tool needs {need}, and its call does not carry it")]
    NotProvided {
        /// The part.
        need: Need,
    },
    /// The run stops within the call, and enters the call again when it goes on: a graph that the tool runs asks a person or was
    /// stopped. Hand it on.
    #[error("the call stops with its run")]
    Suspended(#[source] BoxError),
    /// The tool asked a person and has no answer now. Hand it on: the run stops for the answer.
    #[error("the tool waits for a person")]
    Waiting(#[from] AskError),
}

impl ToolError {
    /// The tool failed: an error, or a text in the model's own language.
    ///
    /// ```
    /// use hanok_model::ToolError;
    ///
    /// let read = std::fs::read_to_string("/no/such/file").map_err(ToolError::failed);
    /// assert!(matches!(read, Err(ToolError::Failed(_))));
    /// assert_eq!(ToolError::failed("그런 도시는 없습니다").to_string(), "그런 도시는 없습니다");
    /// ```
    pub fn failed(cause: impl Into<BoxError>) -> Self {
        Self::Failed(cause.into())
    }

    /// The arguments do not fit: an error, or a text that says what to write instead.
    pub fn arguments(cause: impl Into<BoxError>) -> Self {
        Self::Arguments(cause.into())
    }

    /// The tool does not do this, because of `reason`.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Refused { reason: reason.into() }
    }

    /// The error with its causes in one line, as a model reads it.
    pub fn report(&self) -> String {
        Chain(self).to_string()
    }
}

/// A [`ToolError`] in the box is itself, and an [`AskError`] is [`ToolError::Waiting`]; any other error is
/// [`ToolError::Failed`].
///
/// ```
/// use hanok_core::BoxError;
/// use hanok_model::ToolError;
///
/// let boxed: BoxError = ToolError::refused("it is closed").into();
/// assert!(matches!(ToolError::from(boxed), ToolError::Refused { .. }));
/// assert!(matches!(ToolError::from(BoxError::from("no paper")), ToolError::Failed(_)));
/// ```
impl From<BoxError> for ToolError {
    fn from(error: BoxError) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => *error,
            Err(error) => match error.downcast::<AskError>() {
                Ok(error) => Self::Waiting(*error),
                Err(error) => Self::Failed(error),
            },
        }
    }
}

/// Something a model may call.
///
/// ```
/// use std::time::Duration;
///
/// use hanok_core::{Call, Effect};
/// use hanok_model::{InvalidSpec, SharedTool, Tool, ToolError, ToolOutput, ToolSpec};
/// use hanok_state::Arguments;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Order {
///     /// The number of the order.
///     number: u32,
/// }
///
/// /// Looks orders up in a list.
/// #[derive(Debug)]
/// struct Orders {
///     spec: ToolSpec,
///     shipped: Vec<u32>,
/// }
///
/// impl Orders {
///     fn new(shipped: Vec<u32>) -> Result<Self, InvalidSpec> {
///         Ok(Self { spec: ToolSpec::of::<Order>("order", "The state of an order")?, shipped })
///     }
/// }
///
/// impl Tool for Orders {
///     fn spec(&self) -> &ToolSpec {
///         &self.spec
///     }
///
///     fn effect(&self) -> Effect {
///         Effect::Pure
///     }
///
///     fn timeout(&self) -> Duration {
///         Duration::from_secs(1)
///     }
///
///     async fn run(&self, arguments: &Arguments, _: &Call) -> Result<ToolOutput, ToolError> {
///         let Order { number } = arguments.decode().map_err(ToolError::arguments)?;
///         match self.shipped.contains(&number) {
///             true => Ok("shipped".into()),
///             false => Err(ToolError::failed(format!("there is no order {number}"))),
///         }
///     }
/// }
///
/// let orders = SharedTool::new(Orders::new(vec![17])?);
/// assert_eq!(orders.spec().parameters()[0].name, "number");
/// # Ok::<(), InvalidSpec>(())
/// ```
///
/// # Contract
///
/// - What it reads is a model's: it is data, and never trusted.
/// - [`Tool::effect`] is the truth about the world: a resumed run repeats what is [`Effect::Pure`] or
///   [`Effect::Idempotent`] (with the same [`Call::key`]), and never what is [`Effect::AtMostOnce`].
/// - Dropping the future of [`Tool::run`] stops the tool. A [`SharedTool`] does so when [`Tool::timeout`] has passed, when the
///   call is asked to stop, and when the tool panics; so does a [`FnTool`](crate::FnTool) by itself. Whoever makes calls
///   counts them.
/// - It never blocks the thread for long: blocking work goes to a [`BlockingPool`](crate::BlockingPool).
pub trait Tool: fmt::Debug + Send + Sync + 'static {
    /// The tool as a model sees it.
    fn spec(&self) -> &ToolSpec;

    /// The effect of a call on the world.
    fn effect(&self) -> Effect;

    /// The time limit of a call. Default: 30 s.
    fn timeout(&self) -> Duration {
        Duration::from_secs(30)
    }

    /// The parts of the run that it takes out of its [`Call`]: the services, the state, the store. An agent that lacks one is not
    /// built. Default: none.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// Makes one call.
    ///
    /// # Errors
    ///
    /// [`ToolError`], which the model reads as an observation; [`ToolError::Waiting`] suspends the run instead.
    fn run(
        &self,
        arguments: &Arguments,
        call: &Call,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// Any [`Tool`], chosen at run time. Clones share the tool.
///
/// Its calls never take longer than [`Tool::timeout`], whoever makes them, and a panic of the tool is
/// [`ToolError::Panicked`].
#[derive(Debug, Clone)]
pub struct SharedTool(Arc<dyn Erased>);

impl SharedTool {
    /// Shares `tool`.
    pub fn new(tool: impl Tool) -> Self {
        Self(Arc::new(tool))
    }
}

impl Tool for SharedTool {
    fn spec(&self) -> &ToolSpec {
        self.0.spec_erased()
    }

    fn effect(&self) -> Effect {
        self.0.effect_erased()
    }

    fn timeout(&self) -> Duration {
        self.0.timeout_erased()
    }

    fn needs(&self) -> Vec<Need> {
        self.0.needs_erased()
    }

    async fn run(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        let run = async |call: Call| self.0.run_boxed(arguments, &call).await;
        limited(self.timeout(), call, run).await
    }
}

trait Erased: fmt::Debug + Send + Sync {
    fn spec_erased(&self) -> &ToolSpec;

    fn effect_erased(&self) -> Effect;

    fn timeout_erased(&self) -> Duration;

    fn needs_erased(&self) -> Vec<Need>;

    fn run_boxed<'a>(
        &'a self,
        arguments: &'a Arguments,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;
}

impl<T: Tool> Erased for T {
    fn spec_erased(&self) -> &ToolSpec {
        self.spec()
    }

    fn effect_erased(&self) -> Effect {
        self.effect()
    }

    fn timeout_erased(&self) -> Duration {
        self.timeout()
    }

    fn needs_erased(&self) -> Vec<Need> {
        self.needs()
    }

    fn run_boxed<'a>(
        &'a self,
        arguments: &'a Arguments,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.run(arguments, call))
    }
}
