//! The lines of a contract to its articles and appendices.

use std::ops::Range;

use super::{
    AppendixKind, ArticleNumber,
    clause::begins_with_mark,
    heading::{self, Firm, Head, first_line, unbold},
    lines::{Kind, Line, trimmed},
    refer::{goes_on, goes_on_below, is_of_contents},
};
use crate::work;

/// A line that is shorter ends where its writer ended it, in characters.
const SHORT: usize = 20;

/// Fewer articles without a word in them are no table of contents.
const MIN_CONTENTS: usize = 3;

/// Where an article begins.
#[derive(Debug, Clone)]
pub(crate) struct Begun {
    /// Where its share of the text begins, in bytes: at its chapter's heading if it is the first of it.
    pub(crate) start: usize,
    /// Its heading, in bytes.
    pub(crate) heading: Range<usize>,
    pub(crate) number: ArticleNumber,
    pub(crate) title: Option<String>,
    pub(crate) english: bool,
    pub(crate) chapter: Option<String>,
    /// Whether any words follow the heading.
    said: bool,
}

/// A part of a contract that begins.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Article(Begun),
    Appendix { start: usize, kind: AppendixKind, label: String },
}

impl Part {
    pub(crate) fn start(&self) -> usize {
        match self {
            Self::Article(begun) => begun.start,
            Self::Appendix { start, .. } => *start,
        }
    }
}

/// The parts of `text` in order. What stands before the first is the preamble.
pub(crate) fn outline(text: &str, lines: &[Line]) -> Vec<Part> {
    let mut outline = Outline { text, lines, ..Outline::default() };
    let mut until = 0;
    work::count(lines.len());
    for (at, line) in lines.iter().enumerate() {
        if line.span.start >= until
            && let Some(end) = outline.read(at, line)
        {
            until = end;
        }
    }
    without_contents(outline.parts)
}

/// `parts` without a list of the articles before them: articles with nothing in them, and then the first again.
fn without_contents(mut parts: Vec<Part>) -> Vec<Part> {
    let number = |part: &Part| {
        work::count(1);
        match part {
            Part::Article(begun) => Some(begun.number),
            Part::Appendix { .. } => None,
        }
    };
    let first = parts.first().and_then(number);
    let again = parts.iter().skip(1).position(|part| first.is_some() && number(part) == first);
    let is_list = |part: &Part| {
        work::count(1);
        matches!(part, Part::Article(begun) if !begun.said)
    };
    if let Some(again) = again.map(|at| at + 1)
        && again >= MIN_CONTENTS
        && parts.iter().take(again).all(is_list)
    {
        parts.drain(..again);
    }
    parts
}

#[derive(Debug, Default)]
struct Outline<'a> {
    text: &'a str,
    lines: &'a [Line],
    parts: Vec<Part>,
    /// The number of the last article that is none of an appendix.
    last: Option<ArticleNumber>,
    /// The chapters that are open, and where the outermost began whose first article is to come.
    chapters: Vec<(u8, String)>,
    pending: Option<usize>,
    /// Whether an appendix is read, and whether it has articles of its own.
    appendix: Option<bool>,
    /// Whether any article has words in it: in a table of contents none has.
    said: bool,
    before: Before,
}

/// What stands before a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Before {
    /// An empty line, the begin of the text, or a chapter's heading.
    blank: bool,
    /// The head or foot of a page.
    page: bool,
    /// A line whose sentence goes on.
    open: bool,
}

impl Default for Before {
    fn default() -> Self {
        Self { blank: true, page: false, open: false }
    }
}

impl Before {
    /// Whether something new may begin. Empty lines around the foot of a page are the page's.
    fn is_apart(self) -> bool {
        !self.open || self.blank && !self.page
    }
}

impl Outline<'_> {
    /// Reads one line. `Some` when it is a heading: where that ends.
    fn read(&mut self, at: usize, line: &Line) -> Option<usize> {
        match line.kind {
            Kind::Blank => self.before.blank = true,
            Kind::Page => self.before.page = true,
            Kind::Row => {
                self.say();
                self.before = Before { blank: false, page: false, open: false };
            }
            Kind::Text => {
                let rest = self.text.get(line.span.start..)?;
                let shown = first_line(rest);
                let shown = work::stripped(shown, shown.trim_end());
                if let Some(end) = self.heading(at, line, rest, shown) {
                    return Some(end);
                }
                if !is_of_contents(shown) {
                    self.say();
                }
                self.before = Before { blank: false, page: false, open: is_open(shown) };
            }
        }
        None
    }

    fn say(&mut self) {
        if let Some(Part::Article(begun)) = self.parts.last_mut() {
            begun.said = true;
            self.said = true;
        }
    }

    fn heading(&mut self, at: usize, line: &Line, rest: &str, shown: &str) -> Option<usize> {
        if let Some(head) = heading::article(rest)
            && let Some(end) = self.article(at, line, rest, head)
        {
            return Some(end);
        }
        if self.appendix.is_none()
            && self.before.is_apart()
            && let Some((rank, label)) = heading::division(shown)
        {
            self.divide(rank, label, line.span.start);
            return Some(line.span.end);
        }
        let (kind, label) = self.appendix(shown)?;
        // A table of contents names them, too.
        if self.said {
            self.parts.push(Part::Appendix { start: line.span.start, kind, label });
            (self.appendix, self.pending) = (Some(false), None);
            self.before = Before { blank: false, page: false, open: false };
        }
        Some(line.span.end)
    }

    fn divide(&mut self, rank: u8, label: String, start: usize) {
        work::count(self.chapters.len());
        self.chapters.retain(|(open, _)| *open < rank);
        if self.chapters.is_empty() {
            self.pending = None;
        }
        self.chapters.push((rank, label));
        self.pending = self.pending.or(Some(start));
        self.before = Before::default();
    }

    /// Whether the closing words may come: behind the articles, or what was agreed beside them.
    fn may_close(&self) -> bool {
        match self.parts.last() {
            Some(Part::Appendix { kind, .. }) => *kind == AppendixKind::Special,
            _ => self.appendix.is_none(),
        }
    }

    fn appendix(&self, shown: &str) -> Option<(AppendixKind, String)> {
        if heading::closes(shown) && self.may_close() && self.before.is_apart() {
            return Some((AppendixKind::Closing, String::new()));
        }
        let found = heading::appendix(shown)?;
        let is_alone =
            self.before.blank || self.before.page || !shown.starts_with(char::is_alphabetic);
        (is_alone || found.0 == AppendixKind::Supplement).then_some(found)
    }

    /// Takes `head` for an article's heading if what is around it allows.
    fn article(&mut self, at: usize, line: &Line, rest: &str, head: Head) -> Option<usize> {
        let follows = head.number.follows(self.last);
        // Else all that follows a number that is missing would be missing, too.
        let skips = self.last.is_some_and(|last| head.number.skips(last));
        let spaced = self.before.blank && !self.before.page;
        let is_taken = match head.firm {
            Firm::Written => true,
            Firm::Titled => follows || self.before.is_apart(),
            Firm::Bare => follows || spaced || skips && self.before.is_apart(),
            Firm::Sentence => follows && self.before.is_apart() || skips && spaced,
        };
        if !is_taken {
            return None;
        }
        let (title, end) = self.titled(at, line, rest, &head)?;
        if let Some(own) = self.appendix {
            let goes_back = !own && follows && head.firm >= Firm::Titled && self.last.is_some();
            if !goes_back {
                self.appendix = Some(true);
                return None;
            }
            self.appendix = None;
        }
        let start = self.pending.take().unwrap_or(line.span.start);
        let indent = rest.len() - work::stripped(rest, rest.trim_start()).len();
        let behind = self.text.get(end..).map(first_line).unwrap_or_default();
        work::count(2 * behind.len());
        let said = behind.chars().any(char::is_alphanumeric);
        self.said |= said;
        let labels: Vec<&str> = self.chapters.iter().map(|(_, label)| label.as_str()).collect();
        let chapter = (!labels.is_empty()).then(|| labels.join(" > "));
        work::count(chapter.as_ref().map_or(0, String::len));
        self.parts.push(Part::Article(Begun {
            start,
            heading: line.span.start + indent..end,
            number: head.number,
            title,
            english: head.english,
            chapter,
            said,
        }));
        self.last = Some(head.number);
        self.before =
            Before { blank: false, page: false, open: said && is_open(behind.trim_end()) };
        Some(end.max(line.span.start + first_line(rest).len()))
    }

    /// The title of `head`, which may stand in the next line, and where the heading ends. `None` when the next line goes on
    /// with a sentence that refers to the article.
    fn titled(
        &self,
        at: usize,
        line: &Line,
        rest: &str,
        head: &Head,
    ) -> Option<(Option<String>, usize)> {
        let end = line.span.start + head.end;
        let own = (head.title.clone(), end);
        let behind = first_line(rest.get(head.end..)?);
        let signs = ['*', '_', '#', ' ', '\t', '\r'];
        let is_alone = work::stripped(behind, behind.trim_matches(signs)).is_empty();
        let mut later = self.lines.iter().skip(at + 1).filter(|next| {
            work::count(1);
            next.span.start >= end && next.kind != Kind::Page
        });
        let Some(next) = later.next().filter(|_| is_alone) else { return Some(own) };
        let said = self.text.get(next.span.clone())?;
        if next.kind == Kind::Text && goes_on_below(first_line(said), head.title.is_some()) {
            return None;
        }
        if head.title.is_some() {
            return Some(own);
        }
        let (next, is_apart) = match next.kind {
            Kind::Blank => (later.next().filter(|next| next.kind == Kind::Text), true),
            Kind::Text => (Some(next), false),
            Kind::Row | Kind::Page => (None, true),
        };
        let below = next.and_then(|next| self.title_in(next, is_apart, later.next()));
        Some(below.map_or(own, |(title, end)| (Some(title), end)))
    }

    /// The title that `line` is, in brackets or short: brief, or with something of its own behind it.
    fn title_in(
        &self,
        line: &Line,
        is_apart: bool,
        behind: Option<&Line>,
    ) -> Option<(String, usize)> {
        let rest = self.text.get(line.span.start..)?;
        let shown = unbold(work::stripped(rest, rest.trim_start()));
        let skipped = rest.len() - shown.len();
        if begins_with_mark(first_line(shown)) || heading::appendix(first_line(rest)).is_some() {
            return None;
        }
        if let Some((title, after)) = heading::bracketed(shown) {
            let after = unbold(after);
            let is_title = !goes_on(first_line(after)) && !title.starts_with("이하");
            return is_title.then(|| (title, line.span.start + rest.len() - after.len()));
        }
        let title = first_line(rest.get(skipped..)?);
        let title = work::stripped(title, title.trim_end().trim_end_matches(['*', '_']));
        let ends = behind.is_none_or(|behind| {
            let said = self.text.get(behind.span.clone()).unwrap_or_default();
            behind.kind != Kind::Text || begins_with_mark(trimmed(said))
        });
        let is_title = !is_apart
            && (ends || heading::is_brief(title))
            && heading::is_bare_title(title)
            && heading::article(rest).is_none()
            && heading::division(first_line(rest)).is_none();
        is_title.then(|| (title.to_owned(), line.span.start + first_line(rest).len()))
    }
}

/// Whether the sentence of a line goes on in the next: it is long, and nothing ends it.
fn is_open(line: &str) -> bool {
    let line = work::stripped(line, line.trim_end_matches(['*', '_', ' ']));
    line.chars().nth(SHORT).is_some()
        && !line.ends_with(['.', ':', ';', '다', ')', '」', ']', '】', '?', '!', '”', '"'])
}
