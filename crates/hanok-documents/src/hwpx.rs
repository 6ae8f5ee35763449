//! A document of Hancom's Hangul (KS X 6101, OWPML) to text.

use std::collections::HashMap;

use crate::{
    archive::Archive,
    blocks::{Blocks, Kind},
    deadline::Deadline,
    markup::{self, Tag, Visit},
    options::LoadOptions,
    skip::SkipReason,
};

/// What does not stand in the run of the text: it is repeated on every page, or not shown.
const SKIPPED: [&str; 4] = ["header", "footer", "hiddenComment", "masterPage"];

pub(crate) fn decode(
    bytes: Vec<u8>,
    options: &LoadOptions,
    deadline: Deadline,
) -> Result<String, SkipReason> {
    let mut archive = Archive::open(bytes, options)?;
    let manifest = archive.part("META-INF/manifest.xml")?.unwrap_or_default();
    if manifest.contains("encryption-data") {
        return Err(SkipReason::Encrypted);
    }
    let mut looks = Looks::default();
    if let Some(xml) = archive.part("Contents/header.xml")? {
        markup::read(&xml, deadline, &mut looks)?;
    }
    let mut sections: Vec<(usize, String)> =
        archive.names().filter_map(|name| Some((section(&name)?, name))).collect();
    sections.sort_unstable();
    if sections.is_empty() {
        return Err(SkipReason::damaged("no section"));
    }
    let mut body = Body {
        looks: &looks,
        blocks: Blocks::default(),
        kinds: Vec::new(),
        skipping: 0,
        in_text: 0,
    };
    for (_, name) in sections {
        markup::read(&archive.needed(&name)?, deadline, &mut body)?;
    }
    Ok(body.blocks.finish())
}

/// Which section a part is.
fn section(name: &str) -> Option<usize> {
    name.strip_prefix("Contents/section")?.strip_suffix(".xml")?.parse().ok()
}

/// Which looks of paragraphs are headings and lists, by their ids.
#[derive(Debug, Default)]
struct Looks {
    paragraphs: HashMap<String, Kind>,
    styles: HashMap<String, Kind>,
    /// The look that is read.
    at: Option<String>,
}

impl Looks {
    /// What a paragraph is: its own look says so, or that of its style.
    fn kind(&self, tag: &Tag<'_>) -> Kind {
        let own = tag.get("paraPrIDRef").and_then(|id| self.paragraphs.get(&*id).copied());
        let style = tag.get("styleIDRef").and_then(|id| self.styles.get(&*id).copied());
        own.filter(|kind| *kind != Kind::Plain).or(style).unwrap_or_default()
    }

    fn style(&mut self, tag: &Tag<'_>) {
        let look = tag.get("paraPrIDRef").and_then(|id| self.paragraphs.get(&*id).copied());
        let names = [tag.get("engName"), tag.get("name")];
        let rank = names.iter().flatten().find_map(|name| rank(name));
        let kind = rank.map(Kind::Heading).or(look).unwrap_or_default();
        self.styles.extend(tag.get("id").map(|id| (id.into_owned(), kind)));
    }
}

impl Visit for Looks {
    fn open(&mut self, tag: &Tag<'_>) -> Result<(), SkipReason> {
        match tag.name {
            "paraPr" => self.at = tag.get("id").map(|id| id.into_owned()),
            "heading" => {
                let level = tag.number("level").unwrap_or_default();
                let kind = match tag.get("type").as_deref() {
                    Some("OUTLINE") => Kind::Heading(level.saturating_add(1)),
                    Some("NUMBER" | "BULLET") => Kind::Item(level),
                    _ => Kind::Plain,
                };
                self.paragraphs.extend(self.at.clone().map(|id| (id, kind)));
            }
            "style" => self.style(tag),
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) {
        if name == "paraPr" {
            self.at = None;
        }
    }

    fn text(&mut self, _text: &str) {}
}

/// `개요 1` or `Outline 1`.
fn rank(name: &str) -> Option<usize> {
    let number = name.strip_prefix("Outline ").or_else(|| name.strip_prefix("개요 "))?;
    number.trim().parse().ok().filter(|rank| (1..=10).contains(rank))
}

struct Body<'a> {
    looks: &'a Looks,
    blocks: Blocks,
    kinds: Vec<Kind>,
    /// How deep reading is in what is skipped.
    skipping: usize,
    /// How deep it is in text.
    in_text: usize,
}

impl Visit for Body<'_> {
    fn open(&mut self, tag: &Tag<'_>) -> Result<(), SkipReason> {
        if self.skipping > 0 || SKIPPED.contains(&tag.name) {
            self.skipping += 1;
            return Ok(());
        }
        match tag.name {
            "p" => {
                self.kinds.push(self.looks.kind(tag));
                self.blocks.begin();
            }
            "t" => self.in_text += 1,
            "tab" if self.in_text > 0 => self.blocks.text("\t"),
            "lineBreak" if self.in_text > 0 => self.blocks.text("\n"),
            "nbSpace" | "fwSpace" if self.in_text > 0 => self.blocks.text(" "),
            "hypen" if self.in_text > 0 => self.blocks.text("-"),
            "tbl" => self.blocks.begin_table()?,
            "tr" => self.blocks.begin_row(),
            "tc" => self.blocks.begin_cell()?,
            "footNote" | "endNote" => self.blocks.begin_note()?,
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) {
        if self.skipping > 0 {
            self.skipping -= 1;
            return;
        }
        match name {
            "p" => {
                let kind = self.kinds.pop().unwrap_or_default();
                self.blocks.end(kind);
            }
            "t" => self.in_text = self.in_text.saturating_sub(1),
            "tc" => self.blocks.end_cell(),
            "tbl" => self.blocks.end_table(),
            "footNote" | "endNote" => self.blocks.end_note(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_text > 0 && self.skipping == 0 {
            self.blocks.text(text);
        }
    }
}
