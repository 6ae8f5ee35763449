//! Agents that hand a thread to one another.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use std::collections::BTreeMap;

use hanok_agent::{
    HandoffHistory, HandoffTool, Protocol, ReactAgent, ReactAgentBuilder, StopReason, Summariser,
};
use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{Call, Request, Stored, Tenant, ThreadKey};
use hanok_graph::{NodeError, Outcome, RunError, Thread};
use hanok_model::{Exchange, FnTool, ModelError, ScriptedModel, ToolError, ToolSpec};
use hanok_state::{Arguments, Message, ToolCall};
use hanok_supervisor::{Swarm, SwarmBuilder, SwarmError, SwarmState};
use serde_json::json;

fn says(text: &str) -> Exchange {
    Exchange::says(text)
}

fn hands_over(to: &str, task: &str) -> Exchange {
    says(&format!("Action: transfer_to_{to}\nAction Input: {{\"task\": \"{task}\"}}"))
}

fn agent(name: &str, script: impl IntoIterator<Item = Exchange>) -> ReactAgentBuilder {
    ReactAgent::builder(name, "", ScriptedModel::new(script))
}

/// `front` and `back`, who hand over to each other by `history`.
fn pair(
    history: HandoffHistory,
    front: impl IntoIterator<Item = Exchange>,
    back: impl IntoIterator<Item = Exchange>,
) -> [ReactAgent; 2] {
    let to = |name| HandoffTool::to(name, "").history(history);
    let [front, back] = [agent("front", front), agent("back", back)];
    [front.handoff(to("back")).build().unwrap(), back.handoff(to("front")).build().unwrap()]
}

fn thread(swarm: &Swarm, store: &SharedCheckpointer) -> Thread<SwarmState> {
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    swarm.graph().checkpointer(store.clone()).thread(key)
}

/// A swarm and its thread, turn by turn.
struct Talk {
    swarm: Swarm,
    thread: Thread<SwarmState>,
}

impl Talk {
    fn new(builder: SwarmBuilder) -> Self {
        let swarm = builder.build().unwrap();
        Self {
            thread: thread(&swarm, &SharedCheckpointer::new(InMemoryCheckpointer::new())),
            swarm,
        }
    }

    async fn ask(&self, text: &str) -> Result<SwarmState, RunError> {
        Ok(self.thread.invoke(self.swarm.ask(text), ()).await?.done().unwrap())
    }
}

/// Every call of the conversation has exactly one result.
#[track_caller]
fn assert_answered(state: &SwarmState, calls: usize) {
    let mut results = BTreeMap::new();
    for id in state.messages.iter().filter_map(Message::tool_call_id) {
        *results.entry(id).or_insert(0) += 1;
    }
    let made: Vec<_> = state.messages.iter().flat_map(Message::tool_calls).collect();
    let want: BTreeMap<_, _> = made.iter().map(|call| (call.id.as_str(), 1)).collect();
    assert_eq!((results, made.len()), (want, calls), "{state:#?}");
}

fn texts(messages: &[Message]) -> Vec<String> {
    messages.iter().skip(1).map(|message| message.text().into_owned()).collect()
}

/// B115, B113
#[tokio::test]
async fn the_agent_that_a_thread_was_handed_to_takes_the_next_turn() {
    let agents = pair(
        HandoffHistory::Full,
        [hands_over("back", "refund it"), says("Final Answer: hello again")],
        [
            says("Final Answer: on its way")
                .contains("my money")
                .contains("The conversation was handed over to `back`.")
                .contains("Task: refund it"),
            says("Final Answer: tomorrow").contains("on its way").contains("when?"),
            hands_over("front", "say hello"),
        ],
    );
    let talk = Talk::new(Swarm::builder().agents(agents));
    let state = talk.ask("my money").await.unwrap();
    assert_eq!((state.active.as_str(), state.hops), ("back", 1));
    assert_eq!(
        (state.answer.as_deref(), state.stopped),
        (Some("on its way"), Some(StopReason::Answered))
    );

    let state = talk.ask("when?").await.unwrap();
    assert_eq!((state.active.as_str(), state.hops), ("back", 0));
    assert_eq!(state.answer.as_deref(), Some("tomorrow"));

    let state = talk.ask("thanks").await.unwrap();
    assert_eq!((state.active.as_str(), state.hops), ("front", 1));
    assert_eq!(state.answer.as_deref(), Some("hello again"));
    assert_answered(&state, 2);
    let by = |name: &str| {
        state.messages.iter().filter(|m| m.metadata().get("agent") == Some(&name.into())).count()
    };
    assert_eq!((by("front"), by("back")), (3, 4));
}

/// B115: a thread outlives the build that stored it.
#[tokio::test]
async fn an_active_agent_that_is_not_there_is_a_typed_error_and_changes_nothing() {
    let script =
        || pair(HandoffHistory::Full, [hands_over("back", "a")], [says("done"), says("more")]);
    let (whole, store) = (
        Swarm::builder().agents(script()).build().unwrap(),
        SharedCheckpointer::new(InMemoryCheckpointer::new()),
    );
    let before = thread(&whole, &store);
    let stored = before.invoke(whole.ask("?"), ()).await.unwrap().done().unwrap();

    let alone = agent("front", [says("Final Answer: here")]).build().unwrap();
    let other = agent("other", []).build().unwrap();
    let smaller = Swarm::builder().agent(alone).agent(other).build().unwrap();
    let after = thread(&smaller, &store);
    let error = after.invoke(smaller.ask("and?"), ()).await.unwrap_err();
    let RunError::Node { source: NodeError::Router(cause), .. } = &error else {
        panic!("{error:?}")
    };
    let SwarmError::UnknownActive { active, members } = cause.downcast_ref().unwrap() else {
        panic!("{cause:?}")
    };
    assert_eq!(
        (active.as_str(), &members[..]),
        ("back", &["front".to_owned(), "other".to_owned()][..])
    );
    assert_eq!(
        cause.to_string(),
        "the thread's active agent `back` is not in the swarm; there are `front`, `other`"
    );
    assert_eq!(after.state(None).await.unwrap().unwrap(), stored);

    // Whoever runs it says who takes it over, or runs it with the agent.
    let state = before.invoke(whole.ask("and?"), ()).await.unwrap().done().unwrap();
    assert_eq!(state.answer.as_deref(), Some("more"));
    let input = smaller.ask("and now?").active("front").since(0).brief(Vec::new());
    let state = after.invoke(input, ()).await.unwrap().done().unwrap();
    assert_eq!((state.active.as_str(), state.answer.as_deref()), ("front", Some("here")));
}

/// B114: typed, stored, and the next turn belongs to the agent that was handed to.
#[tokio::test]
async fn a_turn_that_is_handed_over_too_often_ends_at_the_hop_limit() {
    for (max_hops, active) in [(0usize, "back"), (1, "front"), (2, "back")] {
        let over = |to| (0..2).map(move |n| hands_over(to, &format!("{n}")));
        let (front, back) = (over("back"), over("front"));
        let answer = || [says("Final Answer: enough")];
        let [fronts, backs] = [max_hops / 2 + 1, max_hops.div_ceil(2)];
        let agents = pair(
            HandoffHistory::Last,
            front.take(fronts).chain(answer()),
            back.take(backs).chain(answer()),
        );
        let max = u32::try_from(max_hops).unwrap();
        let talk = Talk::new(Swarm::builder().agents(agents).max_hops(max));
        let state = talk.ask("?").await.unwrap();
        assert_eq!((state.stopped, state.answer.as_deref()), (Some(StopReason::HopLimit), None));
        assert_eq!((state.active.as_str(), state.hops), (active, max));
        assert_answered(&state, max_hops + 1);
        assert_eq!(talk.thread.state(None).await.unwrap().unwrap(), state);

        let state = talk.ask("go on").await.unwrap();
        assert_eq!((state.active.as_str(), state.hops), (active, 0));
        assert_eq!(state.answer.as_deref(), Some("enough"));
    }
}

/// B114: what goes along with a hand-off holds in later turns too.
#[tokio::test]
async fn an_agent_sees_the_messages_of_the_hand_off_and_all_later_ones() {
    let task = "Task: do it";
    for (history, want) in [
        (HandoffHistory::User, vec!["first", "second", task]),
        (HandoffHistory::Last, vec!["second", task]),
        (HandoffHistory::None, vec![task]),
    ] {
        let model = ScriptedModel::new([says("Final Answer: done"), says("Final Answer: more")]);
        let to = HandoffTool::to("back", "").history(history);
        let front = agent("front", [says("Final Answer: hello"), hands_over("back", "do it")]);
        let front = front.handoff(to).build().unwrap();
        let back = ReactAgent::builder("back", "", model.clone()).build().unwrap();
        let talk = Talk::new(Swarm::builder().agent(front).agent(back));
        talk.ask("first").await.unwrap();
        talk.ask("second").await.unwrap();
        talk.ask("third").await.unwrap();
        let requests = model.requests();
        assert_eq!(texts(&requests[0].messages), want, "{history:?}");
        let later = [&want[..], &["done", "third"]].concat();
        assert_eq!(texts(&requests[1].messages), later, "{history:?}");
    }
}

/// B114, P41: the summary is made by whom the swarm says, and the payload is data.
#[tokio::test]
async fn a_summary_and_a_payload_go_along_as_data() {
    let model = ScriptedModel::new([says("Final Answer: done").check(|request| {
        let said = texts(&request.messages);
        let [summary, last, task] = &said[..] else { return Err(format!("{said:#?}")) };
        let inside = |text: &str, data: &str| {
            let mark = text.split("<data-").nth(1)?.split('>').next()?;
            text.ends_with(&format!("<data-{mark}>\n{data}\n</data-{mark}>")).then_some(())
        };
        let fits = inside(summary, "they want money").is_some()
            && last == "my money"
            && task.starts_with("Task: refund it\n\n")
            && inside(task, r#"{"order":7}"#).is_some();
        if fits { Ok(()) } else { Err(format!("{said:#?}")) }
    })]);
    let to = HandoffTool::to("back", "")
        .history(HandoffHistory::Summary)
        .payload(json!({"type": "object", "properties": {"order": {"type": "integer"}}}));
    let front = agent(
        "front",
        [says(
            "Action: transfer_to_back\nAction Input: {\"task\": \"refund it\", \"payload\": {\"order\": 7}}",
        )],
    );
    let front = front.handoff(to).build().unwrap();
    let back = ReactAgent::builder("back", "", model.clone()).build().unwrap();
    let summariser = Summariser::new(|messages: Vec<Message>, _| async move {
        let seen = messages.iter().any(|message| message.text().contains("handed over"));
        if seen { Ok("they want money".to_owned()) } else { Err("not seen") }
    });
    let talk = Talk::new(Swarm::builder().agent(front).agent(back).summariser(summariser));
    talk.ask("my money").await.unwrap();
    model.finished().unwrap();
}

fn native(name: &str, id: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: Arguments::new(arguments) }
}

/// B113: servers number their calls anew; in one conversation each id is one call.
#[tokio::test]
async fn calls_of_different_agents_with_one_id_are_distinguished() {
    let task = r#"{"task":"a"}"#;
    let model = ScriptedModel::new([
        Exchange::calls([native("gone", "x", "{}")]),
        says("done"),
        Exchange::calls([native("gone", "x", "{}")]),
        says("done"),
    ]);
    let to = HandoffTool::to("back", "").history(HandoffHistory::Last);
    let front = agent("front", [Exchange::calls([native("transfer_to_back", "x", task)])]);
    let front = front.handoff(to).protocol(Protocol::Native).build().unwrap();
    let back = ReactAgent::builder("back", "", model.clone()).protocol(Protocol::Native);
    let talk = Talk::new(Swarm::builder().agent(front).agent(back.build().unwrap()));
    talk.ask("?").await.unwrap();
    assert_answered(&talk.ask("again").await.unwrap(), 3);
}

/// P2: what was finished before a failure is not done again.
#[tokio::test]
async fn a_turn_that_failed_goes_on_with_the_agent_that_failed() {
    let agents = pair(
        HandoffHistory::Full,
        [hands_over("back", "a")],
        [Exchange::fails(ModelError::Cancelled), says("Final Answer: done")],
    );
    let talk = Talk::new(Swarm::builder().agents(agents));
    talk.ask("?").await.unwrap_err();
    let state = talk.thread.resume(()).await.unwrap().done().unwrap();
    assert_eq!((state.active.as_str(), state.answer.as_deref()), ("back", Some("done")));
    assert_answered(&state, 1);
}

/// B67: a question of an agent is the thread's.
#[tokio::test]
async fn an_agent_that_asks_a_person_suspends_the_turn_and_goes_on_with_the_answer() {
    let spec = ToolSpec::new("ask", "", json!({})).unwrap();
    let ask = FnTool::untyped(spec, |_, call: Call| async move {
        let request = Request::new(Stored::encode(&"?").map_err(ToolError::failed)?);
        Ok(call.question(request).await?.to_string().into())
    });
    let front = agent("front", [hands_over("back", "a")]).handoff(HandoffTool::to("back", ""));
    let back = agent("back", [says("Action: ask\nAction Input: {}"), says("ok").contains("yes")]);
    let agents = [front.build().unwrap(), back.tool(ask).build().unwrap()];
    let talk = Talk::new(Swarm::builder().agents(agents));
    let outcome = talk.thread.invoke(talk.swarm.ask("?"), ()).await.unwrap();
    let Outcome::Interrupted(asked) = outcome else { panic!("{outcome:?}") };
    let outcome = talk.thread.answer(asked[0].id.clone(), "yes", ()).await.unwrap();
    let state = outcome.done().unwrap();
    assert_eq!(state.answer.as_deref(), Some("ok"));
    assert_answered(&state, 2);
}

/// P45: every fault is named at once.
#[test]
fn a_swarm_that_cannot_be_is_refused_with_every_fault() {
    let sums = HandoffTool::to("a", "").history(HandoffHistory::Summary);
    let b = || agent("b", []).handoff(HandoffTool::to("nobody", "")).handoff(sums.clone()).build();
    let a = agent("a", []).build().unwrap();
    let builder = Swarm::builder().agents([a.clone(), b().unwrap(), a]).first("c");
    assert_eq!(
        builder.build().unwrap_err().to_string(),
        "the swarm cannot be built\n\
         - two agents are named `a`\n\
         - `c` is to begin and is not one of its agents; there are `a`, `b`, `a`\n\
         - agent `b` hands over to `nobody`, which is not one of its agents; there are `a`, `b`, `a`\n\
         - agent `b` hands over to `a` with a summary; say who makes it with `.summariser(…)`"
    );
    let error = Swarm::builder().build().unwrap_err().to_string();
    assert_eq!(error, "the swarm cannot be built\n- it has no agents");
}
