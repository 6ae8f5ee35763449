//! The search team.

use hanok_agent::{ChoiceEntry, Language, Structured, StructuredError};
use hanok_core::{BoxError, Call};
use hanok_graph::{BuildError, Context, END, Graph, START, Snapshot, Target};
use hanok_model::{ChatModel, ChatRequest, SharedModel};
use hanok_state::{Message, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    toolbox::Toolbox,
    work::{Work, WorkUpdate},
};
use crate::wording;

/// The words of a question that a search is for, as a model picks them.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
struct Picked {
    /// The words of the question that matter for a search, quoted as they stand in it.
    keywords: Vec<String>,
}

/// The graph of the search team.
///
/// # Errors
///
/// [`BuildError`] when it has a fault.
pub fn search(toolbox: Toolbox, model: SharedModel) -> Result<Graph<Work>, BuildError> {
    let form = Structured::<Picked>::new("keyword_extraction").language(Language::Korean);
    let prepare = move |work: Snapshot<Work>, context: Context| {
        let (model, form) = (model.clone(), form.clone());
        async move { prepare_search(&work, &model, &form, &context).await }
    };
    let router = toolbox.clone();
    let route = move |work: Snapshot<Work>, context: Context| {
        let toolbox = router.clone();
        async move {
            let choice = toolbox.choose(&work, &context).await?;
            let update = Work::update().chosen(choice.chosen.clone());
            Ok::<_, BoxError>(update.push_choices(ChoiceEntry::Made(choice)))
        }
    };
    let search = move |work: Snapshot<Work>, context: Context| {
        let toolbox = toolbox.clone();
        async move { called(&toolbox, &work, &context).await }
    };
    Graph::<Work>::builder("search")
        .node("prepare", prepare)
        .node("route", route)
        .node("search", search)
        .node("aggregate", aggregate)
        .node("finalize", finalize)
        .edge(START, "prepare")
        .edge("prepare", "route")
        .branch("route", after_route, ["search", "finalize"])
        .edge("search", "aggregate")
        .edge("aggregate", "finalize")
        .edge("finalize", END)
        .build()
}

/// Nothing chosen is nothing to search.
fn after_route(work: &Work) -> Target {
    if work.chosen.is_empty() { "finalize".into() } else { "search".into() }
}

/// What the question says, by the rules; and the words that a model picks, as far as they stand in it.
async fn prepare_search(
    work: &Work,
    model: &SharedModel,
    form: &Structured<Picked>,
    context: &Context,
) -> Result<WorkUpdate, BoxError> {
    let call = context.call("model", model.name(), "keyword_extraction");
    let picked = || pick(&work.task, model, form, &call);
    let picked = context.step("keyword_extraction", picked).await?;
    let stands = |word: &String| !word.trim().is_empty() && work.question.contains(word.trim());
    let words: Vec<_> = picked.keywords.into_iter().filter(stands).collect();
    Ok(Work::update().keywords(Some(work.stated())).words(words))
}

/// The words that `model` picks; none, if it does not answer.
async fn pick(
    task: &str,
    model: &SharedModel,
    form: &Structured<Picked>,
    call: &Call,
) -> Result<Picked, BoxError> {
    let request =
        ChatRequest::new([Message::system(wording::KEYWORD_EXTRACTION), Message::user(task)])
            .max_tokens(wording::LONGEST);
    match form.ask(model, request, call).await {
        Ok(reply) => Ok(reply.value),
        Err(StructuredError::Model(error)) if error.ends_the_run() => Err(error.into()),
        Err(_) => Ok(Picked::default()),
    }
}

/// Calls the chosen tools.
pub(super) async fn called(
    toolbox: &Toolbox,
    work: &Work,
    context: &Context,
) -> Result<WorkUpdate, BoxError> {
    let made = work.choices.iter().rev().find_map(|entry| match entry {
        ChoiceEntry::Made(choice) => Some(choice.id.clone()),
        _ => None,
    });
    let (ends, choices) = toolbox.call(work, made.as_deref(), context).await?;
    Ok(Work::update().ends(ends).choices(choices))
}

/// The results of the tools, one after the other.
async fn aggregate(work: Snapshot<Work>, _: Context) -> Result<WorkUpdate, BoxError> {
    let texts: Vec<_> = work.ends.iter().map(|end| end.text.trim()).collect();
    Ok(Work::update().report(Some(texts.join("\n\n"))))
}

/// A search that was skipped says so.
async fn finalize(work: Snapshot<Work>, _: Context) -> Result<WorkUpdate, BoxError> {
    let skipped = work.report.is_none().then(|| wording::NOTHING_TO_SEARCH.to_owned());
    let update = Work::update();
    Ok(match skipped {
        Some(text) => update.report(Some(text)),
        None => update,
    })
}
