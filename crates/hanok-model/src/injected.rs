//! Tools of which a model sees a part.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use hanok_core::{Call, Effect, Need};
use hanok_state::{Arguments, Json};
use serde_json::{Map, Value};

use crate::{InvalidSpec, SharedTool, Tool, ToolError, ToolOutput, ToolSpec};

type Inject = Arc<dyn Fn(&Call) -> Result<Value, ToolError> + Send + Sync>;

/// A tool some of whose arguments the service gives: the user, the tenant, a connection's name. A model neither sees them
/// nor may set them; a call that does is refused. Nor do they stand in the conversation or in a log.
///
/// ```
/// use hanok_core::Call;
/// use hanok_model::{FnTool, InjectedTool, Tool};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Orders {
///     user_id: String,
///     /// How many of the newest.
///     top: u32,
/// }
///
/// let orders = FnTool::new("orders", "The user's orders", |orders: Orders, _call: Call| async move {
///     Ok(format!("{} of {}", orders.top, orders.user_id).into())
/// })?;
/// let orders = InjectedTool::new(orders).value("user_id", "u-17")?;
/// assert_eq!(orders.spec().parameters().len(), 1);
/// assert!(!orders.spec().schema().to_string().contains("user_id"));
/// # Ok::<(), hanok_model::InvalidSpec>(())
/// ```
#[derive(Clone)]
pub struct InjectedTool {
    tool: SharedTool,
    spec: ToolSpec,
    injected: BTreeMap<String, Inject>,
    needs: Vec<Need>,
}

impl InjectedTool {
    /// `tool`, of which nothing is hidden yet.
    pub fn new(tool: impl Tool) -> Self {
        let tool = SharedTool::new(tool);
        let (spec, needs) = (tool.spec().clone(), tool.needs());
        Self { spec, tool, injected: BTreeMap::new(), needs }
    }

    /// Gives the argument `name` this value in every call.
    ///
    /// # Errors
    ///
    /// [`InvalidSpec::NoSuchArgument`] when the tool takes no such argument.
    pub fn value(self, name: &str, value: impl Into<Json>) -> Result<Self, InvalidSpec> {
        let Json(value) = value.into();
        self.with(name, move |_| Ok(value.clone()))
    }

    /// Gives the argument `name` the value that `inject` computes for each call. An error of it is the call's.
    ///
    /// ```
    /// use hanok_core::Call;
    /// use hanok_model::{FnTool, InjectedTool, Tool, ToolError, ToolSpec};
    /// use serde_json::json;
    ///
    /// let schema = json!({"properties": {"tenant": {"type": "string"}}});
    /// let spec = ToolSpec::new("orders", "The orders", schema)?;
    /// let orders = FnTool::untyped(spec, |_, _| async { Ok("none".into()) });
    /// let orders = InjectedTool::new(orders).with("tenant", |call: &Call| match call.tenant() {
    ///     Some(tenant) => Ok(tenant.as_str().into()),
    ///     None => Err(ToolError::failed("nobody is signed in")),
    /// })?;
    /// assert_eq!(orders.spec().parameters().len(), 0);
    /// # Ok::<(), hanok_model::InvalidSpec>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`InvalidSpec::NoSuchArgument`] when the tool takes no such argument.
    pub fn with(
        mut self,
        name: &str,
        inject: impl Fn(&Call) -> Result<Value, ToolError> + Send + Sync + 'static,
    ) -> Result<Self, InvalidSpec> {
        self.spec = self.spec.without(name)?;
        self.injected.insert(name.to_owned(), Arc::new(inject));
        Ok(self)
    }

    /// Gives the argument `name` the value that `inject` makes of a part of the run: of the services, say, or the state. The tool
    /// [needs](Tool::needs) that part then. A closure of [`with`](InjectedTool::with) looks for a part that may be missing, by
    /// [`Call::provided`].
    ///
    /// ```
    /// use hanok_core::{Call, Need};
    /// use hanok_model::{FnTool, InjectedTool, Tool, ToolSpec};
    /// use serde_json::{Value, json};
    ///
    /// /// The services of the run.
    /// struct App {
    ///     region: String,
    /// }
    ///
    /// /// The user, where one is signed in.
    /// struct User {
    ///     id: u64,
    /// }
    ///
    /// let schema = json!({"properties": {"region": {"type": "string"}, "user": {"type": ["integer", "null"]}}});
    /// let spec = ToolSpec::new("orders", "The orders", schema)?;
    /// let orders = FnTool::untyped(spec, |_, _| async { Ok("none".into()) });
    /// let orders = InjectedTool::new(orders)
    ///     .with_part("region", |app: &App| app.region.clone())?
    ///     .with("user", |call: &Call| Ok(call.provided::<User>().map_or(Value::Null, |user| user.id.into())))?;
    /// assert_eq!(orders.needs(), [Need::of::<App>()]);
    /// # Ok::<(), hanok_model::InvalidSpec>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`InvalidSpec::NoSuchArgument`] when the tool takes no such argument.
    pub fn with_part<T, V>(
        self,
        name: &str,
        inject: impl Fn(&T) -> V + Send + Sync + 'static,
    ) -> Result<Self, InvalidSpec>
    where
        T: Send + Sync + 'static,
        V: Into<Json>,
    {
        let need = Need::of::<T>();
        let mut tool = self.with(name, move |call| match call.provided::<T>() {
            Some(part) => Ok(inject(&part).into().0),
            None => Err(ToolError::NotProvided { need }),
        })?;
        if !tool.needs.contains(&need) {
            tool.needs.push(need);
        }
        Ok(tool)
    }

    /// All arguments of the tool: the model's, and those that are injected.
    fn whole(&self, arguments: &Arguments, call: &Call) -> Result<Arguments, ToolError> {
        let mut whole: Map<String, Value> = arguments.decode().map_err(ToolError::arguments)?;
        if let Some(name) = self.injected.keys().find(|name| whole.contains_key(*name)) {
            return Err(ToolError::arguments(format!("there is no argument `{name}`")));
        }
        for (name, inject) in &self.injected {
            whole.insert(name.clone(), inject(call)?);
        }
        Arguments::from_value(&whole).map_err(ToolError::failed)
    }
}

impl Tool for InjectedTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        self.tool.effect()
    }

    fn timeout(&self) -> Duration {
        self.tool.timeout()
    }

    fn needs(&self) -> Vec<Need> {
        self.needs.clone()
    }

    async fn run(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        self.tool.run(&self.whole(arguments, call)?, call).await
    }
}

impl fmt::Debug for InjectedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InjectedTool")
            .field("tool", &self.tool)
            .field("injected", &self.injected.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
