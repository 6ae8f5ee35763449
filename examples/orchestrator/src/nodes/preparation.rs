//! The tools that fit a step, and its call where a person is to see it first.

use hanok_agent::{Gate, ToolExperience, ToolQuery};
use hanok_core::BoxError;
use hanok_graph::Context;
use hanok_learning::ToolAdvice;
use hanok_mcp::OfferedTool;
use hanok_model::{ChatModel, DataMark, ToolChoice};
use hanok_state::{Json, Message, State as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    asking::{cause, data},
    events::{OrchestratorEvent, Status},
    memory::{Offer, avoided, of_tool},
    orchestrator::{Orchestrator, Turn, Update},
    state::{OrchestratorState, Preparation, PreparedCall, StepResult},
    wording,
};

/// The tools that are offered for a step.
const MOST_TOOLS: usize = 5;

/// The tools that are listed for a request.
const LISTED: usize = 12;

/// The tools that fit a request: their names, and as a prompt lists them.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Listed {
    pub(crate) names: Vec<String>,
    pub(crate) text: String,
}

impl Orchestrator {
    /// Finds the tools for the step. With the gate of steps on it works out the call, too: a person sees it before it is made. Where
    /// the planned tool is not offered, others stand in for it.
    pub(crate) async fn step_preparation(&self, state: Turn, context: Context) -> Update {
        let Some((number, step)) = state.step() else { return Ok(OrchestratorState::update()) };
        let before = state.preparation.clone().unwrap_or_default();
        let execution = state.execution.clone().unwrap_or_default();
        let update = self.definitions(&state, &context).await?;
        let offer = self.offer();
        let recalled = self.memory.tools(&step.task, &context).await?;
        let planned = step.tool.as_deref().filter(|tool| offer.contains_key(*tool));
        let recommend = || self.recommend(&step.task, planned, &offer, &recalled, &context);
        let (tools, avoided): (Vec<String>, Vec<String>) =
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
        let replaced = step.tool.clone().filter(|_| planned.is_none());
        let preparation = Preparation {
            definition: first.map(|tool| tool.hash.to_string()).unwrap_or_default(),
            tools,
            avoided,
            call,
            attempts: before.attempts + 1,
            spent: before.spent + execution.calls.len(),
            stands_in: replaced.is_some(),
            again: execution.gone.or(replaced),
            skipped: false,
        };
        Ok(update.preparation(Some(preparation)).execution(None).fault(None))
    }

    /// The tools for a step, the planned one and those that fit, and those that fail too often for it.
    async fn recommend(
        &self,
        task: &str,
        planned: Option<&str>,
        offer: &Offer,
        recalled: &ToolAdvice,
        context: &Context,
    ) -> Result<(Vec<String>, Vec<String>), BoxError> {
        let mut avoided = avoided(recalled, offer);
        avoided.retain(|tool| Some(&**tool) != planned);
        let query = ToolQuery::new(task).limit(MOST_TOOLS).deny(avoided.iter().cloned());
        let query = offer.iter().fold(query, |query, (name, offered)| {
            let Some(standing) = recalled.tool(&of_tool(offered)) else { return query };
            let [successes, failures] = [standing.uses.successes, standing.uses.failures]
                .map(|count| u32::try_from(count).unwrap_or(u32::MAX));
            query.experience(name, ToolExperience { successes, failures })
        });
        let recommended = self.servers.index().recommend(&query, context.now()).await?;
        let fits = recommended.specs().map(|spec| spec.name().to_owned());
        let mut tools: Vec<String> = planned.map(str::to_owned).into_iter().collect();
        for tool in fits.filter(|tool| offer.contains_key(tool)) {
            if tools.len() < MOST_TOOLS && !tools.contains(&tool) {
                tools.push(tool);
            }
        }
        Ok((tools, avoided))
    }

    /// The call of `tool` for the step, as the model works it out, with what is missing.
    async fn prepared_call(
        &self,
        state: &OrchestratorState,
        tool: &OfferedTool,
        recalled: &ToolAdvice,
        context: &Context,
    ) -> Result<PreparedCall, BoxError> {
        let name = tool.spec().name().to_owned();
        let call = context.call("model", "arguments", &name);
        let task = state.step().map(|(_, step)| &*step.task).unwrap_or_default();
        let mark = DataMark::of_call(&call);
        let worked = recalled.tool(&of_tool(tool)).map(|standing| standing.arguments.join("\n"));
        let worked = worked.filter(|worked| !worked.is_empty());
        let worked = worked.map(|worked| data("전에 잘 된 인수:", &worked, &mark));
        let more = worked.into_iter().chain(earlier(state, &mark));
        let request = self.background.request(wording::ARGUMENTS, state, more, task, &call);
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

    /// The tools that fit a request.
    pub(crate) async fn listed(&self, query: &str, context: &Context) -> Result<Listed, BoxError> {
        let now = context.now();
        let list = || async {
            let offer = self.offer();
            let query = ToolQuery::new(query).limit(LISTED);
            let recommended = self.servers.index().recommend(&query, now).await?;
            let mut names: Vec<String> =
                recommended.specs().map(|spec| spec.name().to_owned()).collect();
            // Of few tools all are listed: one may fit whose words are others.
            if offer.len() <= LISTED {
                names = offer.keys().cloned().collect();
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

/// The results of the steps before, for one that may need them.
pub(crate) fn earlier(state: &OrchestratorState, mark: &DataMark) -> Option<Message> {
    let line = |it: &StepResult| format!("{}. {}: {}", it.number, it.task, it.text);
    let lines: Vec<_> = state.results.iter().map(line).collect();
    (!lines.is_empty()).then(|| data(wording::EARLIER, &lines.join("\n"), mark))
}

/// A tool in a list: its name and what its server says of it, of which no more than `most` characters, on one line: what a stranger
/// writes makes no heading among our own words.
pub(crate) fn line_of(name: &str, about: &str, most: usize) -> String {
    let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("- {name}: {}", about.chars().take(most).collect::<String>())
}

/// The call of `tool` with `arguments`, and which required fields are missing or blank.
pub(crate) fn of(tool: &OfferedTool, arguments: Value) -> PreparedCall {
    let required = tool.spec().schema().get("required").and_then(Value::as_array);
    let required: Vec<_> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let is_missing = |field: &&str| match arguments.get(field) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(_) => false,
    };
    let missing: Vec<_> = required.iter().copied().filter(is_missing).map(str::to_owned).collect();
    let readiness = match required.len() {
        0 => 1.0,
        all => (all - missing.len()) as f64 / all as f64,
    };
    PreparedCall {
        tool: tool.spec().name().to_owned(),
        of: of_tool(tool),
        definition: tool.hash.to_string(),
        arguments: Json(arguments),
        missing,
        readiness,
        risk: tool.risk,
        is_approved: false,
    }
}
