//! Plan and execute: a planner gives steps as a value of a Rust type, an agent with a tool carries out the first of them, and
//! the planner looks at what came out: other steps, or the answer. A plan of tool calls only is a `PlanAgent`.

use hanok::{
    BoxError, Context, END, Graph, List, START, Snapshot, State,
    agent::{ReactAgent, Structured},
    model::{ChatRequest, Exchange, FnTool, ScriptedModel, SharedModel},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(State, Clone, Default)]
struct Work {
    goal: String,
    steps: Vec<String>,
    #[reduce(append)]
    done: List<String>,
    answer: Option<String>,
}

/// What the planner says: what is left to do, or the answer.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Plan {
    steps: Vec<String>,
    answer: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Lookup {
    query: String,
}

struct Services {
    planner: SharedModel,
    executor: ReactAgent,
}

async fn plan(work: Snapshot<Work>, cx: Context<Services>) -> Result<WorkUpdate, BoxError> {
    let done: Vec<_> = work.done.iter().map(String::as_str).collect();
    let question = format!("Goal: {} Done: {}. What is left?", work.goal, done.join("; "));
    let call = cx.call("model", "plan", &question);
    let request = ChatRequest::new([question]);
    let reply = Structured::<Plan>::new("plan").ask(&cx.services().planner, request, &call).await?;
    Ok(Work::update().steps(reply.value.steps).answer(reply.value.answer))
}

async fn execute(work: Snapshot<Work>, cx: Context<Services>) -> Result<WorkUpdate, BoxError> {
    let step = work.steps.first().ok_or("the plan has neither a step nor an answer")?;
    let agent = &cx.services().executor;
    let turn = cx.run(agent.graph(), agent.ask(step), ()).await?.done()?;
    Ok(Work::update().push_done(format!("{step}: {}", turn.answer.unwrap_or_default())))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let graph = Graph::<Work, Services>::builder("work")
        .node("plan", plan)
        .node("execute", execute)
        .edge(START, "plan")
        .branch(
            "plan",
            |work: &Work| if work.answer.is_some() { END } else { "execute" },
            ["execute", END],
        )
        .edge("execute", "plan")
        .build()?;
    let planner = ScriptedModel::new([
        Exchange::says(r#"{"steps": ["find the winner", "find their home"], "answer": null}"#),
        Exchange::says(r#"{"steps": ["find the home of Sinner"], "answer": null}"#)
            .contains("Sinner"),
        Exchange::says(r#"{"steps": [], "answer": "Sesto"}"#).contains("home of Sinner: Sesto"),
    ]);
    let executor = ScriptedModel::new([
        Exchange::says("Action: search\nAction Input: {\"query\": \"winner\"}"),
        Exchange::says("Final Answer: Sinner").contains("Sinner won"),
        Exchange::says("Final Answer: Sesto").contains("home of Sinner"),
    ]);
    let search = FnTool::new("search", "Searches the web", |lookup: Lookup, _| async move {
        Ok(format!("Sinner won ({})", lookup.query).into())
    })?;
    let executor = ReactAgent::builder("executor", "Does a step", executor).tool(search).build()?;
    let services = Services { planner: SharedModel::new(planner), executor };
    let input = Work::update().goal("Where does the winner of the Australian Open 2024 come from?");
    let work = graph.invoke(input, services).await?.done()?;
    work.done.iter().for_each(|done| println!("{done}"));
    println!("answer: {}", work.answer.unwrap_or_default());
    Ok(())
}
