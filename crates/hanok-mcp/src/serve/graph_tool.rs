//! A graph with a way in and a way out.

use std::{fmt, sync::Arc};

use hanok_agent::{HasAgent, ReactAgent};
use hanok_core::BoxError;
use hanok_graph::{AnyApp, AnyState, AnyUpdate, App, State};
use hanok_model::{InvalidSpec, ToolOutput, ToolSpec};
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A graph as the tool of a [server](super::McpServer): its arguments become the update that begins a thread, and the state at the
/// end becomes the result.
///
/// ```
/// use hanok_checkpoint::InMemoryCheckpointer;
/// use hanok_core::BoxError;
/// use hanok_graph::{Context, END, Graph, START, Snapshot};
/// use hanok_mcp::GraphTool;
/// use hanok_model::{ToolOutput, ToolSpec};
/// use hanok_state::State;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Leave {
///     years: u32,
///     days: u32,
/// }
///
/// #[derive(Deserialize)]
/// struct Question {
///     years: u32,
/// }
///
/// async fn count(leave: Snapshot<Leave>, _: Context) -> Result<LeaveUpdate, BoxError> {
///     Ok(Leave::update().days(15 + leave.years / 2))
/// }
///
/// let graph = Graph::<Leave>::builder("leave").node("count", count).edge(START, "count").edge("count", END).build()?;
/// let schema = json!({"type": "object", "properties": {"years": {"type": "integer", "minimum": 0}}, "required": ["years"]});
/// let tool = GraphTool::new(
///     ToolSpec::new("leave", "The days of leave after so many years", schema)?,
///     graph.checkpointer(InMemoryCheckpointer::new()),
///     (),
///     |question: Question| Ok(Leave::update().years(question.years)),
///     |leave| Ok(ToolOutput::new(format!("{} days", leave.days)).data(json!({"days": leave.days}))),
/// );
/// # drop(tool);
/// # Ok::<(), BoxError>(())
/// ```
#[derive(Clone)]
pub struct GraphTool {
    spec: ToolSpec,
    output: Option<Arc<JsonObject>>,
    app: Arc<dyn AnyApp>,
    input: Arc<ToInput>,
    answer: Arc<ToOutput>,
}

type ToInput = dyn Fn(JsonObject) -> Result<AnyUpdate, BoxError> + Send + Sync;
type ToOutput = dyn Fn(&AnyState) -> Result<ToolOutput, BoxError> + Send + Sync;

impl GraphTool {
    /// The graph of `app` as the tool `spec`, run with clones of `services`. `input` makes the first update of the arguments, which
    /// fit the schema of `spec`; `answer` makes the result of the state at the end. Its pictures, its write to a state and its target
    /// are none of a client's.
    pub fn new<S: State, C: Clone + Send + Sync + 'static, I: DeserializeOwned + 'static>(
        spec: ToolSpec,
        app: App<S, C>,
        services: C,
        input: impl Fn(I) -> Result<S::Update, BoxError> + Send + Sync + 'static,
        answer: impl Fn(&S) -> Result<ToolOutput, BoxError> + Send + Sync + 'static,
    ) -> Self {
        let input = move |arguments: JsonObject| {
            Ok(AnyUpdate::new(input(serde_json::from_value(arguments.into())?)?))
        };
        Self {
            spec,
            output: None,
            app: Arc::new(app.any(move |_| Ok(services.clone()))),
            input: Arc::new(input),
            answer: Arc::new(move |state| answer(&state.get()?)),
        }
    }

    /// The graph of `app` as the tool `spec`, in JSON: the arguments are the update that begins a thread, and the result is the state
    /// at the end, as text and as data. The app makes the services for the server's tenant and
    /// [caller](super::McpServerBuilder::caller).
    ///
    /// Arguments that are no input of the graph are refused as invalid parameters, with all faults by their JSON pointers; a caller who
    /// is given no services, as an invalid request.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::BoxError, hanok_graph::{Context, END, Graph, START, Snapshot}};
    /// # use {hanok_mcp::GraphTool, hanok_model::ToolSpec, hanok_state::State, serde_json::json, std::sync::Arc};
    /// # #[derive(State, Clone, Debug, Default)] struct Leave { years: u32, days: u32 }
    /// # async fn count(leave: Snapshot<Leave>, _: Context) -> Result<LeaveUpdate, BoxError> { Ok(Leave::update().days(15 + leave.years / 2)) }
    /// # let graph = Graph::<Leave>::builder("leave").node("count", count).edge(START, "count").edge("count", END).build()?;
    /// let app = graph.checkpointer(InMemoryCheckpointer::new()).any(|_caller| Ok(()));
    /// let schema = json!({"type": "object", "properties": {"years": {"type": "integer"}}, "required": ["years"]});
    /// let spec = ToolSpec::new("leave", "The days of leave after so many years", schema)?;
    /// // The result of a call with `{"years": 4}` is `{"years": 4, "days": 17}`.
    /// let tool = GraphTool::any(spec, Arc::new(app));
    /// # drop(tool);
    /// # Ok::<(), BoxError>(())
    /// ```
    pub fn any(spec: ToolSpec, app: Arc<dyn AnyApp>) -> Self {
        let answer = |state: &AnyState| {
            let state = state.to_json()?;
            Ok(ToolOutput::new(state.to_string()).data(state))
        };
        Self {
            spec,
            output: None,
            app,
            input: Arc::new(|arguments| Ok(AnyUpdate::from_json(arguments.into()))),
            answer: Arc::new(answer),
        }
    }

    /// The agent whose graph `app` runs as a tool of its name and description, which takes a `question` and gives its final answer.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_checkpoint::InMemoryCheckpointer;
    /// use hanok_mcp::GraphTool;
    /// use hanok_model::{Exchange, ScriptedModel};
    ///
    /// let model = ScriptedModel::new([Exchange::says("Final Answer: 15 days")]);
    /// let agent = ReactAgent::builder("rules", "Knows the rules of leave", model).build()?;
    /// let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
    /// let tool = GraphTool::agent(&agent, app, ())?;
    /// # drop(tool);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`InvalidSpec`] when the agent's name is no name of a tool.
    pub fn agent<S: HasAgent, C: Clone + Send + Sync + 'static>(
        agent: &ReactAgent<S, C>,
        app: App<S, C>,
        services: C,
    ) -> Result<Self, InvalidSpec> {
        #[derive(serde::Deserialize)]
        struct Question {
            question: String,
        }
        let schema = json!({
            "type": "object", "properties": {"question": {"type": "string", "description": "What to do or to answer"}},
            "required": ["question"],
        });
        let spec = ToolSpec::new(agent.name(), agent.description(), schema)?;
        let agent = agent.clone();
        let input = move |question: Question| Ok(agent.ask(question.question));
        let answer = |state: &S| match (&state.agent().answer, &state.agent().stopped) {
            (Some(answer), _) => {
                let output = ToolOutput::new(answer.clone());
                Ok(match &state.agent().value {
                    Some(value) => output.data(value.clone()),
                    None => output,
                })
            }
            (None, Some(reason)) => {
                Err(format!("the agent has no answer ({})", reason.code()).into())
            }
            (None, None) => Err("the agent has no answer".into()),
        };
        Ok(Self::new(spec, app, services, input, answer))
    }

    /// Declares the JSON schema of the result's data, an object. Default: none is declared.
    #[must_use]
    pub fn output_schema(self, schema: Value) -> Self {
        let output = schema.as_object().cloned().map(Arc::new);
        Self { output, ..self }
    }

    /// The tool, as models see it.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// The tool as clients are told of it.
    pub(super) fn listed(&self) -> rmcp::model::Tool {
        let schema = self.spec.schema().as_object().cloned().unwrap_or_default();
        let (name, description) = (self.spec.name().to_owned(), self.spec.description().to_owned());
        let tool = rmcp::model::Tool::new(name, description, schema);
        match &self.output {
            Some(output) => tool.with_raw_output_schema(output.clone()),
            None => tool,
        }
    }

    pub(super) fn app(&self) -> &dyn AnyApp {
        &*self.app
    }

    /// The update of a call. An error is that of arguments which are none.
    pub(super) fn update(&self, arguments: JsonObject) -> Result<AnyUpdate, BoxError> {
        (self.input)(arguments)
    }

    /// The result of a run that is done.
    pub(super) fn result(&self, state: &AnyState) -> Result<ToolOutput, BoxError> {
        (self.answer)(state)
    }
}

impl fmt::Debug for GraphTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphTool").field("spec", &self.spec).finish_non_exhaustive()
    }
}
