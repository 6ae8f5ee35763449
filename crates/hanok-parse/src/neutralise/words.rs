//! The marks of all formats, from their tables.

use std::{collections::BTreeSet, sync::OnceLock};

use crate::{
    readers::echo,
    text::{
        bytes::Bytes,
        formats,
        grammar::{Headers, InputTags},
        marks::{self, Marks, Meaning, STOPS},
        rule::{Rule, Tags, Then},
    },
};

/// What is broken wherever it is.
#[derive(Debug)]
pub(super) struct Words {
    /// Tags and tokens. None of them is the beginning of another one.
    pub(super) marks: Marks,
    /// Words such as `call:`, which begin with letters or with signs that prose has.
    pub(super) anchored: Vec<Anchored>,
    /// What may stand before each of [`ANCHORS`] in them.
    before: [Bytes; ANCHORS.len()],
    /// The same without a sign of their own. They count before a bracket, a brace or a fence, and at the start of a line.
    pub(super) bare: Vec<&'static str>,
    /// The bytes that these begin and end with.
    pub(super) firsts: Bytes,
    pub(super) lasts: Bytes,
}

impl Words {
    /// Whether one of the anchored words may have `anchor` behind `before`.
    pub(super) fn may_have(&self, anchor: u8, before: u8) -> bool {
        let mut sets = ANCHORS.iter().zip(&self.before);
        sets.any(|(own, set)| *own == anchor && set.has(before))
    }
}

/// Words that are found by a byte in them that prose rarely has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchored {
    pub(super) token: &'static str,
    pub(super) anchor: u8,
    /// Where the anchor is in the words.
    pub(super) offset: usize,
}

/// The bytes that an anchor may be.
const ANCHORS: [u8; 4] = [b':', b'(', b'=', b'>'];
/// The shortest word that is looked for.
const SHORTEST: usize = 3;

/// Those of all formats that are built in.
pub(super) fn all() -> &'static Words {
    static ALL: OnceLock<Words> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut words = Collected::default();
        words.collect();
        words.into_words()
    })
}

#[derive(Debug, Default)]
struct Collected(BTreeSet<&'static str>);

impl Collected {
    fn collect(&mut self) {
        let entries = formats::entries().chain(formats::guards()).chain(marks::COMMON);
        for entry in entries.chain(formats::SENTENCES).chain(formats::line_entries()) {
            self.0.insert(entry.token);
            self.meaning(entry.mark);
        }
        self.words(&STOPS);
        self.words(&echo::ROLE_ENDS);
    }

    fn into_words(self) -> Words {
        let is_long = |word: &&&str| word.len() >= SHORTEST;
        let (tokens, others): (BTreeSet<_>, BTreeSet<_>) = self
            .0
            .iter()
            .filter(is_long)
            .copied()
            .partition(|word| word.bytes().next().is_some_and(marks::may_begin));
        let tokens = without_longer(tokens.into_iter().flat_map(spaced).collect());
        // A tag in such words is broken, and so are they.
        let has_token = |word: &str| tokens.iter().any(|token| word.contains(token));
        let is_line = |word: &&str| {
            let is_own = formats::line_entries().any(|entry| entry.token == *word);
            !has_token(word) && (is_own || word.ends_with(':') && word.contains(' '))
        };
        let lines: Vec<_> = others.into_iter().filter(is_line).collect();
        let anchored: Vec<_> = lines.iter().filter_map(|word| Anchored::new(word)).collect();
        let bare: Vec<_> = lines.into_iter().filter(|word| Anchored::new(word).is_none()).collect();
        let before = ANCHORS.map(|anchor| {
            let own = anchored.iter().filter(|word| word.anchor == anchor);
            own.flat_map(|word| match word.offset.checked_sub(1) {
                Some(before) => word.token.bytes().skip(before).take(1).collect::<Vec<_>>(),
                // It begins the words.
                None => (0..=u8::MAX).collect(),
            })
            .collect()
        });
        let firsts = bare.iter().filter_map(|word| word.bytes().next()).collect();
        let lasts = bare.iter().filter_map(|word| word.bytes().next_back()).collect();
        let entry = |token| marks::common(token, Meaning::Close);
        let marks = Marks::only(tokens.into_iter().map(entry));
        Words { marks, anchored, before, bare, firsts, lasts }
    }

    fn words(&mut self, words: &[&'static str]) {
        self.0.extend(words);
    }

    fn meaning(&mut self, meaning: Meaning) {
        match meaning {
            Meaning::Think(closes, until) => {
                self.words(closes);
                self.words(until);
            }
            Meaning::Open(rule) => self.rule(rule),
            Meaning::Header(words) => self.headers(words),
            Meaning::Elements(words) => self.words(&[words.prefix]),
            Meaning::Section(closes) | Meaning::Result(closes) => self.words(closes),
            Meaning::Suffixed(call) => {
                let suffixed = Collected::of_tags(call.tags, call.separator);
                self.0.extend(suffixed.0.iter().copied());
                // A suffix may precede the bracket.
                let tags = suffixed.0.iter().filter_map(|tag| tag.strip_suffix('>'));
                self.0.extend(tags.map(|tag| leaked(tag, ":")));
            }
            Meaning::SuffixedThink(close) => self.words(&[close]),
            Meaning::Words(close) => self.words(&[*close]),
            Meaning::Comment(close) => self.words(&[close]),
            Meaning::EndThink
            | Meaning::SuffixedEndThink
            | Meaning::SuffixedClose
            | Meaning::Close
            | Meaning::Foreign
            | Meaning::Turn(_)
            | Meaning::Part(_)
            | Meaning::Stop
            | Meaning::Answer
            | Meaning::EndAnswer
            | Meaning::Attributes => {}
        }
    }

    fn of_tags(tags: &Tags, separator: &'static str) -> Self {
        let mut own = Self::default();
        own.tags(tags);
        own.words(&[separator]);
        own
    }

    fn rule(&mut self, rule: &Rule) {
        for words in [rule.skips, rule.wraps, rule.between, rule.closes] {
            self.words(words);
        }
        self.0.extend(rule.another);
        if let Some(attribute) = &rule.attribute {
            self.words(&[attribute.end]);
            self.tags(attribute.tags);
        }
        for (token, then) in rule.name {
            self.words(&[*token]);
            self.then(*then);
        }
    }

    fn then(&mut self, then: Then) {
        match then {
            Then::Input(tags) | Then::Words(tags) => self.input(tags),
            Then::Tags(tags) | Then::TagsHere(tags) => self.tags(tags),
            Then::Quoted(quote) => self.words(&[quote]),
            Then::Json
            | Then::Id
            | Then::FromToken
            | Then::Named
            | Then::Typed
            | Then::Calls
            | Then::Python => {}
        }
    }

    fn input(&mut self, tags: &InputTags) {
        self.words(&[tags.open, tags.close]);
    }

    fn tags(&mut self, tags: &Tags) {
        self.words(&[tags.open, tags.head, tags.close, tags.end]);
        self.0.extend(tags.value.into_iter().chain(tags.other_end).chain(tags.cdata));
        self.0.extend(tags.kind.into_iter().flat_map(|(open, close)| [open, close]));
        self.words(tags.behind);
    }

    fn headers(&mut self, words: &Headers) {
        self.words(&[words.start, words.channel, words.message]);
        for words in [words.closes, words.until, words.ends, words.call_ends, words.others] {
            self.words(words);
        }
    }
}

impl Anchored {
    fn new(token: &'static str) -> Option<Self> {
        let mut bytes = token.bytes().enumerate();
        let (offset, anchor) = bytes.find(|(_, byte)| ANCHORS.contains(byte))?;
        Some(Self { token, anchor, offset })
    }
}

/// A tag with attributes up to its first blank, and with every white space in place of that blank.
fn spaced(word: &'static str) -> Vec<&'static str> {
    let is_attribute = word.ends_with(['=', '"']);
    let head = match word.split_once(' ') {
        Some((head, _)) if is_attribute => head,
        _ => match word.strip_suffix(' ') {
            Some(head) => head,
            None => return vec![word],
        },
    };
    [" ", "\n", "\t", "\r"].into_iter().map(|blank| leaked(head, blank)).collect()
}

/// The words of which none begins with another one.
fn without_longer(words: BTreeSet<&'static str>) -> Vec<&'static str> {
    let mut short: Vec<&str> = Vec::new();
    for word in words {
        if short.last().is_none_or(|before| !word.starts_with(before)) {
            short.push(word);
        }
    }
    short
}

/// Both together, for as long as the process: the table is made once.
fn leaked(head: &str, tail: &str) -> &'static str {
    Box::leak([head, tail].concat().into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::{Words, all};
    use crate::text::{formats, marks::Lookup};

    fn breaks(words: &Words, token: &str) -> bool {
        let stands = |at: usize| matches!(words.marks.at(&token[at..]), Lookup::Mark(..));
        token.char_indices().any(|(at, _)| stands(at))
            || words.anchored.iter().any(|words| token.starts_with(words.token))
            || words.bare.iter().any(|words| token.starts_with(words))
    }

    #[test]
    fn every_mark_of_every_table_is_broken() {
        let words = all();
        assert_eq!(words.marks.ambiguous(), None);
        let entries = formats::entries().chain(formats::guards()).chain(formats::line_entries());
        for entry in entries.chain(formats::SENTENCES).chain(crate::text::marks::COMMON) {
            assert!(breaks(words, entry.token), "{}", entry.token);
        }
        for token in [
            "<parameter=",
            "<parameter ",
            "<parameter\n",
            "<param ",
            "<arg_key>",
            "</arg_value>",
            "<arg_value:x>",
            "<tool_sep:x>",
            "<invoke\tname",
            "<function name",
            "<|tool_arg:value|>",
            "<|open|>argument ",
            "<|\"|>",
            "<escape>",
            "✿ARGS✿",
            "[ARGS]",
            "<|sep|>",
            "]]></param>",
            "Here is my response:",
            "<|end_header_id|>",
        ] {
            assert!(breaks(words, token), "{token}");
        }
    }
}
