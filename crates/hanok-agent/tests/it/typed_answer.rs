//! Final answers that are values.

use hanok_agent::{
    AgentProgress, AgentState, AnswerBy, Protocol, ReactAgent, Retrying, StopReason,
};
use hanok_core::{Call, Effect};
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, Exchange, FnTool, ModelError, ResponseFormat, ScriptedModel,
    ToolError, ToolSpec,
};
use hanok_state::{Message, ToolCall};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::support::{call, tools};

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Leave {
    /// The days of a year.
    days: u32,
    /// The article.
    #[serde(default)]
    article: Option<String>,
}

fn leave(days: u32) -> Leave {
    Leave { days, article: None }
}

async fn ask(
    protocol: Protocol,
    by: AnswerBy,
    script: Vec<Exchange>,
) -> (AgentState, ScriptedModel) {
    let model = ScriptedModel::new(script);
    let agent = ReactAgent::builder("rules", "Knows the rules", model.clone())
        .tools(tools(&Default::default()))
        .protocol(protocol)
        .answer::<Leave>()
        .answer_by(by)
        .build()
        .unwrap();
    let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    (state, model)
}

fn answers(arguments: &str) -> Exchange {
    Exchange::calls([ToolCall::new("a", "final_answer", arguments)])
}

/// The tool is shown beside the agent's own, and its call is the answer.
#[tokio::test]
async fn a_model_answers_by_a_tool() {
    let found = Exchange::calls([ToolCall::new("1", "find", r#"{"q": "leave"}"#)]);
    let script = vec![found, answers(r#"{"days": 15}"#)];
    let (state, model) = ask(Protocol::Native, AnswerBy::Tool, script).await;
    assert_eq!(state.read_value().unwrap(), Some(leave(15)));
    assert_eq!(state.answer.as_deref(), Some(r#"{"days": 15}"#));
    assert_eq!(state.stopped, Some(StopReason::Answered));
    let names: Vec<_> = model.requests()[0].tools.iter().map(|it| it.name().to_owned()).collect();
    assert_eq!(names.last().map(String::as_str), Some("final_answer"));
    // The next turn finds no call without a result.
    let dangling = state.messages.iter().flat_map(|message| message.tool_calls()).count();
    assert_eq!(dangling, 1);
}

/// B122: a model that writes the JSON, or the wrong thing, or the right thing in words, is understood or asked again.
#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_once_more() {
    let says = |text: &str| Exchange::says(text);
    for (protocol, by, first, second) in [
        (
            Protocol::Native,
            AnswerBy::Tool,
            answers(r#"{"days": "many"}"#),
            answers(r#"{"days": 15}"#),
        ),
        (Protocol::Native, AnswerBy::Tool, says("fifteen"), says(r#"{"days": 15}"#)),
        (Protocol::Native, AnswerBy::Schema, says(r#"{"day": 15}"#), says(r#"{"days": 15}"#)),
        (Protocol::Native, AnswerBy::Prompt, says("fifteen"), says(r#"{"days": 15}"#)),
        (
            Protocol::Text,
            AnswerBy::Tool,
            says("Final Answer: fifteen"),
            says("Final Answer: {\"days\": 15}"),
        ),
    ] {
        let script = vec![first, second.contains("The answer does not fit")];
        let (state, model) = ask(protocol, by, script).await;
        assert_eq!(state.read_value().unwrap(), Some(leave(15)), "{protocol:?} {by:?}");
        assert_eq!((state.iteration, state.stopped), (2, Some(StopReason::Answered)));
        let formats =
            model.requests().iter().filter(|it| it.response_format != ResponseFormat::Text).count();
        assert_eq!(formats, if by == AnswerBy::Schema { 2 } else { 0 });
    }
}

/// B122: twice wrong is an end with its own name, and what was said is kept.
#[tokio::test]
async fn an_answer_that_never_fits_ends_the_turn() {
    let script = vec![Exchange::says("fifteen"), Exchange::says("15 days, as I said")];
    let (state, _) = ask(Protocol::Native, AnswerBy::Tool, script).await;
    assert_eq!((state.stopped, &state.value), (Some(StopReason::BadAnswer), &None));
    assert_eq!(state.read_value::<Leave>().unwrap(), None);
    assert_eq!(
        state.messages.last().map(|it| it.text().into_owned()),
        Some("15 days, as I said".into())
    );
}

/// Beside other calls an answer is not one: the model has not seen their results.
#[tokio::test]
async fn an_answer_beside_other_calls_is_not_taken() {
    let script = vec![
        Exchange::calls([
            ToolCall::new("1", "find", r#"{"q": "leave"}"#),
            ToolCall::new("2", "final_answer", r#"{"days": 1}"#),
        ]),
        answers(r#"{"days": 15, "article": "5"}"#)
            .contains("An answer beside other calls is not taken"),
    ];
    let (state, _) = ask(Protocol::Native, AnswerBy::Tool, script).await;
    let value: Leave = state.read_value().unwrap().unwrap();
    assert_eq!(value, Leave { days: 15, article: Some("5".into()) });
}

/// An answer that is no object is wrapped for the model, and read as it is.
#[tokio::test]
async fn an_answer_may_be_a_list() {
    let model = ScriptedModel::new([Exchange::calls([ToolCall::new(
        "1",
        "final_answer",
        r#"{"answer": [1, 2]}"#,
    )])]);
    let agent = ReactAgent::builder("sums", "", model.clone())
        .protocol(Protocol::Native)
        .answer::<Vec<u32>>()
        .build()
        .unwrap();
    let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    let shown = model.requests()[0].tools[0].schema().to_string();
    assert_eq!(state.read_value::<Vec<u32>>().unwrap(), Some(vec![1, 2]), "{shown}");
}

/// The system prompt of the text protocol has the schema, with the tools and without them.
#[tokio::test]
async fn the_text_protocol_is_told_the_form() {
    let script = vec![
        Exchange::says(call("find", r#"{"q": "leave"}"#))
            .contains("one JSON object that fits this JSON Schema"),
        Exchange::says("Thought: known\nFinal Answer: ```json\n{\"days\": 15}\n```"),
    ];
    let (state, _) = ask(Protocol::Text, AnswerBy::Tool, script).await;
    assert_eq!(state.read_value().unwrap(), Some(leave(15)));
}

#[test]
fn a_tool_of_the_same_name_is_refused() {
    let spec = ToolSpec::new("final_answer", "", json!({})).unwrap();
    let own =
        FnTool::untyped(spec, |_, _: Call| async { Err::<_, ToolError>(ToolError::failed("x")) });
    let agent = ReactAgent::builder("rules", "", ScriptedModel::new([]))
        .protocol(Protocol::Native)
        .tool(own.effect(Effect::Pure))
        .answer::<Leave>()
        .build();
    let told = hanok_core::Chain(&agent.unwrap_err()).to_string();
    assert!(told.contains("final_answer"), "{told}");
}

/// Whoever watches sees the answer while it forms, as text and as a call.
#[tokio::test]
async fn an_answer_is_seen_while_it_forms() {
    let pieces = [r#"{"article": "arti"#, "cle 5 of the long", r#" rules", "days""#, ": 15", "}"];
    for (by, exchange) in [
        (AnswerBy::Schema, Exchange::says(pieces.concat())),
        (AnswerBy::Tool, answers(&pieces.concat())),
    ] {
        let model = ScriptedModel::new([exchange.pieces(pieces)]);
        let seen = forming(model, by).await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(seen.join("\n"), @r#"
    {"article":"arti"}
    {"article":"article 5 of the long"}
    {"article":"article 5 of the long rules"}
    {"article":"article 5 of the long rules","days":15}
    "#);
        }
    }
}

/// The values that are seen while the answer forms.
async fn forming(model: impl ChatModel, by: AnswerBy) -> Vec<String> {
    let agent = ReactAgent::builder("rules", "Knows the rules", model)
        .protocol(Protocol::Native)
        .answer::<Leave>()
        .answer_by(by)
        .intercept(Retrying::attempts(2))
        .build()
        .unwrap();
    let app = agent.graph().checkpointer(hanok_checkpoint::InMemoryCheckpointer::new());
    let thread = app.thread(hanok_core::ThreadKey::named("t").unwrap());
    let mut events = thread.stream(hanok_graph::Input::New(agent.ask("?")), ());
    let mut seen = Vec::new();
    while let Some(event) = futures::StreamExt::next(&mut events).await {
        if let hanok_graph::EventKind::Custom(item) = &event.kind
            && let Ok(AgentProgress::Forming { value, .. }) = item.decode()
        {
            seen.push(value.0.to_string());
        }
    }
    seen
}

/// Breaks off within the answer, and then gives it.
#[derive(Debug, Default)]
struct Breaks(std::sync::atomic::AtomicBool);

impl ChatModel for Breaks {
    fn name(&self) -> &str {
        "breaks"
    }

    async fn chat(&self, _: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        let answer = r#"{"article": "5", "days": 15}"#;
        let sink = call.sink().unwrap();
        if !self.0.swap(true, std::sync::atomic::Ordering::SeqCst) {
            sink.call_piece(0, "final_answer", r#"{"days": 9, "article""#);
            return Err(ModelError::BrokenStream { received: 21, source: None });
        }
        answer.split_inclusive(' ').for_each(|piece| sink.call_piece(0, "final_answer", piece));
        let answered = ToolCall::new("a", "final_answer", answer);
        Ok(ChatReply::new(Message::assistant("").with_tool_calls([answered]), "breaks"))
    }
}

/// An attempt that broke off is none: what forms next begins anew.
#[tokio::test(start_paused = true)]
async fn an_answer_that_broke_off_forms_anew() {
    let seen = forming(Breaks::default(), AnswerBy::Tool).await;
    let want = [r#"{"days":9}"#, r#"{"article":"5"}"#, r#"{"article":"5","days":15}"#];
    assert_eq!(seen, want);
}
