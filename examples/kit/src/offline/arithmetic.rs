//! The arithmetic in a question.

use hanok_figures::Arithmetic;

use crate::offline::words::content;

/// The calculation that `question` asks for, if it does. One that its words do not call so is meant where nothing else is asked.
pub(crate) fn expression(question: &str) -> Option<String> {
    let Arithmetic { expression, is_certain } = Arithmetic::in_question(question)?;
    let is_number = |stem: &str| stem.starts_with(|c: char| c.is_ascii_digit());
    let is_bare = || content(question).iter().all(|word| is_number(&word.stem));
    (is_certain || is_bare()).then_some(expression)
}
