//! Sentences for a model about the form of its answer, in Korean and English.

use hanok_parse::Language;
use serde_json::Value;

/// The form, where the server is not told it.
pub(super) fn form(schema: &Value, language: Language) -> String {
    match language {
        Language::Korean => format!(
            "답은 다음 JSON Schema에 맞는 JSON 객체 하나입니다. 다른 글은 쓰지 않습니다.\n{schema}"
        ),
        _ => format!(
            "Answer with one JSON object that fits this JSON Schema, and write nothing else.\n{schema}"
        ),
    }
}

/// The message after an answer that does not fit.
pub(super) fn again(mistakes: &[String], schema: &Value, language: Language) -> String {
    let mistakes = mistakes.join(" ");
    match language {
        Language::Korean => format!(
            "답이 형식에 맞지 않습니다. {mistakes} 고친 JSON 객체 하나만 다시 쓰세요. JSON Schema: {schema}"
        ),
        _ => format!(
            "The answer does not fit. {mistakes} Write the corrected JSON object again, and nothing else. The JSON Schema: {schema}"
        ),
    }
}

pub(super) fn nothing(language: Language) -> String {
    match language {
        Language::Korean => "답이 비어 있습니다.",
        _ => "The answer is empty.",
    }
    .to_owned()
}

pub(super) fn no_json(language: Language) -> String {
    match language {
        Language::Korean => "답에 JSON 객체가 없습니다.",
        _ => "There is no JSON object in the answer.",
    }
    .to_owned()
}

pub(super) fn unreadable(error: &str, language: Language) -> String {
    match language {
        Language::Korean => format!("답을 읽을 수 없습니다({error})."),
        _ => format!("The answer cannot be read ({error})."),
    }
}
