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
