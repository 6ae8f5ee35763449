//! What the model writes, in the text protocol and in the language of the question.

use serde_json::Value;

use crate::offline::{
    agent::{Act, Wanted},
    quote::{Finding, Quote},
    tables,
    talk::Talk,
    words::{self, GOES_ON},
};

/// The language of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Korean,
    English,
}

impl Language {
    /// Korean where the first text with letters has Hangul.
    pub(crate) fn of(texts: &[&str]) -> Self {
        let with_letters = texts.iter().find(|text| text.chars().any(char::is_alphabetic));
        match with_letters {
            Some(text) if !text.chars().any(words::is_hangul) => Self::English,
            _ => Self::Korean,
        }
    }

    /// What is said in Korean, or in English.
    pub(crate) fn either<'t>(self, korean: &'t str, english: &'t str) -> &'t str {
        if self == Self::Korean { korean } else { english }
    }
}

/// `act` in the labels of the text protocol.
pub(crate) fn labelled(act: &Act, language: Language) -> String {
    match act {
        Act::Call(wanted) => {
            let (tool, arguments) = (&wanted.tool, Value::Object(wanted.arguments.clone()));
            let thought = before(wanted, language);
            format!("Thought: {thought}\nAction: {tool}\nAction Input: {arguments}")
        }
        Act::Delegate { agent, task } => {
            let why = match language {
                Language::Korean => format!("`{agent}`의 설명이 이 질문에 가장 가깝습니다."),
                Language::English => {
                    format!("The description of `{agent}` is nearest to the question.")
                }
            };
            format!("{why}\n\nDelegate: {agent}\nTask: {}", quoted(task))
        }
        Act::Answer(_) | Act::Talk(_) => format!("Final Answer: {}", quoted(&said(act, language))),
    }
}

/// What is said before a call.
pub(crate) fn before(wanted: &Wanted, language: Language) -> String {
    match language {
        Language::Korean => format!("`{}` 도구로 확인합니다.", wanted.tool),
        Language::English => format!("I look it up with `{}`.", wanted.tool),
    }
}

/// What is answered, without the labels of the protocol; nothing where something is called.
pub(crate) fn said(act: &Act, language: Language) -> String {
    match act {
        Act::Call(_) | Act::Delegate { .. } => String::new(),
        Act::Answer(findings) => answered(findings, language),
        Act::Talk(talk) => talked(talk, language),
    }
}

fn talked(talk: &Talk, language: Language) -> String {
    let either = |korean, english| language.either(korean, english).to_owned();
    match talk {
        Talk::Earlier(said) if said.is_empty() => either(
            "이 대화에서 그 전에 하신 말씀이 없습니다.",
            "Nothing was said before in this conversation.",
        ),
        Talk::Earlier(said) => {
            let said: Vec<_> = said.iter().map(|text| format!("- {text}")).collect();
            let begin = "This is what you said in this conversation, the newest first.";
            let begin = language.either("이 대화에서 하신 말씀입니다. 새것이 먼저입니다.", begin);
            format!("{begin}\n\n{}", said.join("\n"))
        }
        Talk::Noted => either(
            "알겠습니다. 이 대화에 남겨 두겠습니다.",
            "I see. It stays in this conversation.",
        ),
        Talk::Thanked => either("네, 더 궁금한 것이 있으면 물어보세요.", "You are welcome."),
        Talk::Greeted(_, others) if !others.is_empty() => {
            let begin = "안녕하세요. 이런 것을 물어보실 수 있습니다.";
            let begin = language.either(begin, "Hello. You can ask about this.");
            let listed = others.iter().map(|it| format!("- {}: {}", it.name, it.description));
            format!("{begin}\n\n{}", listed.collect::<Vec<_>>().join("\n"))
        }
        Talk::Greeted(kinds, _) => {
            let begin = language.either(
                "안녕하세요. 저는 규칙으로만 답하는 오프라인 모델이고, 찾은 글을 옮겨 답합니다. 이런 것을 물어보실 수 있습니다:",
                "Hello. I am an offline model of rules, and answer with what I find. You can ask about:",
            );
            let names = kinds.iter().filter_map(|kind| tables::KINDS.get(*kind as usize));
            let names = names.filter_map(|names| names.split_once(':'));
            let names = names.map(|(korean, english)| language.either(korean, english));
            format!("{begin} {}.", names.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The findings, one behind the other.
pub(crate) fn answered(findings: &[Finding], language: Language) -> String {
    let one = |finding: &Finding| match finding {
        Finding::Found(quote) => quoted_from(quote, language),
        Finding::Near { under, quote } => {
            let name =
                if under.is_empty() { quote.source.as_deref() } else { Some(under.as_str()) };
            let name = name.unwrap_or(language.either("이것", "this"));
            // It may be the answer: that nothing was found is not said above what answers.
            let begin = match language {
                Language::Korean => {
                    format!("꼭 맞는 답인지는 확실하지 않습니다. 가장 가까운 내용은 {name}입니다:")
                }
                Language::English => {
                    format!("This may not be the answer. The nearest is {name}:")
                }
            };
            format!("{begin}\n{}", quoted_from(quote, language))
        }
        Finding::Said(text) => text.clone(),
        Finding::Nothing { question } => nothing(question, language),
        Finding::NoTool => language
            .either(
                "이 질문에 답할 자료나 도구를 찾지 못했습니다.",
                "There is no tool for this question: nothing was found.",
            )
            .to_owned(),
        Finding::Missing { tool, parameter } => match language {
            Language::Korean => format!(
                "질문에서 `{tool}` 도구에 필요한 `{parameter}`을(를) 찾지 못했습니다. 덧붙여 다시 물어봐 주세요."
            ),
            Language::English => format!(
                "The question does not say `{parameter}`, which `{tool}` needs: nothing was found. Please add it."
            ),
        },
    };
    findings.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

/// The lines of a quote, with where they are from.
fn quoted_from(quote: &Quote, language: Language) -> String {
    let label = language.either("\n\n출처: ", "\n\nSource: ");
    let mut text = quote.lines.join("\n");
    quote.source.iter().for_each(|source| text.extend([label, source]));
    text
}

fn nothing(question: &str, language: Language) -> String {
    let question = question.split_once(GOES_ON).map_or(question, |(_, question)| question);
    let question: String = question.chars().take(80).collect();
    match (language, question.is_empty()) {
        (Language::Korean, true) => "답을 찾지 못했습니다.".to_owned(),
        (Language::Korean, false) => format!("‘{question}’에 맞는 내용을 찾지 못했습니다."),
        (Language::English, true) => "Nothing was found.".to_owned(),
        (Language::English, false) => format!("Nothing was found about “{question}”."),
    }
}

/// `text` in which no line and no tag can be taken for a part of the protocol.
fn quoted(text: &str) -> String {
    let text = untagged(text);
    let line = |line: &str| {
        // What stands in quotes already is left alone.
        let bare = line.trim_start_matches(|c: char| !c.is_alphabetic() && !matches!(c, '“' | '‘'));
        let label = bare.to_lowercase();
        let labelled =
            tables::LABELS.iter().any(|word| label.starts_with(word)) && line.contains([':', '：']);
        let begins = line.trim_start().starts_with(['{', '[']) || line.contains("```");
        if labelled || begins { format!("“{line}”") } else { line.to_owned() }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// `text` with another sign where a tag could begin; `a < b` stays.
fn untagged(text: &str) -> String {
    let mut next = text.chars().skip(1);
    let sign = |c| match (c, next.next()) {
        ('<', Some(tag)) if tag.is_ascii_alphabetic() || matches!(tag, '/' | '|' | '｜') => '‹',
        _ => c,
    };
    text.chars().map(sign).collect()
}
