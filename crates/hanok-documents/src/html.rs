//! A page of HTML to text: what a reader sees of it, in the order of the source.

use html5gum::{DefaultEmitter, Token, Tokenizer};

use crate::{
    blocks::{Blocks, Kind},
    deadline::Deadline,
    skip::SkipReason,
};

/// So many tokens come between two looks at the time.
const TOKENS: u32 = 4_096;

/// What no reader sees as text.
const SKIPPED: [&str; 10] = [
    "script", "style", "template", "noscript", "svg", "math", "iframe", "object", "title", "select",
];

/// What begins and ends a paragraph.
const BLOCKS: [&str; 34] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "head",
    "header",
    "hr",
    "html",
    "legend",
    "main",
    "nav",
    "p",
    "pre",
    "search",
    "section",
    "summary",
    "tbody",
    "tfoot",
    "thead",
    "hgroup",
];

/// The text, and the title that the page's head gives.
pub(crate) fn decode(
    html: &str,
    deadline: Deadline,
) -> Result<(String, Option<String>), SkipReason> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut page = Page::default();
    let mut tokens = 0_u32;
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(token) = token;
        tokens = tokens.wrapping_add(1);
        if tokens.is_multiple_of(TOKENS) {
            deadline.check()?;
        }
        match token {
            Token::StartTag(tag) => {
                let name = name(&tag.name);
                page.open(&name)?;
                if tag.self_closing && SKIPPED.contains(&&*name) {
                    page.close(&name);
                }
            }
            Token::EndTag(tag) => page.close(&name(&tag.name)),
            Token::String(text) => page.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    page.flush();
    let title = page.title.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok((page.blocks.finish(), Some(title).filter(|title| !title.is_empty())))
}

fn name(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[derive(Debug, Default)]
struct Page {
    blocks: Blocks,
    kind: Kind,
    /// How many lists are open.
    lists: usize,
    /// The element that is skipped, and how often it is open in itself.
    skipped: Option<(String, usize)>,
    /// How many elements are open that keep white space.
    kept: usize,
    title: String,
}

impl Page {
    fn open(&mut self, name: &str) -> Result<(), SkipReason> {
        if let Some((skipped, times)) = &mut self.skipped {
            *times += usize::from(skipped == name);
            return Ok(());
        }
        if SKIPPED.contains(&name) {
            self.skipped = Some((name.to_owned(), 1));
            return Ok(());
        }
        match name {
            "br" => self.blocks.text("\n"),
            "table" => {
                self.flush();
                self.blocks.begin_table()?;
            }
            "tr" => {
                self.flush();
                self.blocks.begin_row();
            }
            "td" | "th" => {
                self.flush();
                self.blocks.begin_cell()?;
            }
            "ul" | "ol" | "menu" => {
                self.flush();
                self.lists += 1;
            }
            "li" => {
                self.flush();
                self.kind = Kind::Item(self.lists.saturating_sub(1));
            }
            _ => {
                if let Some(rank) = rank(name) {
                    self.flush();
                    self.kind = Kind::Heading(rank);
                } else if BLOCKS.contains(&name) {
                    self.flush();
                }
            }
        }
        self.kept += usize::from(name == "pre");
        Ok(())
    }

    fn close(&mut self, name: &str) {
        if let Some((skipped, times)) = &mut self.skipped {
            *times -= usize::from(skipped == name);
            if *times == 0 {
                self.skipped = None;
            }
            return;
        }
        match name {
            "td" | "th" => {
                self.flush();
                self.blocks.end_cell();
            }
            "table" => {
                self.flush();
                self.blocks.end_table();
            }
            "ul" | "ol" | "menu" => {
                self.flush();
                self.lists = self.lists.saturating_sub(1);
            }
            _ if name == "li" || rank(name).is_some() => {
                self.flush();
                self.kind = Kind::Plain;
            }
            _ if BLOCKS.contains(&name) => self.flush(),
            _ => {}
        }
        self.kept = self.kept.saturating_sub(usize::from(name == "pre"));
    }

    fn text(&mut self, text: &str) {
        if let Some((skipped, _)) = &self.skipped {
            if skipped == "title" {
                self.title.push_str(text);
            }
        } else if self.kept > 0 {
            self.blocks.text(text);
        } else {
            self.words(text);
        }
    }

    /// Text whose white space says nothing but that there is some.
    fn words(&mut self, text: &str) {
        let begins = text.starts_with(|letter: char| letter.is_ascii_whitespace());
        let ends = text.ends_with(|letter: char| letter.is_ascii_whitespace());
        let before = self.blocks.at_hand();
        if begins && !before.is_empty() && !before.ends_with([' ', '\n']) {
            self.blocks.text(" ");
        }
        for (at, word) in text.split_ascii_whitespace().enumerate() {
            if at > 0 {
                self.blocks.text(" ");
            }
            self.blocks.text(word);
        }
        if ends && !self.blocks.at_hand().is_empty() && !self.blocks.at_hand().ends_with(' ') {
            self.blocks.text(" ");
        }
    }

    /// Ends the paragraph at hand. One that is of a list or a heading is so once.
    fn flush(&mut self) {
        if self.blocks.end(self.kind) {
            self.kind = Kind::Plain;
        }
    }
}

fn rank(name: &str) -> Option<usize> {
    name.strip_prefix('h')?.parse().ok().filter(|rank| (1..=6).contains(rank))
}
