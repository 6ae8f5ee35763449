//! Sentences about the calls that a model asks for, in Korean and English.

use std::time::Duration;

use hanok_model::{ToolChoice, ToolError, ToolOutput};
use hanok_parse::Language;
use hanok_state::Arguments;

use crate::{
    observation::{LONGEST_IMAGES, LONGEST_RESULT, Observation, cut},
    sentence::sentence,
};

/// The observation of a call that the tool choice does not allow.
pub(crate) fn not_chosen(choice: &ToolChoice, language: Language) -> String {
    match choice {
        ToolChoice::Tool(name) => sentence!(
            language,
            "지금은 `{name}` 도구만 부를 수 있어 실행하지 않았습니다.",
            "This call was not made: only `{name}` may be called now."
        ),
        _ => sentence!(
            language,
            "지금은 도구를 부를 수 없어 실행하지 않았습니다. 도구 없이 답하세요.",
            "This call was not made: no tool may be called now. Answer without tools."
        ),
    }
}

pub(crate) fn too_many(most: usize, language: Language) -> String {
    sentence!(
        language,
        "한 번에 도구를 {most}번까지만 부를 수 있어, 그 뒤의 호출은 실행하지 않았습니다.",
        "At most {most} calls are made at once; those after them were not made."
    )
}

pub(crate) fn unknown_tool<'a>(
    name: &str,
    declared: impl Iterator<Item = &'a str>,
    language: Language,
) -> String {
    let name = cut(name, 64).0.escape_debug();
    let declared: Vec<_> = declared.map(|name| format!("`{name}`")).collect();
    match (language, declared.is_empty()) {
        (Language::Korean, true) => format!("`{name}` 도구는 없습니다. 도구 없이 답하세요."),
        (Language::Korean, false) => {
            format!("`{name}` 도구는 없습니다. 쓸 수 있는 도구: {}.", declared.join(", "))
        }
        (_, true) => format!("There is no tool `{name}`. Answer without tools."),
        (_, false) => format!("There is no tool `{name}`. The tools are: {}.", declared.join(", ")),
    }
}

pub(crate) fn bad_arguments(tool: &str, mistakes: &[String], language: Language) -> String {
    let mistakes = mistakes.join(" ");
    sentence!(
        language,
        "`{tool}`의 인자가 맞지 않아 실행하지 않았습니다. {mistakes} 고쳐서 다시 부르세요.",
        "The arguments do not fit `{tool}`, so it was not run. {mistakes} Correct them and call it again."
    )
}

/// The observation of a call that an interceptor refused.
pub(crate) fn refused(tool: &str, reason: &str, language: Language) -> String {
    let reason = bounded(reason.to_owned(), language);
    sentence!(
        language,
        "`{tool}` 호출은 실행하지 않았습니다: {reason}",
        "The call of `{tool}` was not made: {reason}"
    )
}

/// The reason to refuse a call that no person answered for in time.
pub(crate) fn unanswered(language: Language) -> &'static str {
    match language {
        Language::Korean => "제때 승인받지 못했습니다.",
        _ => "nobody approved it in time.",
    }
}

/// The reason to leave out a call because a person says so.
pub(crate) fn skipped(message: Option<&str>, language: Language) -> String {
    let message = message.map(str::trim).filter(|message| !message.is_empty());
    let (korean, english) = ("담당자가 건너뛰게 했습니다.", "a person has it left out.");
    let begin = if language == Language::Korean { korean } else { english };
    message.map_or_else(|| begin.to_owned(), |message| format!("{begin} {message}"))
}

/// The reason to leave out a call that no person answered for in time.
pub(crate) fn left_out(language: Language) -> &'static str {
    match language {
        Language::Korean => "제때 답을 받지 못해 건너뜁니다. 이 호출 없이 계속하세요.",
        _ => "nobody answered in time, so it is left out; go on without it.",
    }
}

/// The reason to refuse a call that a person rejected before in the turn.
pub(crate) fn rejected_before(language: Language) -> &'static str {
    match language {
        Language::Korean => "담당자가 같은 호출을 이미 거절했습니다. 다시 묻지 않습니다.",
        _ => "a person has already rejected this very call, and is not asked again.",
    }
}

/// What a model is told that calls a tool although a person has rejected three calls.
pub(crate) fn has_to_answer(language: Language) -> &'static str {
    match language {
        Language::Korean => {
            "담당자가 호출을 세 번 거절했습니다. 도구를 더 쓰지 말고, 할 수 있는 것과 할 수 없는 것을 사용자에게 답하세요."
        }
        _ => {
            "A person has rejected three calls. Call no more tools: answer the user, and say what could not be done."
        }
    }
}

/// The reason to refuse a call that a person rejected.
pub(crate) fn rejected(message: Option<&str>, language: Language) -> String {
    let message = message.map(str::trim).filter(|message| !message.is_empty());
    match (language, message) {
        (Language::Korean, None) => "담당자가 승인하지 않았습니다.".to_owned(),
        (Language::Korean, Some(message)) => format!("담당자가 승인하지 않았습니다. {message}"),
        (_, None) => "a person rejected it.".to_owned(),
        (_, Some(message)) => format!("a person rejected it. {message}"),
    }
}

/// The reason to refuse a call that the agent may not make.
pub(crate) fn not_permitted(language: Language) -> &'static str {
    match language {
        Language::Korean => "이 도구를 쓸 권한이 없습니다.",
        _ => "this agent may not use the tool.",
    }
}

/// The reason to refuse a call that changes the world after untrusted content.
pub(crate) fn after_untrusted(language: Language) -> &'static str {
    match language {
        Language::Korean => {
            "밖에서 온 내용을 읽은 뒤에는 무엇을 바꾸는 도구를 쓸 수 없습니다. 사용자에게 알리세요."
        }
        _ => {
            "nothing may be changed after content from outside was read. Tell the user what you would do."
        }
    }
}

/// The reason to refuse a call past a limit of the turn: the limit of `tool`, or of all tools.
pub(crate) fn call_limit(tool: Option<&str>, most: u64, language: Language) -> String {
    match (language, tool) {
        (Language::Korean, Some(tool)) => format!(
            "`{tool}`은(는) 한 차례에 {most}번까지만 부를 수 있습니다. 지금까지 찾은 것으로 계속하세요."
        ),
        (Language::Korean, None) => format!(
            "도구는 한 차례에 {most}번까지만 부를 수 있습니다. 지금까지 찾은 것으로 답하세요."
        ),
        (_, Some(tool)) => format!(
            "`{tool}` is called at most {most} times in a turn. Go on with what was found so far."
        ),
        (_, None) => {
            format!("Tools are called at most {most} times in a turn. Answer with what was found.")
        }
    }
}

/// The result of a call that was made with other `arguments` than the model gave.
pub(crate) fn changed(arguments: &Arguments, result: &str, language: Language) -> String {
    sentence!(
        language,
        "[인자를 {arguments}(으)로 고쳐 실행했습니다]\n{result}",
        "[made with the arguments {arguments} instead]\n{result}"
    )
}

fn panicked(tool: &str, language: Language) -> String {
    sentence!(
        language,
        "`{tool}` 도구가 내부 오류로 멈췄습니다. 다른 방법을 쓰세요.",
        "The tool `{tool}` broke down. Take another way."
    )
}

pub(crate) fn in_doubt(tool: &str, language: Language) -> String {
    sentence!(
        language,
        "`{tool}` 호출 도중에 프로그램이 멈춰, 실행되었는지 알 수 없습니다. 되풀이하면 안 되는 일이라 다시 실행하지 않았습니다. 결과를 확인하기 전에는 다시 부르지 말고, 사용자에게 알리세요.",
        "The program stopped while `{tool}` was called, so nobody knows whether it took effect. It must not be repeated and was not run again. Do not call it again before that is known, and tell the user."
    )
}

fn timed_out(tool: &str, after: Duration, language: Language) -> String {
    sentence!(
        language,
        "`{tool}` 도구가 {after:?} 안에 끝나지 않아 중단했습니다. 더 작은 요청이나 다른 방법을 쓰세요.",
        "The tool `{tool}` did not finish within {after:?} and was stopped. Ask for less, or take another way."
    )
}

/// A result, at most as long as a model is shown.
pub(crate) fn result(output: ToolOutput, language: Language) -> Observation {
    // A program can do without its copy; a log cannot do without a bound.
    let data = output.data.filter(|data| data.0.to_string().len() <= LONGEST_RESULT);
    let (images, left_out) = bounded_images(output.images);
    let mut text = output.text;
    if left_out > 0 {
        text.push_str(&images_left_out(left_out, language));
    }
    Observation { images, ..Observation::result(bounded(text, language), data) }
}

/// The pictures that a log keeps of one result.
fn bounded_images(images: Vec<String>) -> (Vec<String>, usize) {
    let (count, mut room) = (images.len(), LONGEST_IMAGES);
    let kept: Vec<_> = images
        .into_iter()
        .filter(|image| {
            let fits = image.len() <= room;
            room -= if fits { image.len() } else { 0 };
            fits
        })
        .collect();
    let left_out = count - kept.len();
    (kept, left_out)
}

fn images_left_out(count: usize, language: Language) -> String {
    sentence!(
        language,
        "\n[사진 {count}장은 너무 커서 보이지 않습니다]",
        "\n[{count} pictures are too large and are not shown]"
    )
}

/// The observation of a call that was made, and whose wishes do not stand.
pub(crate) fn not_applied(result: &str, reason: &str, language: Language) -> String {
    sentence!(
        language,
        "{result}\n[실행했지만 상태에는 쓰지 않았습니다: {reason}]",
        "{result}\n[it was made, and nothing of it was written into the state: {reason}]"
    )
}

/// The reason for which a call's target does not stand.
pub(crate) fn second_target(first: &str, language: Language) -> String {
    sentence!(
        language,
        "같은 답의 `{first}` 호출이 다음에 갈 곳을 먼저 정했습니다.",
        "the call of `{first}` in the same reply has said where it goes on."
    )
}

/// The reason for which a call's target does not stand where a plan says what is next.
pub(crate) fn goes_on_by_plan(language: Language) -> String {
    sentence!(language, "다음에 할 일은 계획이 정합니다.", "what is next is for the plan to say.")
}

/// The reason for which a write does not stand that would leave a call without its result, or a result without its call.
pub(crate) fn not_whole(language: Language) -> String {
    sentence!(
        language,
        "모든 호출에는 결과가 꼭 하나 있어야 합니다.",
        "every call has exactly one result."
    )
}

/// The text of a tool's own error, for the model.
pub(crate) fn tool_error(tool: &str, error: &ToolError, language: Language) -> String {
    match error {
        ToolError::TimedOut { after } => return timed_out(tool, *after, language),
        ToolError::Panicked => return panicked(tool, language),
        ToolError::PoolExhausted { leaked } => return exhausted(tool, *leaked, language),
        ToolError::Unavailable { retry_after, .. } => {
            return unavailable(tool, *retry_after, language);
        }
        _ => {}
    }
    let report = bounded(error.report(), language);
    sentence!(
        language,
        "`{tool}` 도구가 결과를 주지 못했습니다: {report}",
        "The tool `{tool}` gave no result: {report}"
    )
}

fn exhausted(tool: &str, leaked: usize, language: Language) -> String {
    sentence!(
        language,
        "끝나지 않은 호출이 {leaked}개라 `{tool}` 도구를 실행하지 않았습니다. 다른 방법을 쓰세요.",
        "The tool `{tool}` was not run: {leaked} earlier calls never ended. Take another way."
    )
}

fn unavailable(tool: &str, retry_after: Option<Duration>, language: Language) -> String {
    let seconds = retry_after.map(|after| after.as_millis().div_ceil(1_000));
    match (language, seconds) {
        (Language::Korean, Some(seconds)) => format!(
            "`{tool}` 도구가 거듭 실패해 {seconds}초 동안 쓸 수 없습니다. 다른 방법을 쓰거나, 쓸 수 없다고 답하세요."
        ),
        (Language::Korean, None) => {
            format!("`{tool}` 도구를 쓰는 사람이 많아 지금은 쓸 수 없습니다. 다른 방법을 쓰세요.")
        }
        (_, Some(seconds)) => format!(
            "The tool `{tool}` failed again and again, and is not called for {seconds} s. Take another way, or answer that it cannot be used now."
        ),
        (_, None) => {
            format!("The tool `{tool}` is busy and was not called. Take another way.")
        }
    }
}

/// `text`, at most as long as a model is shown.
pub(crate) fn bounded(text: String, language: Language) -> String {
    let (shown, more) = cut(&text, LONGEST_RESULT);
    if !more {
        return text;
    }
    let (all, part) = (text.len(), shown.len());
    sentence!(
        language,
        "{shown}\n[잘림: 결과 {all}바이트 가운데 처음 {part}바이트]",
        "{shown}\n[cut: the first {part} of {all} bytes]"
    )
}
