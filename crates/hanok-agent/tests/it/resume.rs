//! Turns that were cut short: what is finished is not done again.

use std::time::Duration;

use hanok_agent::{AgentState, Approval, Doubt, ReactAgent};
use hanok_checkpoint::{AppendId, InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{Call, Effect, Request, Stored, Tenant, ThreadKey, Timestamp};
use hanok_graph::{NewAnswer, Outcome, Resolution, Thread, answer};
use hanok_model::{Exchange, FnTool, ModelError, ScriptedModel, SharedTool, ToolError, ToolSpec};
use serde_json::json;

use crate::support::{Ledger, call, observations, tools};

fn thread(agent: &ReactAgent) -> Thread<AgentState> {
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key)
}

#[tokio::test(start_paused = true)]
async fn calls_that_were_finished_are_not_made_again() {
    let ledger = Ledger::default();
    let calls = call("find", r#"{"q": "quick", "wait": 1}"#)
        + &call("find", r#"{"q": "slow", "wait": 1000}"#)
        + &call("find", r#"{"q": "quick", "wait": 2}"#);
    let model = ScriptedModel::new([Exchange::says(calls), Exchange::says("Final Answer: done")]);
    let agent = ReactAgent::builder("t", "", model.clone()).tools(tools(&ledger)).build().unwrap();
    let thread = thread(&agent);

    let run = thread.invoke(agent.ask("?"), ());
    tokio::time::timeout(Duration::from_millis(500), run).await.unwrap_err();
    assert_eq!(*ledger.lock().unwrap(), ["find quick", "find slow", "find quick"]);
    let state = thread.resume(()).await.unwrap().done().unwrap();

    model.finished().unwrap();
    assert_eq!(*ledger.lock().unwrap(), ["find quick", "find slow", "find quick", "find slow"]);
    let want =
        ["found quick", "found slow", "found quick"].map(|text| format!("Observation: {text}"));
    assert_eq!(observations(&state), want);
}

/// A tool that pays, and takes a second for it.
fn pay(ledger: &Ledger) -> FnTool {
    let paying = ledger.clone();
    FnTool::untyped(ToolSpec::new("pay", "Pays", json!({})).unwrap(), move |_, _| {
        paying.lock().unwrap().push("pay".into());
        async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok("paid".into())
        }
    })
}

/// P4: the run ends in doubt until a person says whether the call was made; it is never silently made again.
#[tokio::test(start_paused = true)]
async fn a_call_that_must_not_be_repeated_is_in_doubt_after_a_crash() {
    for (said, observed, paid) in [
        (Resolution::made("paid by hand").unwrap(), "paid by hand", 1),
        (Resolution::NotMade, "paid", 2),
        (Resolution::GiveUp, "nobody knows whether it took effect", 1),
    ] {
        let ledger = Ledger::default();
        let model = ScriptedModel::new([
            Exchange::says(call("pay", "{}")),
            Exchange::says("Final Answer: done").contains(observed),
        ]);
        let agent = ReactAgent::builder("t", "", model.clone()).tool(pay(&ledger)).build().unwrap();
        let thread = thread(&agent);

        let run = thread.invoke(agent.ask("?"), ());
        tokio::time::timeout(Duration::from_millis(500), run).await.unwrap_err();
        for _ in 0..2 {
            let Outcome::InDoubt(asked) = thread.resume(()).await.unwrap() else { panic!() };
            assert_eq!(asked[0].doubt.as_ref().unwrap().tool, "pay");
            assert_eq!(ledger.lock().unwrap().len(), 1);
        }
        let Outcome::InDoubt(asked) = thread.resume(()).await.unwrap() else { panic!() };
        thread.settle(asked[0].id.clone(), said, ()).await.unwrap().done().unwrap();
        model.finished().unwrap();
        assert_eq!(ledger.lock().unwrap().len(), paid);
    }
}

/// P4: an agent that nobody watches goes on, and its model reads that nobody knows.
#[tokio::test(start_paused = true)]
async fn an_agent_may_give_such_a_call_up() {
    let ledger = Ledger::default();
    let model = ScriptedModel::new([
        Exchange::says(call("pay", "{}")),
        Exchange::says(call("pay", "{}")).contains("nobody knows whether it took effect"),
        Exchange::says("Final Answer: done").contains("paid"),
    ]);
    let agent = ReactAgent::builder("t", "", model.clone())
        .tool(pay(&ledger))
        .in_doubt(Doubt::GiveUp)
        .build()
        .unwrap();
    let thread = thread(&agent);

    let run = thread.invoke(agent.ask("?"), ());
    tokio::time::timeout(Duration::from_millis(500), run).await.unwrap_err();
    thread.resume(()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    // The second is a call of its own, which the model answers for.
    assert_eq!(*ledger.lock().unwrap(), ["pay", "pay"]);
}

/// P41: a mark is kept with its call.
#[tokio::test]
async fn a_model_that_is_asked_again_after_a_failure_is_sent_the_same() {
    let model = ScriptedModel::new([
        Exchange::says(call("find", r#"{"q": "a"}"#)),
        Exchange::fails(ModelError::Cancelled),
        Exchange::says("Final Answer: done"),
    ]);
    let agent = ReactAgent::builder("t", "", model.clone())
        .tools(tools(&Ledger::default()))
        .build()
        .unwrap();
    let thread = thread(&agent);
    thread.invoke(agent.ask("?"), ()).await.unwrap_err();
    thread.resume(()).await.unwrap().done().unwrap();
    let requests = model.requests();
    assert!(requests[1].messages.last().unwrap().text().contains("<data-"));
    assert_eq!(requests[1], requests[2]);
}

#[tokio::test]
async fn an_abandoned_turn_leaves_no_call_without_an_observation() {
    let model = ScriptedModel::new([
        Exchange::says("Final Answer: done").contains("This call was not made")
    ]);
    let agent = ReactAgent::builder("t", "", model.clone()).build().unwrap();
    let given_up = hanok_state::ToolCall {
        id: "x".into(),
        name: "find".into(),
        arguments: Default::default(),
    };
    let said = hanok_state::Message::assistant("Action: find").with_tool_calls([given_up]);
    let input = agent.input([said, "and now?".into()], None);
    let state = agent.graph().invoke(input, ()).await.unwrap().done().unwrap();
    let observed: Vec<_> = state.messages.iter().filter_map(|m| m.tool_call_id()).collect();
    assert_eq!(observed, ["x"]);
    // It follows its call, though the user spoke before it was given.
    let sent: Vec<_> = model.requests()[0].messages.iter().map(|m| m.text().into_owned()).collect();
    assert!(sent[2].starts_with("Observation: This call") && sent[3] == "and now?", "{sent:?}");
}

/// A tool that asks a person what it is given.
fn approve() -> FnTool {
    let spec = ToolSpec::new("approve", "Asks", json!({})).unwrap();
    FnTool::untyped(spec, |asked, call: Call| async move {
        let payload = Stored::encode(asked.as_str()).map_err(ToolError::failed)?;
        let answer = call.question(Request::new(payload)).await?;
        Ok(format!("a person said {answer}").into())
    })
}

/// Each question has its own answer, in whichever order they come.
#[tokio::test]
async fn two_tools_that_wait_are_answered_one_after_the_other() {
    for first in [0, 1] {
        let said = call("approve", r#"{"q":0}"#) + &call("approve", r#"{"q":1}"#);
        let model =
            ScriptedModel::new([Exchange::says(said), Exchange::says("Final Answer: done")]);
        let agent = ReactAgent::builder("t", "", model.clone()).tool(approve()).build().unwrap();
        let thread = thread(&agent);
        let outcome = thread.invoke(agent.ask("?"), ()).await.unwrap();
        let Outcome::Interrupted(asked) = outcome else { panic!("{outcome:?}") };
        assert_eq!(asked.len(), 2);
        let answer = |n: usize| thread.answer(asked[n].id.clone(), ["a", "b"][n], ());
        let outcome = answer(first).await.unwrap();
        assert!(matches!(&outcome, Outcome::Interrupted(left) if left.len() == 1), "{outcome:?}");
        let state = answer(1 - first).await.unwrap().done().unwrap();
        let want = ["a", "b"].map(|said| format!("Observation: a person said {said:?}"));
        assert_eq!(observations(&state), want);
    }
}

/// B69: a tool that asks suspends the run; what ran beside it is not run again.
#[tokio::test]
async fn a_tool_that_waits_for_a_person_suspends_the_run() {
    let ledger = Ledger::default();
    let approve = approve();
    let said = call("find", r#"{"q": "a"}"#) + &call("approve", "{}");
    let model = ScriptedModel::new([
        Exchange::says(said),
        Exchange::says("Final Answer: done").contains("a person said \"yes\""),
    ]);
    let agent = ReactAgent::builder("t", "", model.clone())
        .tools(tools(&ledger))
        .tool(approve)
        .build()
        .unwrap();
    let thread = thread(&agent);
    let outcome = thread.invoke(agent.ask("?"), ()).await.unwrap();
    let Outcome::Interrupted(requests) = outcome else { panic!("{outcome:?}") };
    assert_eq!(requests[0].payload::<String>().unwrap(), "{}");

    let outcome = thread.answer(requests[0].id.clone(), "yes", ()).await.unwrap();
    let state = outcome.done().unwrap();
    model.finished().unwrap();
    assert_eq!(*ledger.lock().unwrap(), ["find a"]);
    assert_eq!(observations(&state).len(), 2);
}

/// P3: a call that is made again has the key that it had, and an equal one beside it another.
#[tokio::test(start_paused = true)]
async fn the_key_of_a_call_is_the_same_when_it_is_made_again() {
    let ledger = Ledger::default();
    let keys = ledger.clone();
    let spec = ToolSpec::new("note", "Notes", json!({})).unwrap();
    let note = FnTool::untyped(spec, move |_, call: Call| {
        keys.lock().unwrap().push(call.key().to_string());
        async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok("noted".into())
        }
    });
    let said = call("note", r#"{"q":1}"#).repeat(2) + &call("note", r#"{"q":2}"#);
    let model = ScriptedModel::new([Exchange::says(said), Exchange::says("Final Answer: done")]);
    let agent =
        ReactAgent::builder("t", "", model).tool(note.effect(Effect::Idempotent)).build().unwrap();
    let thread = thread(&agent);
    let run = thread.invoke(agent.ask("?"), ());
    tokio::time::timeout(Duration::from_millis(500), run).await.unwrap_err();
    thread.resume(()).await.unwrap().done().unwrap();
    let keys = ledger.lock().unwrap();
    let [first, again] = [&keys[..3], &keys[3..]];
    assert_eq!(first, again);
    let different: std::collections::BTreeSet<_> = first.iter().collect();
    assert_eq!(different.len(), 3);
}

/// P4: a build that declares another effect of a tool finds what the one before it has stored of a call, however that recorded it.
#[tokio::test(start_paused = true)]
async fn a_call_that_another_build_finished_is_not_made_again() {
    let effects = [Effect::Pure, Effect::Idempotent, Effect::AtMostOnce];
    let agent = |effect: Effect, ledger: &Ledger, model: &ScriptedModel| {
        let mail =
            FnTool::untyped(ToolSpec::new("mail", "Mails", json!({})).unwrap(), |_, _| async {
                Ok("mailed".into())
            });
        ReactAgent::builder("t", "", model.clone())
            .tools([SharedTool::new(pay(ledger).effect(effect)), SharedTool::new(mail)])
            .intercept(Approval::new().tool("mail"))
            .build()
            .unwrap()
    };
    for (before, after) in
        effects.into_iter().flat_map(|before| effects.map(|after| (before, after)))
    {
        let (ledger, store) =
            (Ledger::default(), SharedCheckpointer::new(InMemoryCheckpointer::new()));
        let on = |agent: &ReactAgent| {
            agent.graph().checkpointer(store.clone()).thread(ThreadKey::named("t").unwrap())
        };
        let calls = call("pay", "{}") + &call("mail", "{}");
        let first = agent(before, &ledger, &ScriptedModel::new([Exchange::says(calls)]));
        let asks = on(&first).invoke(first.ask("?"), ()).await.unwrap();
        assert!(matches!(asks, Outcome::Interrupted(_)), "{asks:?}");
        let model = ScriptedModel::new([Exchange::says("Final Answer: done")]);
        let second = agent(after, &ledger, &model);
        let ended = on(&second).reply(&json!({"decision": "approve"}), ()).await.unwrap();
        let want = ["paid", "mailed"].map(|text| format!("Observation: {text}"));
        assert_eq!(observations(&ended.done().unwrap()), want, "{before:?} {after:?}");
        assert_eq!(*ledger.lock().unwrap(), ["pay"], "{before:?} {after:?}");
    }
}

/// P4: so it is with what a person said of a call that the build before could not repeat.
#[tokio::test(start_paused = true)]
async fn an_answer_about_a_call_counts_in_a_build_that_may_repeat_it() {
    for effect in [Effect::Pure, Effect::Idempotent] {
        let (ledger, store) =
            (Ledger::default(), SharedCheckpointer::new(InMemoryCheckpointer::new()));
        let agent = |effect: Effect| {
            let model = ScriptedModel::new([
                Exchange::says(call("pay", "{}")),
                Exchange::says("Final Answer: done"),
            ]);
            ReactAgent::builder("t", "", model).tool(pay(&ledger).effect(effect)).build().unwrap()
        };
        let on = |agent: &ReactAgent| {
            agent.graph().checkpointer(store.clone()).thread(ThreadKey::named("t").unwrap())
        };
        let first = agent(Effect::AtMostOnce);
        let thread = on(&first);
        let run = thread.invoke(first.ask("?"), ());
        tokio::time::timeout(Duration::from_millis(500), run).await.unwrap_err();
        let Outcome::InDoubt(asked) = thread.resume(()).await.unwrap() else { panic!() };
        let log = hanok_checkpoint::Log::new(store.clone(), ThreadKey::named("t").unwrap());
        let made = NewAnswer::new(asked[0].id.clone(), &json!({"made": "paid by hand"})).unwrap();
        answer(&log, vec![made], None, AppendId(7), Timestamp(0)).await.unwrap();
        let model = ScriptedModel::new([Exchange::says("Final Answer: done")]);
        let second =
            ReactAgent::builder("t", "", model).tool(pay(&ledger).effect(effect)).build().unwrap();
        let ended = on(&second).resume(()).await.unwrap().done().unwrap();
        assert_eq!(observations(&ended), ["Observation: paid by hand"], "{effect:?}");
        assert_eq!(*ledger.lock().unwrap(), ["pay"], "{effect:?}");
    }
}
