//! Tools that run a graph: it asks, pays once, spends, fails, and goes on where it was.

use std::time::Duration;

use futures::StreamExt;
use hanok_agent::{AgentState, ReactAgent, Retrying};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Budget, Call, Charge, Effect, Limit, Spent, Tenant, ThreadKey};
use hanok_graph::{
    BoxError, Context, Doubt, END, EventKind, Graph, Input, Outcome, Pending, Resolution, RunGraph,
    START, Snapshot, Thread, Token,
};
use hanok_model::{Exchange, FnTool, ScriptedModel, ToolError, ToolSpec};
use hanok_state::State;
use serde_json::json;

use crate::support::{Ledger, call, observations};

#[derive(State, Clone, Debug, Default)]
struct Payment {
    whom: String,
    allowed: String,
    receipt: String,
}

type Cx = Context<Ledger>;

fn note(ledger: &Ledger, what: String) -> usize {
    let mut noted = ledger.lock().unwrap();
    noted.push(what.clone());
    noted.iter().filter(|it| **it == what).count()
}

fn count(ledger: &Ledger, what: &str) -> usize {
    ledger.lock().unwrap().iter().filter(|it| *it == what).count()
}

async fn ask(payment: Snapshot<Payment>, cx: Cx) -> Result<PaymentUpdate, BoxError> {
    let allowed: String = cx.interrupt(&format!("pay {}?", payment.whom)).await?;
    Ok(Payment::update().allowed(allowed))
}

/// Pays once. Paying `slow` takes for ever the first time.
async fn pay(payment: Snapshot<Payment>, cx: Cx) -> Result<PaymentUpdate, BoxError> {
    let (ledger, whom) = (cx.services(), payment.whom.as_str());
    let paying = |_| async {
        let times = note(ledger, format!("paid {whom}"));
        if whom == "slow" && times == 1 {
            std::future::pending::<()>().await;
        }
        Ok::<_, BoxError>(format!("{} to {whom}", payment.allowed))
    };
    let receipt: String = cx.once("transfer", whom, Doubt::Ask, paying).await?;
    Ok(Payment::update().receipt(receipt))
}

fn paying() -> Graph<Payment, Ledger> {
    let graph = Graph::builder("paying").node("ask", ask).node("pay", pay);
    graph.edge(START, "ask").edge("ask", "pay").edge("pay", END).build().unwrap()
}

/// A tool that is this graph.
fn tool(graph: Graph<Payment, Ledger>, ledger: &Ledger) -> FnTool {
    let (ledger, graph) = (ledger.clone(), graph.clone());
    let spec = ToolSpec::new("pay", "Pays", json!({"properties": {"whom": {"type": "string"}}}));
    FnTool::untyped(spec.unwrap(), move |arguments, call: Call| {
        let (ledger, graph) = (ledger.clone(), graph.clone());
        async move {
            let arguments: serde_json::Value = arguments.decode().map_err(ToolError::arguments)?;
            let whom = arguments["whom"].as_str().unwrap_or_default().to_owned();
            note(&ledger, format!("entered {whom}"));
            let input = Payment::update().whom(whom);
            let ended = call.run(&graph, input, ledger).await.map_err(ToolError::failed)?;
            Ok(ended.done().map_err(ToolError::failed)?.receipt.into())
        }
    })
    .effect(Effect::Idempotent)
}

fn pays(whom: &str) -> String {
    call("pay", &json!({"whom": whom}).to_string())
}

fn thread(agent: &ReactAgent) -> Thread<AgentState> {
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key)
}

fn asked(outcome: Outcome<AgentState>, payload: &str) -> (Pending, usize) {
    let Outcome::Interrupted(asked) = outcome else { panic!("{outcome:?}") };
    let is_it = |pending: &&Pending| pending.payload::<String>().unwrap() == payload;
    (asked.iter().find(is_it).unwrap().clone(), asked.len())
}

/// B69, P4: two calls at once in one reply, each a graph that asks and then pays: the answers come in any order, each is paid
/// once, and the model reads nothing of the waiting.
#[tokio::test]
async fn two_tools_that_are_graphs_ask_and_pay_once_each() {
    for order in [["kim", "lee"], ["lee", "kim"]] {
        let ledger = Ledger::default();
        let model = ScriptedModel::new([
            Exchange::says(pays("kim") + &pays("lee")),
            Exchange::says("Final Answer: done").contains("yes, kim to kim"),
        ]);
        let tool = tool(paying(), &ledger);
        let agent = ReactAgent::builder("t", "", model.clone()).tool(tool).build().unwrap();
        let thread = thread(&agent);
        let mut outcome = thread.invoke(agent.ask("?"), ()).await.unwrap();
        for (n, whom) in order.into_iter().enumerate() {
            let (question, open) = asked(outcome, &format!("pay {whom}?"));
            assert_eq!((open, question.path.depth(), question.node.as_str()), (2 - n, 1, "ask"));
            let answer = format!("yes, {whom}");
            outcome = thread.answer(question.id, &answer, ()).await.unwrap();
        }
        let state = outcome.done().unwrap();
        model.finished().unwrap();
        let want = ["kim", "lee"].map(|whom| format!("Observation: yes, {whom} to {whom}"));
        assert_eq!(observations(&state), want);
        assert_eq!(["paid kim", "paid lee"].map(|paid| count(&ledger, paid)), [1, 1]);
        // The first that was answered is not entered again with the second answer.
        let entered = order.map(|whom| count(&ledger, &format!("entered {whom}")));
        assert_eq!(entered, [2, 3]);
        // The graphs are over with their calls.
        assert_eq!(thread.views(None).await.unwrap().len(), 1);
    }
}

/// P4: the process dies while the graph of a tool pays: a person is asked about that payment, and about nothing else.
#[tokio::test(start_paused = true)]
async fn a_payment_within_a_tool_is_in_doubt_after_a_crash() {
    let ledger = Ledger::default();
    let model = ScriptedModel::new([
        Exchange::says(pays("slow") + &pays("kim")),
        Exchange::says("Final Answer: done").contains("by hand"),
    ]);
    let tool = tool(paying(), &ledger).timeout(Duration::from_secs(3_600));
    let agent = ReactAgent::builder("t", "", model.clone()).tool(tool).build().unwrap();
    let thread = thread(&agent);
    let outcome = thread.invoke(agent.ask("?"), ()).await.unwrap();
    let (question, _) = asked(outcome, "pay kim?");
    let outcome = thread.answer(question.id, "yes", ()).await.unwrap();
    let (question, open) = asked(outcome, "pay slow?");
    assert_eq!(open, 1);
    let run = thread.answer(question.id, "yes", ());
    tokio::time::timeout(Duration::from_secs(5), run).await.unwrap_err();

    let Outcome::InDoubt(doubts) = thread.resume(()).await.unwrap() else { panic!() };
    let [doubt] = doubts.as_slice() else { panic!("{doubts:?}") };
    assert_eq!((doubt.path.depth(), &*doubt.doubt.as_ref().unwrap().tool), (1, "transfer"));
    let made = Resolution::made("by hand").unwrap();
    let state = thread.settle(doubt.id.clone(), made, ()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    assert_eq!(observations(&state), ["Observation: by hand", "Observation: yes to kim"]);
    assert_eq!(["paid slow", "paid kim"].map(|paid| count(&ledger, paid)), [1, 1]);
}

/// P17: what the graph of a tool spends is the turn's, and the limit that it reaches is the run's: no model is told.
#[tokio::test]
async fn the_graph_of_a_tool_spends_the_budget_of_the_turn() {
    async fn think(_: Snapshot<Payment>, cx: Cx) -> Result<PaymentUpdate, BoxError> {
        let call = cx.call("model", "small", "{}");
        call.admit(Charge::Model)?;
        call.spend().add(Spent { model_calls: 1, ..Spent::default() });
        note(cx.services(), "thought".into());
        Ok(Payment::update().receipt("thought"))
    }
    let graph = Graph::builder("thinking").node("think", think);
    let graph = graph.edge(START, "think").edge("think", END).build().unwrap();
    // (the limit, the calls of the agent's model, those within the tool)
    for (limit, outer, inner) in [(1, 1, 0), (2, 1, 1), (3, 2, 1)] {
        let ledger = Ledger::default();
        let model = ScriptedModel::new(
            [Exchange::says(pays("kim")), Exchange::says("Final Answer: done")]
                .into_iter()
                .take(outer),
        );
        let agent = ReactAgent::builder("t", "", model.clone()).tool(tool(graph.clone(), &ledger));
        let agent = agent.build().unwrap();
        let budget = Budget { model_calls: Some(limit), ..Budget::default() };
        let outcome = thread(&agent).budget(budget).invoke(agent.ask("?"), ()).await.unwrap();
        match outcome {
            Outcome::Done(_) => assert_eq!(limit, 3),
            Outcome::LimitReached { which: Limit::ModelCalls(at), .. } => assert_eq!(at, limit),
            outcome => panic!("{outcome:?}"),
        }
        model.finished().unwrap();
        assert_eq!(count(&ledger, "thought"), inner);
    }
}

/// A graph that fails is a failure of its tool, which the model is told; another try of the call begins the graph anew.
#[tokio::test]
async fn a_graph_that_fails_is_a_failure_of_its_tool() {
    async fn fails(_: Snapshot<Payment>, cx: Cx) -> Result<PaymentUpdate, BoxError> {
        let tries = note(cx.services(), "tried".into());
        Err(format!("out of order {tries}").into())
    }
    async fn before(_: Snapshot<Payment>, cx: Cx) -> Result<PaymentUpdate, BoxError> {
        note(cx.services(), "began".into());
        Ok(Payment::update())
    }
    let graph = Graph::builder("failing").node("before", before).node("fails", fails);
    let graph = graph.edge(START, "before").edge("before", "fails").edge("fails", END);
    let graph = graph.build().unwrap();
    let ledger = Ledger::default();
    let model = ScriptedModel::new([
        Exchange::says(pays("kim")),
        Exchange::says("Final Answer: done").contains("out of order 2"),
    ]);
    let agent = ReactAgent::builder("t", "", model.clone()).tool(tool(graph, &ledger));
    let agent = agent.intercept(Retrying::attempts(2)).build().unwrap();
    thread(&agent).invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    assert_eq!(["began", "tried"].map(|what| count(&ledger, what)), [2, 2]);
}

/// LangGraph's `react_with_subgraph_tools`: two tools that are graphs are called at once, each gives its own result, and what a
/// model writes within one is shown with the graph's path.
#[tokio::test]
async fn react_with_subgraph_tools() {
    #[derive(State, Clone, Debug, Default)]
    struct Numbers {
        a: i64,
        b: i64,
        result: i64,
    }
    async fn add(numbers: Snapshot<Numbers>, cx: Context) -> Result<NumbersUpdate, BoxError> {
        if let Some(sink) = cx.call("model", "small", "{}").sink() {
            sink.token(Token::Text("adding".to_owned()));
        }
        Ok(Numbers::update().result(numbers.a + numbers.b))
    }
    async fn multiply(numbers: Snapshot<Numbers>, _: Context) -> Result<NumbersUpdate, BoxError> {
        Ok(Numbers::update().result(numbers.a * numbers.b))
    }
    let number = json!({"type": "integer"});
    let schema = json!({"properties": {"a": number, "b": number}, "required": ["a", "b"]});
    let tool = |name: &str, graph: Graph<Numbers>| {
        let spec = ToolSpec::new(name, "Calculates", schema.clone()).unwrap();
        FnTool::untyped(spec, move |arguments, call: Call| {
            let graph = graph.clone();
            async move {
                let given: serde_json::Value = arguments.decode().map_err(ToolError::arguments)?;
                let number = |name| given[name].as_i64().unwrap_or_default();
                let input = Numbers::update().a(number("a")).b(number("b"));
                let ended = call.run(&graph, input, ()).await.map_err(ToolError::failed)?;
                Ok(ended.done().map_err(ToolError::failed)?.result.to_string().into())
            }
        })
        .effect(Effect::Pure)
    };
    let graph = Graph::<Numbers>::builder("addition").node("add", add).edge(START, "add");
    let addition = graph.edge("add", END).build().unwrap();
    let graph = Graph::<Numbers>::builder("multiplication").node("multiply", multiply);
    let graph = graph.edge(START, "multiply").edge("multiply", END);
    let multiplication = graph.build().unwrap();
    let asks = || {
        let numbers = r#"{"a": 2, "b": 3}"#;
        let calls = call("add", numbers) + &call("multiply", numbers) + &call("add", numbers);
        ScriptedModel::new([Exchange::says(calls), Exchange::says("Final Answer: done")])
    };
    let agent = |model: &ScriptedModel| {
        let agent = ReactAgent::builder("t", "", model.clone());
        let agent = agent.tool(tool("add", addition.clone()));
        agent.tool(tool("multiply", multiplication.clone())).build().unwrap()
    };
    let want = ["Observation: 5", "Observation: 6", "Observation: 5"];
    // Without a store.
    let alone = agent(&asks());
    let state = alone.graph().invoke(alone.ask("?"), ()).await.unwrap().done().unwrap();
    assert_eq!(observations(&state), want);
    // With one, and watched.
    let agent = agent(&asks());
    let mut stream = thread(&agent).stream(Input::New(agent.ask("?")), ());
    let (mut graphs, mut tokens) = (Vec::new(), 0);
    while let Some(event) = stream.next().await {
        match &event.kind {
            EventKind::GraphStarted { graph, cause } => {
                assert!(cause.call.is_some());
                graphs.push((graph.to_string(), event.path.clone()));
            }
            EventKind::Token(Token::Text(text)) if text == "adding" => {
                assert_eq!((event.path.depth(), event.node.as_deref()), (1, Some("add")));
                tokens += 1;
            }
            _ => {}
        }
    }
    let state = stream.outcome().await.unwrap().done().unwrap();
    assert_eq!((observations(&state), tokens), (want.map(str::to_owned).to_vec(), 2));
    let names: Vec<_> = graphs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["addition", "multiplication", "addition"]);
    let places: std::collections::BTreeSet<_> = graphs.iter().map(|(_, path)| path).collect();
    assert_eq!(places.len(), 3);
}

/// A graph is held to the time of the tool that runs it.
#[tokio::test(start_paused = true)]
async fn the_graph_of_a_tool_takes_no_longer_than_the_tool_may() {
    async fn sleeps(_: Snapshot<Payment>, cx: Cx) -> Result<PaymentUpdate, BoxError> {
        cx.runtime().clock.sleep(Duration::from_secs(60)).await;
        note(cx.services(), "slept".into());
        Ok(Payment::update())
    }
    let graph = Graph::builder("slow").node("sleeps", sleeps);
    let graph = graph.edge(START, "sleeps").edge("sleeps", END).build().unwrap();
    let ledger = Ledger::default();
    let model = ScriptedModel::new([
        Exchange::says(pays("kim")),
        Exchange::says("Final Answer: done").contains("did not finish within 2s"),
    ]);
    let tool = tool(graph, &ledger).timeout(Duration::from_secs(2));
    let agent = ReactAgent::builder("t", "", model.clone()).tool(tool).build().unwrap();
    thread(&agent).invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    assert_eq!(count(&ledger, "slept"), 0);
}
