//! Sentences for a model about the form of its answer, in Korean and English.

use hanok_parse::Language;
use serde_json::Value;

use crate::sentence::sentence;

/// The form, where the server is not told it.
pub(super) fn form(schema: &Value, language: Language) -> String {
    sentence!(
        language,
        "답은 다음 JSON Schema에 맞는 JSON 객체 하나입니다. 다른 글은 쓰지 않습니다.\n{schema}",
        "Answer with one JSON object that fits this JSON Schema, and write nothing else.\n{schema}"
    )
}

/// The message after an answer that does not fit.
pub(super) fn again(mistakes: &[String], schema: &Value, language: Language) -> String {
    let mistakes = mistakes.join(" ");
    sentence!(
        language,
        "답이 형식에 맞지 않습니다. {mistakes} 고친 JSON 객체 하나만 다시 쓰세요. JSON Schema: {schema}",
        "The answer does not fit. {mistakes} Write the corrected JSON object again, and nothing else. The JSON Schema: {schema}"
    )
}

pub(super) fn nothing(language: Language) -> String {
    sentence!(language, "답이 비어 있습니다.", "The answer is empty.")
}

pub(super) fn no_json(language: Language) -> String {
    sentence!(language, "답에 JSON 객체가 없습니다.", "There is no JSON object in the answer.")
}

pub(super) fn unreadable(error: &str, language: Language) -> String {
    sentence!(language, "답을 읽을 수 없습니다({error}).", "The answer cannot be read ({error}).")
}

/// The description of the tool by which an agent answers.
pub(super) fn answer_tool(language: Language) -> String {
    sentence!(language, "마지막 답을 이 형식으로 낸다.", "Gives the final answer, in this form.")
}

/// The rule for an agent that answers by a tool.
pub(super) fn answer_by_tool(tool: &str, language: Language) -> String {
    sentence!(
        language,
        "답이 준비되면 글로 쓰지 말고 `{tool}` 도구를 불러 답합니다.",
        "When you have the answer, do not write it as text: call the tool `{tool}` with it."
    )
}

/// The rule for an agent that answers behind a label.
pub(super) fn answer_behind_label(schema: &Value, language: Language) -> String {
    sentence!(
        language,
        "Final Answer 뒤에는 다음 JSON Schema에 맞는 JSON 객체 하나만 씁니다.\n{schema}",
        "Behind Final Answer, write one JSON object that fits this JSON Schema, and nothing else.\n{schema}"
    )
}

/// What is told of an answer that came beside other calls.
pub(super) fn answer_too_early(language: Language) -> String {
    sentence!(
        language,
        "다른 도구와 함께 낸 답은 받지 않습니다. 그 결과를 본 뒤에 답하세요.",
        "An answer beside other calls is not taken. Answer when you have seen their results."
    )
}
