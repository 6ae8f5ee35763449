//! What the model writes, in the text protocol and in the language of the question.

use crate::offline::{
    agent::{Act, Finding},
    conversation::Language,
    extract::Quote,
    pick::{NoCall, Wanted},
    route::Route,
    words::GOES_ON,
};

/// What a supervisor writes.
pub(crate) fn routed(route: &Route, language: Language) -> String {
    let korean = language == Language::Korean;
    match route {
        Route::To { agent, task } => {
            let why = if korean {
                format!("`{agent}`의 설명이 이 질문에 가장 가깝습니다.")
            } else {
                format!("The description of `{agent}` is nearest to the question.")
            };
            format!("{why}\n\nDelegate: {agent}\nTask: {}", quoted(task))
        }
        talk => final_answer(None, said(talk, language)),
    }
}

/// What is said instead of a call or a delegation, without labels.
pub(crate) fn said(route: &Route, language: Language) -> String {
    let either = |korean, english| language.either(korean, english).to_owned();
    match route {
        Route::To { task, .. } => task.clone(),
        Route::Found(texts) => texts.join("\n\n"),
        Route::Nothing(said) if said.is_empty() => nothing("", language),
        Route::Nothing(said) => said.clone(),
        Route::Earlier(said) if said.is_empty() => either(
            "이 대화에서 그 전에 하신 말씀이 없습니다.",
            "Nothing was said before in this conversation.",
        ),
        Route::Earlier(said) => {
            let said: Vec<_> = said.iter().map(|text| format!("- {text}")).collect();
            let begin = "This is what you said in this conversation.";
            let begin = language.either("이 대화에서 하신 말씀입니다.", begin);
            format!("{begin}\n\n{}", said.join("\n"))
        }
        Route::Noted => either(
            "알겠습니다. 이 대화에 남겨 두겠습니다.",
            "I see. It stays in this conversation.",
        ),
        Route::Thanked => either("네, 더 궁금한 것이 있으면 물어보세요.", "You are welcome."),
        Route::Greeted(_, others) if !others.is_empty() => {
            let begin = "안녕하세요. 이런 것을 물어보실 수 있습니다.";
            let begin = language.either(begin, "Hello. You can ask about this.");
            let listed = others.iter().map(|it| format!("- {}: {}", it.name, it.description));
            format!("{begin}\n\n{}", listed.collect::<Vec<_>>().join("\n"))
        }
        Route::Greeted(kinds, _) => {
            let begin = language.either(
                "안녕하세요. 저는 규칙으로만 답하는 오프라인 모델이고, 찾은 글을 옮겨 답합니다. 이런 것을 물어보실 수 있습니다:",
                "Hello. I am an offline model of rules, and answer with what I find. You can ask about:",
            );
            let kinds = kinds.iter().map(|kind| kind.name(language == Language::Korean));
            format!("{begin} {}.", kinds.collect::<Vec<_>>().join(", "))
        }
    }
}

/// What an agent writes.
pub(crate) fn acted(act: &Act, language: Language) -> String {
    match act {
        Act::Call(wanted) => {
            let arguments = serde_json::Value::Object(wanted.arguments.clone());
            format!(
                "Thought: {}\nAction: {}\nAction Input: {arguments}",
                before(wanted, language),
                wanted.tool
            )
        }
        Act::Talk(talk) => final_answer(None, said(talk, language)),
        Act::Answer(findings) => {
            let thought = language.either(
                "확인한 내용에서 질문에 맞는 부분으로 답합니다.",
                "I answer with what fits the question in what I was given.",
            );
            final_answer(Some(thought), answered(findings, language))
        }
    }
}

/// What is thought before a call.
pub(crate) fn before(wanted: &Wanted, language: Language) -> String {
    match language {
        Language::Korean => format!("`{}` 도구로 확인합니다.", wanted.tool),
        Language::English => format!("I look it up with `{}`.", wanted.tool),
    }
}

/// What is answered, without the labels of the protocol.
pub(crate) fn answered(findings: &[Finding], language: Language) -> String {
    let answers: Vec<String> = findings.iter().map(|finding| one(finding, language)).collect();
    answers.join("\n\n")
}

fn one(finding: &Finding, language: Language) -> String {
    match finding {
        Finding::Found(quotes) => {
            quotes.iter().map(|it| quoted_from(it, language)).collect::<Vec<_>>().join("\n\n")
        }
        Finding::Near { under, quote } => {
            let source = quote.source.as_deref().unwrap_or_default();
            let name = if under.is_empty() { source } else { under };
            let name = if name.is_empty() { language.either("이것", "this") } else { name };
            // It may be the answer: that nothing was found is not said above what answers.
            let begin = language
                .either("꼭 맞는 답인지는 확실하지 않습니다.", "This may not be the answer.");
            let nearest = match language {
                Language::Korean => format!("가장 가까운 내용은 {name}입니다:"),
                Language::English => format!("The nearest is {name}:"),
            };
            format!("{begin} {nearest}\n{}", quoted_from(quote, language))
        }
        Finding::Said(text) => text.clone(),
        Finding::Nothing { question } => nothing(question, language),
        Finding::Failed(text) => text.clone(),
        Finding::No(NoCall::NoTool) => language
            .either(
                "이 질문에 답할 자료나 도구를 찾지 못했습니다.",
                "There is no tool for this question: nothing was found.",
            )
            .to_owned(),
        Finding::No(NoCall::Missing { tool, parameter }) => match language {
            Language::Korean => format!(
                "질문에서 `{tool}` 도구에 필요한 `{parameter}`을(를) 찾지 못했습니다. 덧붙여 다시 물어봐 주세요."
            ),
            Language::English => format!(
                "The question does not say `{parameter}`, which `{tool}` needs: nothing was found. Please add it."
            ),
        },
    }
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

crate::offline::tables::lists! { LABELS }

fn final_answer(thought: Option<&str>, answer: impl AsRef<str>) -> String {
    let thought = thought.map(|thought| format!("Thought: {thought}\n")).unwrap_or_default();
    format!("{thought}Final Answer: {}", quoted(answer.as_ref()))
}

/// `text` in which no line and no tag can be taken for a part of the protocol.
fn quoted(text: &str) -> String {
    let text = untagged(text);
    let line = |line: &str| {
        // What stands in quotes already is left alone.
        let bare = line.trim_start_matches(|c: char| !c.is_alphabetic() && !matches!(c, '“' | '‘'));
        let label = bare.to_lowercase();
        let labelled =
            LABELS.iter().any(|word| label.starts_with(word)) && line.contains([':', '：']);
        let begins = line.trim_start().starts_with(['{', '[']) || line.contains("```");
        if labelled || begins { format!("“{line}”") } else { line.to_owned() }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// `text` with another sign where a tag could begin; `a < b` stays.
fn untagged(text: &str) -> String {
    let mut next = text.chars().skip(1);
    text.chars()
        .map(|c| match (c, next.next()) {
            ('<', Some(tag)) if tag.is_ascii_alphabetic() || matches!(tag, '/' | '|' | '｜') => {
                '‹'
            }
            _ => c,
        })
        .collect()
}
