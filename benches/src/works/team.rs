//! A question that a team supervisor plans for: three teams, ten tools that cost nothing, a scripted model.

use hanok_agent::{ChoiceEntry, ToolRegistry, ToolRunner, ToolSelector, ToolTurn, TurnUsage};
use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{BoxError, Call, Effect};
use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, FnTool, ModelError, SharedModel, SharedTool, ToolOutput,
    ToolSpec,
};
use hanok_sqlite::Sqlite;
use hanok_state::{Json, Message, Messages, State, ToolCall};
use hanok_supervisor::{Member, MemberInput, MemberOutput};
use hanok_team::{Team, TeamState, TeamSupervisor};
use serde_json::json;

use super::thread;
use crate::{
    Result,
    measure::{Cpu, ensure, medians},
};

/// Questions in one round.
const QUESTIONS: usize = 50;

/// The teams, each with its tools and the team that it needs.
const TEAMS: [(&str, &[&str], &[&str]); 3] = [
    ("search", &["law", "market", "homes", "loans"], &[]),
    ("analysis", &["contract", "prices", "yield", "simulation", "policies"], &["search"]),
    ("document", &["lease"], &["analysis"]),
];

/// A model that says what it is asked for.
#[derive(Debug)]
struct Scripted;

impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn chat(
        &self,
        request: ChatRequest,
        _: &Call,
    ) -> std::result::Result<ChatReply, ModelError> {
        let system = request.messages.first().map(|message| message.text().into_owned());
        let system = system.unwrap_or_default();
        let text = if system.starts_with("Tell what") {
            let question = "May the rent rise, and what do others pay?";
            json!({"intent": "rent", "confidence": 0.9, "in_scope": true, "parts": [question], "reason": "it asks"})
        } else if system.starts_with("Plan which") {
            let steps = TEAMS.iter().map(|(team, _, needs)| {
                json!({"id": team, "team": team, "task": format!("do the {team}"), "description": "", "needs": needs})
            });
            json!({"steps": steps.collect::<Vec<_>>(), "reason": "it takes all", "confidence": 0.9})
        } else if system.starts_with("Choose the tools") {
            let all = TEAMS.iter().flat_map(|(_, tools, _)| tools.iter());
            let named = all.filter(|tool| system.contains(&format!("- {tool}:")));
            json!({"tools": named.collect::<Vec<_>>(), "reason": "all help", "confidence": 0.9})
        } else {
            return Ok(ChatReply::new(Message::assistant("It may rise by 5%."), "scripted"));
        };
        Ok(ChatReply::new(Message::assistant(text.to_string()), "scripted"))
    }
}

/// The state of a team.
#[derive(State, Clone, Default)]
struct Work {
    task: String,
    tools: Vec<String>,
    #[reduce(append)]
    choices: Vec<ChoiceEntry>,
    #[reduce(append)]
    results: Vec<(String, Json)>,
    report: Option<String>,
}

fn tool(name: &str) -> Result<SharedTool> {
    let schema =
        json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]});
    let spec = ToolSpec::new(name, "A tool", schema)?;
    let name = name.to_owned();
    let run = move |_, _| {
        let output = ToolOutput::new(format!("{name} says 5%")).data(json!({"cap_percent": 5}));
        std::future::ready(Ok(output))
    };
    Ok(SharedTool::new(FnTool::untyped(spec, run).effect(Effect::Pure)))
}

fn team(name: &'static str, tools: &[&str], model: SharedModel) -> Result<Member> {
    let tools: Vec<_> = tools.iter().map(|name| tool(name)).collect::<Result<_>>()?;
    let tools = ToolRegistry::new(tools)?;
    let (selector, runner) = (ToolSelector::new(name, model), ToolRunner::new(tools.clone()));
    let prepare = |_: Snapshot<Work>, _: Context| async { Ok::<_, BoxError>(Work::update()) };
    let route = move |work: Snapshot<Work>, context: Context| {
        let (selector, tools) = (selector.clone(), tools.clone());
        async move {
            let choice = selector.select(&context, &work.task, &tools).await?;
            let update = Work::update().tools(choice.chosen.clone());
            Ok::<_, BoxError>(update.push_choices(ChoiceEntry::Made(choice)))
        }
    };
    let execute = move |work: Snapshot<Work>, context: Context| {
        let runner = runner.clone();
        async move {
            let arguments = json!({"q": work.task}).to_string();
            let call = |name: &String| ToolCall::new(name, name, arguments.clone());
            let calls: Vec<_> = work.tools.iter().map(call).collect();
            let turn = ToolTurn { messages: &Messages::default(), usage: &TurnUsage::default() };
            let results = runner.run_all(&context, turn, &calls).await?;
            let results = calls.iter().zip(results).map(|(call, result)| {
                let data = result.observation.data.unwrap_or_default();
                (call.name.clone(), data)
            });
            Ok::<_, BoxError>(Work::update().results(results))
        }
    };
    let aggregate = |work: Snapshot<Work>, _: Context| async move {
        Ok::<_, BoxError>(Work::update().report(Some(format!("{} results", work.results.len()))))
    };
    let finalize = |_: Snapshot<Work>, _: Context| async { Ok::<_, BoxError>(Work::update()) };
    let graph = Graph::<Work>::builder(name)
        .node("prepare", prepare)
        .node("route", route)
        .node("execute", execute)
        .node("aggregate", aggregate)
        .node("finalize", finalize)
        .edge(START, "prepare")
        .edge("prepare", "route")
        .edge("route", "execute")
        .edge("execute", "aggregate")
        .edge("aggregate", "finalize")
        .edge("finalize", END)
        .build()?;
    let input = |input: MemberInput| Work::update().task(input.text());
    let output = |work: Work| {
        let output = MemberOutput::from(work.report).choices(work.choices);
        work.results.into_iter().fold(output, |output, (tool, data)| output.data(tool, data))
    };
    Ok(Member::graph(name, format!("Does the {name}"), graph, input, output))
}

fn supervisor() -> Result<TeamSupervisor> {
    let model = SharedModel::new(Scripted);
    let mut builder = TeamSupervisor::builder(model.clone());
    for (name, tools, needs) in TEAMS {
        let team = Team::new(team(name, tools, model.clone())?);
        builder = builder.team(team.needs(needs.iter().copied()));
    }
    Ok(builder.build()?)
}

fn check(state: &TeamState) -> Result<()> {
    ensure(state.team_results.len() == 3, "the teams")?;
    let tools = state.results().filter_map(|(_, result)| result.data.0.as_object());
    ensure(tools.map(serde_json::Map::len).sum::<usize>() == 10, "the tools")?;
    ensure(state.answer.as_deref() == Some("It may rise by 5%."), "the answer")
}

/// Milliseconds for each question, entries of its log, and bytes on SQLite.
pub(super) fn hanok(rounds: usize) -> Result<Vec<f64>> {
    let supervisor = supervisor()?;
    medians(rounds, async || {
        let store = InMemoryCheckpointer::new();
        let app = supervisor.graph().checkpointer(store);
        let cpu = Cpu::start();
        for n in 0..QUESTIONS {
            let thread = app.thread(thread(&n.to_string())?);
            check(&thread.invoke(supervisor.ask("May the rent rise?"), ()).await?.done()?)?;
        }
        let millis = cpu.millis() / QUESTIONS as f64;
        let last = app.thread(thread("0")?).history(None, 1).await?;
        let entries = last.first().map(|entry| entry.position.0).unwrap_or_default();
        Ok([millis, entries as f64, on_disk(&supervisor).await?])
    })
}

/// The bytes that a question takes on SQLite.
async fn on_disk(supervisor: &TeamSupervisor) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("team.db");
    let sqlite = Sqlite::open(&path).await?;
    let store = SharedCheckpointer::new(sqlite.clone());
    let app = supervisor.graph().checkpointer(store);
    for n in 0..QUESTIONS {
        let thread = app.thread(thread(&n.to_string())?);
        check(&thread.invoke(supervisor.ask("May the rent rise?"), ()).await?.done()?)?;
    }
    drop(app);
    sqlite.close().await?;
    Ok(std::fs::metadata(&path)?.len() as f64 / QUESTIONS as f64 / 1024.0)
}
