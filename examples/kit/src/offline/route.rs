//! Which agent a question goes to.

use crate::offline::{
    arithmetic,
    conversation::Conversation,
    extract,
    intent::{self, Intent, KINDS, Kind},
    prompt::Listed,
    tables,
    words::{content, words},
};

/// What a supervisor does next.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Route {
    /// An agent gets a task.
    To { agent: String, task: String },
    /// What the agents found.
    Found(Vec<String>),
    /// No agent found anything about this.
    Nothing(String),
    /// What was said before, as it was said.
    Earlier(Vec<String>),
    /// The user tells of themselves, and asks nothing.
    Noted,
    /// Thanks, and nothing else.
    Thanked,
    /// Nothing was asked; these are there to be asked for, or else these, which are of no kind.
    Greeted(Vec<Kind>, Vec<Listed>),
}

/// How many agents are tried for one question.
const TRIES: usize = 2;

/// The most questions in one message.
const MOST_QUESTIONS: usize = 4;

/// A question is no agent's that fits less, and none's beside one that fits much better.
const LEAST: f32 = 0.5;
const LEAST_OF_BEST: f32 = 0.5;

/// What to do next about the question, with what the agents gave so far.
pub(crate) fn route(conversation: &Conversation, agents: &[Listed]) -> Route {
    if let Some(talk) = talk(conversation, agents) {
        return talk;
    }
    let question = &conversation.question;
    let tasks = tasks(question, agents);
    let tries = if tasks.len() > 1 { 1 } else { TRIES };
    let mut found = Vec::new();
    for (ranked, task) in tasks {
        let mut nothing = None;
        for agent in ranked.iter().take(tries) {
            let given = conversation.outputs.iter().rev().find(|(name, _)| name == agent);
            let Some((_, text)) = given else {
                return Route::To { agent: agent.clone(), task };
            };
            if !is_empty(text) {
                nothing = None;
                found.push(text.clone());
                break;
            }
            nothing.get_or_insert_with(|| text.trim().to_owned());
        }
        found.extend(nothing);
    }
    if found.is_empty() || found.iter().all(|text| is_empty(text)) {
        let said = found.into_iter().next();
        return Route::Nothing(said.unwrap_or_default());
    }
    Route::Found(found)
}

/// What is said where nothing has to be looked up: a greeting, what was said before, or that something was told. `helpers` are
/// there to be asked.
pub(crate) fn talk(conversation: &Conversation, helpers: &[Listed]) -> Option<Route> {
    let (question, earlier) = (&conversation.question, &conversation.earlier);
    let lower = question.to_lowercase();
    let has = |list: &[&str]| list.iter().any(|word| lower.contains(word));
    if is_greeting(question) && has(&tables::THANKS) {
        return Some(Route::Thanked);
    }
    let asks_who = has(&tables::WHO_ARE_YOU) && words(question).len() <= 7;
    if is_greeting(question) || asks_who || !question.contains(char::is_alphanumeric) {
        let is = |kind: &Kind, it: &Listed| kind.in_text(&it.said()) > 0.0;
        let is_there =
            |kind: &Kind| *kind == Kind::Documents || helpers.iter().any(|it| is(kind, it));
        let are_known = helpers.iter().all(|it| KINDS.iter().any(|kind| is(kind, it)));
        let others = if are_known { Vec::new() } else { helpers.to_vec() };
        return Some(Route::Greeted(KINDS.into_iter().filter(is_there).collect(), others));
    }
    let repeats = extract::is_question(question)
        && arithmetic::expression(question).is_none()
        && extract::told(question, earlier)
            >= if tables::is_about_said(question) { 0.5 } else { 0.75 };
    if repeats || is_about_earlier(question) {
        return Some(Route::Earlier(extract::remembered(question, earlier)));
    }
    is_told(question).then_some(Route::Noted)
}

fn is_empty(text: &str) -> bool {
    text.trim().is_empty() || extract::is_nothing(text)
}

/// The questions in a message, each with the agents that fit, best first. Those for one agent are one task.
fn tasks(question: &str, agents: &[Listed]) -> Vec<(Vec<String>, String)> {
    let mut tasks: Vec<(Vec<String>, String)> = Vec::new();
    for part in parts(question) {
        let ranked = ranked(&part, agents);
        let same = tasks.iter_mut().find(|(known, _)| known.first() == ranked.first());
        match same {
            Some((_, task)) => {
                task.push(' ');
                task.push_str(&part);
            }
            None => tasks.push((ranked, part)),
        }
    }
    tasks
}

/// The agents that fit, best first; of equal ones, as they are listed. Without any, the first one.
pub(crate) fn ranked(question: &str, agents: &[Listed]) -> Vec<String> {
    let (intent, asked) = (Intent::of(question), content(question));
    let mut scored: Vec<(f32, &Listed)> =
        agents.iter().map(|agent| (intent::fit(intent, &asked, &agent.said()), agent)).collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let best = scored.first().map_or(0.0, |(score, _)| *score);
    let fits =
        scored.iter().filter(|(score, _)| *score >= (best * LEAST_OF_BEST).max(LEAST.min(best)));
    fits.map(|(_, agent)| agent.name.clone()).collect()
}

/// The questions in a message that asks several; the message itself otherwise.
pub(crate) fn parts(question: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for sentence in question.split_inclusive(['?', '？', '!']) {
        for part in sentence.split(" 그리고 ") {
            let part = part.trim().trim_start_matches("그리고 ").trim();
            if !content(part).is_empty() {
                parts.push(part.to_owned());
            }
        }
    }
    if parts.len() < 2 || parts.len() > MOST_QUESTIONS {
        return vec![question.to_owned()];
    }
    parts
}

pub(crate) fn is_greeting(question: &str) -> bool {
    let words = words(question);
    let greets = |text: &str| tables::GREETINGS.contains(&text);
    let said = words.iter().any(|word| greets(&word.text.to_lowercase()));
    said && content(question)
        .iter()
        .all(|word| greets(&word.text.to_lowercase()) || greets(&word.stem))
        && words.len() <= 4
}

/// Whether the user tells something: of themselves (`내 이름은 …`), a fact with a number in it, or that something is otherwise now,
/// without a word that asks.
fn is_told(question: &str) -> bool {
    let words = words(question);
    let fills = |word: &str| tables::FILLERS.contains(&word) || tables::GREETINGS.contains(&word);
    let mut texts = words.iter().map(|word| word.text.to_lowercase());
    let first = texts.find(|word| !fills(word)).unwrap_or_default();
    let own = tables::OWN.contains(&first.as_str());
    let said = question.trim_end_matches(['.', '!', '~', ' ']);
    let ends = |ends: &[&str]| ends.iter().any(|end| said.ends_with(end));
    let counts = question.contains(|c: char| c.is_ascii_digit());
    let asks = ["?", "？"].iter().any(|mark| question.contains(mark))
        || words.iter().any(|word| tables::ASKS.iter().any(|ask| word.text.starts_with(ask)));
    let orders = tables::ORDERS.iter().any(|end| said.ends_with(end));
    let tells = own && (ends(&tables::TOLD) || first.is_ascii())
        || counts && ends(&tables::TOLD)
        || ends(&tables::CHANGED);
    tells && !asks && !orders && arithmetic::expression(question).is_none()
}

/// Whether the question is about the conversation itself.
fn is_about_earlier(question: &str) -> bool {
    let lower = question.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let first_person = has(&["내가", "제가", "나는", "내 ", "제 ", "i ", "my ", "we "]);
    tables::is_about_said(question) && (has(&tables::EARLIER) || first_person)
}
