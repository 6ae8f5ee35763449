//! Which styles are headings and lists.

use std::collections::HashMap;

use crate::{
    blocks::Kind,
    deadline::Deadline,
    markup::{self, Tag, Visit},
    skip::SkipReason,
};

/// A style is based on another one, which is based on another one.
const CHAIN: usize = 16;

#[derive(Debug, Default)]
struct Style {
    rank: Option<usize>,
    listed: bool,
    base: Option<String>,
}

/// The styles of a document by their ids.
#[derive(Debug, Default)]
pub(super) struct Styles {
    all: HashMap<String, Style>,
    at: Option<String>,
}

impl Styles {
    pub(super) fn read(xml: &str, deadline: Deadline) -> Result<Self, SkipReason> {
        let mut styles = Self::default();
        markup::read(xml, deadline, &mut styles)?;
        Ok(styles)
    }

    /// What a paragraph of the style `id` is.
    pub(super) fn kind(&self, id: &str) -> Kind {
        let mut at = self.all.get(id);
        for _ in 0..CHAIN {
            match at {
                Some(Style { rank: Some(rank), .. }) => return Kind::Heading(*rank),
                Some(Style { listed: true, .. }) => return Kind::Item(0),
                Some(Style { base: Some(base), .. }) => at = self.all.get(base),
                _ => break,
            }
        }
        Kind::Plain
    }

    fn now(&mut self) -> Option<&mut Style> {
        self.all.get_mut(self.at.as_ref()?)
    }
}

impl Visit for Styles {
    fn open(&mut self, tag: &Tag<'_>) -> Result<(), SkipReason> {
        if tag.name == "style" {
            self.at = tag.get("styleId").map(|id| id.into_owned());
            self.all.extend(self.at.clone().map(|id| (id, Style::default())));
            return Ok(());
        }
        let Some(style) = self.now() else { return Ok(()) };
        match tag.name {
            "name" => style.rank = style.rank.or(tag.get("val").and_then(|name| rank(&name))),
            "outlineLvl" => {
                let level = tag.number("val").filter(|level| *level < 9);
                style.rank = level.map(|level| level + 1).or(style.rank);
            }
            "numId" => style.listed = tag.number("val").is_some_and(|id| id > 0),
            "basedOn" => style.base = tag.get("val").map(|id| id.into_owned()),
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) {
        if name == "style" {
            self.at = None;
        }
    }

    fn text(&mut self, _text: &str) {}
}

/// The rank of a style that is built in: its name is English in every language of Word.
fn rank(name: &str) -> Option<usize> {
    let name = name.to_ascii_lowercase();
    if name == "title" {
        return Some(1);
    }
    name.strip_prefix("heading ")?.trim().parse().ok().filter(|rank| (1..=9).contains(rank))
}
