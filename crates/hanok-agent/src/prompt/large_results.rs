//! Sentences about results too large for a prompt, in Korean and English.

use hanok_parse::Language;

use super::calls::bounded;
use crate::sentence::sentence;

/// What stands in place of the middle of a stored result.
pub(crate) fn stored_result(name: &str, from: usize, hidden: usize, language: Language) -> String {
    sentence!(
        language,
        "[… {hidden}자를 줄였음. `read_result`에 name `{name}`과 from {from}을 주면 이어서 읽는다 …]",
        "[… {hidden} characters are not shown; `read_result` with the name `{name}` and from {from} reads on …]"
    )
}

/// The description of the tool that reads a stored result.
pub(crate) fn read_result(language: Language) -> &'static str {
    match language {
        Language::Korean => "너무 길어 줄인 도구 결과를 이름으로 다시 읽는다. 필요한 곳만 읽는다.",
        _ => {
            "Reads a tool's result again that was too long and was shortened, by its name. Read only what you need."
        }
    }
}

/// The description of its name.
pub(crate) fn read_result_name(language: Language) -> &'static str {
    match language {
        Language::Korean => "줄인 결과에 적힌 이름",
        _ => "The name that stands in the shortened result",
    }
}

/// The description of where it reads.
pub(crate) fn read_result_from(language: Language) -> &'static str {
    match language {
        Language::Korean => "몇 번째 글자부터 읽을지. 처음은 0",
        _ => "The character to read from. The first is 0",
    }
}

/// The description of what it looks for.
pub(crate) fn read_result_find(language: Language) -> &'static str {
    match language {
        Language::Korean => "찾을 글. 있으면 그 앞부터 읽는다",
        _ => "A text to look for: it is read from a little before it on",
    }
}

/// A page of a stored result.
pub(crate) fn result_page(
    page: &str,
    from: usize,
    to: usize,
    all: usize,
    language: Language,
) -> String {
    sentence!(
        language,
        "[전체 {all}자 가운데 {from}부터 {to}까지]\n{page}",
        "[characters {from} to {to} of {all}]\n{page}"
    )
}

/// The observation of a read of what is not there.
pub(crate) fn no_result(name: &str, language: Language) -> String {
    let name = bounded(name.escape_debug().to_string(), language);
    sentence!(
        language,
        "`{name}`(이)라는 결과가 없습니다. 지워졌거나 이름이 다릅니다. 필요하면 그 도구를 다시 부르세요.",
        "No result is stored as `{name}`: it was removed, or that is not its name. Call its tool again if you need it."
    )
}

/// The observation of a read behind the end.
pub(crate) fn behind_result(from: usize, all: usize, language: Language) -> String {
    sentence!(
        language,
        "결과는 {all}자라 {from}번째 글자는 없습니다.",
        "The result has {all} characters, none at {from}."
    )
}

/// The observation of a search for what is not in a result.
pub(crate) fn not_in_result(find: &str, from: usize, language: Language) -> String {
    let find = bounded(find.escape_debug().to_string(), language);
    sentence!(
        language,
        "{from}번째 글자부터는 `{find}`이(가) 없습니다.",
        "`{find}` does not occur from the character {from} on."
    )
}
