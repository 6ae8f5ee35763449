//! A summary: what people told and asked, in their own words.

use hanok_model::ChatRequest;
use hanok_state::Role;

use crate::offline::{
    choose::is_greeting,
    passages::sentences,
    quote::is_question,
    reply::Language,
    request::without_data,
    tables::{ASKED, STATED},
    words::clean,
};

/// The most sentences of each kind that a summary keeps, and the most characters of one.
const MOST: usize = 12;
const LONGEST: usize = 160;

/// The most questions that stay when two summaries become one.
const MOST_ASKED: usize = 4;

/// Whether the system prompt asks for a summary and nothing else.
pub(crate) fn is_asked(request: &ChatRequest) -> bool {
    request.messages.iter().any(|message| {
        let text = message.text();
        message.role() == Role::System
            && (text.contains("요약만") || text.contains("Write the summary"))
    })
}

/// The conversation in `request`, where its last message asks for a summary of all before it.
pub(crate) fn asked_behind(request: &ChatRequest) -> Option<String> {
    let (last, messages) = request.messages.split_last()?;
    let asks = ["답하지 말고, 지금까지의 대화를 요약하세요", "Do not answer. Summarise"];
    asks.iter().find(|ask| last.text().starts_with(**ask))?;
    let said = messages.iter().filter(|message| message.role() == Role::User);
    let lines = said.map(|message| without_data(&message.text()).0.trim().replace('\n', "\n  "));
    Some(lines.map(|line| format!("[user] {line}\n")).collect())
}

/// The summary of `data`: a conversation as `[user] …` lines, or summaries like this one.
pub(crate) fn of(data: &str, language: Language) -> String {
    let (mut told, mut asked) = (Vec::new(), Vec::new());
    let mut into_told = false;
    for line in data.lines() {
        // What stands on further lines of a message is indented.
        if let Some(said) = line.strip_prefix("[user]") {
            for sentence in sentences(&clean(said)) {
                let sentence = sentence.trim().to_owned();
                let kind = if is_question(&sentence) { &mut asked } else { &mut told };
                keep(kind, sentence);
            }
        } else if let Some(questions) = ASKED.iter().find_map(|label| line.strip_prefix(label)) {
            into_told = false;
            questions.split(" / ").for_each(|question| keep(&mut asked, clean(question)));
        } else if STATED.iter().any(|label| line.starts_with(label)) {
            into_told = true;
        } else if let Some(sentence) = line.strip_prefix("- ").filter(|_| into_told) {
            keep(&mut told, clean(sentence));
        }
    }
    let label = |labels: [&'static str; 2]| language.either(labels[0], labels[1]);
    let old = asked.len().saturating_sub(MOST_ASKED);
    asked.drain(..old);
    let mut parts = Vec::new();
    if !told.is_empty() {
        let old = told.len().saturating_sub(MOST);
        let lines: Vec<String> = told.iter().skip(old).map(|said| format!("- {said}")).collect();
        parts.push(format!("{}\n{}", label(STATED), lines.join("\n")));
    }
    if !asked.is_empty() {
        parts.push(format!("{} {}", label(ASKED), asked.join(" / ")));
    }
    match parts.is_empty() {
        true => language.either("인사를 나누었다.", "They greeted.").to_owned(),
        false => parts.join("\n"),
    }
}

fn keep(kind: &mut Vec<String>, sentence: String) {
    let short: String = sentence.chars().take(LONGEST).collect();
    if !short.is_empty() && !is_greeting(&short) && !kind.contains(&short) {
        kind.push(short);
    }
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::offline::reply::Language;

    #[test]
    fn what_was_told_and_asked_is_kept() {
        let talk = "[user] 안녕하세요\n[assistant] 네, 안녕하세요.\n[user] 내 이름은 철수야. 지도는 어디 있어?\n[assistant] 벽에 있습니다.";
        let summary = of(talk, Language::Korean);
        assert_eq!(summary, "말한 것:\n- 내 이름은 철수야.\n물어본 것: 지도는 어디 있어?");
        let both =
            format!("{summary}\n\n말한 것:\n- 예산은 1억원이야\n물어본 것: 지도는 어디 있어?");
        let folded = of(&both, Language::Korean);
        assert_eq!(
            folded,
            "말한 것:\n- 내 이름은 철수야.\n- 예산은 1억원이야\n물어본 것: 지도는 어디 있어?"
        );
        assert_eq!(of("[user] hi", Language::English), "They greeted.");
    }
}
