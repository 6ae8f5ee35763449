use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
};

use crate::{
    document::{Document, Passage},
    measure::Measure,
    sections::sections,
};

/// Cuts a document into passages where it is structured: at markdown headings, Korean articles
/// (`제12조(연차휴가)`) and numbered headings, else at pages; what is longer than
/// [`max_chars`](Self::max_chars), or [`tokens`](Self::tokens), then at paragraphs, lines, sentences and words, whichever comes first.
///
/// A pure function of its settings and the document. The spans of the passages cover every character
/// of the text but white space.
///
/// ```
/// use hanok_retrieval::{Document, Splitter};
///
/// let rules = "# 인사규정\n\n## 제12조(연차휴가)\n1년 이상은 연 15일이다.\n\n## 제13조(병가)\n연 60일까지이다.\n";
/// let passages = Splitter::new().split(&Document::new("인사규정.md", rules));
///
/// let headings: Vec<_> = passages.iter().map(|passage| passage.heading.as_str()).collect();
/// assert_eq!(headings, ["인사규정 > 제12조(연차휴가)", "인사규정 > 제13조(병가)"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splitter {
    max: usize,
    overlap: usize,
    measure: Measure,
}

impl Default for Splitter {
    fn default() -> Self {
        Self::new()
    }
}

impl Splitter {
    /// Passages of at most 800 characters, with 80 characters of overlap.
    #[must_use]
    pub fn new() -> Self {
        Self { max: 800, overlap: 80, measure: Measure::Chars }
    }

    /// The longest passage, in characters (Unicode scalar values); at least 16. Default: 800.
    #[must_use]
    pub fn max_chars(self, max_chars: usize) -> Self {
        Self { max: max_chars.max(16), ..self }
    }

    /// How many characters a passage repeats of the one before it, when one section had to be cut;
    /// at most a quarter of [`max_chars`](Self::max_chars). Sections never overlap. Default: 80.
    #[must_use]
    pub fn overlap_chars(self, overlap_chars: usize) -> Self {
        Self { overlap: overlap_chars, ..self }
    }

    /// Passages of at most `max` tokens as `count` counts them, instead of characters, and at most `overlap` of them
    /// repeated; at least 1, and at most a quarter of `max`. One character is never cut, whatever it counts.
    ///
    /// `count` is asked some thirty times for a passage. It has to give the same for the same text, and should not give less
    /// for more of it: a passage stays within `max` all the same.
    ///
    /// ```
    /// use hanok_retrieval::{Document, Splitter};
    ///
    /// let words = |text: &str| text.split_whitespace().count();
    /// let document = Document::new("a.txt", "one two three four five six seven");
    /// let passages = Splitter::new().tokens(4, 1, words).split(&document);
    ///
    /// let texts: Vec<_> = passages.iter().map(|passage| passage.text.as_str()).collect();
    /// assert_eq!(texts, ["one two three four", "four five six seven"]);
    /// ```
    #[must_use]
    pub fn tokens(
        self,
        max: usize,
        overlap: usize,
        count: impl Fn(&str) -> usize + Send + Sync + 'static,
    ) -> Self {
        Self { max: max.max(1), overlap, measure: Measure::tokens(count) }
    }

    /// The passages of `document`, in its order.
    #[must_use]
    pub fn split(&self, document: &Document) -> Vec<Passage> {
        let mut passages = Passages::new(document);
        for section in sections(&document.text, &document.pages) {
            self.pieces(&document.text, section.span.clone())
                .for_each(|piece| passages.push(&section.heading, &document.metadata, piece));
        }
        passages.done
    }

    /// Whether `text` is short enough for one passage.
    pub fn fits(&self, text: &str) -> bool {
        self.measure.limit(text, self.max).is_none()
    }

    /// Cuts one section. Every piece is trimmed of white space and has some other character.
    pub fn pieces<'a>(
        &self,
        text: &'a str,
        section: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + use<'a> {
        let (max, overlap) = (self.max, self.overlap.min(self.max / 4));
        let measure = self.measure.clone();
        let mut start = section.start;
        std::iter::from_fn(move || {
            let rest = trimmed(text, start..section.end)?;
            let window = text.get(rest.clone())?;
            let Some(mut limit) = measure.limit(window, max) else {
                start = section.end;
                return Some(rest);
            };
            let cut = loop {
                let cut = cut(window, limit);
                let piece = window.get(..cut).unwrap_or_default().trim();
                if measure.holds(piece, max) {
                    break cut;
                }
                limit = window.floor_char_boundary(cut - cut.div_ceil(8));
            };
            start = rest.start + resume(window, cut, measure.tail(window, cut, overlap));
            trimmed(text, rest.start..rest.start + cut)
        })
    }
}

/// `span` without the white space at its ends; `None` if there is nothing else.
fn trimmed(text: &str, span: Range<usize>) -> Option<Range<usize>> {
    let slice = text.get(span.clone())?;
    let start = span.start + slice.len() - slice.trim_start().len();
    let end = start + slice.trim().len();
    (start < end).then_some(start..end)
}

/// The best place to cut at or before `limit`, in the second half of what fits.
fn cut(window: &str, limit: usize) -> usize {
    let fits = window.get(..limit).unwrap_or(window);
    let last = |mark: &str| {
        let at = fits.rfind(mark).map(|at| at + mark.len());
        at.filter(|at| *at > limit / 2)
    };
    let sentence = [". ", "? ", "! ", "。"].into_iter().filter_map(last).max();
    last("\n\n").or_else(|| last("\n")).or(sentence).or_else(|| last(" ")).unwrap_or(limit)
}

/// Where the passage after a cut begins: at `from` or between it and the cut, at a line, a sentence or a word if one begins
/// there.
fn resume(window: &str, cut: usize, from: usize) -> usize {
    let before = window.get(..cut).unwrap_or(window);
    let tail = before.get(from..).unwrap_or_default();
    // A mark at the very end would leave nothing to repeat.
    let after = |mark: &str| {
        let at = tail.find(mark).map(|at| from + at + mark.len());
        at.filter(|at| before.get(*at..).is_some_and(|rest| !rest.trim().is_empty()))
    };
    after("\n").or_else(|| after(". ")).or_else(|| after(" ")).unwrap_or(from)
}

/// Collects the passages of one document.
#[derive(Debug)]
pub struct Passages<'a> {
    document: &'a Document,
    /// Those so far.
    pub done: Vec<Passage>,
    /// How often the same text stood under the same headings.
    seen: HashMap<blake3::Hash, u32>,
    /// The last place whose character offset is known: in bytes, in characters.
    known: (usize, usize),
}

impl<'a> Passages<'a> {
    /// None yet, of `document`.
    #[must_use]
    pub fn new(document: &'a Document) -> Self {
        Self { document, done: Vec::new(), seen: HashMap::new(), known: (0, 0) }
    }

    /// Adds the passage of these `bytes` of the text. Passages come in the order of the text.
    pub fn push(
        &mut self,
        heading: &str,
        metadata: &BTreeMap<String, String>,
        bytes: Range<usize>,
    ) {
        let text = self.document.text.get(bytes.clone()).unwrap_or_default().to_owned();
        let start = self.chars_before(bytes.start);
        let pages = self.document.pages.partition_point(|page| *page <= bytes.start);
        let id = self.id(heading, &text);
        self.done.push(Passage {
            id,
            document: self.document.id.clone(),
            source: self.document.source.clone(),
            heading: heading.to_owned(),
            chars: start..start + text.chars().count(),
            text,
            bytes,
            ordinal: self.done.len(),
            page: (!self.document.pages.is_empty()).then_some(pages.max(1)),
            metadata: metadata.clone(),
            vector: None,
        });
    }

    /// Passages begin in the order of the text, so this reads it once.
    fn chars_before(&mut self, byte: usize) -> usize {
        let (at, chars) = self.known;
        let between = self.document.text.get(at..byte).map_or(0, |text| text.chars().count());
        self.known = (byte, chars + between);
        chars + between
    }

    fn id(&mut self, heading: &str, text: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in [&self.document.source, heading, text] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        let again = self.seen.entry(hasher.finalize()).or_default();
        hasher.update(&again.to_le_bytes());
        *again += 1;
        hasher.finalize().to_hex().chars().take(32).collect()
    }
}
