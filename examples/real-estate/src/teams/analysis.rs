//! The analysis team.

use hanok_agent::{ChoiceEntry, Language, Structured, StructuredError};
use hanok_core::BoxError;
use hanok_graph::{BuildError, Context, END, Graph, START, Snapshot};
use hanok_grounding::{Grounding, Sources};
use hanok_model::{ChatModel, ChatRequest, DataMark, SharedModel};
use hanok_state::{Json, Message, State, StateUpdate as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    search::called,
    toolbox::Toolbox,
    work::{Work, WorkUpdate},
};
use crate::wording;

/// What data mean, as a model words it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
struct Insights {
    /// What the data mean for the question, a sentence each, in the data's own figures.
    insights: Vec<String>,
}

/// The most insights of a report.
const MOST: usize = 5;

/// The graph of the analysis team.
///
/// # Errors
///
/// [`BuildError`] when it has a fault.
pub fn analysis(toolbox: Toolbox, model: SharedModel) -> Result<Graph<Work>, BuildError> {
    let analyze = move |work: Snapshot<Work>, context: Context| {
        let toolbox = toolbox.clone();
        async move {
            let choice = toolbox.choose(&work, &context).await?;
            let chosen = choice.chosen.clone();
            let entry = ChoiceEntry::Made(choice);
            let mut now = Work::clone(&work);
            now.chosen.clone_from(&chosen);
            now.choices.push(entry.clone());
            let update = called(&toolbox, &now, &context).await?;
            Ok::<_, BoxError>(Work::update().chosen(chosen).push_choices(entry).and(update))
        }
    };
    let form = Structured::<Insights>::new("insight_generation").language(Language::Korean);
    let insights = move |work: Snapshot<Work>, context: Context| {
        let (model, form) = (model.clone(), form.clone());
        async move { generate_insights(&work, &model, &form, &context).await }
    };
    Graph::<Work>::builder("analysis")
        .node("prepare", prepare)
        .node("preprocess", preprocess)
        .node("analyze", analyze)
        .node("generate_insights", insights)
        .node("create_report", create_report)
        .node("finalize", finalize)
        .edge(START, "prepare")
        .edge("prepare", "preprocess")
        .edge("preprocess", "analyze")
        .edge("analyze", "generate_insights")
        .edge("generate_insights", "create_report")
        .edge("create_report", "finalize")
        .edge("finalize", END)
        .build()
}

/// What the question says.
async fn prepare(work: Snapshot<Work>, _: Context) -> Result<WorkUpdate, BoxError> {
    Ok(Work::update().keywords(Some(work.stated())))
}

/// What the question does not say and the search found: where it looked.
async fn preprocess(work: Snapshot<Work>, _: Context) -> Result<WorkUpdate, BoxError> {
    let mut keywords = work.keywords.clone().unwrap_or_default();
    if keywords.districts.is_empty() {
        let district =
            |data: &Json| data.0.pointer("/market_data/district")?.as_str().map(str::to_owned);
        keywords.districts.extend(work.given.iter().find_map(|(_, data)| district(data)));
    }
    Ok(Work::update().keywords(Some(keywords)))
}

/// What the results mean. A sentence of the model's with a figure that no tool gave is left out.
async fn generate_insights(
    work: &Work,
    model: &SharedModel,
    form: &Structured<Insights>,
    context: &Context,
) -> Result<WorkUpdate, BoxError> {
    let good: Vec<_> = work.ends.iter().filter(|end| !end.failed).collect();
    if good.is_empty() {
        return Ok(Work::update());
    }
    let mark = DataMark::new(&*context.runtime().rng);
    let texts: Vec<_> = good.iter().map(|end| format!("{}:\n{}", end.tool, end.text)).collect();
    let request = ChatRequest::new([
        Message::system(wording::INSIGHT_GENERATION),
        Message::user(mark.around(&texts.join("\n\n"))),
        Message::user(work.task.as_str()),
    ])
    .max_tokens(wording::LONGEST);
    let call = context.call("model", model.name(), "insight_generation");
    let ask = async || match form.ask(model, request, &call).await {
        Ok(reply) => Ok(reply.value),
        Err(StructuredError::Model(error)) if error.ends_the_run() => Err(BoxError::from(error)),
        Err(_) => Ok(Insights::default()),
    };
    let Insights { insights } = context.step("insight_generation", ask).await?;
    let sources = good.iter().fold(Sources::new().user(&work.question), |sources, end| {
        sources.tool(&end.tool, &end.data.0)
    });
    let grounding = Grounding::new();
    let holds = |insight: &String| {
        !insight.trim().is_empty() && grounding.check(insight.as_str(), &sources).is_supported()
    };
    let insights: Vec<_> = insights.into_iter().filter(holds).take(MOST).collect();
    Ok(Work::update().insights(insights))
}

/// The findings of the tools, and what they mean.
async fn create_report(work: Snapshot<Work>, _: Context) -> Result<WorkUpdate, BoxError> {
    if work.ends.is_empty() {
        return Ok(Work::update().report(Some(wording::NOTHING_TO_ANALYZE.to_owned())));
    }
    let mut parts: Vec<String> = work.ends.iter().map(|end| end.text.trim().to_owned()).collect();
    if !work.insights.is_empty() {
        let lines: Vec<_> = work.insights.iter().map(|insight| format!("- {insight}")).collect();
        parts.push(lines.join("\n"));
    }
    Ok(Work::update().report(Some(parts.join("\n\n"))))
}

async fn finalize(_: Snapshot<Work>, _: Context) -> Result<WorkUpdate, BoxError> {
    Ok(Work::update())
}
