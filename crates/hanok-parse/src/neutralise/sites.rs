//! Finds where marks have to be broken.

use super::{
    JOINER, object,
    words::{self, Anchored, Words},
};
use crate::{
    json::token::is_quote,
    parse::{
        lines::{RESULTS, TOOL_CODE},
        unknown_mark,
    },
    text::{eights, labels, marks::Lookup},
    work,
};

/// The longest name of a call.
const NAME: usize = 256;

/// Where word joiners go in `text`, in order. `None` if the text has some already.
pub(super) fn of(text: &str) -> Option<Vec<usize>> {
    let words = words::all();
    let mut search = Search { text, words, sites: Vec::new(), looked: None, word: None, quoted: 0 };
    search.line(0);
    let mut at = 0;
    loop {
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        let len = before_stop(rest);
        work::count(len + 1);
        at += len;
        let Some(byte) = text.as_bytes().get(at) else { break };
        if *byte == FIRST_OF_SIGNS && search.rest(at).starts_with(JOINER) {
            return None;
        }
        search.stop(*byte, at);
        at += 1;
    }
    search.sites.sort_unstable();
    search.sites.dedup();
    Some(search.sites)
}

/// The first byte of the joiner, of `✿` and `◁`, and of line separators.
const FIRST_OF_SIGNS: u8 = 0xe2;

/// So many bytes are compared at once.
const BLOCK: usize = 16;

/// How many of `bytes` come before the first at which something may have to be broken.
#[inline]
fn before_stop(bytes: &[u8]) -> usize {
    // Compilers make one comparison of a block that has no branch in it.
    let has_stop = |block: &[u8]| block.iter().fold(false, |any, byte| any | is_stop(*byte));
    let blocks = bytes.chunks_exact(BLOCK);
    let rest = bytes.len() - blocks.remainder().len();
    let from = blocks.map(has_stop).position(|has| has).map_or(rest, |block| block * BLOCK);
    let last = bytes.len().min(from + BLOCK);
    from + eights::before(bytes.get(from..last).unwrap_or_default(), stops)
}

/// Whether something may have to be broken at `byte`. Bytes that differ in a bit are compared together.
#[inline]
const fn is_stop(byte: u8) -> bool {
    // Line breaks, and other control characters.
    (byte | 0x07 == 0x0f)
        // `:` and `>`.
        | (byte | 0x04 == b'>')
        // `<` and `=`.
        | (byte | 0x01 == b'=')
        // `[` and `{`, `\` and `|`, `]` and `}`.
        | ((byte | 0x20).wrapping_sub(b'{') < 3)
        | (byte == b'(')
        | (byte == b'`')
        | (byte == FIRST_OF_SIGNS)
}

/// The same of eight bytes, as [`eights::before`] asks it.
#[inline]
fn stops(eight: u64) -> u64 {
    let with = |byte: u8| eight | u64::from_ne_bytes([byte; 8]);
    eights::equal(with(0x07), 0x0f)
        | eights::equal(with(0x04), b'>')
        | eights::equal(with(0x01), b'=')
        | eights::equal(with(0x20), b'{')
        | eights::equal(with(0x21), b'}')
        | eights::equal(eight, b'(')
        | eights::equal(eight, b'`')
        | eights::equal(eight, FIRST_OF_SIGNS)
}

struct Search<'a> {
    text: &'a str,
    words: &'static Words,
    sites: Vec<usize>,
    /// The signs at the start of the line are known up to here.
    looked: Option<usize>,
    /// The first letter of the line, until a round bracket follows it.
    word: Option<usize>,
    /// As `looked`, behind signs within a line.
    quoted: usize,
}

impl<'a> Search<'a> {
    fn rest(&self, at: usize) -> &'a str {
        self.text.get(at..).unwrap_or_default()
    }

    /// A mark begins at `at`.
    fn push(&mut self, at: usize) {
        let letter = self.rest(at).chars().next();
        self.sites.push(at + letter.map_or(0, char::len_utf8));
    }

    fn stop(&mut self, byte: u8, at: usize) {
        match byte {
            b'\n' | b'\r' | 0x0b | 0x0c => self.line(at + 1),
            b'<' => self.mark(at),
            b']' => {
                self.mark(at);
                self.quoted(at + 1);
            }
            FIRST_OF_SIGNS => {
                self.mark(at);
                if self.rest(at).starts_with(['\u{2028}', '\u{2029}']) {
                    self.line(at + 3);
                }
            }
            b'[' => {
                self.mark(at);
                self.list(at);
                self.bare_words(at);
                self.quoted(at + 1);
            }
            b'{' => {
                if object::may_call(self.rest(at + 1)) {
                    self.push(at);
                }
                self.bare_words(at);
            }
            b'(' => {
                self.anchored(byte, at);
                self.bare_words(at);
                self.code(at);
            }
            b'>' => {
                self.anchored(byte, at);
                // A quotation leaves out the signs before its lines, and the text of a page its tags.
                self.line(at + 1);
            }
            b':' => {
                self.anchored(byte, at);
                self.quoted(at + 1);
            }
            b'=' => self.anchored(byte, at),
            b'`' => self.fence(at),
            // In a JSON string a line begins here.
            b'\\' if self.rest(at + 1).starts_with(['n', 'r']) => self.line(at + 2),
            _ => {}
        }
    }

    /// A tag or a token.
    fn mark(&mut self, at: usize) {
        let rest = self.rest(at);
        let is_known = self.words.marks.may_stand(rest.as_bytes())
            && matches!(self.words.marks.at(rest), Lookup::Mark(..));
        if is_known || unknown_mark::begins_result(rest) {
            self.push(at);
        }
    }

    /// Words with an anchor, which is `byte`, at `at`.
    fn anchored(&mut self, byte: u8, at: usize) {
        let before = at.checked_sub(1).and_then(|before| self.text.as_bytes().get(before));
        if !self.words.may_have(byte, before.copied().unwrap_or_default()) {
            return;
        }
        for Anchored { token, anchor, offset } in &self.words.anchored {
            let start = at.checked_sub(*offset).filter(|_| *anchor == byte);
            if let Some(start) = start.filter(|start| self.rest(*start).starts_with(token)) {
                self.push(start);
            }
        }
    }

    /// Words without an anchor before what begins at `at`.
    fn bare_words(&mut self, at: usize) {
        let before = self.text.get(..at).unwrap_or_default();
        // Most often a word stands there, and none of these.
        let last = before.as_bytes().last().copied().unwrap_or_default();
        if last.is_ascii_alphanumeric() && !self.words.lasts.has(last) {
            return;
        }
        let head = before
            .trim_end_matches(|letter: char| letter.is_whitespace() || matches!(letter, '>' | '|'));
        work::count(before.len() - head.len());
        if !head.as_bytes().last().is_some_and(|last| self.words.lasts.has(*last)) {
            return;
        }
        for word in &self.words.bare {
            if head.as_bytes().last() != word.as_bytes().last() {
                continue;
            }
            if let Some(start) = head.strip_suffix(word) {
                self.push(start.len());
            }
        }
    }

    /// The start of a line at `from`: a label, or words without an anchor, behind nothing but signs.
    fn line(&mut self, from: usize) {
        if self.looked.is_some_and(|looked| from <= looked) {
            return;
        }
        let (word, is_letter) = self.behind_signs(from);
        self.looked = Some(word);
        self.word = is_letter.then_some(word);
        if is_letter {
            self.label(word);
        }
    }

    /// What a quotation may begin with at `from`, within a line: a label behind the name of a speaker or of a value.
    fn quoted(&mut self, from: usize) {
        if from <= self.quoted {
            return;
        }
        let (word, is_letter) = self.behind_signs(from);
        self.quoted = word;
        if is_letter {
            self.label(word);
        }
    }

    /// The first letter at or behind `from`, or the end of its line, and which of both it is.
    fn behind_signs(&self, from: usize) -> (usize, bool) {
        let rest = self.rest(from);
        // Most often a letter of ASCII stands there.
        let signs = rest.bytes().take_while(|byte| matches!(byte, b' ' | b'-' | b'*' | b'"'));
        let signs = signs.count();
        if rest.as_bytes().get(signs).is_some_and(u8::is_ascii_alphabetic) {
            work::count(signs);
            return (from + signs, true);
        }
        let is_end = |letter: char| {
            matches!(letter, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{2028}' | '\u{2029}')
        };
        let is_letter = |letter: char| matches!(letter, '가'..='힣') || letter.is_alphabetic();
        let found = rest.char_indices().find(|(_, letter)| is_letter(*letter) || is_end(*letter));
        let signs = found.map_or(rest.len(), |(len, _)| len);
        work::count(signs);
        (from + signs, found.is_some_and(|(_, letter)| !is_end(letter)))
    }

    /// What the first letter of a line, at `at`, begins.
    fn label(&mut self, at: usize) {
        let rest = self.rest(at);
        let may_begin = rest.as_bytes().first().is_some_and(|first| self.words.firsts.has(*first));
        if may_begin && self.words.bare.iter().any(|word| rest.starts_with(word)) {
            self.push(at);
        }
        let Some(len) = labels::words_at(rest) else { return };
        self.push(at);
        // `Final Answer:` ends with another label, which a quotation may begin with.
        let words = rest.get(..len).unwrap_or_default();
        for (inner, _) in words.char_indices().skip(1) {
            if labels::words_at(self.rest(at + inner)).is_some() {
                self.push(at + inner);
            }
        }
    }

    /// A list of Python's calls at `at`.
    fn list(&mut self, at: usize) {
        let inner = self.rest(at + 1);
        let name = behind_white(inner);
        let len = name_len(name);
        let arguments = name.get(len..).and_then(|behind| behind.strip_prefix('('));
        if len > 0 && arguments.is_some_and(may_be_arguments) {
            self.push(at);
        }
    }

    /// A round bracket at `at`: a line of code may begin with the name before it.
    fn code(&mut self, at: usize) {
        let Some(word) = self.word.filter(|word| *word < at) else { return };
        self.word = None;
        let Some(name) = self.text.get(word..at).filter(|name| name.len() < NAME) else { return };
        if may_be_arguments(self.rest(at + 1)) && name_len(name) == name.len() {
            self.push(word);
        }
    }

    /// A fence that says that calls or results are in it, whose first backtick is at `at`.
    fn fence(&mut self, at: usize) {
        let before = at.checked_sub(1).and_then(|before| self.text.as_bytes().get(before));
        if before == Some(&b'`') {
            return;
        }
        let rest = self.rest(at);
        if !rest.starts_with("```") {
            return;
        }
        let language = rest.trim_start_matches('`');
        let fence = rest.len() - language.len();
        self.bare_words(at);
        let part = |letter: char| {
            letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '+' | '.')
        };
        let behind = language.trim_start_matches(part);
        let name = language.get(..language.len() - behind.len()).unwrap_or_default();
        work::count(fence + name.len());
        if name == TOOL_CODE || RESULTS.contains(&name) {
            self.push(at + fence);
        }
    }
}

/// The length of the name that `text` begins with, as Python's calls have it.
fn name_len(text: &str) -> usize {
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-' | ' ');
    let mut letters = text.char_indices();
    let len =
        letters.find(|(at, letter)| *at >= NAME || !part(*letter)).map_or(text.len(), |(at, _)| at);
    work::count(len);
    len
}

/// Whether what follows a round bracket may be arguments as Python writes them: nothing, a value, or a key and its sign.
fn may_be_arguments(text: &str) -> bool {
    let first = behind_white(text);
    let Some(letter) = first.chars().next() else { return true };
    if is_quote(letter)
        || letter.is_ascii_digit()
        || matches!(letter, ')' | '{' | '[' | '-' | '*' | '#' | '/' | ',')
    {
        return true;
    }
    let key = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '$');
    let len = first.char_indices().find(|(at, letter)| *at >= NAME || !key(*letter));
    let behind = len.map_or("", |(len, _)| first.get(len..).unwrap_or_default());
    work::count(first.len() - behind.len());
    behind_white(behind).starts_with('=')
}

/// `text` behind white space, and behind the signs at the start of its lines.
fn behind_white(text: &str) -> &str {
    let mut rest = text.trim_start();
    if text.get(..text.len() - rest.len()).is_some_and(|white| white.contains('\n')) {
        rest = rest.trim_start_matches(|letter: char| {
            letter.is_whitespace() || object::is_of_line(letter)
        });
    }
    work::count(text.len() - rest.len());
    rest
}
