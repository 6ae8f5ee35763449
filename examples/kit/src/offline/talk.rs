//! What is said where nothing has to be looked up: a greeting, what was said before, or that something was told.

use crate::offline::{
    choose::{Kind, expression, is_greeting},
    listed::Listed,
    quote,
    request::Request,
    tables,
    words::words,
};

/// What is said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Talk {
    /// What was said before, as it was said.
    Earlier(Vec<String>),
    /// The user tells of themselves, and asks nothing.
    Noted,
    /// Thanks, and nothing else.
    Thanked,
    /// Nothing was asked; these are there to be asked for, or else these, which are of no kind.
    Greeted(Vec<Kind>, Vec<Listed>),
}

/// What to say where `helpers` are there to be asked, if nothing has to be asked of them.
pub(crate) fn talk(request: &Request, helpers: &[Listed]) -> Option<Talk> {
    let (question, earlier) = (&request.question, &request.earlier);
    let lower = question.to_lowercase();
    let has = |list: &[&str]| list.iter().any(|word| lower.contains(word));
    if is_greeting(question) && has(&tables::THANKS) {
        return Some(Talk::Thanked);
    }
    let asks_who = has(&tables::WHO_ARE_YOU) && words(question).len() <= 7;
    if is_greeting(question) || asks_who || !question.contains(char::is_alphanumeric) {
        let is_there = |kind: &Kind| {
            *kind == Kind::Documents || helpers.iter().any(|it| kind.is_in(&it.said()))
        };
        let is_known = |it: &Listed| Kind::ALL.iter().any(|kind| kind.is_in(&it.said()));
        let others = if helpers.iter().all(is_known) { Vec::new() } else { helpers.to_vec() };
        return Some(Talk::Greeted(Kind::ALL.into_iter().filter(is_there).collect(), others));
    }
    let is_said = tables::is_about_said(question);
    let least = if is_said { 0.5 } else { 0.75 };
    let repeats = quote::is_question(question)
        && expression(question).is_none()
        && quote::told(question, earlier) >= least;
    let first_person = ["내가", "제가", "나는", "내 ", "제 ", "i ", "my ", "we "];
    if repeats || is_said && (has(&tables::EARLIER) || has(&first_person)) {
        return Some(Talk::Earlier(quote::remembered(question, earlier)));
    }
    is_told(question).then_some(Talk::Noted)
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
    let asks = question.contains(['?', '？'])
        || words.iter().any(|word| tables::ASKS.iter().any(|ask| word.text.starts_with(ask)));
    let tells = own && (ends(&tables::TOLD) || first.is_ascii())
        || counts && ends(&tables::TOLD)
        || ends(&tables::CHANGED);
    tells && !asks && !ends(&tables::ORDERS) && expression(question).is_none()
}
