//! A document of Word (ECMA-376, WordprocessingML) to text.

mod styles;

use std::collections::HashMap;

use self::styles::Styles;

use crate::{
    archive::Archive,
    blocks::{Blocks, Kind},
    deadline::Deadline,
    markup::{self, Tag, Visit},
    options::LoadOptions,
    skip::SkipReason,
};

/// What nobody reads: what was deleted or moved away, and a second form of what stands before it.
const SKIPPED: [&str; 3] = ["del", "moveFrom", "Fallback"];

pub(crate) fn decode(
    bytes: Vec<u8>,
    options: &LoadOptions,
    deadline: Deadline,
) -> Result<String, SkipReason> {
    let mut archive = Archive::open(bytes, options)?;
    let styles = match archive.part("word/styles.xml")? {
        Some(xml) => Styles::read(&xml, deadline)?,
        None => Styles::default(),
    };
    let mut notes = HashMap::new();
    for (part, kind) in [("word/footnotes.xml", "footnote"), ("word/endnotes.xml", "endnote")] {
        if let Some(xml) = archive.part(part)? {
            let mut body = Body::new(&styles, HashMap::new());
            markup::read(&xml, deadline, &mut body)?;
            notes.extend(body.kept.into_iter().map(|(id, text)| ((kind, id), text)));
        }
    }
    let mut body = Body::new(&styles, notes);
    markup::read(&archive.needed("word/document.xml")?, deadline, &mut body)?;
    Ok(body.blocks.finish())
}

/// A note by what it is and its id.
type Notes = HashMap<(&'static str, String), String>;

/// What is known of a paragraph.
#[derive(Debug, Default)]
struct Paragraph {
    style: Kind,
    rank: Option<usize>,
    /// Whether it is of a list, and how deep: what it says itself.
    listed: Option<bool>,
    depth: usize,
}

impl Paragraph {
    fn kind(&self) -> Kind {
        match (self.rank, self.style, self.listed) {
            (Some(rank), ..) => Kind::Heading(rank),
            (None, Kind::Heading(rank), _) => Kind::Heading(rank),
            (None, _, Some(true)) | (None, Kind::Item(_), None) => Kind::Item(self.depth),
            (None, ..) => Kind::Plain,
        }
    }
}

struct Body<'a> {
    styles: &'a Styles,
    notes: Notes,
    /// Notes that are read, by their ids.
    kept: HashMap<String, String>,
    blocks: Blocks,
    paragraphs: Vec<Paragraph>,
    /// How deep reading is in what is skipped.
    skipping: usize,
    /// How deep it is in properties.
    properties: usize,
    in_text: bool,
    /// The note that is read.
    note: Option<String>,
}

impl<'a> Body<'a> {
    fn new(styles: &'a Styles, notes: Notes) -> Self {
        Self {
            styles,
            notes,
            kept: HashMap::new(),
            blocks: Blocks::default(),
            paragraphs: Vec::new(),
            skipping: 0,
            properties: 0,
            in_text: false,
            note: None,
        }
    }

    fn property(&mut self, tag: &Tag<'_>) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        match tag.name {
            "pStyle" => {
                paragraph.style = tag.get("val").map_or(Kind::Plain, |id| self.styles.kind(&id));
            }
            // 9 is text.
            "outlineLvl" => {
                paragraph.rank =
                    tag.number("val").filter(|level| *level < 9).map(|level| level + 1);
            }
            "numId" => paragraph.listed = tag.number("val").map(|id| id > 0),
            "ilvl" => paragraph.depth = tag.number("val").unwrap_or_default(),
            _ => {}
        }
    }

    fn refer(&mut self, kind: &'static str, tag: &Tag<'_>) {
        let id = tag.get("id").unwrap_or_default().into_owned();
        if let Some(note) = self.notes.get(&(kind, id)) {
            self.blocks.note(note);
        }
    }
}

impl Visit for Body<'_> {
    fn open(&mut self, tag: &Tag<'_>) -> Result<(), SkipReason> {
        if self.skipping > 0 || SKIPPED.contains(&tag.name) {
            self.skipping += 1;
            return Ok(());
        }
        if self.properties > 0 || tag.name.ends_with("Pr") {
            self.properties += 1;
            self.property(tag);
            return Ok(());
        }
        match tag.name {
            "p" => {
                self.paragraphs.push(Paragraph::default());
                self.blocks.begin();
            }
            "t" => self.in_text = true,
            "tab" => self.blocks.text("\t"),
            "br" | "cr" => self.blocks.text("\n"),
            "noBreakHyphen" => self.blocks.text("-"),
            "tbl" => self.blocks.begin_table()?,
            "tr" => self.blocks.begin_row(),
            "tc" => self.blocks.begin_cell()?,
            "footnoteReference" => self.refer("footnote", tag),
            "endnoteReference" => self.refer("endnote", tag),
            // Those with a type are lines that separate.
            "footnote" | "endnote" if tag.get("type").is_none_or(|kind| kind == "normal") => {
                self.note = tag.get("id").map(|id| id.into_owned());
                self.blocks = Blocks::default();
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) {
        if self.skipping > 0 {
            self.skipping -= 1;
            return;
        }
        if self.properties > 0 {
            self.properties -= 1;
            return;
        }
        match name {
            "p" => {
                let kind = self.paragraphs.pop().unwrap_or_default().kind();
                self.blocks.end(kind);
            }
            "t" => self.in_text = false,
            "tc" => self.blocks.end_cell(),
            "tbl" => self.blocks.end_table(),
            "footnote" | "endnote" => {
                let text = std::mem::take(&mut self.blocks).finish();
                if let Some(id) = self.note.take() {
                    self.kept.insert(id, text);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_text && self.skipping == 0 {
            self.blocks.text(text);
        }
    }
}
