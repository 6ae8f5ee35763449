//! The labels of line-based formats: `Action:`, `최종 답변:`, `**Delegate:**`.

use std::cell::Cell;

/// What a label opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelKind {
    Thought,
    Action,
    /// A name, where an input stands on the next line. Prose has the word, too.
    Tool,
    Input,
    Observation,
    /// `strong` is false for everyday words such as `결과`, which also stand in the middle of a task.
    Final {
        strong: bool,
    },
    Delegate,
    Task,
}

impl LabelKind {
    /// Whether it begins a call or an answer.
    pub(crate) fn begins(self) -> bool {
        self.calls() || matches!(self, Self::Final { .. })
    }

    /// Whether it begins a call.
    pub(crate) fn calls(self) -> bool {
        matches!(self, Self::Action | Self::Tool | Self::Delegate)
    }
}

/// A label at the start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label<'a> {
    pub(crate) kind: LabelKind,
    /// From the start of the line to behind the colon.
    pub(crate) len: usize,
    /// The bold marks that were opened before the label and are still open behind it.
    pub(crate) open: &'a str,
}

/// The words of a label, and what it opens.
type Words = (&'static [&'static str], LabelKind);

/// Words in the order they are tried: a label that begins with another one comes first.
const LABELS: &[Words] = &[
    (&["thought"], LabelKind::Thought),
    (&["생각"], LabelKind::Thought),
    (&["action", "input"], LabelKind::Input),
    (&["action"], LabelKind::Action),
    (&["행동", "입력"], LabelKind::Input),
    (&["행동"], LabelKind::Action),
    (&["액션", "입력"], LabelKind::Input),
    (&["액션"], LabelKind::Action),
    (&["tool", "input"], LabelKind::Input),
    (&["tool"], LabelKind::Tool),
    (&["도구", "입력"], LabelKind::Input),
    (&["도구"], LabelKind::Tool),
    (&["input"], LabelKind::Input),
    (&["arguments"], LabelKind::Input),
    (&["입력"], LabelKind::Input),
    (&["인자"], LabelKind::Input),
    (&["observation"], LabelKind::Observation),
    (&["관찰"], LabelKind::Observation),
    (&["final", "answer"], LabelKind::Final { strong: true }),
    (&["최종", "답변"], LabelKind::Final { strong: true }),
    (&["최종", "응답"], LabelKind::Final { strong: true }),
    (&["최종", "답"], LabelKind::Final { strong: true }),
    (&["answer"], LabelKind::Final { strong: false }),
    (&["답변"], LabelKind::Final { strong: false }),
    (&["결론"], LabelKind::Final { strong: false }),
    (&["결과"], LabelKind::Final { strong: false }),
    (&["delegate"], LabelKind::Delegate),
    (&["위임"], LabelKind::Delegate),
    (&["task"], LabelKind::Task),
    (&["작업"], LabelKind::Task),
    // The same words as other models space them.
    (&["actioninput"], LabelKind::Input),
    (&["행동입력"], LabelKind::Input),
    (&["도구입력"], LabelKind::Input),
    (&["finalanswer"], LabelKind::Final { strong: true }),
    (&["최종답변"], LabelKind::Final { strong: true }),
    (&["최종응답"], LabelKind::Final { strong: true }),
];

/// So many labels begin with the same byte at most.
const ALIKE: usize = 12;

/// The places in [`LABELS`] of those that begin with each byte; behind the last one stands [`NONE`].
static BEGINNING: [[u8; ALIKE]; 256] = {
    let mut places = [[NONE; ALIKE]; 256];
    let mut at = 0;
    let mut labels: &[Words] = LABELS;
    while let [(words, _), rest @ ..] = labels {
        if let [first, ..] = words {
            if let [byte, ..] = first.as_bytes() {
                if let Some(own) = places.split_at_mut(*byte as usize).1.first_mut() {
                    let mut free: &mut [u8] = own;
                    while let [place, others @ ..] = free {
                        if *place == NONE {
                            *place = at;
                            break;
                        }
                        free = others;
                    }
                }
            }
        }
        labels = rest;
        at += 1;
    }
    places
};
const NONE: u8 = u8::MAX;

/// The first three bytes of the labels, a bit for each three; some share one.
static THREES: [u64; 64] = {
    let mut threes = [0; 64];
    let mut labels: &[Words] = LABELS;
    while let [(words, _), rest @ ..] = labels {
        if let [first, ..] = words {
            if let [a, b, c, ..] = first.as_bytes() {
                let (word, bit) = three([*a, *b, *c]);
                if let Some(word) = threes.split_at_mut(word).1.first_mut() {
                    *word |= bit;
                }
            }
        }
        labels = rest;
    }
    threes
};

/// Where the bit of three bytes stands.
const fn three([a, b, c]: [u8; 3]) -> (usize, u64) {
    let at = ((a as usize * 29) ^ (b as usize * 5) ^ ((c as usize) << 5)) & 0xfff;
    (at / 64, 1 << (at % 64))
}

/// Whether a word stands first with which no label begins, in any case.
fn begins_other_word(text: &str) -> bool {
    let is_other = |bytes: &[u8; 3]| {
        let (word, bit) = three(bytes.map(|byte| byte.to_ascii_lowercase()));
        THREES.get(word).is_none_or(|word| word & bit == 0)
    };
    begins_word(text) && text.as_bytes().first_chunk().is_some_and(is_other)
}

/// The labels that `text` may begin with: the first three bytes of their words stand there, in some case. Full-width letters
/// are compared later.
fn beginning(text: &str) -> impl Iterator<Item = &'static Words> {
    let places = first_letter(text).and_then(|first| BEGINNING.get(usize::from(first)));
    let near = match text.as_bytes() {
        [0xef, ..] => None,
        [_, second, third, ..] => Some([second.to_ascii_lowercase(), third.to_ascii_lowercase()]),
        _ => None,
    };
    let may_be = move |words: &[&str]| match (near, words.first().map(|word| word.as_bytes())) {
        (Some(near), Some([_, second, third, ..])) => near == [*second, *third],
        _ => true,
    };
    let places = places.into_iter().flatten().take_while(|place| **place != NONE);
    let labels = places.filter_map(|place| LABELS.get(usize::from(*place)));
    labels.filter(move |(words, _)| may_be(words))
}

/// The longest remark in brackets behind the words of a label.
const REMARK: usize = 48;

/// A label begins within so many bytes of its line.
const WINDOW: usize = 160;

/// What stands at the start of a line, as far as the text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Label(Label<'a>),
    Other,
    /// The text has to go on before it can be told.
    More,
}

/// The label at the start of `line`, which may go on behind the line's end. `ended` says that the text does not go on.
pub(crate) fn at(line: &str, ended: bool) -> Line<'_> {
    keyed(line, ended, None)
}

/// The same, where a label that calls is one only with `[key]` behind its words: `Action[k7]:`.
pub(crate) fn keyed<'a>(line: &'a str, ended: bool, key: Option<&str>) -> Line<'a> {
    // What nearly all lines are: words that no label begins with.
    if begins_other_word(line) {
        return Line::Other;
    }
    let mut len = line.len().min(WINDOW);
    while !line.is_char_boundary(len) {
        len -= 1;
    }
    let window = Window { whole: ended || line.len() > WINDOW, short: Cell::new(false), key };
    let label = window.label(line.get(..len).unwrap_or_default());
    match label {
        _ if window.short.get() => Line::More,
        Some(label) => Line::Label(label),
        None => Line::Other,
    }
}

/// The length of the words of a label that `text` begins with. Emphasis, numbers and a remark may stand between the words and
/// the colon, whatever opened before the words: a quotation leaves that out.
pub(crate) fn words_at(text: &str) -> Option<usize> {
    if begins_other_word(text) {
        return None;
    }
    beginning(text).next()?;
    let mut len = text.len().min(WINDOW);
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    let text = text.get(..len)?;
    let window = Window { whole: true, short: Cell::new(false), key: None };
    beginning(text).find_map(|(words, kind)| {
        let behind = window.after_words(text, words)?;
        window.ends_words(behind, *kind, words).then_some(text.len() - behind.len())
    })
}

/// Whether a line that begins with `byte` may begin with a label.
pub(crate) fn may_begin(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0b | 0x0c | b'0'..=b'9' | b'-' | b'+' | b'#' | b'*' | b'_' | b'`' | 0xc2
        | 0xe1..=0xe3 | 0xea..=0xef | b'a' | b'A' | b't' | b'T' | b'o' | b'O' | b'f' | b'F' | b'd' | b'D' | b'i' | b'I' | b'[')
}

/// The part of a line that is looked at. It remembers when its end was reached.
struct Window<'k> {
    whole: bool,
    short: Cell<bool>,
    key: Option<&'k str>,
}

impl Window<'_> {
    fn label<'a>(&self, line: &'a str) -> Option<Label<'a>> {
        let word = if begins_word(line) { line } else { self.after_list_marks(line) };
        let marked = line.get(..line.len() - word.len())?;
        let label = self.noted(word.trim_start_matches(is_bold));
        let open = word.get(..word.len() - label.len())?;
        if let Some((inner, close)) = bracketed(label) {
            return self.in_brackets(line, inner, close, open);
        }
        beginning(label).find_map(|(words, kind)| {
            let behind = self.after_key(self.after_words(label, words)?, *kind)?;
            // What nearly all labels end with.
            if let Some(rest) = behind.strip_prefix(':').filter(|_| open.is_empty()) {
                return Some(Label { kind: *kind, len: line.len() - rest.len(), open });
            }
            let (rest, open) = match self.after_colon(self.after_remark(behind), open) {
                Some(read) => read,
                // A heading needs no colon.
                None if marked.contains('#') && *kind == (LabelKind::Final { strong: true }) => {
                    let (rest, open) = self.after_close(behind, open);
                    let rest = self.noted(rest.trim_start_matches(is_blank));
                    rest.starts_with(['\n', '\r']).then_some((rest, open))?
                }
                // Nor does the input of a call before its object.
                None if *kind == LabelKind::Input && words.len() > 1 => {
                    let rest = self.noted(behind.trim_start_matches(is_blank));
                    rest.starts_with('{').then_some((rest, open))?
                }
                None => return None,
            };
            Some(Label { kind: *kind, len: line.len() - rest.len(), open })
        })
    }

    /// `[행동] find`, `【행동】: find`.
    fn in_brackets<'a>(
        &self,
        line: &'a str,
        inner: &'a str,
        close: char,
        open: &'a str,
    ) -> Option<Label<'a>> {
        self.noted(inner);
        let strong = |kind: LabelKind| {
            let is_weak = matches!(kind, LabelKind::Final { strong: false } | LabelKind::Tool);
            !is_weak && (self.key.is_none() || !kind.calls())
        };
        beginning(inner).filter(|(_, kind)| strong(*kind)).find_map(|(words, kind)| {
            let behind = self.noted(self.after_words(inner, words)?).strip_prefix(close)?;
            let (behind, open) = self.after_close(behind, open);
            let rest = self.noted(behind.trim_start_matches(is_blank));
            let rest = rest.strip_prefix([':', '：']).unwrap_or(behind);
            Some(Label { kind: *kind, len: line.len() - rest.len(), open })
        })
    }

    /// Whether the words of a label may end before `behind`, as [`label`](Self::label) and [`in_brackets`](Self::in_brackets) say.
    fn ends_words(&self, behind: &str, kind: LabelKind, words: &[&str]) -> bool {
        let is_loose = |letter: char| {
            is_blank(letter) || is_bold(letter) || letter.is_ascii_digit() || letter == '#'
        };
        let behind = after_any_key(behind);
        let rest =
            self.after_remark(behind.trim_start_matches(is_loose)).trim_start_matches(is_loose);
        let is_weak = matches!(kind, LabelKind::Final { strong: false } | LabelKind::Tool);
        rest.starts_with([':', '：'])
            || !is_weak && behind.starts_with([']', '】'])
            || kind == LabelKind::Final { strong: true }
                && (rest.is_empty() || rest.starts_with(['\n', '\r']))
            || kind == LabelKind::Input && words.len() > 1 && rest.starts_with('{')
    }

    /// Skips a remark in brackets: `행동(Action)`.
    fn after_remark<'a>(&self, text: &'a str) -> &'a str {
        let inner = self.noted(text.trim_start_matches(is_blank)).strip_prefix(['(', '（']);
        let Some(inner) = inner else { return text };
        let close = inner.char_indices().find(|(_, letter)| matches!(letter, ')' | '）' | '\n'));
        match close {
            Some((at, letter)) if letter != '\n' && at <= REMARK => {
                inner.get(at + letter.len_utf8()..).unwrap_or(text)
            }
            None if inner.len() <= REMARK => {
                self.noted("");
                text
            }
            _ => text,
        }
    }

    /// `rest`, noted when nothing is left of it.
    fn noted<'a>(&self, rest: &'a str) -> &'a str {
        self.short.set(self.short.get() || rest.is_empty() && !self.whole);
        rest
    }

    /// Skips blanks, list, heading and fence marks, and `1.` or `1)`. Bold marks directly before a word stay.
    fn after_list_marks<'a>(&self, line: &'a str) -> &'a str {
        let mut rest = line;
        loop {
            let marked = rest.trim_start_matches(is_blank);
            let marks = marked.trim_start_matches(is_list_mark);
            let number =
                self.noted(marks.trim_start_matches(|letter: char| letter.is_ascii_digit()));
            let next = number
                .strip_prefix(['.', ')'])
                .filter(|_| number.len() < marks.len())
                .unwrap_or(marks);
            let bold = self.noted(next.trim_start_matches(is_bold));
            // `* Action:` is a list item, `*Action:*` is emphasis.
            let next = if bold.starts_with(is_blank) { bold } else { next };
            if next.len() == rest.len() {
                return next;
            }
            rest = next;
        }
    }

    fn after_words<'a>(&self, text: &'a str, words: &[&str]) -> Option<&'a str> {
        let (first, others) = words.split_first()?;
        others.iter().try_fold(self.after_word(text, first)?, |rest, word| {
            let rest = self.after_number(rest);
            let gap =
                rest.trim_start_matches(|letter| is_blank(letter) || matches!(letter, '_' | '-'));
            let gap = self.noted(gap);
            (gap.len() < rest.len()).then(|| self.after_word(gap, word)).flatten()
        })
    }

    /// Behind the key that a label of this kind has to have.
    fn after_key<'a>(&self, text: &'a str, kind: LabelKind) -> Option<&'a str> {
        let Some(key) = self.key.filter(|_| kind.calls()) else { return Some(text) };
        let inner = self.noted(text.trim_start_matches(is_blank)).strip_prefix('[')?;
        self.after_word(inner, key).and_then(|rest| self.noted(rest).strip_prefix(']'))
    }

    fn after_word<'a>(&self, text: &'a str, word: &str) -> Option<&'a str> {
        // What nearly all labels are: the very bytes, in some case.
        if text.as_bytes().first() != Some(&0xef) {
            let Some((head, rest)) = text.split_at_checked(word.len()) else {
                let begins =
                    word.get(..text.len()).is_some_and(|head| head.eq_ignore_ascii_case(text));
                self.short.set(self.short.get() || begins && !self.whole);
                return None;
            };
            return head.eq_ignore_ascii_case(word).then_some(rest);
        }
        let mut rest = text;
        for letter in word.chars() {
            let mut letters = rest.chars();
            let Some(next) = letters.next() else {
                self.noted("");
                return None;
            };
            if narrow(next).to_ascii_lowercase() != letter {
                return None;
            }
            rest = letters.as_str();
        }
        Some(rest)
    }

    /// Skips a number, the colon, and the bold marks that close `open`.
    fn after_colon<'a>(&self, text: &'a str, open: &'a str) -> Option<(&'a str, &'a str)> {
        let (rest, open) = self.after_close(self.after_number(text), open);
        let rest = self.noted(rest.trim_start_matches(is_blank)).strip_prefix([':', '：'])?;
        Some(self.after_close(rest, open))
    }

    fn after_number<'a>(&self, text: &'a str) -> &'a str {
        let number = text.trim_start_matches(is_blank);
        let number = self.noted(number).strip_prefix('#').unwrap_or(number);
        let rest = self.noted(number.trim_start_matches(|letter: char| letter.is_ascii_digit()));
        if rest.len() < number.len() { rest } else { text }
    }

    /// Skips as many bold marks as are open, and tells which are left.
    fn after_close<'a>(&self, text: &'a str, open: &'a str) -> (&'a str, &'a str) {
        let closed =
            text.bytes().zip(open.bytes().rev()).take_while(|(close, open)| close == open).count();
        let left = open.len().saturating_sub(closed);
        if left > 0 {
            self.noted(text.get(closed..).unwrap_or(text));
        }
        (text.get(closed..).unwrap_or(text), open.get(..left).unwrap_or(open))
    }
}

/// Behind a key in square brackets, whichever it is.
fn after_any_key(text: &str) -> &str {
    let inner = text.trim_start_matches(is_blank).strip_prefix('[');
    let close = inner.and_then(|inner| {
        let at = inner.find(|letter: char| !letter.is_ascii_alphanumeric())?;
        inner.get(at..).filter(|_| at > 0)?.strip_prefix(']')
    });
    close.unwrap_or(text)
}

/// Whether a letter of ASCII or of Hangul stands first, and so no mark of a list, no blank and no emphasis.
fn begins_word(line: &str) -> bool {
    matches!(line.as_bytes().first(), Some(b'a'..=b'z' | b'A'..=b'Z' | 0xea..=0xed))
}

/// The first byte of a label's word as it stands in the table.
fn first_letter(text: &str) -> Option<u8> {
    let letter = text.chars().next()?;
    let narrow = narrow(letter);
    let mut bytes = [0; 4];
    narrow.encode_utf8(&mut bytes).bytes().next().map(|byte| byte.to_ascii_lowercase())
}

/// A full-width letter as ASCII has it.
fn narrow(letter: char) -> char {
    match letter {
        'Ａ'..='Ｚ' | 'ａ'..='ｚ' => {
            char::from_u32(u32::from(letter) - 0xfee0).unwrap_or(letter)
        }
        _ => letter,
    }
}

/// What stands behind the bracket that `text` begins with, and the bracket that closes it.
fn bracketed(text: &str) -> Option<(&str, char)> {
    let mut letters = text.chars();
    let close = match letters.next()? {
        '[' => ']',
        '【' => '】',
        _ => return None,
    };
    Some((letters.as_str(), close))
}

/// Blanks, but not line breaks.
pub(crate) fn is_blank(letter: char) -> bool {
    letter.is_whitespace() && !matches!(letter, '\n' | '\r') || letter == '\u{feff}'
}

fn is_bold(letter: char) -> bool {
    matches!(letter, '*' | '_' | '`')
}

fn is_list_mark(letter: char) -> bool {
    matches!(letter, '-' | '+' | '#' | '•' | '·')
}

#[cfg(test)]
mod tests {
    use super::{LabelKind, Line, at, keyed};

    #[test]
    fn a_label_that_calls_has_the_key() {
        for (line, want) in [
            ("Action[k7]: f", Some((LabelKind::Action, 11))),
            ("**Action [K7]:** f", Some((LabelKind::Action, 16))),
            ("Delegate[k7]: a", Some((LabelKind::Delegate, 13))),
            ("행동[k7]: f", Some((LabelKind::Action, 11))),
            ("Action Input: {}", Some((LabelKind::Input, 13))),
            ("Final Answer: f", Some((LabelKind::Final { strong: true }, 13))),
            ("Action: f", None),
            ("[Action] f", None),
            ("Action[k]: f", None),
            ("Action[k77]: f", None),
            ("Action[k8]: f", None),
            ("Action[]: f", None),
        ] {
            let told = |line: Line<'_>| match line {
                Line::Label(label) => Ok(Some((label.kind, label.len))),
                Line::Other => Ok(None),
                Line::More => Err(()),
            };
            assert_eq!(told(keyed(line, true, Some("k7"))), Ok(want), "{line:?}");
            for (cut, _) in line.char_indices() {
                let begun = told(keyed(line.get(..cut).unwrap(), false, Some("k7")));
                assert!(begun.is_err() || begun == Ok(want), "{line:?} {cut}");
            }
        }
    }

    #[test]
    fn every_label_is_found_by_its_first_byte() {
        for (words, kind) in super::LABELS {
            let found =
                super::beginning(words[0]).any(|(own, other)| own == words && kind == other);
            assert!(found, "{words:?}");
        }
    }

    #[test]
    fn a_label_is_the_whole_word_before_the_colon_of_a_line() {
        for (line, want) in [
            ("Action: f", Some((LabelKind::Action, 7, ""))),
            ("  - **Action:** f", Some((LabelKind::Action, 15, ""))),
            ("**Action**: f", Some((LabelKind::Action, 11, ""))),
            ("**Final Answer: f**", Some((LabelKind::Final { strong: true }, 15, "**"))),
            ("* action_input : {}", Some((LabelKind::Input, 16, ""))),
            ("### 2) Action 3：f", Some((LabelKind::Action, 18, ""))),
            ("Action #12: f", Some((LabelKind::Action, 11, ""))),
            ("Action 1 Input 1: {}", Some((LabelKind::Input, 17, ""))),
            ("```Action: f", Some((LabelKind::Action, 10, "```"))),
            ("행동 입력: {}", Some((LabelKind::Input, 14, ""))),
            ("최종답변: 네", Some((LabelKind::Final { strong: true }, 13, ""))),
            ("결과: 3건", Some((LabelKind::Final { strong: false }, 7, ""))),
            ("검색 결과: 3건", None),
            ("행동(Action): f", Some((LabelKind::Action, 15, ""))),
            ("[행동] f", Some((LabelKind::Action, 8, ""))),
            ("【행동】: f", Some((LabelKind::Action, 13, ""))),
            ("[결과] f", None),
            ("[f()]", None),
            ("Ａｃｔｉｏｎ： f", Some((LabelKind::Action, 21, ""))),
            ("## 최종 답변\n네", Some((LabelKind::Final { strong: true }, 16, ""))),
            ("최종 답변\n네", None),
            ("도구 입력: {}", Some((LabelKind::Input, 14, ""))),
            ("최종 답: 네", Some((LabelKind::Final { strong: true }, 11, ""))),
            ("Actions: f", None),
            ("Reaction: f", None),
            ("Action f", None),
            ("Action\n: f", None),
            ("설명: Action: f", None),
            ("> Action: f", None),
            ("", None),
            ("****", None),
        ] {
            let got = match at(line, true) {
                Line::Label(label) => Some((label.kind, label.len, label.open)),
                _ => None,
            };
            assert_eq!(got, want, "{line:?}");
            // What is said of a beginning holds for the whole.
            for (cut, _) in line.char_indices() {
                match at(line.get(..cut).unwrap(), false) {
                    Line::More => {}
                    Line::Label(label) => {
                        assert_eq!(
                            Some((label.kind, label.len, label.open)),
                            want,
                            "{line:?} {cut}"
                        );
                    }
                    Line::Other => assert_eq!(want, None, "{line:?} {cut}"),
                }
            }
        }
    }
}
