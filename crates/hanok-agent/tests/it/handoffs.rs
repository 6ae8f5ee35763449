//! Hand-offs: calls that give the turn to another agent.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use futures::StreamExt;
use hanok_agent::{
    AgentProgress, AgentState, Handoff, HandoffHistory, HandoffTool, Language, Protocol,
    ReactAgent, ReactAgentBuilder, StopReason, Summariser, ToolErrors,
};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Call, Cancellation, Effect, Request, Stored, Tenant, ThreadKey};
use hanok_graph::{Context, EventKind, Graph, Input, Outcome, START, Snapshot, StepError, Thread};
use hanok_model::{Exchange, FnTool, ScriptedModel, ToolError, ToolSpec};
use hanok_state::{Arguments, Message, Messages, State, ToolCall};
use serde_json::json;

use crate::support::{Ledger, builder, call, observations, tools};

fn says(text: impl Into<String>) -> Exchange {
    Exchange::says(text)
}

/// An agent that may hand over to `billing` and `legal`.
fn front(model: &ScriptedModel) -> ReactAgentBuilder {
    let payload =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    builder(model)
        .handoff(HandoffTool::to("billing", "Knows invoices").payload(payload))
        .handoff(HandoffTool::to("legal", "Knows the law").history(HandoffHistory::Last))
}

fn legal(task: &str) -> String {
    call("transfer_to_legal", &json!({ "task": task }).to_string())
}

fn billing(n: &str) -> String {
    call("transfer_to_billing", &format!(r#"{{"task": "pay", "payload": {{"n": {n}}}}}"#))
}

async fn turn(said: &str) -> AgentState {
    let model = ScriptedModel::new([says(said)]);
    let agent = front(&model).build().unwrap();
    agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap()
}

/// Every call of the conversation has exactly one result.
#[track_caller]
fn assert_answered(state: &AgentState, calls: usize) {
    let mut results = BTreeMap::new();
    for id in state.messages.iter().filter_map(Message::tool_call_id) {
        *results.entry(id).or_insert(0) += 1;
    }
    let want = state.messages.iter().flat_map(Message::tool_calls);
    let want: BTreeMap<_, _> = want.map(|call| (call.id.as_str(), 1)).collect();
    assert_eq!((results, want.len()), (want, calls), "{state:?}");
}

/// B113, P45
#[tokio::test]
async fn a_hand_off_ends_the_turn_and_says_to_whom_with_what() {
    let state = turn(&billing("7")).await;
    assert_eq!((state.stopped, state.answer.as_deref()), (Some(StopReason::HandedOff), None));
    let handoff = state.handoff.clone().unwrap();
    assert_eq!((handoff.to.as_str(), handoff.task.as_deref()), ("billing", Some("pay")));
    assert_eq!(
        (handoff.payload, handoff.history),
        (Some(json!({"n": 7}).into()), HandoffHistory::Full)
    );
    assert_eq!(
        observations(&state),
        ["Observation: The conversation was handed over to `billing`."]
    );
    assert_answered(&state, 1);

    let handoff = turn(&legal(" read it ")).await.handoff.unwrap();
    assert_eq!(handoff, Handoff::new("legal").task("read it").history(HandoffHistory::Last));
}

/// B113: the calls beside it are made, and of several hand-offs the first that can be is taken.
#[tokio::test(start_paused = true)]
async fn calls_beside_a_hand_off_have_their_results_too() {
    let find = call("find", r#"{"q": "a", "wait": 50}"#);
    let not_made = "Observation: This call was not made: the same reply hands over to `legal` before it, and a conversation is handed over to one agent.";
    let over = "Observation: The conversation was handed over to `legal`.";
    let bad = "Observation: The arguments do not fit `transfer_to_billing`, so it was not run. `payload.n` has to be of type integer, and is \"x\". Correct them and call it again.";
    for (said, to, want) in [
        (legal("a") + &find + &billing("1"), "legal", vec![over, "Observation: found a", not_made]),
        (billing(r#""x""#) + &legal("a"), "legal", vec![bad, over]),
        (legal("a") + &legal("b"), "legal", vec![over, not_made]),
        (legal("a") + &billing(r#""x""#), "legal", vec![over, not_made]),
    ] {
        let state = turn(&said).await;
        assert_eq!(state.handoff.as_ref().unwrap().to, to, "{said}");
        assert_eq!(observations(&state), want, "{said}");
        assert_answered(&state, want.len());
    }
}

/// B113: natively the results stand under the calls' ids, in their order.
#[tokio::test]
async fn native_hand_offs_are_answered_under_their_ids() {
    let made = |id: &str, name: &str| ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: Arguments::new(r#"{"task":"a"}"#),
    };
    let model = ScriptedModel::new([
        Exchange::calls([
            made("x", "transfer_to_nobody"),
            made("y", "transfer_to_legal"),
            made("z", "transfer_to_legal"),
        ]),
        says("welcome back"),
    ]);
    let agent = front(&model).protocol(Protocol::Native).build().unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
    let state = thread.invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    assert_answered(&state, 3);
    assert_eq!(state.handoff.unwrap().to, "legal");

    // A later turn knows nothing of the hand-off, and its server is sent a conversation that it takes.
    let state = thread.invoke(agent.ask("and now?"), ()).await.unwrap().done().unwrap();
    assert_eq!((state.handoff, state.answer.as_deref()), (None, Some("welcome back")));
    let sent = model.requests()[1].messages.clone();
    let ids: Vec<_> = sent.iter().filter_map(Message::tool_call_id).collect();
    assert_eq!(ids, ["x", "y", "z"]);
}

/// P45: only those that are declared can be handed over to; anything else is told the model.
#[tokio::test]
async fn a_hand_off_to_an_undeclared_agent_or_without_a_task_is_an_observation() {
    for (said, want) in [
        (
            call("transfer_to_root", r#"{"task": "a"}"#),
            "There is no tool `transfer_to_root`. Did you mean `transfer_to_legal`? The tools are: `broken`, `endless`, `find`, `large`, `panic`, `refuse`, `transfer_to_billing`, `transfer_to_legal`.",
        ),
        (call("transfer_to_legal", "{}"), "`task` is missing."),
        (call("transfer_to_legal", r#"{"task": " "}"#), "`task` says nothing"),
        (call("transfer_to_legal", r#"{"task": "a", "to": "root"}"#), "There is no argument `to`."),
    ] {
        let model = ScriptedModel::new([says(&said), says("Final Answer: done").contains(want)]);
        let agent = front(&model).build().unwrap();
        let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
        assert_eq!((state.stopped, state.handoff), (Some(StopReason::Answered), None), "{said}");
    }
}

#[test]
fn hand_offs_that_cannot_be_are_refused_and_named() {
    let model = ScriptedModel::new([]);
    let agent = || ReactAgent::builder("front", "", model.clone());
    for (builder, want) in [
        (agent().handoff(HandoffTool::to("front", "")), "agent `front` hands over to itself"),
        (
            agent().handoff(HandoffTool::to("법무 검토", "")),
            "agent `front` cannot hand over to `법무 검토`; name the tool with `HandoffTool::named`",
        ),
        (
            agent().handoff(HandoffTool::to("a", "")).handoff(HandoffTool::to("a", "")),
            "agent `front` cannot be built",
        ),
        (
            builder(&model).handoff(HandoffTool::to("a", "").named("find")),
            "agent `tester` cannot be built",
        ),
    ] {
        assert_eq!(builder.build().unwrap_err().to_string(), want);
    }
    let korean = agent().handoff(HandoffTool::to("법무 검토", "").named("transfer_to_legal"));
    assert_eq!(korean.build().unwrap().handoffs().next().unwrap().target(), "법무 검토");
}

#[test]
fn a_hand_off_is_listed_among_the_tools() {
    for (name, language) in [("korean", Language::Korean), ("english", Language::English)] {
        let to = HandoffTool::to("billing", "청구와 환불").payload(json!({"type": "integer"}));
        let agent = ReactAgent::builder("front", "", ScriptedModel::new([]))
            .prompt("당신은 문의를 받는 비서입니다.")
            .handoff(to)
            .language(language);
        insta::assert_snapshot!(name, agent.build().unwrap().system_prompt());
    }
}

#[tokio::test]
async fn a_hand_off_emits_its_progress() {
    let model = ScriptedModel::new([says(legal("read it"))]);
    let agent = front(&model).build().unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
    let mut events = thread.stream(Input::New(agent.ask("?")), ());
    let mut told = Vec::new();
    while let Some(event) = events.next().await {
        let EventKind::Custom(item) = event.kind else { continue };
        told.push(item.decode::<AgentProgress>().unwrap());
    }
    let want = AgentProgress::HandedOff {
        agent: "tester".into(),
        to: "legal".into(),
        task: Some("read it".into()),
    };
    assert_eq!(told.last(), Some(&want));
}

/// A thread whose agent finds, hands over, asks a person and breaks.
fn thread(ledger: &Ledger, script: Vec<Exchange>) -> (ReactAgent, Thread<AgentState>) {
    let spec = |name| ToolSpec::new(name, "", json!({})).unwrap();
    let approve = FnTool::untyped(spec("approve"), |_, call: Call| async move {
        let request = Request::new(Stored::encode(&"?").map_err(ToolError::failed)?);
        Ok(call.question(request).await?.to_string().into())
    });
    let down = AtomicU32::new(0);
    let flaky = FnTool::untyped(spec("flaky"), move |_, _| {
        let first = down.fetch_add(1, Ordering::SeqCst) == 0;
        async move { if first { Err(ToolError::failed("down")) } else { Ok("up".into()) } }
    });
    let agent = ReactAgent::builder("front", "", ScriptedModel::new(script))
        .tools(tools(ledger))
        .tool(approve.effect(Effect::Pure))
        .tool(flaky.effect(Effect::Pure))
        .handoff(HandoffTool::to("legal", ""))
        .tool_errors(ToolErrors::propagate())
        .build()
        .unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
    (agent, thread)
}

/// B113: whatever cuts a turn short, every call of its conversation ends with exactly one result, whether the turn goes on
/// or a new one begins.
#[tokio::test(start_paused = true)]
async fn calls_of_a_turn_that_was_cut_short_have_exactly_one_result() {
    let find = || call("find", r#"{"q": "a", "wait": 1000}"#) + &call("find", r#"{"q": "b"}"#);
    let script = |said: String| {
        vec![says(said), says("Final Answer: done"), says("Final Answer: done again")]
    };
    for goes_on in [true, false] {
        // Dropped, as by a crash: the next run finishes the turn first.
        let (agent, thread) = self::thread(&Ledger::default(), script(find()));
        let run = thread.invoke(agent.ask("?"), ());
        tokio::time::timeout(Duration::from_millis(500), run).await.unwrap_err();
        assert_answered(&after(&agent, &thread, goes_on).await, 2);

        // Cancelled.
        let (agent, thread) = self::thread(&Ledger::default(), script(find()));
        let stop = Cancellation::default();
        let stopping = stop.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(500)).await;
            stopping.cancel();
        });
        let outcome = thread.clone().cancellation(stop).invoke(agent.ask("?"), ()).await.unwrap();
        assert!(matches!(outcome, Outcome::Cancelled(_)), "{outcome:?}");
        assert_answered(&after(&agent, &thread, goes_on).await, 2);

        // Failed.
        let (agent, thread) =
            self::thread(&Ledger::default(), script(find() + &call("flaky", "{}")));
        thread.invoke(agent.ask("?"), ()).await.unwrap_err();
        assert_answered(&after(&agent, &thread, goes_on).await, 3);

        // Failed beside hand-offs: the turn that goes on is handed over.
        let said = legal("a") + &call("flaky", "{}") + &legal("b");
        let (agent, thread) = self::thread(&Ledger::default(), script(said));
        thread.invoke(agent.ask("?"), ()).await.unwrap_err();
        let state = after(&agent, &thread, goes_on).await;
        assert_answered(&state, 3);
        assert_eq!(state.handoff.is_some(), goes_on);
    }
}

/// The state when the turn was finished, or a new one was.
async fn after(agent: &ReactAgent, thread: &Thread<AgentState>, goes_on: bool) -> AgentState {
    let outcome = match goes_on {
        true => thread.resume(()).await,
        false => thread.invoke(agent.ask("and now?"), ()).await,
    };
    outcome.unwrap().done().unwrap()
}

/// B69, B113: the hand-off waits for the answer of the call beside it, and nothing is done twice.
#[tokio::test]
async fn a_call_that_waits_for_a_person_beside_a_hand_off_is_answered_before_it() {
    let ledger = Ledger::default();
    let said = legal("a") + &call("approve", "{}") + &call("find", r#"{"q": "a"}"#);
    let (agent, thread) = thread(&ledger, vec![says(said)]);
    let outcome = thread.invoke(agent.ask("?"), ()).await.unwrap();
    let Outcome::Interrupted(asked) = outcome else { panic!("{outcome:?}") };
    let outcome = thread.answer(asked[0].id.clone(), "yes", ()).await.unwrap();
    let state = outcome.done().unwrap();
    assert_answered(&state, 3);
    assert_eq!(state.handoff.unwrap().to, "legal");
    assert_eq!(*ledger.lock().unwrap(), ["find a"]);
}

#[derive(State, Debug, Clone, Default, PartialEq)]
struct CallerInput {
    messages: Messages,
    no_summary: Option<String>,
}

/// A conversation with a task, a call and a fault in it, as an agent keeps it.
async fn conversation() -> Vec<Message> {
    let model = ScriptedModel::new([
        says(call("find", r#"{"q": "leave"}"#) + "Action: gone\n"),
        says("Final Answer: 15 days"),
    ]);
    let agent = builder(&model).build().unwrap();
    let said = [Message::user("how long?"), Message::user("is my leave?")];
    let state = agent.graph().invoke(agent.input(said, Some("look it up")), ()).await.unwrap();
    state.done().unwrap().messages.iter().cloned().collect()
}

/// What is handed over by `history`, in a graph that fails once after it.
async fn handed_over(history: HandoffHistory, summariser: Option<Summariser>) -> CallerInput {
    let (said, failed) = (Arc::new(conversation().await), Arc::new(AtomicU32::new(0)));
    let graph = Graph::<CallerInput>::builder("hand over")
        .node("take", move |_: Snapshot<CallerInput>, context: Context| {
            let (said, summariser, failed) = (said.clone(), summariser.clone(), failed.clone());
            async move {
                let handoff = Handoff::new("legal").history(history);
                let (summariser, step) = (summariser.as_ref(), "summary");
                let over = handoff.hand_over(&said, summariser, Language::English, &context, step);
                let over = over.await?;
                if failed.fetch_add(1, Ordering::SeqCst) == 0 {
                    return Err(StepError::Failed("after it".into()));
                }
                let update = CallerInput::update().no_summary(over.no_summary);
                Ok(over.messages.into_iter().fold(update, CallerInputUpdate::message))
            }
        })
        .edge(START, "take")
        .edge("take", hanok_graph::END)
        .build()
        .unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(key);
    thread.invoke(CallerInput::update(), ()).await.unwrap_err();
    thread.resume(()).await.unwrap().done().unwrap()
}

fn texts(given: &CallerInput) -> Vec<String> {
    given.messages.iter().map(|message| message.text().into_owned()).collect()
}

/// B114
#[tokio::test]
async fn a_history_says_how_much_of_the_conversation_goes_along() {
    let full = handed_over(HandoffHistory::Full, None).await;
    assert!(full.messages.len() >= 6, "{full:?}");
    assert_answered(&AgentState { messages: full.messages, ..AgentState::default() }, 1);
    for (history, want) in [
        (HandoffHistory::User, &["how long?", "is my leave?"][..]),
        (HandoffHistory::Last, &["is my leave?"]),
        (HandoffHistory::None, &[]),
    ] {
        assert_eq!(texts(&handed_over(history, None).await), want, "{history:?}");
    }
}

/// B114: a summary is made once, and stands between marks, as data (P41).
#[tokio::test]
async fn a_summary_is_made_once_and_goes_along_with_the_user_s_last_message() {
    let model = ScriptedModel::new([says(" wants to know their leave ")
        .contains("Summarise it")
        .contains("[user] how long?")
        .contains("[assistant] find({\"q\":\"leave\"})")
        .contains("[tool] found leave")
        .contains("[assistant] 15 days")]);
    let given = handed_over(
        HandoffHistory::Summary,
        Some(Summariser::model(model.clone(), Language::English)),
    )
    .await;
    assert_eq!(given.no_summary, None);
    model.finished().unwrap();
    let [summary, last] = &texts(&given)[..] else { panic!("{given:?}") };
    assert_eq!(last, "is my leave?");
    let mark = summary.split("<data-").nth(1).unwrap().split('>').next().unwrap();
    assert_eq!(mark.len(), 16);
    assert!(
        summary.ends_with(&format!("<data-{mark}>\nwants to know their leave\n</data-{mark}>"))
    );
}

/// B114: a summary that is empty or fails is what the user said last, and says so; it is not asked for again.
#[tokio::test]
async fn without_a_summary_it_is_the_user_s_last_message() {
    for (made, want) in [
        (Ok(" \n".to_owned()), "the summary is empty"),
        (Err("the model is down"), "the model is down"),
    ] {
        let asked = Arc::new(Mutex::new(0));
        let asks = asked.clone();
        let summariser = Summariser::new(move |_, _| {
            *asks.lock().unwrap() += 1;
            std::future::ready(made.clone())
        });
        let given = handed_over(HandoffHistory::Summary, Some(summariser)).await;
        assert_eq!(texts(&given), ["is my leave?"]);
        assert_eq!(given.no_summary.as_deref(), Some(want));
        assert_eq!(*asked.lock().unwrap(), 1);
    }
    let given = handed_over(HandoffHistory::Summary, None).await;
    assert_eq!(given.no_summary.as_deref(), Some("there is nobody to make a summary"));
}
