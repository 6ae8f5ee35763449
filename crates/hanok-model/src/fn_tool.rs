//! Tools that are a function.

use std::{fmt, sync::Arc, time::Duration};

use hanok_core::{BoxFuture, Call, Chain, Effect, Printable};
use hanok_state::Arguments;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{BlockingPool, InvalidSpec, Tool, ToolError, ToolOutput, ToolSpec, limited::limited};

/// The characters of a decoder's error that are shown, of its beginning and of its end.
const SHOWN: usize = 200;

type Run =
    dyn Fn(&Arguments, &Call) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync;

/// A tool that is an `async` function of typed arguments and the call.
///
/// ```
/// use hanok_core::{Call, Effect};
/// use hanok_model::{FnTool, Tool, ToolError};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Divide {
///     /// What is divided.
///     dividend: f64,
///     /// By what.
///     divisor: f64,
/// }
///
/// let divide = FnTool::new("divide", "Divides two numbers", |args: Divide, _call: Call| async move {
///     if args.divisor == 0.0 {
///         return Err(ToolError::failed("nothing can be divided by zero"));
///     }
///     Ok((args.dividend / args.divisor).to_string().into())
/// })?
/// .effect(Effect::Pure);
/// assert_eq!(divide.spec().name(), "divide");
/// # Ok::<(), hanok_model::InvalidSpec>(())
/// ```
#[derive(Clone)]
pub struct FnTool {
    spec: ToolSpec,
    effect: Effect,
    timeout: Duration,
    run: Arc<Run>,
}

impl FnTool {
    /// A tool whose arguments are an `A`, decoded before `run` sees them.
    ///
    /// # Errors
    ///
    /// [`InvalidSpec`] when `name` is no name of a tool, or an `A` is no object.
    pub fn new<A, F, Fut>(
        name: impl Into<String>,
        description: impl Into<String>,
        run: F,
    ) -> Result<Self, InvalidSpec>
    where
        A: JsonSchema + DeserializeOwned,
        F: Fn(A, Call) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        let spec = ToolSpec::of::<A>(name, description)?;
        Ok(Self::decoding(spec, move |arguments, call| match arguments.decode() {
            Ok(arguments) => Box::pin(run(arguments, call.clone())),
            Err(error) => Box::pin(std::future::ready(Err(unfit(&error)))),
        }))
    }

    /// A tool whose arguments are known by a schema alone; `run` gets them as the model wrote them.
    ///
    /// ```
    /// use hanok_model::{FnTool, ToolSpec};
    /// use serde_json::json;
    ///
    /// // The schema comes from a file or from another server.
    /// let spec = ToolSpec::new("echo", "Says it again", json!({"properties": {"text": {"type": "string"}}}))?;
    /// let echo = FnTool::untyped(spec, |arguments, _call| async move { Ok(arguments.as_str().into()) });
    /// # drop(echo);
    /// # Ok::<(), hanok_model::InvalidSpec>(())
    /// ```
    pub fn untyped<F, Fut>(spec: ToolSpec, run: F) -> Self
    where
        F: Fn(Arguments, Call) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        Self::decoding(spec, move |arguments, call| Box::pin(run(arguments.clone(), call.clone())))
    }

    /// A tool that blocks: its calls run on threads of its own, eight at once.
    ///
    /// A call that takes too long is abandoned, and its thread counted until it comes back: see [`BlockingPool`]. A tool
    /// that looks at [`Call::stop`] and [`Call::time_left`] now and then ends in time.
    ///
    /// ```
    /// use hanok_core::Call;
    /// use hanok_model::{FnTool, ToolError};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Nothing {}
    ///
    /// let load = FnTool::blocking("load", "How busy the machine is", |_: Nothing, _call: Call| {
    ///     Ok(std::fs::read_to_string("/proc/loadavg").map_err(ToolError::failed)?.into())
    /// })?;
    /// # drop(load);
    /// # Ok::<(), hanok_model::InvalidSpec>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`FnTool::new`].
    pub fn blocking<A, F>(
        name: impl Into<String>,
        description: impl Into<String>,
        run: F,
    ) -> Result<Self, InvalidSpec>
    where
        A: JsonSchema + DeserializeOwned + Send + 'static,
        F: Fn(A, Call) -> Result<ToolOutput, ToolError> + Send + Sync + 'static,
    {
        Self::blocking_in(&BlockingPool::default(), name, description, run)
    }

    /// A tool that blocks, on the threads of `pool`, which it shares with others.
    ///
    /// # Errors
    ///
    /// As [`FnTool::new`].
    pub fn blocking_in<A, F>(
        pool: &BlockingPool,
        name: impl Into<String>,
        description: impl Into<String>,
        run: F,
    ) -> Result<Self, InvalidSpec>
    where
        A: JsonSchema + DeserializeOwned + Send + 'static,
        F: Fn(A, Call) -> Result<ToolOutput, ToolError> + Send + Sync + 'static,
    {
        let (pool, run) = (pool.clone(), Arc::new(run));
        Self::new(name, description, move |arguments: A, call| {
            let (pool, run) = (pool.clone(), run.clone());
            async move { pool.run(move || run(arguments, call)).await }
        })
    }

    /// Sets the effect of a call on the world. Default: [`Effect::AtMostOnce`], the careful one.
    #[must_use]
    pub fn effect(self, effect: Effect) -> Self {
        Self { effect, ..self }
    }

    /// The time limit of a call, whoever makes it. Default: 30 s.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    fn decoding(
        spec: ToolSpec,
        run: impl Fn(&Arguments, &Call) -> BoxFuture<'static, Result<ToolOutput, ToolError>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            spec,
            effect: Effect::AtMostOnce,
            timeout: Duration::from_secs(30),
            run: Arc::new(run),
        }
    }
}

/// The error for arguments that are no value of the tool's type. A decoder repeats what it read, which is a model's: of a long one the
/// middle is left out, for the end says what there could be.
fn unfit(error: &(dyn std::error::Error + 'static)) -> ToolError {
    let text = Printable(&Chain(error).to_string()).to_string();
    let long = text.chars().count();
    if long <= 2 * SHOWN {
        return ToolError::arguments(text);
    }
    let (first, last) = (text.chars().take(SHOWN), text.chars().skip(long - SHOWN));
    ToolError::arguments(format!("{}…{}", first.collect::<String>(), last.collect::<String>()))
}

impl Tool for FnTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    async fn run(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        limited(self.timeout, call, |call| (self.run)(arguments, &call)).await
    }
}

impl fmt::Debug for FnTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnTool")
            .field("spec", &self.spec)
            .field("effect", &self.effect)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
