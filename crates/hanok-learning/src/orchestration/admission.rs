//! The rules by which a report is evidence: who may make it, and how long its texts are.

use crate::{
    error::Refusal,
    evidence::{Actor, Evidence},
};

use super::tool_ref::ToolRef;

/// The longest text of a user or a model in a report, in bytes: a longer one is refused.
pub const LONGEST_TEXT: usize = 4_096;

/// The longest name, in bytes.
const NAME: usize = 256;

/// The most steps of a plan and tools of a sequence in a report: more are refused.
pub const MOST_ITEMS: usize = 64;

/// Whoever observes what a program did: the program itself, or the tool that it called.
pub(super) const OBSERVERS: &[Actor] = &[Actor::Automatic, Actor::Tool];

/// The beginning of a text, of the length that a report may have.
pub(super) fn beginning(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(LONGEST_TEXT));
    text
}

/// Refuses evidence of anybody but `takes`.
pub(super) fn actor<B>(evidence: &Evidence<B>, takes: &'static [Actor]) -> Result<(), Refusal> {
    match takes.contains(&evidence.actor) {
        true => Ok(()),
        false => Err(Refusal::Actor { actor: evidence.actor, takes }),
    }
}

/// Refuses a text that is blank or longer than 4,096 bytes.
pub(super) fn text(what: &'static str, text: &str) -> Result<(), Refusal> {
    length(what, text, LONGEST_TEXT)
}

/// Refuses a text that is longer than 4,096 bytes; a blank one is none.
pub(super) fn remark(what: &'static str, text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() { Ok(()) } else { length(what, text, LONGEST_TEXT) }
}

/// Refuses a list of more than 64 texts, and one of its texts as [`text`] does.
pub(super) fn texts(what: &'static str, texts: &[String]) -> Result<(), Refusal> {
    items(what, texts.len())?;
    texts.iter().try_for_each(|text| self::text(what, text))
}

/// Refuses a list of more than 64 tools, and tools without a name.
pub(super) fn tools<'a>(tools: impl ExactSizeIterator<Item = &'a ToolRef>) -> Result<(), Refusal> {
    items("list of tools", tools.len())?;
    for ToolRef { server, name } in tools {
        length("name of a tool", name, NAME)?;
        server.iter().try_for_each(|server| length("name of a server", server, NAME))?;
    }
    Ok(())
}

fn items(what: &'static str, count: usize) -> Result<(), Refusal> {
    let (least, most) = (0, MOST_ITEMS);
    if count <= most { Ok(()) } else { Err(Refusal::Length { what, length: count, least, most }) }
}

fn length(what: &'static str, text: &str, most: usize) -> Result<(), Refusal> {
    let length = if text.trim().is_empty() { 0 } else { text.len() };
    match (1..=most).contains(&length) {
        true => Ok(()),
        false => Err(Refusal::Length { what, length, least: 1, most }),
    }
}
