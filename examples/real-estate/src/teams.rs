//! The three teams: graphs that have a model choose tools with their arguments, call those that were chosen, and say what came of it.
//!
//! ```text
//! search:   prepare -> route -> search -> aggregate -> finalize        route -> finalize, where there is nothing to search
//! analysis: prepare -> preprocess -> analyze -> generate_insights -> create_report -> finalize
//! document: prepare -> generate -> review_check -> review -> finalize  review_check -> finalize, where nobody has to look
//! ```

pub mod check;
mod document;
pub mod select;

use std::time::Duration;

use hanok_agent::{ChoiceEntry, ChoiceResult, Observation, ToolRunner, ToolTurn, TurnUsage};
use hanok_core::{BoxError, Effect};
use hanok_graph::{BuildError, Context, END, Graph, START, Snapshot};
use hanok_state::{Json, Map, Message, Messages, State, StateUpdate as _, ToolCall};
use hanok_supervisor::{MemberInput, MemberOutput};
use serde::{Deserialize, Serialize};

pub use document::{Paper, PaperUpdate, document, kinds};
use select::{PlannedCall, Selector};

/// The state of a team: what it was given, what it chose, and what its tools returned.
#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The user's question.
    pub question: String,
    /// The team's part of it.
    pub task: String,
    /// The conversation before, with what is remembered of the user.
    pub conversation: Vec<Message>,
    /// The data of the teams before, by their steps.
    pub given: Map<String, Json>,
    /// The tools to call in place of those that would be chosen, where that is tried.
    pub instead: Option<Vec<String>>,
    /// True when no tool may do more than read.
    pub only_reads: bool,
    /// The words of the question that a search is for.
    pub keywords: Vec<String>,
    /// The calls that were chosen, with their arguments.
    pub calls: Vec<PlannedCall>,
    /// The choices of the team, each with its result.
    #[reduce(append)]
    pub choices: Vec<ChoiceEntry>,
    /// What the tools returned.
    #[reduce(append)]
    pub ends: Vec<ToolEnd>,
    /// What the results mean: the conclusion of each tool.
    pub insights: Vec<String>,
    /// The result in words.
    pub report: Option<String>,
}

/// The end of one call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolEnd {
    /// The tool.
    pub tool: String,
    /// The result in words, the error, or what has to be known first.
    pub text: String,
    /// The result as data.
    pub data: Json,
    /// True when there is no result.
    pub failed: bool,
    /// True when the question lacks something that the tool needs.
    pub lacking: bool,
}

impl ToolEnd {
    fn of(tool: &str, observation: Observation) -> Self {
        Self {
            tool: tool.to_owned(),
            failed: observation.fault.is_some(),
            text: observation.text,
            data: observation.data.unwrap_or_default(),
            lacking: false,
        }
    }
}

impl Work {
    /// The input of a team.
    pub fn begin(mut input: MemberInput) -> WorkUpdate {
        let task = input.text();
        let question = input.question.unwrap_or_else(|| task.clone());
        // The last one is the task, which the planner wrote; before it stands the question.
        input.messages.pop();
        input.messages.pop_if(|last| last.text() == question);
        Self::update()
            .question(question)
            .task(task)
            .conversation(input.messages)
            .instead(input.instead)
            .only_reads(input.only_reads)
            .given(input.results.into_iter().collect::<Map<_, _>>())
    }

    /// What the team brings.
    pub fn end(self) -> MemberOutput {
        let is_error = |end: &&ToolEnd| end.failed && !end.lacking;
        let errors: Vec<_> = self.ends.iter().filter(is_error).collect();
        let all_failed = !errors.is_empty() && errors.len() == self.ends.len();
        let reasons: Vec<_> = errors.iter().map(|it| format!("{}: {}", it.tool, it.text)).collect();
        let reasons = reasons.join("; ");
        let mut output = MemberOutput::from(self.report).choices(self.choices);
        for end in self.ends.iter().filter(|end| !end.failed) {
            output = output.data(end.tool.as_str(), end.data.clone());
            if let Some(source) = end.data.0.get("source").and_then(|source| source.as_str()) {
                output = output.source(source);
            }
        }
        if all_failed { output.failed(reasons) } else { output }
    }
}

/// The graph of the search team.
///
/// # Errors
///
/// [`BuildError`] when it has a fault.
pub fn search(selector: Selector, runner: ToolRunner) -> Result<Graph<Work>, BuildError> {
    let route = move |work: Snapshot<Work>, context: Context| {
        let selector = selector.clone();
        async move { Ok::<_, BoxError>(selector.select(&work, &context).await?.0) }
    };
    let search = move |work: Snapshot<Work>, context: Context| {
        let runner = runner.clone();
        async move { call(&runner, &work, &context).await }
    };
    let after_route = |work: &Work| if work.calls.is_empty() { "finalize" } else { "search" };
    Graph::<Work>::builder("search")
        .node("prepare", nothing)
        .node("route", route)
        .node("search", search)
        .node("aggregate", report)
        .node("finalize", finalize)
        .edge(START, "prepare")
        .edge("prepare", "route")
        .branch("route", after_route, ["search", "finalize"])
        .edge("search", "aggregate")
        .edge("aggregate", "finalize")
        .edge("finalize", END)
        .build()
}

/// The graph of the analysis team.
///
/// # Errors
///
/// [`BuildError`] when it has a fault.
pub fn analysis(selector: Selector, runner: ToolRunner) -> Result<Graph<Work>, BuildError> {
    let preprocess = move |work: Snapshot<Work>, context: Context| {
        let selector = selector.clone();
        async move { Ok::<_, BoxError>(selector.select(&work, &context).await?.0) }
    };
    let analyze = move |work: Snapshot<Work>, context: Context| {
        let runner = runner.clone();
        async move { call(&runner, &work, &context).await }
    };
    Graph::<Work>::builder("analysis")
        .node("prepare", nothing)
        .node("preprocess", preprocess)
        .node("analyze", analyze)
        .node("generate_insights", generate_insights)
        .node("create_report", report)
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

/// A node of the drawing with nothing to do: the input is ready.
async fn nothing(_: Snapshot<Work>, _: Context) -> Result<WorkUpdate, BoxError> {
    Ok(Work::update())
}

/// Calls the chosen tools, all at once; one that fails leaves the others alone.
async fn call(runner: &ToolRunner, work: &Work, context: &Context) -> Result<WorkUpdate, BoxError> {
    let may_run = |planned: &&PlannedCall| {
        !work.only_reads || runner.tools().effect(&planned.tool) == Some(Effect::Pure)
    };
    let (ready, lacking): (Vec<_>, Vec<_>) =
        work.calls.iter().filter(may_run).partition(|planned| planned.lacking.is_none());
    let to_call =
        |it: &&PlannedCall| ToolCall::new(&*it.tool, &*it.tool, it.arguments.0.to_string());
    let calls: Vec<_> = ready.iter().map(to_call).collect();
    let begin = context.runtime().clock.monotonic();
    let (messages, usage) = (Messages::default(), TurnUsage::default());
    let turn = ToolTurn { messages: &messages, usage: &usage };
    let results = runner.run_all(context, turn, &calls).await?;
    let took = context.runtime().clock.monotonic().saturating_sub(begin);
    let mut ends: Vec<ToolEnd> = Vec::new();
    for (planned, result) in ready.iter().zip(results) {
        let mut end = ToolEnd::of(&planned.tool, result.observation);
        if !planned.unsure.is_empty() && !end.failed {
            let unsure = planned.unsure.join(", ");
            end.text.push_str(&format!("\n적어 주신 말에서 확인하지 못해 쓰지 않은 값: {unsure}."));
        }
        ends.push(end);
    }
    ends.extend(lacking.into_iter().map(|planned| ToolEnd {
        tool: planned.tool.clone(),
        text: planned.lacking.clone().unwrap_or_default(),
        failed: true,
        lacking: true,
        ..ToolEnd::default()
    }));
    let choices: Vec<ChoiceEntry> = result_of(work, &ends, took).into_iter().collect();
    Ok(Work::update().ends(ends).choices(choices))
}

/// What came of the team's choice.
fn result_of(work: &Work, ends: &[ToolEnd], took: Duration) -> Option<ChoiceEntry> {
    let made = work.choices.iter().rev().find_map(|entry| match entry {
        ChoiceEntry::Made(choice) => Some(choice.id.as_str()),
        _ => None,
    });
    let result = ends.iter().fold(ChoiceResult::of(made?), |result, end| {
        // All of them run at once, so each takes at most this.
        result.used(&*end.tool, took, end.failed.then_some(&*end.text))
    });
    Some(ChoiceEntry::Ended(result))
}

/// The conclusion of each tool: its first line. What it means for the question is worded with the response, in one request.
async fn generate_insights(work: Snapshot<Work>, _: Context) -> Result<WorkUpdate, BoxError> {
    let good = work.ends.iter().filter(|end| !end.failed);
    let first = good.filter_map(|end| end.text.lines().next().map(str::to_owned));
    Ok(Work::update().insights(first.collect::<Vec<_>>()))
}

/// The results of the tools, one after the other.
async fn report(work: Snapshot<Work>, _: Context) -> Result<WorkUpdate, BoxError> {
    let texts: Vec<_> = work.ends.iter().map(|end| end.text.trim()).collect();
    let texts = texts.join("\n\n");
    Ok(Work::update().report(Some(texts).filter(|texts| !texts.is_empty())))
}

/// A team that had nothing to do says so.
async fn finalize(work: Snapshot<Work>, _: Context) -> Result<WorkUpdate, BoxError> {
    let update = Work::update();
    let none = "이 질문에서 이 팀이 찾거나 계산할 것을 고르지 못했습니다.";
    Ok(match work.report {
        Some(_) => update,
        None => update.and(Work::update().report(Some(none.to_owned()))),
    })
}
