//! Has a model choose the tools of a team and write their arguments; the rules check what it wrote.

use std::sync::Arc;

use hanok_agent::{ChoiceEntry, Language};
use hanok_graph::{Context, StepError};
use hanok_model::{DataMark, SharedModel};
use hanok_state::{Json, Message, State as _};
use hanok_team::{ToolOption, ToolPlanner};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Work, WorkUpdate,
    check::{self, Said},
};

/// A chosen call with the arguments that were checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlannedCall {
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Json,
    /// What has to be known first, if something has.
    pub lacking: Option<String>,
    /// The names of values that the user did not write, and that are left out.
    pub unsure: Vec<String>,
}

/// Has a model choose among the options of a team; rules do where it does not answer. Clones are the same.
#[derive(Debug, Clone)]
pub struct Selector {
    planner: ToolPlanner,
    options: Arc<[ToolOption]>,
    districts: Arc<[String]>,
}

impl Selector {
    /// A selector of the team `agent`, which is told `instructions`. Districts are `districts`.
    #[must_use]
    pub fn new(
        agent: &str,
        instructions: &str,
        (model, rules): (SharedModel, SharedModel),
        mut options: Vec<ToolOption>,
        districts: &[&str],
    ) -> Self {
        options.iter_mut().for_each(|option| listed(&mut option.schema, districts));
        let mut asked = options.clone();
        for option in &mut asked {
            let properties = option.schema.get_mut("properties").and_then(Value::as_object_mut);
            properties.into_iter().for_each(|all| all.retain(|name, _| name != check::OWN_WORDS));
        }
        let planner = ToolPlanner::new(agent, instructions, model, asked);
        let planner = planner.language(Language::Korean).fallback(rules);
        let districts = districts.iter().map(|it| (*it).to_owned()).collect();
        Self { planner, options: options.into(), districts }
    }

    /// The calls for the task of `work`, once and for all of the task's runs.
    ///
    /// # Errors
    ///
    /// [`StepError`] when the run is asked to stop, or its budget is spent.
    pub async fn select(
        &self,
        work: &Work,
        context: &Context,
    ) -> Result<(WorkUpdate, Vec<PlannedCall>), StepError> {
        let mark = DataMark::new(&*context.runtime().rng);
        let mut messages = work.conversation.clone();
        messages.extend(work.given.iter().map(|(step, Json(data))| {
            Message::user(format!("{step}의 결과:\n{}", mark.around(&data.to_string())))
        }));
        messages.push(Message::user(match work.question.contains(work.task.trim()) {
            true => work.question.clone(),
            false => format!("{}\n\n맡은 일: {}", work.question, work.task),
        }));
        let instead = work.instead.as_deref();
        let plan = self.planner.plan(context, &work.task, messages, instead).await?;
        let said = Said::of(work, &self.districts);
        let planned = |(name, arguments): &(String, _)| {
            let option = self.options.iter().find(|option| option.name == *name)?;
            Some(check::planned(option, arguments, &said))
        };
        let calls: Vec<_> = plan.calls.iter().filter_map(planned).collect();
        let update = Work::update().keywords(plan.keywords).calls(calls.clone());
        Ok((update.push_choices(ChoiceEntry::Made(plan.choice)), calls))
    }
}

/// Lists the districts where a schema says that one is meant: its description says `(구)`.
pub(crate) fn listed(schema: &mut Value, districts: &[&str]) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flatten().map(|it| it.1) {
        let said = property.get("description").and_then(Value::as_str).unwrap_or_default();
        if !said.contains("(구)") {
            continue;
        }
        let is_list = property.get("items").is_some();
        let place = if is_list { property.get_mut("items") } else { Some(property) };
        if let Some(Value::Object(place)) = place {
            let may_be_none = place.get("type").is_some_and(Value::is_array);
            let none = may_be_none.then_some(Value::Null);
            let values = districts.iter().map(|name| json!(name)).chain(none);
            place.insert("enum".to_owned(), values.collect());
        }
    }
}
