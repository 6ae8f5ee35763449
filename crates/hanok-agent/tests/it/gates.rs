//! The gates of a graph.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use hanok_agent::{
    AuditEvent, Decision, DecisionKind, Gate, GateError, GateQuestion, GateRequest, GateSwitch,
    Gates, Overdue, Risk, audit_of, from_agent_chat, shown_whole, shown_without_secrets,
    to_agent_chat, verify_audit,
};
use hanok_checkpoint::{InMemoryCheckpointer, Log, SharedCheckpointer};
use hanok_core::{Answerer, Audience, BoxError, Stored, ThreadKey};
use hanok_graph::{
    App, Context, END, Graph, Outcome, Pending, RunError, START, Snapshot, Subgraph, Thread,
};
use hanok_state::{Json, State};
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default)]
struct Work {
    decided: String,
}

/// The plan that a model would write: another one each time.
fn plan(written: &AtomicU32) -> Value {
    json!({"steps": [format!("search {}", written.fetch_add(1, Ordering::SeqCst))], "pin": "4711"})
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "steps": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "pin": {"type": "string", "writeOnly": true},
        },
        "required": ["steps"],
    })
}

fn graph(
    written: &Arc<AtomicU32>,
    ask: impl Fn(GateQuestion) -> GateQuestion + Clone + Send + Sync + 'static,
) -> Graph<Work> {
    let written = written.clone();
    let node = move |_: Snapshot<Work>, context: Context| {
        let (plan, ask) = (plan(&written), ask.clone());
        async move {
            let question = GateQuestion::new(Gate::Plan, "Is it all right?", &plan)?;
            let decision = ask(question.schema(schema())).ask(&context).await?;
            Ok::<_, BoxError>(Work::update().decided(serde_json::to_string(&decision)?))
        }
    };
    let graph = Graph::<Work>::builder("work").node("approve", node);
    graph.edge(START, "approve").edge("approve", END).build().unwrap()
}

fn thread(app: &App<Work>) -> Thread<Work> {
    app.thread(ThreadKey::named("t").unwrap())
}

fn waits(outcome: Result<Outcome<Work>, RunError>) -> Pending {
    match outcome.unwrap() {
        Outcome::Interrupted(mut waiting) => waiting.requests.pop().unwrap(),
        other => panic!("{other:?}"),
    }
}

/// B143, P35: what a model wrote is shown once and stays as it was shown; each decision that is allowed is one, and no other.
#[tokio::test]
async fn a_gate_asks_once_about_what_it_has_shown() {
    let written = Arc::new(AtomicU32::new(0));
    let graph = graph(&written, |question| question.risk(Risk::Write).missing(["steps"]));
    for (answer, want) in [
        (json!({"decision": "approve"}), r#"{"decision":"approve"}"#),
        (
            json!({"decision": "edit", "arguments": {"steps": ["write"]}}),
            r#"{"arguments":{"steps":["write"]},"decision":"edit"}"#,
        ),
        (
            json!({"decision": "revise", "message": "shorter"}),
            r#"{"decision":"revise","message":"shorter"}"#,
        ),
        (json!({"decision": "reject"}), r#"{"decision":"reject"}"#),
    ] {
        written.store(0, Ordering::SeqCst);
        let app = graph.checkpointer(InMemoryCheckpointer::new());
        let open = waits(thread(&app).invoke(Work::update(), ()).await);
        let request: GateRequest = open.payload().unwrap();
        assert_eq!(
            (&request.gate, request.risk, request.rule.as_str()),
            (&Gate::Plan, Risk::Write, "plan")
        );
        assert_eq!(
            (request.shown.0["steps"][0].as_str(), &*request.missing),
            (Some("search 0"), ["steps".to_owned()].as_slice())
        );
        for wrong in [
            json!({"decision": "skip"}),
            json!({"decision": "edit", "arguments": {"steps": []}}),
            json!({"decision": "edit", "arguments": {"steps": ["a"], "more": 1}}),
            json!({"decision": "edit"}),
            json!({"decision": "revise"}),
            json!({"decision": "approve", "digest": "other"}),
            json!("approve"),
        ] {
            let refused = thread(&app).reply(&wrong, ()).await.unwrap_err();
            assert!(matches!(refused, RunError::WrongAnswer { .. }), "{wrong}: {refused}");
        }
        let state = thread(&app).reply(&answer, ()).await.unwrap().done().unwrap();
        let decided: Value = serde_json::from_str(&state.decided).unwrap();
        assert_eq!(decided, serde_json::from_str::<Value>(want).unwrap());
    }
}

/// B144: what passes without a person stands in the audit once, with the rule and the reason, however often the node runs.
#[tokio::test]
async fn a_gate_that_is_passed_stands_in_the_audit() {
    let node = async |_: Snapshot<Work>, context: Context| {
        let plan = json!({"steps": ["search"], "pin": "4711"});
        let question = GateQuestion::new(Gate::Plan, "Is it all right?", &plan)?.risk(Risk::Write);
        question.rule("plans", None).pass("ann said always", &context).await?;
        let question = GateQuestion::new(Gate::Step, "And this?", &plan)?.schema(schema());
        let asked = question.ask(&context).await?;
        Ok::<_, BoxError>(Work::update().decided(serde_json::to_string(&asked)?))
    };
    let graph = Graph::<Work>::builder("work").node("approve", node);
    let graph = graph.edge(START, "approve").edge("approve", END).build().unwrap();
    let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let app = graph.checkpointer(store.clone());
    waits(thread(&app).invoke(Work::update(), ()).await);
    let approve = json!({"decision": "approve"});
    thread(&app).reply(&approve, ()).await.unwrap().done().unwrap();
    let records = audit_of(&Log::new(store, ThreadKey::named("t").unwrap()), None).await.unwrap();
    verify_audit(&records, None).unwrap();
    let events = serde_json::to_value(&records).unwrap();
    let names: Vec<_> =
        events.as_array().unwrap().iter().map(|it| it["event"]["event"].clone()).collect();
    assert_eq!(names, ["passed", "requested", "answered"]);
    let AuditEvent::Passed { gate, about, risk, reasons, .. } = &records[0].event else {
        panic!("{records:?}")
    };
    assert_eq!((gate, about.as_str(), *risk), (&Gate::Plan, "Is it all right?", Risk::Write));
    assert_eq!(
        (reasons[0].rule.as_str(), reasons[0].reason.as_str()),
        ("plans", "ann said always")
    );
    assert!(!events.to_string().contains("4711"));
}

/// A gate is shown and decided as agent-chat-ui does, too, with all that may be decided there.
#[tokio::test]
async fn a_gate_is_decided_in_the_words_of_agent_chat_ui() {
    let all = [
        DecisionKind::Approve,
        DecisionKind::Edit,
        DecisionKind::Reject,
        DecisionKind::Respond,
        DecisionKind::Skip,
        DecisionKind::Revise,
        DecisionKind::Reuse,
    ];
    for (decision, want) in [
        (json!({"type": "approve"}), json!({"decision": "approve"})),
        (
            json!({"type": "edit", "edited_action": {"name": "plan", "args": {"steps": ["a"]}}}),
            json!({"decision": "edit", "arguments": {"steps": ["a"]}}),
        ),
        (
            json!({"type": "reject", "message": "no"}),
            json!({"decision": "reject", "message": "no"}),
        ),
        (json!({"type": "respond", "message": "x"}), json!({"decision": "respond", "result": "x"})),
        (json!({"type": "skip", "message": "y"}), json!({"decision": "skip", "message": "y"})),
        (json!({"type": "revise", "message": "z"}), json!({"decision": "revise", "message": "z"})),
        (json!({"type": "reuse", "id": "7"}), json!({"decision": "reuse", "id": "7"})),
    ] {
        let graph = graph(&Arc::default(), move |question| question.allow(all));
        let app = graph.checkpointer(InMemoryCheckpointer::new());
        let open = [waits(thread(&app).invoke(Work::update(), ()).await)];
        let chat = to_agent_chat(&open).unwrap();
        let action = &chat["action_requests"][0];
        assert_eq!((&action["name"], &action["gate"]), (&json!("plan"), &json!("plan")));
        assert_eq!(action["args"]["steps"], json!(["search 0"]));
        assert_eq!(chat["review_configs"][0]["allowed_decisions"].as_array().unwrap().len(), 7);
        let answers = from_agent_chat(&open, &json!({"decisions": [decision]})).unwrap();
        let (id, answer) = answers.into_iter().next().unwrap();
        let work = thread(&app).answer(id, &answer, ()).await.unwrap().done().unwrap();
        assert_eq!(serde_json::from_str::<Value>(&work.decided).unwrap(), want);
    }
}

/// Nobody decides: it is rejected, skipped, or the turn fails; never approved.
#[tokio::test]
async fn a_gate_that_nobody_answers_lets_nothing_pass() {
    for (overdue, want) in [
        (Overdue::Reject, Some(r#"{"decision":"reject"}"#)),
        (Overdue::Skip, Some(r#"{"decision":"skip"}"#)),
        (Overdue::Halt, None),
    ] {
        let at_once = move |question: GateQuestion| {
            let boss = Audience::everybody().name("ann");
            question.within(Duration::ZERO).escalate(boss, Duration::ZERO).overdue(overdue)
        };
        let app = graph(&Arc::default(), at_once).checkpointer(InMemoryCheckpointer::new());
        let first = waits(thread(&app).invoke(Work::update(), ()).await);
        let second = waits(thread(&app).resume(()).await);
        assert!(first.audience.is_everybody() && second.audience.names.contains("ann"));
        match (thread(&app).resume(()).await, want) {
            (Ok(outcome), Some(want)) => assert_eq!(outcome.done().unwrap().decided, want),
            (Err(error), None) => {
                assert!(matches!(error.downcast_ref(), Some(GateError::Overdue(Gate::Plan))));
            }
            (went, _) => panic!("{overdue:?}: {went:?}"),
        }
    }
}

/// B144: three graphs deep a gate asks as at the top, and the audit says what was decided, without what is secret.
#[tokio::test]
async fn a_gate_of_a_nested_graph_stands_in_the_audit() {
    let mut inner = graph(&Arc::default(), |question| question);
    for name in ["middle", "outer"] {
        let outer = Graph::<Work>::builder(name).subgraph("call", Subgraph::shared(inner));
        inner = outer.edge(START, "call").edge("call", END).build().unwrap();
    }
    let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let app = inner.checkpointer(store.clone());
    let open = waits(thread(&app).invoke(Work::update(), ()).await);
    assert_eq!(open.path.depth(), 2);
    let edit = json!({"decision": "edit", "arguments": {"steps": ["write"], "pin": "0815"}});
    let as_ann = thread(&app).answering_as(Answerer::new("ann", "test"));
    as_ann.answer(open.id, &edit, ()).await.unwrap().done().unwrap();
    let records = audit_of(&Log::new(store, ThreadKey::named("t").unwrap()), None).await.unwrap();
    let text = serde_json::to_string(&records).unwrap();
    assert!(!text.contains("4711") && !text.contains("0815"), "{text}");
    assert_eq!((records.len(), records[0].path.len()), (2, 2));
    let AuditEvent::Requested { rule, .. } = &records[0].event else { panic!("{records:?}") };
    assert_eq!(rule.as_deref(), Some("plan"));
    let AuditEvent::Answered { changed, by, .. } = &records[1].event else { panic!("{records:?}") };
    assert_eq!(by.as_ref().map(|by| by.name.as_str()), Some("ann"));
    let changed: Vec<_> = changed.iter().map(|it| it.at.as_str()).collect();
    assert_eq!(changed, ["/steps"]);
}

/// B143: a decision is an answer as it is, and is read from a log as it was.
#[tokio::test]
async fn a_decision_is_an_answer_and_is_stored_as_it_is() {
    let graph = graph(&Arc::default(), |question| question);
    let app = graph.checkpointer(InMemoryCheckpointer::new());
    let open = waits(thread(&app).invoke(Work::update(), ()).await);
    let edit = Decision::Edit { arguments: Json(json!({"steps": ["write"]})) };
    let stored = Stored::encode(&edit).unwrap();
    assert_eq!(stored.decode::<Decision>().unwrap(), edit);
    let work = thread(&app).answer(open.id, &edit, ()).await.unwrap().done().unwrap();
    assert_eq!(work.decided, r#"{"decision":"edit","arguments":{"steps":["write"]}}"#);
}

/// P46: what is secret is left out of the audit also where nobody may edit it.
#[tokio::test]
async fn what_is_secret_is_left_out_where_nobody_may_edit() {
    let graph = graph(&Arc::default(), |question| {
        question.allow([DecisionKind::Approve, DecisionKind::Reject])
    });
    let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let app = graph.checkpointer(store.clone());
    let open = waits(thread(&app).invoke(Work::update(), ()).await);
    assert!(shown_whole(&open).to_string().contains("4711"));
    assert!(!shown_without_secrets(&open).to_string().contains("4711"));
    let approve = json!({"decision": "approve"});
    thread(&app).answer(open.id, &approve, ()).await.unwrap().done().unwrap();
    let records = audit_of(&Log::new(store, ThreadKey::named("t").unwrap()), None).await.unwrap();
    assert!(!serde_json::to_string(&records).unwrap().contains("4711"), "{records:?}");
}

/// P35: an answer after the deadline stands in the audit as what it is, without what is secret, and decides nothing.
#[tokio::test]
async fn a_late_answer_stands_in_the_audit_and_decides_nothing() {
    let graph =
        graph(&Arc::default(), |question| question.within(Duration::ZERO).overdue(Overdue::Reject));
    let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let app = graph.checkpointer(store.clone());
    let open = waits(thread(&app).invoke(Work::update(), ()).await);
    let edit = json!({"decision": "edit", "arguments": {"steps": ["write"], "pin": "0815"}});
    let as_ann = thread(&app).answering_as(Answerer::new("ann", "test"));
    let late = as_ann.answer(open.id.clone(), &edit, ()).await;
    assert!(matches!(late, Err(RunError::Expired { .. })));
    let work = thread(&app).resume(()).await.unwrap().done().unwrap();
    assert_eq!(work.decided, r#"{"decision":"reject"}"#);
    // Long after, too.
    let approve = json!({"decision": "approve"});
    let later = thread(&app).answer(open.id, &approve, ()).await;
    assert!(matches!(later, Err(RunError::Expired { .. })));
    assert_eq!(thread(&app).resume(()).await.unwrap().done().unwrap().decided, work.decided);
    let log = Log::new(store, ThreadKey::named("t").unwrap());
    let records = audit_of(&log, None).await.unwrap();
    verify_audit(&records, None).unwrap();
    let told: Vec<_> = records
        .iter()
        .map(|record| match &record.event {
            AuditEvent::Requested { .. } => "requested".to_owned(),
            AuditEvent::Late { decision, by, late_by, .. } => {
                let by = by.as_ref().map(|by| by.name.as_str());
                format!("late {decision:?} {by:?} {}", late_by.is_some())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        told,
        ["requested", r#"late Some("edit") Some("ann") true"#, r#"late Some("approve") None true"#]
    );
    assert!(!serde_json::to_string(&records).unwrap().contains("0815"));
}

#[test]
fn a_gate_is_on_off_or_as_all_are() {
    for (all, switch, asks) in [
        (true, GateSwitch::On, true),
        (true, GateSwitch::Inherit, true),
        (true, GateSwitch::Off, false),
        (false, GateSwitch::On, false),
        (false, GateSwitch::Inherit, false),
        (false, GateSwitch::Off, false),
    ] {
        assert_eq!(Gates::all(all).gate(Gate::Step, switch).asks(&Gate::Step), asks);
    }
    let error = "plan, stop".parse::<Gates>().unwrap_err().to_string();
    assert!(error.starts_with("no gate is called `stop`: there are `clarify`"), "{error}");
    assert!("none".parse::<Gates>().is_ok_and(|gates| !gates.asks(&Gate::Plan)));
    assert_eq!(Decision::Skip { message: None }.kind(), DecisionKind::Skip);
}
