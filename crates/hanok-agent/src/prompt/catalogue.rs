//! Sentences about a catalogue of tools, in Korean and English.

use hanok_model::ToolSpec;
use hanok_parse::Language;

use super::calls::bounded;
use crate::sentence::sentence;

/// The most characters of a description in the result of a search. The tool itself is shown whole.
const SHORT: usize = 160;

/// The description of the tool that searches for tools.
pub(crate) fn search_tools(language: Language) -> &'static str {
    match language {
        Language::Korean => {
            "도구를 찾는다. 지금 있는 도구로 할 수 없는 일이면 먼저 이것으로 찾는다. 찾은 도구는 바로 부를 수 있다."
        }
        _ => {
            "Searches for tools. Use it first when none of the tools at hand does what is needed. The tools that it finds can be \
             called at once."
        }
    }
}

/// The description of its query.
pub(crate) fn search_tools_query(language: Language) -> &'static str {
    match language {
        Language::Korean => "도구가 할 일, 또는 도구의 이름",
        _ => "What the tool is to do, or its name",
    }
}

/// The description of its limit.
pub(crate) fn search_tools_limit(language: Language) -> &'static str {
    match language {
        Language::Korean => "찾을 도구의 수",
        _ => "The most tools to find",
    }
}

/// The result of a search.
pub(crate) fn found_tools<'t>(
    found: impl Iterator<Item = &'t ToolSpec>,
    language: Language,
) -> String {
    let lines = found.map(|spec| {
        let about = spec.description().split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = about.chars().take(SHORT).collect();
        let dots = if short.len() < about.len() { "…" } else { "" };
        format!("\n- {}: {short}{dots}", spec.name())
    });
    let lines: String = lines.collect();
    match (language, lines.is_empty()) {
        (Language::Korean, true) => "맞는 도구를 찾지 못했습니다. 다른 말로 찾아보세요.".to_owned(),
        (Language::Korean, false) => format!("찾은 도구입니다. 이제 부를 수 있습니다.{lines}"),
        (_, true) => "No tool fits. Search again in other words.".to_owned(),
        (_, false) => format!("These tools can be called now.{lines}"),
    }
}

/// The observation of a call of a tool whose definition is not the one that the model was shown.
pub(crate) fn tool_changed(tool: &str, language: Language) -> String {
    let tool = bounded(tool.to_owned(), language);
    sentence!(
        language,
        "`{tool}`의 정의가 보여 드린 것과 달라져 실행하지 않았습니다. 새 정의를 보고 다시 부르세요.",
        "`{tool}` was not called: its definition is not the one that you were shown. Read the new one and call it by that."
    )
}

/// The observation of a call of a tool that was there.
pub(crate) fn tool_gone(tool: &str, language: Language) -> String {
    let tool = bounded(tool.to_owned(), language);
    sentence!(
        language,
        "`{tool}` 도구는 이제 없어 실행하지 않았습니다. 다른 도구를 쓰거나 도구 없이 답하세요.",
        "`{tool}` was not called: it is not there any more. Use another tool, or answer without it."
    )
}
