//! The tools that fit a step, and its call where a person is to see it first.

use hanok_agent::Gate;
use hanok_core::BoxError;
use hanok_graph::{Context, Snapshot};
use hanok_model::{ChatModel, DataMark, ToolChoice};
use hanok_state::{Json, Message, State as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    asking::{cause, data},
    events::{OrchestratorEvent, Status},
    memory::ToolsRecalled,
    orchestrator::Orchestrator,
    servers::{Offer, Offered, tool_query},
    state::{OrchestratorState, OrchestratorStateUpdate, Preparation, PreparedCall},
    wording,
};

/// The tools that are offered for a step.
const MOST_TOOLS: usize = 5;

/// The tools that are listed for a request.
const LISTED: usize = 12;

/// The tools that fit, as they are stored.
#[derive(Debug, Serialize, Deserialize)]
struct Recommended {
    tools: Vec<String>,
    avoided: Vec<String>,
}

/// The tools that fit a request: their names, and as a prompt lists them.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Listed {
    pub(crate) names: Vec<String>,
    pub(crate) text: String,
}

impl Orchestrator {
    /// Finds the tools for the step. With the gate of steps on it works out the call, too: a person sees it before it is made. Where
    /// the planned tool is not offered, others stand in for it.
    pub(crate) async fn step_preparation(
        &self,
        state: Snapshot<OrchestratorState>,
        context: Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        let Some((number, step)) = state.step() else { return Ok(OrchestratorState::update()) };
        let before = state.preparation.as_ref();
        let attempts = before.map_or(0, |before| before.attempts) + 1;
        let made = state.execution.as_ref().map_or(0, |made| made.calls.len());
        let made = u32::try_from(made).unwrap_or(u32::MAX);
        let spent = before.map_or(0, |before| before.spent).saturating_add(made);
        let update = self.definitions(&state, OrchestratorState::update(), &context).await?;
        let offer = self.servers.offer();
        let recalled = self.memory.tools(&step.task, &context).await?;
        let planned = step.tool.as_deref().filter(|tool| offer.get(tool).is_some());
        let replaced = step.tool.clone().filter(|_| planned.is_none());
        let recommend = || self.recommend(&step.task, planned, &offer, &recalled, &context);
        let Recommended { tools, avoided } =
            context.step("recommend", recommend).await.map_err(cause)?;
        let first = tools.first().and_then(|tool| offer.get(tool));
        let call = match first.filter(|_| self.is_on(&Gate::Step, &state)) {
            Some(tool) => Some(self.prepared_call(&state, tool, &recalled, &context).await?),
            None => None,
        };
        context.custom(&OrchestratorEvent::Status(Status::Prepared {
            step: number,
            task: step.task.clone(),
            tools: tools.clone(),
        }));
        let gone = state.execution.as_ref().and_then(|execution| execution.gone.clone());
        let again = gone.or_else(|| replaced.clone());
        let definition = first.map(|tool| tool.definition.clone());
        let skipped = false;
        let preparation = Preparation {
            tools,
            definition,
            avoided,
            call,
            attempts,
            spent,
            again,
            replaced,
            skipped,
        };
        Ok(update.preparation(Some(preparation)).execution(None).fault(None))
    }

    /// The tools for a step: the planned one, and those that fit.
    async fn recommend(
        &self,
        task: &str,
        planned: Option<&str>,
        offer: &Offer,
        recalled: &ToolsRecalled,
        context: &Context,
    ) -> Result<Recommended, BoxError> {
        let avoided: Vec<_> =
            recalled.avoided(offer).into_iter().filter(|tool| Some(&**tool) != planned).collect();
        let query = tool_query(task).limit(MOST_TOOLS).deny(avoided.iter().cloned());
        let experience = recalled.experience(offer).into_iter();
        let query = experience.fold(query, |query, (tool, of)| query.experience(tool, of));
        let recommended = self.servers.index().recommend(&query, context.now()).await?;
        let fits = recommended.specs().map(|spec| spec.name().to_owned());
        let mut tools: Vec<String> = planned.map(str::to_owned).into_iter().collect();
        for tool in fits.filter(|tool| offer.get(tool).is_some()) {
            if tools.len() < MOST_TOOLS && !tools.contains(&tool) {
                tools.push(tool);
            }
        }
        Ok(Recommended { tools, avoided })
    }

    /// The call of `tool` for the step, as the model works it out, with what is missing.
    async fn prepared_call(
        &self,
        state: &OrchestratorState,
        tool: &Offered,
        recalled: &ToolsRecalled,
        context: &Context,
    ) -> Result<PreparedCall, BoxError> {
        let name = tool.spec().name().to_owned();
        let call = context.call("model", "arguments", &name);
        let task = state.step().map(|(_, step)| step.task.clone()).unwrap_or_default();
        let worked = recalled.arguments(&tool.of()).join("\n");
        let worked = (!worked.is_empty())
            .then(|| data("전에 잘 된 인수:", &worked, &DataMark::of_call(&call)));
        let earlier = self.earlier(state, &DataMark::of_call(&call));
        let step = OrchestratorState { query: task, ..state.clone() };
        let more = worked.into_iter().chain(earlier);
        let request = self.background.request(wording::ARGUMENTS, &step, more, &call);
        let request =
            request.tools([tool.spec().clone()]).tool_choice(ToolChoice::Tool(name.clone()));
        let ask = || async {
            let reply = self.model.chat(request, &call.quiet()).await?;
            let calls = reply.message.tool_calls().iter();
            let arguments = calls
                .filter(|call| call.name == name)
                .find_map(|call| call.arguments.decode::<Value>().ok().filter(Value::is_object));
            Ok::<_, BoxError>(arguments.unwrap_or_else(|| Value::Object(Default::default())))
        };
        let arguments: Value = context.step("arguments", ask).await.map_err(cause)?;
        Ok(of(tool, arguments))
    }

    /// The results of the steps before, for one that may need them.
    pub(crate) fn earlier(
        &self,
        state: &OrchestratorState,
        mark: &hanok_model::DataMark,
    ) -> Option<Message> {
        let lines = state
            .results
            .iter()
            .map(|step| format!("{}. {}: {}", step.number, step.task, step.text));
        let lines: Vec<_> = lines.collect();
        (!lines.is_empty()).then(|| data(wording::EARLIER, &lines.join("\n"), mark))
    }

    /// The tools that fit a request.
    pub(crate) async fn listed(&self, query: &str, context: &Context) -> Result<Listed, BoxError> {
        let now = context.now();
        let list = || async {
            let offer = self.servers.offer();
            let query = tool_query(query).limit(LISTED);
            let recommended = self.servers.index().recommend(&query, now).await?;
            let mut names: Vec<String> =
                recommended.specs().map(|spec| spec.name().to_owned()).collect();
            // Of few tools all are listed: one may fit whose words are others.
            if offer.iter().len() <= LISTED {
                names = offer.iter().map(|(name, _)| name.clone()).collect();
            }
            let line =
                |name: &String| Some(line_of(name, offer.get(name)?.spec().description(), 400));
            let lines: Vec<_> = names.iter().filter_map(line).collect();
            let text = format!("{}\n{}", wording::TOOLS, lines.join("\n"));
            Ok::<_, BoxError>(Listed { names, text })
        };
        context.step("listed", list).await.map_err(cause)
    }
}

/// A tool in a list: its name and what its server says of it, of which no more than `most` characters, on one line: what a stranger
/// writes makes no heading among our own words.
pub(crate) fn line_of(name: &str, about: &str, most: usize) -> String {
    let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("- {name}: {}", about.chars().take(most).collect::<String>())
}

/// The call of `tool` with `arguments`, and which required fields are missing or blank.
pub(crate) fn of(tool: &Offered, arguments: Value) -> PreparedCall {
    let required: Vec<String> = tool
        .spec()
        .schema()
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    let is_blank = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    };
    let is_there = |field: &String| arguments.get(field).is_some_and(|value| !is_blank(value));
    let missing: Vec<_> = required.iter().filter(|field| !is_there(field)).cloned().collect();
    let readiness = match required.len() {
        0 => 1.0,
        all => (all - missing.len()) as f64 / all as f64,
    };
    PreparedCall {
        tool: tool.spec().name().to_owned(),
        of: Some(tool.of()),
        definition: tool.definition.clone(),
        arguments: Json(arguments),
        missing,
        readiness,
        risk: tool.risk,
        is_approved: false,
    }
}
