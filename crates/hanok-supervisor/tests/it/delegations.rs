//! What agents are given, what comes back, and several of them at once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use hanok_agent::{HandoffHistory, HandoffTool, Language, ReactAgent, StopReason, Summariser};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Call, Effect, Request, Stored, Tenant, ThreadKey};
use hanok_graph::{Outcome, Thread};
use hanok_model::{Exchange, FnTool, ModelError, ScriptedModel, ToolError, ToolSpec};
use hanok_state::{Arguments, Message, Role, ToolCall};
use hanok_supervisor::{OutputMode, Supervisor, SupervisorBuilder, SupervisorState};
use serde_json::json;

use crate::support::House;

fn says(text: &str) -> Exchange {
    Exchange::says(text)
}

/// What `exchange` is sent behind the system prompt has to be this; what a `*` parts follows in this order.
fn sent(exchange: Exchange, want: &'static [&'static str]) -> Exchange {
    exchange.check(move |request| {
        let said: Vec<_> = request.messages.iter().skip(1).map(|m| m.text().into_owned()).collect();
        let fits = |(said, want): (&String, &&str)| match want.contains('*') {
            true => want
                .split('*')
                .try_fold(said.as_str(), |rest, piece| Some(rest.split_once(piece)?.1))
                .is_some(),
            false => said == want,
        };
        match said.len() == want.len() && said.iter().zip(want).all(fits) {
            true => Ok(()),
            false => Err(format!("{said:#?}")),
        }
    })
}

/// What is said in two turns, and what the agent of the second is given of them.
async fn agent_input(
    want: &'static [&'static str],
    build: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
) {
    let house = House::with(
        [
            says("Delegate: search\nTask: earlier"),
            says("Final Answer: hello"),
            says("Delegate: search\nTask: find a"),
            says("Delegate: count\nTask: count b"),
            says("Final Answer: both"),
        ],
        [says("Final Answer: found earlier"), says("Final Answer: found a")],
        [sent(says("Final Answer: 7"), want)],
        build,
    );
    house.ask("first").await.unwrap();
    house.ask("second").await.unwrap();
    house.finished();
}

/// B114: what agents found is data to another agent too (P41), and of a turn's routing nothing is seen.
#[tokio::test]
async fn a_history_selects_the_part_of_the_conversation_that_an_agent_sees() {
    agent_input(
        &[
            "first",
            "What the agents have found for this request so far:\n\n1. search\n<data-*>\nt\u{2060}ask: earlier\nresult: found earlier\n</data-*",
            "hello",
            "second",
            "What the agents have found for this request so far:\n\n1. search\n<data-*>\nt\u{2060}ask: find a\nresult: found a\n</data-*",
            "Task: count b",
        ],
        |builder| builder.history(HandoffHistory::Full),
    )
    .await;
    agent_input(&["first", "second", "Task: count b"], |builder| builder).await;
    agent_input(&["second", "Task: count b"], |builder| builder.history(HandoffHistory::Last))
        .await;
    agent_input(&["Task: count b"], |builder| builder.history(HandoffHistory::None)).await;
    let summarise = |made: &'static str| {
        Summariser::new(move |messages: Vec<Message>, _| async move {
            let said: Vec<_> = messages.iter().map(|m| m.text().into_owned()).collect();
            assert!(said.iter().all(|text| !text.contains("Delegate")), "{said:?}");
            Ok::<_, ToolError>(made.to_owned())
        })
    };
    agent_input(
        &["The conversation so far, in short.*>\nin short\n</data-*", "second", "Task: count b"],
        |builder| builder.history(HandoffHistory::Summary).summariser(summarise("in short")),
    )
    .await;
    // A summary that says nothing is none.
    agent_input(&["second", "Task: count b"], |builder| {
        builder.history(HandoffHistory::Summary).summariser(summarise(""))
    })
    .await;
}

/// B114: without another one, the supervisor's own model makes the summaries.
#[tokio::test]
async fn a_summary_is_made_by_the_supervisor_s_model_unless_another_one_is_set() {
    let house = House::with(
        [
            says("Delegate: count\nTask: b"),
            says("they want a sum").contains("Summarise it").contains("[user] how much?"),
            says("Final Answer: 7"),
        ],
        [],
        [says("Final Answer: 7").contains("they want a sum")],
        |builder| builder.history(HandoffHistory::Summary),
    );
    house.ask("how much?").await.unwrap();
    house.finished();
}

/// Two agents with a tool, `left` and `right`, and a thread of their supervisor.
fn pair(
    router: &ScriptedModel,
    [left, right]: [&ScriptedModel; 2],
    ledger: &Arc<Mutex<Vec<String>>>,
    build: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
) -> (Supervisor, Thread<SupervisorState>) {
    let agent = |name: &'static str, model: &ScriptedModel| {
        let ledger = ledger.clone();
        let look = FnTool::untyped(spec("look"), move |_, _| {
            ledger.lock().unwrap().push(name.to_owned());
            async move {
                tokio::time::sleep(Duration::from_millis(if name == "left" { 200 } else { 50 }))
                    .await;
                Ok(format!("seen {name}").into())
            }
        });
        let ask = FnTool::untyped(spec("ask"), move |_, call: Call| async move {
            let request = Request::new(Stored::encode(&name).map_err(ToolError::failed)?);
            Ok(call.question(request).await?.to_string().into())
        });
        ReactAgent::builder(name, "Looks", model.clone())
            .tool(look.effect(Effect::Pure))
            .tool(ask.effect(Effect::Pure))
            .build()
            .unwrap()
    };
    let builder =
        Supervisor::builder(router.clone()).agent(agent("left", left)).agent(agent("right", right));
    let supervisor = build(builder).build().unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = supervisor.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
    (supervisor, thread)
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec::new(name, "", json!({})).unwrap()
}

const BOTH: &str = "Delegate: left\nTask: a\nDelegate: right\nTask: b";

fn looks() -> ScriptedModel {
    ScriptedModel::new([
        says("Action: look\nAction Input: {}"),
        says("Final Answer: done").contains("seen"),
    ])
}

/// The results, as the conversation keeps them.
fn results(state: &SupervisorState) -> Vec<String> {
    let results = state.messages.iter().filter(|m| m.name().is_some());
    results.map(|message| message.text().into_owned()).collect()
}

/// B114: at once, and in the order of the delegations whichever is done first.
#[tokio::test(start_paused = true)]
async fn delegations_of_one_reply_run_in_parallel_and_their_results_stand_in_its_order() {
    let router = ScriptedModel::new([
        says(BOTH).contains("may be delegated at once"),
        says("Final Answer: both").contains("1. left").contains("2. right"),
    ]);
    let (left, right) = (looks(), looks());
    let (supervisor, thread) =
        pair(&router, [&left, &right], &Arc::default(), SupervisorBuilder::parallel);
    let start = tokio::time::Instant::now();
    let state = thread.invoke(supervisor.ask("?"), ()).await.unwrap().done().unwrap();
    assert_eq!(start.elapsed().as_millis(), 200);
    router.finished().unwrap();
    assert_eq!(results(&state), ["[left] done", "[right] done"]);
    assert_eq!((state.iteration, state.agent_outputs.len()), (2, 2));
    let tasks = state.delegations.iter().map(|to| (to.to.as_str(), to.task.as_deref().unwrap()));
    assert_eq!(tasks.collect::<Vec<_>>(), [("left", "a"), ("right", "b")]);
}

/// B43, B114: one that fails costs the others nothing.
#[tokio::test(start_paused = true)]
async fn a_delegation_that_was_finished_beside_one_that_failed_is_not_run_again() {
    let router = ScriptedModel::new([says(BOTH), says("Final Answer: both")]);
    let left = ScriptedModel::new([
        says("Action: look\nAction Input: {}"),
        Exchange::fails(ModelError::Cancelled),
        says("Final Answer: late"),
    ]);
    let (right, ledger) = (looks(), Arc::default());
    let (supervisor, thread) = pair(&router, [&left, &right], &ledger, SupervisorBuilder::parallel);
    thread.invoke(supervisor.ask("?"), ()).await.unwrap_err();
    let state = thread.resume(()).await.unwrap().done().unwrap();
    for model in [&router, &left, &right] {
        model.finished().unwrap();
    }
    assert_eq!(results(&state), ["[left] late", "[right] done"]);
    assert_eq!(*ledger.lock().unwrap(), ["left", "right"]);
}

/// B69: each question of parallel agents is one of the thread, and each agent goes on with its own answer.
#[tokio::test(start_paused = true)]
async fn agents_that_run_in_parallel_ask_at_once_and_are_answered_one_by_one() {
    let asks = || {
        ScriptedModel::new([
            says("Action: ask\nAction Input: {}"),
            says("Final Answer: yes").contains("yes"),
        ])
    };
    let router = ScriptedModel::new([says(BOTH), says("Final Answer: both")]);
    let (left, right) = (asks(), asks());
    let (supervisor, thread) =
        pair(&router, [&left, &right], &Arc::default(), SupervisorBuilder::parallel);
    let outcome = thread.invoke(supervisor.ask("?"), ()).await.unwrap();
    let Outcome::Interrupted(asked) = outcome else { panic!("{outcome:?}") };
    let who: Vec<String> = asked.iter().map(|request| request.payload().unwrap()).collect();
    assert_eq!(who, ["left", "right"]);
    let outcome = thread.answer(asked[1].id.clone(), "yes", ()).await.unwrap();
    assert!(matches!(&outcome, Outcome::Interrupted(left) if left.len() == 1), "{outcome:?}");
    let state = thread.answer(asked[0].id.clone(), "yes", ()).await.unwrap().done().unwrap();
    assert_eq!(results(&state), ["[left] yes", "[right] yes"]);
    for model in [&router, &left, &right] {
        model.finished().unwrap();
    }
}

/// P45, B114: what cannot be run is told with what was.
#[tokio::test]
async fn a_delegation_to_an_unknown_agent_beside_others_is_noted_with_their_results() {
    let house = House::with(
        [
            says("Delegate: serch\nTask: a\nDelegate: count\nTask: b\nDelegate: count\nTask: b"),
            says("Final Answer: b").contains("1. count").contains("There is no agent `serch`."),
            // The next prompt begins as this one.
            says("Final Answer: c").contains("There is no agent `serch`."),
        ],
        [],
        [says("Final Answer: 7")],
        SupervisorBuilder::parallel,
    );
    let state = house.ask("?").await.unwrap();
    // Equal delegations are one.
    assert_eq!(results(&state), ["[count] 7"]);
    assert!(state.delegations.is_empty());
    house.ask("?").await.unwrap();
    house.finished();
}

/// B114
#[tokio::test]
async fn of_parallel_delegations_those_that_were_answered_are_not_run_again() {
    let house = House::with(
        [
            says("Delegate: search\nTask: a"),
            says("Delegate: search\nTask: a\nDelegate: count\nTask: b"),
            says("Delegate: search\nTask: a\nDelegate: count\nTask: b")
                .contains("2. count")
                .contains("The result of `search` is there already."),
            // All of it is there: told once, and then the answer is the turn's.
            says("Delegate: search\nTask: a").contains("The result of `search` is there already."),
        ],
        [says("Final Answer: found")],
        [says("Final Answer: 7")],
        |builder| builder.parallel().max_iterations(9),
    );
    let state = house.ask("?").await.unwrap();
    house.finished();
    assert_eq!(state.answer.as_deref(), Some("found"));
}

/// B114: the limit is typed, and what was found is there.
#[tokio::test]
async fn at_the_hop_limit_the_turn_ends_with_the_best_result() {
    for parallel in [false, true] {
        let house = House::with(
            [says("Delegate: search\nTask: a"), says("Delegate: search\nTask: b")],
            [says("Final Answer: found a")],
            [],
            |builder| if parallel { builder.parallel() } else { builder }.max_hops(1),
        );
        let state = house.ask("?").await.unwrap();
        house.finished();
        assert_eq!(state.stopped, Some(StopReason::HopLimit));
        let want = "(Stopped here: the limit of 1 delegations was reached.)\n\nfound a";
        assert_eq!(state.answer.as_deref(), Some(want));
        assert_eq!(house.thread.state(None).await.unwrap().unwrap(), state);
    }
    // Of several at once, as many are run as are left.
    let house = House::with(
        [
            says("Delegate: search\nTask: a\nDelegate: count\nTask: b\nDelegate: search\nTask: c"),
            says("Final Answer: b")
                .contains("At most 2 delegations are run at once; not run were: search"),
        ],
        [says("Final Answer: found a")],
        [says("Final Answer: 7")],
        |builder| builder.parallel().max_hops(2),
    );
    assert_eq!(house.ask("?").await.unwrap().stopped, Some(StopReason::Answered));
    house.finished();
}

/// B114: the routing replies are nowhere, and what they led to is told all the same.
#[tokio::test]
async fn without_routing_messages_the_conversation_is_questions_results_and_answers() {
    let house = House::with(
        [
            says("Delegate: search\nTask: a\nDelegate: count\nTask: b"),
            says("Final Answer: a").contains("found").contains("not run were: count"),
        ],
        [says("Final Answer: found")],
        [],
        |builder| builder.keep_routing(false),
    );
    let state = house.ask("?").await.unwrap();
    house.finished();
    let said: Vec<_> = state.messages.iter().map(|message| message.text().into_owned()).collect();
    assert_eq!(said, ["?", "[search] found", "a"]);
}

/// Every call of the conversation has exactly one result.
#[track_caller]
fn assert_answered(state: &SupervisorState, want: usize) {
    let (mut calls, mut observed) = (BTreeMap::new(), BTreeMap::new());
    for message in state.messages.iter() {
        message.tool_calls().iter().for_each(|call| *calls.entry(&*call.id).or_insert(0) += 1);
        message.tool_call_id().into_iter().for_each(|id| *observed.entry(id).or_insert(0) += 1);
    }
    assert_eq!((calls.len(), calls.values().sum::<usize>()), (want, want), "{state:#?}");
    assert_eq!(calls, observed);
}

/// B113: servers number their calls anew for every agent; in one conversation each id is one call.
#[tokio::test(start_paused = true)]
async fn calls_of_different_agents_with_one_id_are_distinguished() {
    let looks = || {
        let arguments = Arguments::new("{}");
        let call = ToolCall { id: "x".into(), name: "look".into(), arguments };
        ScriptedModel::new([Exchange::calls([call]), says("Final Answer: done")])
    };
    let router = ScriptedModel::new([says(BOTH), says("Final Answer: both")]);
    let (left, right) = (looks(), looks());
    let full = |builder: SupervisorBuilder| builder.parallel().output(OutputMode::Full);
    let (supervisor, thread) = pair(&router, [&left, &right], &Arc::default(), full);
    let state = thread.invoke(supervisor.ask("?"), ()).await.unwrap().done().unwrap();
    assert_answered(&state, 2);
}

/// B113, B114: with everything that an agent wrote, each call has its one result; the routing model reads it as data.
#[tokio::test(start_paused = true)]
async fn the_full_output_keeps_the_messages_of_the_agents() {
    let router = ScriptedModel::new([
        says(BOTH),
        says("Final Answer: both")
            .contains("t\u{2060}ask: a\nwork:\n[assistant] A\u{2060}ction: look")
            .contains("[tool] seen left\nresult: done\n</data-")
            .contains("[tool] seen right\nresult: done\n</data-"),
        // The next prompt begins as this one.
        says("Final Answer: hello").contains("[tool] seen left\nresult: done\n</data-"),
    ]);
    let (left, right) = (looks(), looks());
    let full = |builder: SupervisorBuilder| builder.parallel().output(OutputMode::Full);
    let (supervisor, thread) = pair(&router, [&left, &right], &Arc::default(), full);
    let state = thread.invoke(supervisor.ask("?"), ()).await.unwrap().done().unwrap();
    assert_answered(&state, 2);
    let last: Vec<_> = state.messages.iter().filter(|m| m.role() == Role::Assistant).collect();
    assert_eq!(last.len(), 1 + 2 * 2 + 1, "{state:?}");
    thread.invoke(supervisor.ask("and?"), ()).await.unwrap().done().unwrap();
    router.finished().unwrap();
}

/// An agent `front` that hands over to `back`, which hands over to `front`.
fn handing(front: Vec<Exchange>, back: Vec<Exchange>) -> [ReactAgent; 2] {
    [("front", "back", front), ("back", "front", back)].map(|(name, to, script)| {
        ReactAgent::builder(name, "", ScriptedModel::new(script))
            .handoff(HandoffTool::to(to, "").history(HandoffHistory::Last))
            .build()
            .unwrap()
    })
}

fn hands_over(to: &str) -> Exchange {
    says(&format!("Action: transfer_to_{to}\nAction Input: {{\"task\": \"your turn\"}}"))
}

/// B113, B114: a hand-off inside a delegation is followed; what the last agent gave is the result.
#[tokio::test]
async fn an_agent_that_hands_over_is_followed_to_the_result() {
    let agents = handing(
        vec![hands_over("back")],
        vec![sent(says("Final Answer: 7"), &["?", "Task: your turn"])],
    );
    let house = House::with(
        [
            says("Delegate: front\nTask: a"),
            says("Final Answer: seven")
                .contains("1. front")
                .contains("[tool] The conversation was handed over to `back`.")
                .contains("result: 7"),
        ],
        [],
        [],
        |builder| builder.agents(agents).output(OutputMode::Full),
    );
    let state = house.ask("?").await.unwrap();
    house.finished();
    let result = state.messages.iter().find(|m| m.text() == "[front] 7").unwrap();
    assert_eq!(result.metadata()["stopped"], "answered".into());
}

/// B114
#[tokio::test]
async fn agents_that_hand_over_for_ever_are_stopped() {
    let agents = handing(vec![hands_over("back"), hands_over("back")], vec![hands_over("front")]);
    let house = House::with(
        [
            says("Delegate: front\nTask: a"),
            says("Final Answer: nothing").contains(
                "No answer: the agents handed over to one another 2 times and once more.",
            ),
        ],
        [],
        [],
        |builder| builder.agents(agents).max_hops(2),
    );
    let state = house.ask("?").await.unwrap();
    house.finished();
    let result = state.messages.iter().find(|m| m.name() == Some("front")).unwrap();
    assert_eq!(result.metadata()["stopped"], "hop_limit".into());
}

#[test]
fn the_system_prompts_say_whether_several_may_be_delegated_to() {
    for (name, language, parallel) in [
        ("one_korean", Language::Korean, false),
        ("several_korean", Language::Korean, true),
        ("one_english", Language::English, false),
        ("several_english", Language::English, true),
    ] {
        let agent = ReactAgent::builder("rag_agent", "사내 문서를 찾는다", ScriptedModel::new([]));
        let builder = Supervisor::builder(ScriptedModel::new([]))
            .agent(agent.build().unwrap())
            .language(language);
        let builder = if parallel { builder.parallel() } else { builder };
        insta::assert_snapshot!(name, builder.build().unwrap().system_prompt());
    }
}

/// P45: nobody hands over to an agent that is not there.
#[test]
fn a_supervisor_whose_agents_hand_over_to_strangers_is_refused() {
    let [front, _] = handing(vec![], vec![]);
    let error = Supervisor::builder(ScriptedModel::new([])).agent(front).max_hops(0).build();
    assert_eq!(
        error.unwrap_err().to_string(),
        "the supervisor cannot be built\n- it may delegate 0 times; it takes at least 1\n- agent `front` hands over to `back`, which is not one of its agents; there are `front`"
    );
}
