//! Agents as tools of others.

use std::time::Duration;

use hanok_agent::{AgentTool, Approval, Protocol, ReactAgent};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Budget, Effect, ThreadKey};
use hanok_graph::Outcome;
use hanok_model::{Exchange, FnTool, ScriptedModel, ToolSpec};
use hanok_state::ToolCall;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::support::{
    Ledger,
    desk::{App, whoami},
};

fn task(id: &str, agent: &str, task: &str) -> ToolCall {
    ToolCall::new(id, agent, json!({ "task": task }).to_string())
}

fn builder(name: &str, model: &ScriptedModel) -> hanok_agent::ReactAgentBuilder {
    ReactAgent::builder(name, "An agent", model.clone()).protocol(Protocol::Native)
}

#[derive(Deserialize, JsonSchema)]
struct Leave {
    #[allow(dead_code, reason = "the schema is what is looked at")]
    days: u32,
}

/// Each has a model, tools and an answer of its own; several work at once, and what comes back is a result.
#[tokio::test]
async fn several_agents_work_at_once_and_give_results() {
    let rules_model = ScriptedModel::new([
        Exchange::calls([ToolCall::new("r", "whoami", "{}")]).contains("Task: leave of the user"),
        Exchange::calls([ToolCall::new("s", "final_answer", r#"{"days": 15}"#)])
            .contains("You are Lee."),
    ]);
    let mail_model = ScriptedModel::new([Exchange::says("sent").contains("Task: write to Kim")]);
    let rules = builder("rules", &rules_model).services::<App>().tool(whoami()).answer::<Leave>();
    let mail = builder("mail", &mail_model).build().unwrap();
    let model = ScriptedModel::new([
        Exchange::calls([
            task("1", "rules", "leave of the user"),
            task("2", "mail", "write to Kim"),
        ]),
        Exchange::says("done").contains(r#"{"days": 15}"#).contains("sent").lacks("You are Lee."),
    ]);
    let desk = builder("desk", &model)
        .services::<App>()
        .tool(AgentTool::new(rules.build().unwrap()).unwrap())
        .tool(AgentTool::new(mail).unwrap())
        .build()
        .unwrap();
    let outcome = desk.graph().invoke(desk.ask("?"), App::of("Lee")).await.unwrap();
    let state = outcome.done().unwrap();
    for model in [&model, &rules_model, &mail_model] {
        model.finished().unwrap();
    }
    let result = state.messages.iter().find(|it| it.tool_call_id() == Some("1")).unwrap();
    assert_eq!(result.metadata()["data"].0, json!({"days": 15}));
}

#[tokio::test]
async fn an_agent_without_an_answer_is_told_as_a_failure() {
    let sub = ScriptedModel::new([Exchange::calls([ToolCall::new("r", "gone", "{}")])]);
    let sub = builder("sub", &sub).max_iterations(1).build().unwrap();
    let model = ScriptedModel::new([
        Exchange::calls([task("1", "sub", "x")]),
        Exchange::says("sorry")
            .contains("the agent `sub` has no answer: its turn ended with `max_iterations`"),
    ]);
    let desk = builder("desk", &model).tool(AgentTool::new(sub).unwrap()).build().unwrap();
    assert_eq!(desk.run("?").await.unwrap(), "sorry");
}

fn pay(ledger: &Ledger) -> FnTool {
    let ledger = ledger.clone();
    FnTool::untyped(ToolSpec::new("pay", "Pays", json!({})).unwrap(), move |_, _| {
        let ledger = ledger.clone();
        async move {
            ledger.lock().unwrap().push("paid".into());
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok("paid".into())
        }
    })
    .effect(Effect::AtMostOnce)
}

/// B123: a question of a sub-agent is one of the turn. What was done before it, there and beside it, is not done again.
#[tokio::test]
async fn a_sub_agent_has_a_person_asked() {
    let ledger = Ledger::default();
    let sub_model = ScriptedModel::new([
        Exchange::calls([ToolCall::new("p", "pay", "{}")]),
        Exchange::says("it is paid").contains("paid"),
    ]);
    let other_model = ScriptedModel::new([Exchange::says("looked")]);
    let sub = builder("sub", &sub_model).tool(pay(&ledger)).intercept(Approval::new().tool("pay"));
    let model = ScriptedModel::new([
        Exchange::calls([task("1", "sub", "pay"), task("2", "other", "look")]),
        Exchange::says("done").contains("it is paid").contains("looked"),
    ]);
    let desk = builder("desk", &model)
        .tool(AgentTool::new(sub.build().unwrap()).unwrap())
        .tool(AgentTool::new(builder("other", &other_model).build().unwrap()).unwrap())
        .build()
        .unwrap();
    let app = desk.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("t").unwrap());
    let Outcome::Interrupted(asked) = thread.invoke(desk.ask("?"), ()).await.unwrap() else {
        panic!()
    };
    assert_eq!((asked.len(), ledger.lock().unwrap().len()), (1, 0));
    let answered = thread.reply(&json!({"decision": "approve"}), ()).await;
    let state = match answered {
        Ok(outcome) => outcome.done().unwrap(),
        Err(error) => panic!("{error}: {}", asked[0].payload),
    };
    assert_eq!(state.answer.as_deref(), Some("done"));
    for model in [&model, &sub_model, &other_model] {
        model.finished().unwrap();
    }
    assert_eq!(*ledger.lock().unwrap(), ["paid"]);
}

/// After a crash within the sub-agent its own call is in doubt, as its tool says; the call of the sub-agent never is.
#[tokio::test(start_paused = true)]
async fn a_crash_within_a_sub_agent_leaves_the_doubt_of_its_own_tools() {
    let ledger = Ledger::default();
    let sub_model = ScriptedModel::new([
        Exchange::calls([ToolCall::new("p", "pay", "{}")]),
        Exchange::says("it is paid"),
    ]);
    let sub = builder("sub", &sub_model).tool(pay(&ledger)).build().unwrap();
    let model =
        ScriptedModel::new([Exchange::calls([task("1", "sub", "pay")]), Exchange::says("done")]);
    let desk = builder("desk", &model).tool(AgentTool::new(sub).unwrap()).build().unwrap();
    let app = desk.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("t").unwrap());
    let run = thread.invoke(desk.ask("?"), ());
    tokio::time::timeout(Duration::from_millis(500), run).await.unwrap_err();
    let Outcome::InDoubt(asked) = thread.resume(()).await.unwrap() else { panic!() };
    assert_eq!(asked[0].doubt.as_ref().unwrap().tool, "pay");
    let made = hanok_graph::Resolution::made("paid").unwrap();
    let state = thread.settle(asked[0].id.clone(), made, ()).await.unwrap().done().unwrap();
    assert_eq!((state.answer.as_deref(), ledger.lock().unwrap().len()), (Some("done"), 1));
    model.finished().unwrap();
    sub_model.finished().unwrap();
}

/// P4: a payment that outlives a time limit, its own or that of the agent that makes it, or that breaks down, is in doubt: no model is
/// told that it was stopped, and none makes it again before a person has said what became of it.
#[tokio::test(start_paused = true)]
async fn a_call_that_outlives_its_time_is_in_doubt() {
    let short = Duration::from_millis(200);
    let of_agent = ["the time of its agent", "the time of its agent, with a note"];
    for how in ["its own time", "a panic"].into_iter().chain(of_agent) {
        for (resolution, paid) in [
            (hanok_graph::Resolution::made("paid by hand").unwrap(), 1),
            (hanok_graph::Resolution::NotMade, 2),
        ] {
            let ledger = Ledger::default();
            let pays = || Exchange::calls([ToolCall::new("p", "pay", "{}")]);
            let tool = match how {
                "its own time" => pay_in(&ledger, Breaks::Hangs).timeout(short),
                "a panic" => pay_in(&ledger, Breaks::Panics),
                "the time of its agent, with a note" => pay_in(&ledger, Breaks::HangsNoted),
                _ => pay_in(&ledger, Breaks::Hangs),
            };
            let sub_model =
                ScriptedModel::new([pays(), Exchange::says("it is paid").contains("paid")]);
            let model = ScriptedModel::new([
                match of_agent.contains(&how) {
                    true => Exchange::calls([task("1", "sub", "pay")]),
                    false => pays(),
                },
                Exchange::says("done").contains("paid"),
            ]);
            let desk = match of_agent.contains(&how) {
                true => {
                    let sub = builder("sub", &sub_model).tool(tool).build().unwrap();
                    builder("desk", &model).tool(AgentTool::new(sub).unwrap().timeout(short))
                }
                false => builder("desk", &model).tool(tool),
            };
            let desk = desk.build().unwrap();
            let app = desk.graph().checkpointer(InMemoryCheckpointer::new());
            let thread = app.thread(ThreadKey::named("t").unwrap());
            let first = thread.invoke(desk.ask("?"), ()).await;
            assert!(!matches!(first, Ok(Outcome::Done(_))), "{how}");
            let Outcome::InDoubt(asked) = thread.resume(()).await.unwrap() else { panic!("{how}") };
            assert_eq!(asked[0].doubt.as_ref().unwrap().tool, "pay", "{how}");
            assert_eq!((asked.len(), ledger.lock().unwrap().len()), (1, 1), "{how}");
            let settled = thread.settle(asked[0].id.clone(), resolution, ()).await.unwrap();
            assert_eq!(settled.done().unwrap().answer.as_deref(), Some("done"), "{how}");
            assert_eq!(ledger.lock().unwrap().len(), paid, "{how}");
            model.finished().unwrap();
        }
    }
}

/// What becomes of the first call of a tool.
#[derive(Clone, Copy, PartialEq)]
enum Breaks {
    Hangs,
    /// It notes that it has paid, and hangs then.
    HangsNoted,
    Panics,
}

/// Pays at once, and breaks the first time before it says so.
fn pay_in(ledger: &Ledger, breaks: Breaks) -> FnTool {
    let ledger = ledger.clone();
    FnTool::untyped(ToolSpec::new("pay", "Pays", json!({})).unwrap(), move |_, call| {
        let ledger = ledger.clone();
        async move {
            ledger.lock().unwrap().push("paid".into());
            let is_first = ledger.lock().unwrap().len() == 1;
            match breaks {
                Breaks::Hangs if is_first => std::future::pending().await,
                Breaks::HangsNoted if is_first => {
                    call.note(&"paid").await.unwrap();
                    std::future::pending().await
                }
                Breaks::Panics if is_first => panic!("out of order"),
                _ => Ok("paid".into()),
            }
        }
    })
    .effect(Effect::AtMostOnce)
}

/// B123: the budget of a turn is that of its sub-agents too.
#[tokio::test]
async fn a_sub_agent_counts_in_the_budget_of_the_turn() {
    let sub =
        ScriptedModel::new([(); 3].map(|()| Exchange::calls([ToolCall::new("r", "gone", "{}")])));
    let agent = builder("sub", &sub).build().unwrap();
    let model = ScriptedModel::new([Exchange::calls([task("1", "sub", "x")])]);
    let desk = builder("desk", &model).tool(AgentTool::new(agent).unwrap()).build().unwrap();
    let app = desk.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("t").unwrap());
    let thread = thread.budget(Budget { model_calls: Some(3), ..Budget::default() });
    let outcome = thread.invoke(desk.ask("?"), ()).await.unwrap();
    assert!(matches!(outcome, Outcome::LimitReached { .. }), "{outcome:?}");
    assert_eq!(sub.requests().len(), 2);
}

/// P22, B123: agents nest as deep as graphs may, on the stack of a worker thread and in a debug build.
#[test]
fn sixteen_agents_nest_on_the_stack_of_a_worker() {
    let work = || {
        let deepest = 16;
        let calls = (0..deepest).rev().map(|n| Exchange::calls([task("1", &format!("a{n}"), "t")]));
        let model = ScriptedModel::new(calls.chain([(); 17].map(|()| Exchange::says("deep"))));
        let mut agent = builder("a0", &model).build().unwrap();
        for n in 1..=deepest {
            let tool = AgentTool::new(agent).unwrap();
            agent = builder(&format!("a{n}"), &model).tool(tool).build().unwrap();
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
        let thread = app.thread(ThreadKey::named("t").unwrap());
        let state = runtime.block_on(thread.invoke(agent.ask("?"), ())).unwrap().done().unwrap();
        assert_eq!(state.answer.as_deref(), Some("deep"));
        model.finished().unwrap();
    };
    // What tokio gives a worker.
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}
