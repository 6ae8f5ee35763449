//! How often a model leaves out the word that labels carry.
//!
//! `OPENAI_BASE_URL=… OPENAI_MODEL=… cargo nextest run -p example-tests -p terminal --all-features --run-ignored only --no-capture word_is_left_out`
//! prints it, for the model of that server.

use hanok_agent::{FaultKind, ReactAgent};
use hanok_core::Effect;
use hanok_model::{ChatModel, FnTool, ToolSpec};
use kit::brain;
use serde_json::json;

/// Questions that need a tool, half of them in Korean.
const QUESTIONS: [&str; 10] = [
    "What is the weather in Seoul?",
    "서울 날씨 알려줘",
    "Compare the weather of Seoul and Jeju.",
    "서울이랑 제주 날씨를 비교해 줘",
    "How warm is it in Daegu?",
    "대구는 지금 몇 도야?",
    "What time is it in Tokyo?",
    "도쿄는 지금 몇 시야?",
    "Weather in Gwangju, and the time in Berlin?",
    "광주 날씨하고 베를린 시간 알려줘",
];

#[tokio::test]
#[ignore = "asks the server of OPENAI_BASE_URL"]
async fn how_often_the_word_is_left_out() {
    let brain = brain::choose().await.unwrap();
    assert!(!brain.offline, "OPENAI_BASE_URL names no server");
    let tool = |name: &'static str, about: &str, gives: &'static str| {
        let schema = json!({
            "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
        });
        let spec = ToolSpec::new(name, about, schema).unwrap();
        FnTool::untyped(spec, move |_, _| async move { Ok(gives.into()) }).effect(Effect::Pure)
    };
    for is_keyed in [true, false] {
        let (mut with, mut without, mut answered) = (0, 0, 0);
        for question in QUESTIONS {
            let model = brain.model.clone();
            let builder = ReactAgent::builder("guide", "You answer in one sentence.", model)
                .tool(tool("weather", "The weather of a city now", "12 °C, light rain"))
                .tool(tool("clock", "The time of a city now", "14:05"))
                .max_tokens(200)
                .temperature(0.0)
                .max_iterations(6);
            let keyed = if is_keyed { builder.keyed_labels() } else { builder };
            let agent = keyed.build().unwrap();
            let state =
                agent.graph().invoke(agent.ask(question), ()).await.unwrap().done().unwrap();
            let key =
                state.label_key.map_or_else(|| "Action:".to_owned(), |key| format!("[{key}]"));
            for message in state.messages.iter() {
                let unkeyed = message.metadata().get("fault");
                let is_told = unkeyed.is_some_and(|it| it.0 == FaultKind::UnkeyedLabel.code());
                let calls = !message.tool_calls().is_empty();
                let has_key = message.text().contains(&key);
                with += usize::from(calls && has_key);
                without += usize::from(is_told || calls && !has_key);
            }
            answered += usize::from(state.answer.is_some());
        }
        println!(
            "{}, {} labels: {without} of {} actions have another label; {answered} of {} questions are answered",
            brain.model.name(),
            if is_keyed { "keyed" } else { "plain" },
            with + without,
            QUESTIONS.len()
        );
    }
}
