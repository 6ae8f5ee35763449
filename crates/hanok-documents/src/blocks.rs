//! Paragraphs, headings, lists, tables and notes, written as the markdown that [`Splitter`](hanok_retrieval::Splitter) reads.

use crate::skip::SkipReason;

/// How deep tables may stand in each other, notes counted.
const MAX_NESTED: usize = 64;

/// What a paragraph is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Plain,
    /// Of this rank, from 1.
    Heading(usize),
    /// Of a list, this deep, from 0.
    Item(usize),
}

/// What paragraphs stand in.
#[derive(Debug)]
enum Frame {
    Table(Vec<Vec<String>>),
    Cell(String),
    Note(String),
}

/// The text of a document while it is written.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    out: String,
    /// The paragraphs that are open, the outermost first: a text box stands inside of one.
    open: Vec<String>,
    frames: Vec<Frame>,
    notes: Vec<String>,
    /// How many notes there were.
    noted: usize,
    after_item: bool,
}

impl Blocks {
    pub(crate) fn begin(&mut self) {
        self.open.push(String::new());
    }

    /// More of the paragraph at hand, which begins if there is none.
    pub(crate) fn text(&mut self, text: &str) {
        match self.open.last_mut() {
            Some(open) => open.push_str(text),
            None => self.open.push(text.to_owned()),
        }
    }

    /// The paragraph at hand.
    pub(crate) fn at_hand(&self) -> &str {
        self.open.last().map(String::as_str).unwrap_or_default()
    }

    /// Ends the paragraph at hand. Says whether it had any text.
    pub(crate) fn end(&mut self, kind: Kind) -> bool {
        let text = self.open.pop().unwrap_or_default();
        let text = text.trim();
        if text.is_empty() {
            return false;
        }
        match self.frames.last_mut() {
            Some(Frame::Cell(inner) | Frame::Note(inner)) => {
                if !inner.is_empty() {
                    inner.push('\n');
                }
                inner.push_str(text);
            }
            Some(Frame::Table(_)) | None => self.write(kind, text),
        }
        true
    }

    fn write(&mut self, kind: Kind, text: &str) {
        let is_item = matches!(kind, Kind::Item(_));
        if !self.out.is_empty() {
            self.out.push_str(if is_item && self.after_item { "\n" } else { "\n\n" });
        }
        self.after_item = is_item;
        match kind {
            Kind::Plain => self.out.push_str(text),
            Kind::Heading(rank) => {
                self.out.push_str(&"#".repeat(rank.clamp(1, 6)));
                self.out.push(' ');
                self.out.push_str(&one_line(text));
            }
            Kind::Item(depth) => {
                self.out.push_str(&"  ".repeat(depth.min(8)));
                self.out.push_str("- ");
                self.out.push_str(&one_line(text));
            }
        }
        if self.frames.is_empty() {
            self.write_notes();
        }
    }

    /// Notes stand behind the block that refers to them.
    fn write_notes(&mut self) {
        for note in std::mem::take(&mut self.notes) {
            self.out.push_str("\n\n");
            self.out.push_str(&note);
            self.after_item = false;
        }
    }

    pub(crate) fn begin_table(&mut self) -> Result<(), SkipReason> {
        self.nest(Frame::Table(Vec::new()))
    }

    pub(crate) fn begin_row(&mut self) {
        self.end_cell();
        if let Some(Frame::Table(rows)) = self.frames.last_mut() {
            rows.push(Vec::new());
        }
    }

    /// Begins a cell, if a table is open.
    pub(crate) fn begin_cell(&mut self) -> Result<(), SkipReason> {
        self.end_cell();
        match self.frames.last_mut() {
            Some(Frame::Table(rows)) => {
                if rows.is_empty() {
                    rows.push(Vec::new());
                }
                self.nest(Frame::Cell(String::new()))
            }
            _ => Ok(()),
        }
    }

    /// Ends the cell at hand, if one is.
    pub(crate) fn end_cell(&mut self) {
        if !matches!(self.frames.last(), Some(Frame::Cell(_))) {
            return;
        }
        let Some(Frame::Cell(cell)) = self.frames.pop() else { return };
        if let Some(Frame::Table(rows)) = self.frames.last_mut()
            && let Some(row) = rows.last_mut()
        {
            row.push(cell);
        }
    }

    /// Ends the table at hand, if one is.
    pub(crate) fn end_table(&mut self) {
        self.end_cell();
        if !matches!(self.frames.last(), Some(Frame::Table(_))) {
            return;
        }
        let Some(Frame::Table(rows)) = self.frames.pop() else { return };
        let text = match rows.as_slice() {
            // A frame around text is no table.
            [row] if row.len() == 1 => row.concat(),
            rows => drawn(rows),
        };
        self.open.push(text);
        self.end(Kind::Plain);
    }

    pub(crate) fn begin_note(&mut self) -> Result<(), SkipReason> {
        self.nest(Frame::Note(String::new()))
    }

    /// Ends a note that was begun, and refers to it from the paragraph at hand.
    pub(crate) fn end_note(&mut self) {
        if matches!(self.frames.last(), Some(Frame::Note(_)))
            && let Some(Frame::Note(text)) = self.frames.pop()
        {
            self.note(&text);
        }
    }

    /// Refers to a note from the paragraph at hand.
    pub(crate) fn note(&mut self, text: &str) {
        self.noted += 1;
        self.text(&format!("[^{}]", self.noted));
        self.notes.push(format!("[^{}]: {}", self.noted, one_line(text)));
    }

    fn nest(&mut self, frame: Frame) -> Result<(), SkipReason> {
        if self.frames.len() >= MAX_NESTED {
            return Err(SkipReason::TooNested { limit: MAX_NESTED });
        }
        self.frames.push(frame);
        Ok(())
    }

    /// All that was written.
    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.end(Kind::Plain);
        }
        // A page may never close its tables.
        while let Some(frame) = self.frames.last() {
            match frame {
                Frame::Table(_) => self.end_table(),
                Frame::Cell(_) => self.end_cell(),
                Frame::Note(_) => self.end_note(),
            }
        }
        while !self.open.is_empty() {
            self.end(Kind::Plain);
        }
        self.write_notes();
        self.out.push('\n');
        self.out
    }
}

/// Rows as lines with bars between their cells.
fn drawn(rows: &[Vec<String>]) -> String {
    let rows = rows.iter().filter(|row| row.iter().any(|cell| !cell.is_empty()));
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().map(|cell| one_line(cell)).collect();
        format!("| {} |", cells.join(" | "))
    };
    rows.map(line).collect::<Vec<_>>().join("\n")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
