//! Conversations of several turns, and turns that were cut short.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use futures::StreamExt;
use hanok_agent::{
    AgentProgress, ReactAgent, StopReason,
    memory::{Compaction, Compactor, KeepRecent, Trigger},
};
use hanok_core::{Call, Request, Stored};
use hanok_graph::{EventKind, Input, Outcome};
use hanok_model::{Exchange, FnTool, ModelError, ScriptedModel, ToolError, ToolSpec};
use hanok_supervisor::SupervisorProgress;

use crate::support::House;

fn says(text: &str) -> Exchange {
    Exchange::says(text)
}

#[tokio::test]
async fn a_new_message_begins_a_turn_and_only_the_messages_last() {
    let house = House::with(
        [
            says("Delegate: search\nTask: a"),
            says("Final Answer: first"),
            // The next turn sees what was said, and what was found for it, but no routes: its prompt begins as the last one.
            says("Final Answer: second")
                .contains("a?")
                .contains("result: found a")
                .contains("first")
                .lacks("Delegate: search\nTask"),
        ],
        [says("Final Answer: found a")],
        [],
        |builder| builder,
    );
    let first = house.ask("a?").await.unwrap();
    assert_eq!((first.iteration, first.agent_outputs.len(), first.messages.len()), (2, 1, 4));

    let second = house.ask("b?").await.unwrap();
    house.finished();
    assert_eq!((second.iteration, second.agent_outputs.len(), second.messages.len()), (1, 0, 6));
    assert_eq!((second.task, second.answer.as_deref()), (None, Some("second")));
    assert!(first.messages.iter().zip(second.messages.iter()).all(|(a, b)| a == b));
}

#[tokio::test]
async fn a_turn_that_failed_goes_on_where_it_stopped_and_asks_no_model_twice() {
    let house = House::with(
        [says("Delegate: search\nTask: a"), says("Final Answer: first").contains("found a")],
        [
            says("Action: gone\nAction Input: {}"),
            Exchange::fails(ModelError::Cancelled),
            says("Final Answer: found a").contains("Observation: There is no tool `gone`."),
        ],
        [],
        |builder| builder,
    );
    house.ask("a?").await.unwrap_err();
    let state = house.thread.resume(()).await.unwrap().done().unwrap();
    house.finished();
    assert_eq!((state.answer.as_deref(), state.iteration), (Some("first"), 2));
    assert_eq!(house.search.requests().len(), 3);
}

/// B117: of a supervisor's conversation old turns become a summary, with the results of its agents; a full window is made room in.
#[tokio::test]
async fn a_long_conversation_of_a_supervisor_is_kept_small() {
    let small = ScriptedModel::new([
        says("They asked for a and b.").contains("[search] found a").contains("between the marks"),
        says("And c, in short.").contains("[user] And how much of c is there"),
    ]);
    let small = small.named("small");
    let policy = Compaction::new().trigger(Trigger::Messages(6)).keep(KeepRecent::Messages(1));
    let memory = Compactor::new(policy, small.clone()).unwrap();
    let full = ModelError::ContextTooLong { limit: None, requested: None, source: None };
    let house = House::with(
        [
            says("Delegate: search\nTask: a"),
            says("Final Answer: first, and that at some length").contains("result: found a"),
            says("Final Answer: second"),
            says("Final Answer: third").contains("They asked for a and b.").lacks("found a"),
            Exchange::fails(full),
            says("Final Answer: fourth").contains("And c, in short."),
        ],
        [says("Final Answer: found a")],
        [],
        |builder| builder.memory(memory),
    );
    for (question, answer) in [
        ("How much of a is there, and where is it?", "first, and that at some length"),
        ("And b?", "second"),
        ("And how much of c is there, and who has it today?", "third"),
        ("And d?", "fourth"),
    ] {
        let state = house.ask(question).await.unwrap();
        assert_eq!(state.answer.as_deref(), Some(answer));
    }
    house.finished();
    small.finished().unwrap();
}

/// A question inside an agent is the thread's: it is answered there, and the agent goes on where it stopped.
#[tokio::test]
async fn a_tool_of_an_agent_that_asks_a_person_suspends_the_whole_run() {
    let spec = ToolSpec::new("approve", "Asks", serde_json::json!({})).unwrap();
    let approve = FnTool::untyped(spec, |_, call: Call| async move {
        let request = Request::new(Stored::encode(&"really?").map_err(ToolError::failed)?);
        Ok(format!("a person said {}", call.question(request).await?).into())
    });
    let agent = ScriptedModel::new([
        says("Action: approve\nAction Input: {}"),
        says("Final Answer: allowed").contains("a person said \"yes\""),
    ]);
    let asking = ReactAgent::builder("asker", "Asks", agent.clone()).tool(approve).build().unwrap();
    let house = House::with(
        [says("Delegate: asker\nTask: a"), says("Final Answer: done").contains("allowed")],
        [],
        [],
        |builder| builder.agent(asking),
    );
    let outcome = house.thread.invoke(house.supervisor.ask("a?"), ()).await.unwrap();
    let Outcome::Interrupted(requests) = outcome else { panic!("{outcome:?}") };
    let outcome = house.thread.answer(requests[0].id.clone(), "yes", ()).await.unwrap();
    assert_eq!(outcome.done().unwrap().answer.as_deref(), Some("done"));
    house.finished();
    agent.finished().unwrap();
}

#[tokio::test]
async fn a_turn_emits_its_progress() {
    let house = House::with(
        [
            says("look it up\nDelegate: search\nTask: a"),
            says("Delegate: tax\nTask: a"),
            says("Final Answer: b"),
        ],
        [says("Thought: easy\nFinal Answer: a")],
        [],
        |builder| builder,
    );
    let mut events = house.thread.stream(Input::New(house.supervisor.ask("a?")), ());
    let mut told = Vec::new();
    while let Some(event) = events.next().await {
        let EventKind::Custom(item) = event.kind else { continue };
        match item.decode::<SupervisorProgress>() {
            Ok(progress) => told.push(format!("{progress:?}")),
            Err(_) => told.push(format!("{:?}", item.decode::<AgentProgress>().unwrap())),
        }
    }
    let agent = || "search".to_owned();
    let want = [
        format!(
            "{:?}",
            SupervisorProgress::Routed {
                to: agent(),
                task: Some("a".into()),
                reason: Some("look it up".into()),
                skipped: vec![],
            }
        ),
        format!("{:?}", SupervisorProgress::AgentStarted { name: agent() }),
        format!("{:?}", AgentProgress::Thought { agent: agent(), text: "easy".into() }),
        format!("{:?}", AgentProgress::Answer { agent: agent(), text: "a".into() }),
        format!(
            "{:?}",
            SupervisorProgress::AgentFinished {
                name: agent(),
                output: "a".into(),
                stopped: StopReason::Answered,
            }
        ),
        format!(
            "{:?}",
            SupervisorProgress::Corrected {
                with: "There is no agent `tax`. The agents are: `count`, `search`.".into(),
            }
        ),
        // The correction is not kept.
        "PromptBroken { cause: Repair, tokens: 31 }".to_owned(),
        format!("{:?}", SupervisorProgress::Answered { answer: "b".into() }),
    ];
    assert_eq!(told, want);
}

/// The answer of an agent whose answers are forwarded is the turn's, word for word, and the supervisor's model is not asked
/// again; without an answer, or beside others, it is a result as any other; a name that is no agent's is a fault.
#[tokio::test]
async fn an_answer_is_forwarded_word_for_word() {
    let house = House::with(
        [
            says("Delegate: search\nTask: a"),
            says("Delegate: search\nTask: b"),
            says("Final Answer: nothing was found"),
        ],
        [says("Final Answer: found a,\n  as it stands there"), says(""), says("")],
        [],
        |builder| builder.forward(["search"]),
    );
    let state = house.ask("a?").await.unwrap();
    assert_eq!(state.answer.as_deref(), Some("found a,\n  as it stands there"));
    assert_eq!((state.iteration, state.stopped), (1, Some(StopReason::Answered)));
    let last = state.messages.last().unwrap();
    assert_eq!(last.text(), "found a,\n  as it stands there");
    // The next turn: the agent has no answer, so the model is told.
    let state = house.ask("b?").await.unwrap();
    assert_eq!(state.answer.as_deref(), Some("nothing was found"));
    house.finished();

    let model = ScriptedModel::new([]);
    let agent = ReactAgent::builder("search", "finds", model.clone()).build().unwrap();
    let built =
        hanok_supervisor::Supervisor::builder(model).agent(agent).forward(["serch"]).build();
    let told = built.unwrap_err().to_string();
    assert!(told.contains("`.forward([\"serch\"])` names none of its agents"), "{told}");
}
