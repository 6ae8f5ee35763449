//! The graph.

use std::sync::Arc;

use hanok_agent::{
    Intercepted, Language, ModelCache, PlanLoop, Protocol, ReactAgent, Structured, StructuredError,
    ToolRegistry, ToolRunner, parse::Policy,
};
use hanok_checkpoint::InMemoryStore;
use hanok_core::BoxError;
use hanok_graph::{Context, END, Graph, START, Snapshot, StepError};
use hanok_model::{ChatRequest, SharedModel, SharedTool, Tool};
use kit::failure::Failure;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Book, ContractState, ContractStateUpdate, Options, previous, prompt, respond, scope,
    tools::{self, LOOKUP_STANDARD},
};

/// What the planner is told.
const PLAN: &str = "당신은 계약서에 관한 질문에 답하기 위해 무엇을 읽을지 정합니다. 필요한 도구를 한 번에 모두 부르세요. \
    이미 찾은 것과 같은 호출은 하지 않습니다. 더 읽을 것이 없으면 도구를 부르지 말고 `없음`이라고만 답하세요.";

/// The most tokens of a plan.
const LONGEST: u32 = 500;

/// An expert's parts. Clones are the same.
#[derive(Debug, Clone)]
pub struct Expert {
    pub(crate) model: SharedModel,
    /// Plans where a comparison with the standard contract is asked for, and where none is: a model that can look it up does so
    /// unasked, and answers out of it.
    pub(crate) comparing: ReactAgent,
    pub(crate) reading: ReactAgent,
    pub(crate) book: Arc<Book>,
    tools: ToolRunner,
    max_iterations: u32,
}

impl Expert {
    /// Puts the parts together.
    ///
    /// # Errors
    ///
    /// [`Failure::Wiring`] when they do not fit.
    pub fn new(model: SharedModel, book: Book, options: &Options) -> Result<Self, Failure> {
        let model = if options.no_cache { model } else { remembering(model) };
        let book = Arc::new(book);
        let tools = tools::tools(&book).map_err(Failure::wiring)?;
        let planner = |tools: Vec<SharedTool>| {
            ReactAgent::builder("planner", "Plans what to read", model.clone())
                .prompt(format!("{PLAN}\n{}", prompt::DATA))
                .tools(tools)
                .protocol(Protocol::Native)
                // A server without a template for tools hands on what its model writes.
                .text_calls(Policy::default())
                .temperature(0.0)
                .max_tokens(LONGEST)
                .language(Language::Korean)
                .build()
                .map_err(Failure::wiring)
        };
        let comparing = planner(tools.clone())?;
        let of_contract = tools.iter().filter(|tool| tool.spec().name() != LOOKUP_STANDARD);
        let reading = planner(of_contract.cloned().collect())?;
        let tools = ToolRegistry::new(tools).map_err(Failure::wiring)?;
        let tools = ToolRunner::new(tools).language(Language::Korean);
        Ok(Self { model, comparing, reading, book, tools, max_iterations: options.max_iterations })
    }

    /// The graph of the drawing: seven nodes, and what the planner and the evaluator choose. A question about something else ends
    /// it at once.
    ///
    /// # Errors
    ///
    /// [`Failure::Wiring`] when the graph has a fault.
    pub fn graph(&self) -> Result<Graph<ContractState>, Failure> {
        let graph = Graph::<ContractState>::builder("contract")
            .node("scope_validator", self.node(scope::scope_validator))
            .node("check_previous_context", self.node(previous::check_previous_context))
            .edge(START, "scope_validator")
            .branch("scope_validator", after_scope, ["check_previous_context", END])
            .edge("check_previous_context", "planner");
        PlanLoop::of_rounds(self.clone(), self.tools.clone(), self.max_iterations)
            .add_to(graph, "respond")
            .node("respond", self.node(respond::respond))
            .edge("respond", END)
            .build()
            .map_err(Failure::wiring)
    }

    /// A node that is given these parts.
    fn node<F, Fut>(&self, run: F) -> impl Fn(Snapshot<ContractState>, Context) -> Fut + use<F, Fut>
    where
        F: Fn(Self, Snapshot<ContractState>, Context) -> Fut,
        Fut: Future<Output = Result<ContractStateUpdate, BoxError>>,
    {
        let expert = self.clone();
        move |state, context| run(expert.clone(), state, context)
    }

    /// What the model fills into the form `T`, kept as the step `name`; what is wrong with its reply, where it is none, twice.
    pub(crate) async fn fills<T>(
        &self,
        context: &Context,
        name: &'static str,
        request: ChatRequest,
    ) -> Result<Result<T, String>, StepError>
    where
        T: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static,
    {
        let call = context.call("model", name, "");
        let form = Structured::<T>::new(name).language(Language::Korean);
        let asked = async || match form.ask(&self.model, request, &call).await {
            Ok(reply) => Ok(Ok(reply.value)),
            Err(StructuredError::Model(error)) => Err(error),
            Err(unreadable) => Ok(Err(unreadable.to_string())),
        };
        context.step(name, asked).await
    }
}

/// The model, with what it said kept in this process.
fn remembering(model: SharedModel) -> SharedModel {
    let cache = ModelCache::new(InMemoryStore::default()).tool_calls();
    SharedModel::new(Intercepted::new(model).intercept(cache).language(Language::Korean))
}

fn after_scope(state: &ContractState) -> &'static str {
    if state.in_scope == Some(false) { END } else { "check_previous_context" }
}
