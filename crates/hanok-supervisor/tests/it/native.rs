//! A supervisor whose agents have calls of their servers delegates by one, too.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use hanok_agent::{Protocol, ReactAgent};
use hanok_model::{ChatRequest, Exchange, ScriptedModel};
use hanok_state::ToolCall;
use hanok_supervisor::{Supervisor, SupervisorBuilder, SupervisorState};

fn agent(name: &str, says: &[&str]) -> ReactAgent {
    let model = ScriptedModel::new(says.iter().map(|text| Exchange::says(*text)));
    let builder = ReactAgent::builder(name, format!("Knows {name}"), model);
    builder.protocol(Protocol::Native).build().unwrap()
}

fn to(agent: &str, task: &str) -> Exchange {
    Exchange::call("delegate", format!("{{\"agent\": \"{agent}\", \"task\": \"{task}\"}}"))
}

/// What `script` and the agents `rules` and `sums` come to.
async fn asked(
    script: impl IntoIterator<Item = Exchange>,
    build: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
) -> Result<(SupervisorState, Vec<ChatRequest>), String> {
    let model = ScriptedModel::new(script);
    let agents = [agent("rules", &["15일"]), agent("sums", &["3,000"])];
    let supervisor = build(Supervisor::builder(model.clone()).agents(agents)).build().unwrap();
    let ended = supervisor.graph().invoke(supervisor.ask("연차는?"), ()).await;
    let state = ended.map_err(|error| hanok_core::Chain(&error).to_string())?.done().unwrap();
    model.finished().unwrap();
    Ok((state, model.requests()))
}

#[tokio::test]
async fn it_delegates_by_a_call_and_answers_by_words() {
    let answer = "연차를 찾았습니다.\n\n결과: 15일입니다.\nDelegate: sums";
    let (state, requests) =
        asked([to("rules", "연차 찾기"), Exchange::says(answer)], |it| it).await.unwrap();
    // No label cuts the answer, and none delegates.
    assert_eq!(state.answer.as_deref(), Some(answer));
    let [first, second] = &requests[..] else { panic!("{}", requests.len()) };
    let [tool] = &first.tools[..] else { panic!("{:?}", first.tools) };
    assert_eq!(tool.schema()["properties"]["agent"]["enum"], serde_json::json!(["rules", "sums"]));
    assert!(!first.messages[0].text().contains("Final Answer"), "{first:?}");
    assert!(second.messages.last().unwrap().text().contains("15일"), "{second:?}");
}

#[tokio::test]
async fn several_calls_of_a_reply_run_at_once() {
    let call = |id: &str, agent: &str| {
        let arguments = format!("{{\"agent\": \"{agent}\", \"task\": \"{agent}\"}}");
        ToolCall::new(id, "delegate", arguments)
    };
    let both = Exchange::calls([call("1", "rules"), call("2", "sums")]);
    let done = || Exchange::says("둘 다").contains("1. rules").contains("2. sums");
    let (state, _) = asked([both, done()], SupervisorBuilder::parallel).await.unwrap();
    assert_eq!((state.iteration, state.answer.as_deref()), (2, Some("둘 다")));
}

/// The correction is the result of the call that was wrong, as servers want it.
#[tokio::test]
async fn a_call_of_nobody_is_corrected_once() {
    type Wrong = fn() -> Exchange;
    let wrong: [(Wrong, &str); 3] = [
        (|| to("cook", "eat"), "delegates to `cook`"),
        (|| Exchange::call("search", "{}"), "delegates to nobody: search"),
        (|| Exchange::call("delegate", "{\"task\": 1}"), "delegates to nobody"),
    ];
    for (wrong, fault) in wrong {
        let script = [wrong(), to("rules", "연차"), Exchange::says("15일")];
        let (state, requests) = asked(script, |it| it).await.unwrap();
        assert_eq!(state.answer.as_deref(), Some("15일"));
        let corrected = requests[1].messages.last().unwrap();
        assert!(corrected.tool_call_id().is_some(), "{corrected:?}");
        let twice = asked([wrong(), wrong()], |it| it).await.unwrap_err();
        assert!(twice.contains(fault), "{twice}");
    }
}

/// Whoever wants labels has them.
#[tokio::test]
async fn labels_are_a_setting() {
    let script = [Exchange::says("Delegate: rules\nTask: a"), Exchange::says("Final Answer: 15일")];
    let (state, requests) = asked(script, |it| it.protocol(Protocol::Text)).await.unwrap();
    assert_eq!(state.answer.as_deref(), Some("15일"));
    assert!(requests[0].tools.is_empty());
}
