//! The marks that stand anywhere in a text: tags and special tokens.

use std::ops::Range;

use crate::{
    format::Format,
    policy::Mark,
    text::{
        bytes::Bytes,
        grammar::{Elements, Headers, Suffixed},
        presence::Presence,
        rule::{Rule, Tags},
        template::Formats,
    },
};

/// What a mark means.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Meaning {
    /// Opens reasoning, which runs to behind one of the first, or up to one of the second.
    Think(&'static [&'static str], &'static [&'static str]),
    /// Closes reasoning.
    EndThink,
    /// Opens a call, or several.
    Open(&'static Rule),
    /// The header of a message begins.
    Header(&'static Headers),
    /// A call of nested elements begins.
    Elements(&'static Elements),
    /// Opens a section of calls. Text in it that is no call means nothing, up to one of these.
    Section(&'static [&'static str]),
    /// Opens a call in tags that carry a suffix.
    Suffixed(&'static Suffixed),
    /// Opens reasoning in such a tag, up to this one with the same suffix.
    SuffixedThink(&'static str),
    /// Such a tag that closes reasoning.
    SuffixedEndThink,
    /// Such a tag that means nothing.
    SuffixedClose,
    /// Closes a call, or stands around calls. It is never shown.
    Close,
    /// Begins what comes behind a result. It ends the reply, once something was called.
    Foreign,
    /// Begins a tool's result, which runs to the first of these. Nothing in it is a call.
    Result(&'static [&'static str]),
    /// Begins a turn. It ends the reply, unless one of these roles, the model's own, stands behind it.
    Turn(&'static [&'static str]),
    /// Begins a turn like [`Meaning::Turn`], where the model's own goes on behind a call, too.
    Part(&'static [&'static str]),
    /// Ends a turn. Never shown.
    Stop,
    /// Opens an answer.
    Answer,
    /// Closes an answer.
    EndAnswer,
    /// Opens a name and words for it, up to this.
    Words(&'static &'static str),
    /// Opens a name and attributes, up to a bracket.
    Attributes,
    /// Begins a comment, or a value whose call did not begin: nothing in it is a call, up to this.
    Comment(&'static str),
}

impl Meaning {
    /// Whether a call follows.
    pub(crate) fn opens(self) -> bool {
        use Meaning::{Attributes, Elements, Header, Open, Section, Suffixed, Words};
        matches!(
            self,
            Open(_) | Header(_) | Elements(_) | Suffixed(_) | Section(_) | Words(_) | Attributes
        )
    }

    /// What opens and closes a value of a call that it opens, where that is written as it is.
    pub(crate) fn values(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let rule = if let Self::Open(rule) = self { Some(rule) } else { None };
        let headers = if let Self::Header(headers) = self { headers.tags } else { None };
        let attribute = rule.and_then(|rule| rule.attribute.as_ref());
        let named =
            rule.into_iter().flat_map(|rule| rule.name).filter_map(|(_, then)| then.value());
        let tags = attribute.map(|attribute| attribute.tags).or(headers);
        tags.map(Tags::value).into_iter().chain(named)
    }

    /// Whether it says that text is not the model's own to call with: reasoning, a result, the turn of another.
    pub(crate) fn guards(self) -> bool {
        use Meaning::{Comment, EndThink, Foreign, Part, Result, Stop, SuffixedThink, Think, Turn};
        matches!(
            self,
            Think(..)
                | EndThink
                | SuffixedThink(_)
                | Result(_)
                | Foreign
                | Turn(_)
                | Part(_)
                | Stop
                | Comment(_)
        )
    }
}

/// A mark, and the formats that have it; none means that all have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) token: &'static str,
    pub(crate) mark: Meaning,
    pub(crate) formats: &'static [Format],
}

/// By which formats, and how, a call is marked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct By {
    /// The formats that have the mark, the one that it is most likely of first. None: those of a table that is not built in.
    pub(crate) list: &'static [Format],
    /// The same as a set.
    pub(crate) formats: Formats,
    pub(crate) mark: Mark,
}

impl By {
    /// Nothing marks it, and no format is known.
    pub(crate) const NONE: Self = Self::of(&[], Mark::Bare);

    /// The formats of `list`, which mark it so.
    pub(crate) const fn of(list: &'static [Format], mark: Mark) -> Self {
        Self { list, formats: Formats::of(list), mark }
    }
}

/// An entry for some formats.
pub(crate) const fn of(formats: &'static [Format], token: &'static str, mark: Meaning) -> Entry {
    Entry { token, mark, formats }
}

/// An entry for every format.
pub(crate) const fn common(token: &'static str, mark: Meaning) -> Entry {
    of(&[], token, mark)
}

/// Tokens that end a turn.
pub(crate) const STOPS: [&str; 16] = [
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|im_end|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "<|return|>",
    "<｜end▁of▁sentence｜>",
    "<end_of_turn>",
    "<|end_of_turn|>",
    "<|endofturn|>",
    "<|endofuser|>",
    "<|endofassistant|>",
    "<|end_of_sentence|>",
    "</s>",
];

/// What a template calls the model.
pub(crate) const OWN: &[&str] = &["assistant", "model"];

/// The marks of reasoning that count in any case.
const CASELESS: [&str; 8] = [
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "<thought>",
    "</thought>",
    "<reasoning>",
    "</reasoning>",
];

/// What every format has.
pub(crate) const COMMON: &[Entry] = &[
    common("<think>", Meaning::Think(&["</think>"], &[])),
    common("</think>", Meaning::EndThink),
    common("<thinking>", Meaning::Think(&["</thinking>"], &[])),
    common("</thinking>", Meaning::EndThink),
    common("<thought>", Meaning::Think(&["</thought>"], &[])),
    common("</thought>", Meaning::EndThink),
    common("<reasoning>", Meaning::Think(&["</reasoning>"], &[])),
    common("</reasoning>", Meaning::EndThink),
    common("<|think|>", Meaning::Think(&["<|end|>"], &[])),
    common("<|think:start|>", Meaning::Think(&["<|think:end|>"], &[])),
    common("<|think:end|>", Meaning::EndThink),
    common("<|begin_of_thought|>", Meaning::Think(&["<|end_of_thought|>"], &[])),
    common("<|end_of_thought|>", Meaning::EndThink),
    common("<!--", Meaning::Comment("-->")),
    common("<![CDATA[", Meaning::Comment("]]>")),
    common("[BEGIN FINAL RESPONSE]", Meaning::EndThink),
    common("[END FINAL RESPONSE]", Meaning::Close),
    common("<tool_response>", Meaning::Result(&["</tool_response>"])),
    common("<tool_result>", Meaning::Result(&["</tool_result>"])),
    common("<tool_results>", Meaning::Result(&["</tool_results>"])),
    common("<|im_start|>", Meaning::Turn(OWN)),
    common("<|start_header_id|>", Meaning::Turn(OWN)),
    common("<|start_of_role|>", Meaning::Turn(OWN)),
    common("<start_of_turn>", Meaning::Turn(OWN)),
    common("<|begin|>", Meaning::Turn(OWN)),
    common("<|observation|>", Meaning::Result(&["<|assistant|>"])),
    common("<|user|>", Meaning::Turn(&[])),
    common("<|system|>", Meaning::Turn(&[])),
    common("<|tool|>", Meaning::Turn(&[])),
    common("<|USER_TOKEN|>", Meaning::Turn(&[])),
    common("<|SYSTEM_TOKEN|>", Meaning::Turn(&[])),
    common("<|CHATBOT_TOKEN|>", Meaning::Close),
    common("<|START_OF_TURN_TOKEN|>", Meaning::Close),
    common("<role>HUMAN</role>", Meaning::Turn(&[])),
    common("<role>SYSTEM</role>", Meaning::Turn(&[])),
    common("<role>OBSERVATION</role>", Meaning::Turn(&[])),
    common("<role>ASSISTANT</role>", Meaning::Close),
    common("<|role_end|>", Meaning::Stop),
    common("<extra_id_1>", Meaning::Turn(&["Assistant"])),
    common("<mm:think>", Meaning::Think(&["</mm:think>"], &[])),
    common("</mm:think>", Meaning::EndThink),
    common("<|im_user|>", Meaning::Turn(&[])),
    common("<|im_system|>", Meaning::Turn(&[])),
    common("<|user_start|>", Meaning::Turn(&[])),
    common("<|system_start|>", Meaning::Turn(&[])),
    common("[|user|]", Meaning::Turn(&[])),
    common("[|system|]", Meaning::Turn(&[])),
    common("[|tool|]", Meaning::Turn(&[])),
    common("[|assistant|]", Meaning::Close),
    common("[|endofturn|]", Meaning::Stop),
    common("[INST]", Meaning::Turn(&[])),
    common("[SYSTEM_PROMPT]", Meaning::Turn(&[])),
    common("[AVAILABLE_TOOLS]", Meaning::Result(&["[/AVAILABLE_TOOLS]"])),
];

/// How a call is marked by `token`.
pub(crate) fn trust(token: &str) -> Mark {
    let is_special = |token: &str| {
        token.contains(['|', '｜', '✿', '◁', ']'])
            && !token.starts_with("[Calling")
            && !token.starts_with("<ifm|")
    };
    match token.bytes().next() {
        _ if is_special(token) => Mark::Special,
        Some(b'<' | b'[') => Mark::Tag,
        _ => Mark::Bare,
    }
}

/// The shortest end of a text that counts as a mark that broke off.
pub(crate) const SHORTEST: usize = 3;

/// What a text begins with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lookup {
    Mark(Meaning, usize),
    /// The text so far is the beginning of a mark.
    Prefix,
    Nothing,
}

/// The marks of some formats, sorted. None of them is the beginning of another one.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    marks: Vec<(&'static str, Meaning)>,
    /// By which formats, and how, each marks a call.
    by: Vec<By>,
    /// The first eight bytes of each as a number, which orders as they do.
    heads: Vec<u64>,
    /// The first two bytes of the marks, and of what closes a result, a bit for each pair.
    begins: Vec<u64>,
    /// The first three bytes, a bit for each three; some share one.
    threes: Vec<u64>,
    /// Each pair, and where the marks that begin with it stand.
    pairs: Vec<(u16, usize, usize)>,
    /// The first bytes.
    firsts: Bytes,
    /// The rules of calls that may stand together before one close mark.
    blocks: Vec<&'static Rule>,
    /// Whether those of [`CASELESS`] are among them.
    caseless: bool,
}

impl Marks {
    /// These marks, and those that every format has.
    pub(crate) fn new(entries: impl Iterator<Item = Entry>) -> Self {
        let stops = STOPS.iter().map(|stop| common(stop, Meaning::Stop));
        Self::of(entries.chain(COMMON.iter().copied()).chain(stops).collect())
    }

    /// The same with the guards of all formats, as far as they do not contradict these marks.
    pub(crate) fn guarded(
        entries: impl Iterator<Item = Entry>,
        guards: impl Iterator<Item = Entry>,
    ) -> Self {
        let mut all: Vec<Entry> = entries.collect();
        let own = all.len();
        for guard in guards {
            let mut own = all.iter().take(own);
            let differs = |entry: &Entry| {
                !entry.token.starts_with(guard.token) && !guard.token.starts_with(entry.token)
            };
            if own.all(differs) {
                all.push(guard);
            }
        }
        Self::new(all.into_iter())
    }

    /// These marks alone.
    pub(crate) fn only(entries: impl Iterator<Item = Entry>) -> Self {
        Self::of(entries.collect())
    }

    /// Whether a mark may begin with `bytes`, of which there are two at least.
    pub(crate) fn may_stand(&self, bytes: &[u8]) -> bool {
        match bytes {
            [first, second, third, ..] => {
                let (word, bit) = three(*first, *second, *third);
                self.may_begin(*first, *second)
                    && self.threes.get(word).is_some_and(|word| word & bit != 0)
            }
            [first, second] => self.may_begin(*first, *second),
            _ => true,
        }
    }

    /// Whether one of them begins with `byte`.
    pub(crate) fn begins_with(&self, byte: u8) -> bool {
        self.firsts.has(byte)
    }

    /// Whether one of them begins with `bytes`, which may go on, whatever letter that is.
    #[inline]
    pub(crate) fn may_begin_line(&self, bytes: &[u8]) -> bool {
        bytes.first().is_some_and(|first| self.begins_with(*first)) && self.shares_beginning(bytes)
    }

    /// Whether one of them and `bytes` begin with the same bytes, as far as both go.
    fn shares_beginning(&self, bytes: &[u8]) -> bool {
        let alike = |token: &str| token.bytes().zip(bytes).all(|(one, other)| one == *other);
        match bytes {
            [first, second, third, ..] => {
                let (word, bit) = three(*first, *second, *third);
                self.threes.get(word).is_some_and(|word| word & bit != 0)
                    && self
                        .marks
                        .get(self.beginning([*first, *second]))
                        .is_some_and(|marks| marks.iter().any(|(token, _)| alike(token)))
            }
            _ => true,
        }
    }

    /// The rule of another call behind one that `closes` has not closed yet, and what begins it.
    pub(crate) fn block(&self, closes: &[&str]) -> Option<(&'static Rule, &'static str)> {
        let rule = self.blocks.iter().find(|rule| rule.closes == closes)?;
        Some((rule, rule.another?))
    }

    /// A mark that is the beginning of another one, and that one.
    pub(crate) fn ambiguous(&self) -> Option<(&'static str, &'static str)> {
        let mut pairs = self.marks.iter().zip(self.marks.iter().skip(1));
        let pair = pairs.find(|(before, after)| after.0.starts_with(before.0));
        pair.map(|(before, after)| (before.0, after.0))
    }

    fn of(mut entries: Vec<Entry>) -> Self {
        entries.sort_by_key(|entry| entry.token);
        entries.dedup_by_key(|entry| entry.token);
        let by = |entry: &Entry| By::of(entry.formats, trust(entry.token));
        let by = entries.iter().map(by).collect();
        let marks: Vec<_> = entries.into_iter().map(|entry| (entry.token, entry.mark)).collect();
        let blocks = marks.iter().filter_map(|(_, mark)| match mark {
            Meaning::Open(rule) if rule.another.is_some() => Some(*rule),
            _ => None,
        });
        let blocks = blocks.collect();
        let heads = marks.iter().map(|(token, _)| head(token.as_bytes())).collect();
        let mut begins = vec![0; 1024];
        let mut threes = vec![0; 1024];
        let first = |(token, _): &(&str, _)| token.bytes().next().filter(|_| token.len() > 1);
        let firsts = marks.iter().filter_map(first).collect();
        let mut pairs: Vec<(u16, usize, usize)> = Vec::new();
        let caseless = marks.iter().any(|(token, _)| CASELESS.contains(token));
        for (at, (token, mark)) in marks.iter().enumerate() {
            let [first, second, ..] = token.as_bytes() else { continue };
            let closes: &[&str] = if let Meaning::Result(closes) = *mark { closes } else { &[] };
            let closes = closes.iter().flat_map(|close| heads_of(close));
            for [first, second, third] in heads_of(token).chain(closes) {
                let (word, bit) = pair(first, second);
                if let Some(word) = begins.get_mut(word) {
                    *word |= bit;
                }
                // Anything may stand behind a mark of two.
                let thirds = if token.len() == 2 { 0..=u8::MAX } else { third..=third };
                for (word, bit) in thirds.map(|third| three(first, second, third)) {
                    if let Some(word) = threes.get_mut(word) {
                        *word |= bit;
                    }
                }
            }
            let own = u16::from_be_bytes([*first, *second]);
            match pairs.last_mut() {
                Some((pair, _, end)) if *pair == own => *end = at + 1,
                _ => pairs.push((own, at, at + 1)),
            }
        }
        Self { marks, by, heads, begins, threes, pairs, firsts, blocks, caseless }
    }

    /// Whether a mark may begin with these two bytes.
    pub(crate) fn may_begin(&self, first: u8, second: u8) -> bool {
        let (word, bit) = pair(first, second);
        may_begin(first) && self.begins.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The mark that `rest` begins with.
    pub(crate) fn at(&self, rest: &str) -> Lookup {
        self.found(rest).0
    }

    /// The mark that `rest` begins with, and how it marks a call.
    pub(crate) fn found(&self, rest: &str) -> (Lookup, By) {
        let range = match rest.as_bytes() {
            [] => return (Lookup::Nothing, By::NONE),
            [first] => return (self.prefix_of(*first), By::NONE),
            [first, second, ..] => self.beginning([*first, *second]),
        };
        let marks = self.marks.get(range.clone()).unwrap_or_default();
        let heads = self.heads.get(range.clone()).unwrap_or_default();
        let own = head(rest.as_bytes());
        let mut above = heads.partition_point(|head| *head <= own);
        // Only marks that begin with the same eight bytes have to be compared whole.
        while let Some(below) = above.checked_sub(1) {
            let is_same = heads.get(below) == Some(&own);
            if !is_same || marks.get(below).is_some_and(|(token, _)| *token <= rest) {
                break;
            }
            above = below;
        }
        let below = above.checked_sub(1);
        if let Some((below, (token, mark))) = below.and_then(|at| Some((at, marks.get(at)?))) {
            if rest.starts_with(token) {
                let by = self.by.get(range.start + below).copied().unwrap_or(By::NONE);
                return (Lookup::Mark(*mark, token.len()), by);
            }
        }
        let lookup = match marks.get(above) {
            Some((token, _)) if token.starts_with(rest) => Lookup::Prefix,
            _ if self.caseless => self.in_any_case(rest),
            _ => Lookup::Nothing,
        };
        (lookup, By::NONE)
    }

    /// The mark that `rest` begins with, in another case.
    fn in_any_case(&self, rest: &str) -> Lookup {
        let ([b'<', b'/', letter, ..] | [b'<', letter, ..]) = rest.as_bytes() else {
            return Lookup::Nothing;
        };
        if !matches!(letter, b't' | b'T' | b'r' | b'R') {
            return Lookup::Nothing;
        }
        match CASELESS.iter().find(|token| begin_alike_in_any_case(rest, token)) {
            Some(token) if token.len() <= rest.len() => self.at(token),
            Some(_) => Lookup::Prefix,
            None => Lookup::Nothing,
        }
    }

    /// Where the marks stand that begin with two bytes.
    fn beginning(&self, bytes: [u8; 2]) -> Range<usize> {
        let [first, second] = bytes;
        let (word, bit) = pair(first, second);
        if self.begins.get(word).is_none_or(|word| word & bit == 0) {
            return 0..0;
        }
        let found = self.pairs.binary_search_by_key(&u16::from_be_bytes(bytes), |(pair, ..)| *pair);
        let range = found.ok().and_then(|at| self.pairs.get(at));
        range.map_or(0..0, |(_, start, end)| *start..*end)
    }

    /// Whether a mark may begin with this byte, with which the text stops.
    fn prefix_of(&self, byte: u8) -> Lookup {
        if self.begins_with(byte) { Lookup::Prefix } else { Lookup::Nothing }
    }

    /// The mark of a call at the beginning of `rest`.
    pub(crate) fn opens(&self, rest: &str) -> Presence {
        match self.at(rest) {
            Lookup::Mark(mark, _) if mark.opens() => Presence::Yes,
            Lookup::Prefix => Presence::More,
            _ => Presence::No,
        }
    }

    /// Whether `rest`, with which the text ends, counts as a mark that broke off, and whether it may be a call's.
    pub(crate) fn cut(&self, rest: &str) -> Option<bool> {
        let above = self.marks.partition_point(|(token, _)| *token < rest);
        let mut begun = self
            .marks
            .get(above..)?
            .iter()
            .take_while(|(token, _)| token.starts_with(rest))
            .peekable();
        let is_caseless =
            || self.caseless && CASELESS.iter().any(|it| begin_alike_in_any_case(rest, it));
        let counts = rest.len() >= SHORTEST && (begun.peek().is_some() || is_caseless());
        counts.then(|| begun.any(|(_, mark)| mark.opens()))
    }
}

/// The first three bytes with which a mark counts.
fn heads_of(token: &str) -> impl Iterator<Item = [u8; 3]> {
    let mut bytes = token.bytes();
    let mut next = || bytes.next().unwrap_or_default();
    let head = [next(), next(), next()];
    let all = CASELESS.contains(&token);
    (0..if all { 4 } else { 1 }).map(move |case| {
        let [first, second, third] = head;
        let upper =
            |byte: u8, bit: u8| if case & bit == 0 { byte } else { byte.to_ascii_uppercase() };
        [first, upper(second, 1), upper(third, 2)]
    })
}

/// Whether one is the beginning of the other, in any case.
fn begin_alike_in_any_case(rest: &str, token: &str) -> bool {
    let (rest, token) = (rest.as_bytes(), token.as_bytes());
    rest.iter().zip(token).all(|(one, other)| one.eq_ignore_ascii_case(other))
}

/// Whether `rest` begins with `close` in another case, where that counts.
pub(crate) fn is_close(rest: &str, close: &str) -> bool {
    CASELESS.contains(&close) && rest.len() >= close.len() && begin_alike_in_any_case(rest, close)
}

/// The first eight bytes as a number, none of which is 0 in a mark.
fn head(bytes: &[u8]) -> u64 {
    if let Some(eight) = bytes.first_chunk::<8>() {
        return u64::from_be_bytes(*eight);
    }
    let mut eight = [0; 8];
    eight.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    u64::from_be_bytes(eight)
}

/// Where the bit of two bytes stands.
fn pair(first: u8, second: u8) -> (usize, u64) {
    let at = usize::from(first) << 8 | usize::from(second);
    (at / 64, 1 << (at % 64))
}

/// Where the bit of three bytes stands.
fn three(first: u8, second: u8, third: u8) -> (usize, u64) {
    let pair = usize::from(first) << 8 | usize::from(second);
    let at = (pair.wrapping_mul(0x9e5) ^ usize::from(third).wrapping_mul(0x6d)) & 0xffff;
    (at / 64, 1 << (at % 64))
}

/// The bytes with which marks begin.
pub(crate) const FIRSTS: [u8; 4] = [b'<', b'[', b']', 0xe2];

/// Whether a mark may begin with `byte`.
pub(crate) fn may_begin(byte: u8) -> bool {
    FIRSTS.contains(&byte)
}

/// `text` without the tokens that end a turn.
pub(crate) fn without_stops(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tail)) = rest.find('<').and_then(|at| rest.split_at_checked(at)) {
        kept.push_str(before);
        rest = match STOPS.iter().find_map(|stop| tail.strip_prefix(stop)) {
            Some(behind) => behind,
            None => {
                kept.push('<');
                tail.strip_prefix('<').unwrap_or_default()
            }
        };
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::{COMMON, Lookup, Meaning, may_begin};
    use crate::{
        declared::Declared,
        format::Format,
        text::setup::{Setup, Sought},
    };

    /// Those of the formats' own tables are, by themselves.
    #[test]
    fn a_call_is_attacked_at_every_guard_that_all_formats_have() {
        let places = include_str!("../../tests/it/places/mod.rs");
        let guards = COMMON.iter().filter(|entry| entry.mark.guards() && entry.token != "<!--");
        for entry in guards.filter(|entry| !matches!(entry.mark, Meaning::Stop)) {
            assert!(places.contains(entry.token), "{}", entry.token);
        }
    }

    #[test]
    fn no_mark_is_the_beginning_of_another_one() {
        for format in Format::ALL.iter().copied().map(Some).chain([None]) {
            let sought = Sought { told: format.map(|one| [one].into()), ..Sought::default() };
            let marks = Setup::new(Declared::new(), sought).marks;
            for (before, after) in marks.marks.iter().zip(marks.marks.iter().skip(1)) {
                assert!(!after.0.starts_with(before.0), "{} and {}", before.0, after.0);
            }
            for (token, _) in &marks.marks {
                assert!(may_begin(token.as_bytes()[0]), "{token}");
                assert!(matches!(marks.at(token), Lookup::Mark(_, len) if len == token.len()));
                for (cut, _) in token.char_indices().skip(1) {
                    assert!(matches!(marks.at(&token[..cut]), Lookup::Prefix), "{token} {cut}");
                }
            }
            assert!(matches!(marks.at("<b>"), Lookup::Nothing));
            for mark in ["<tHINK>", "<ThinkinG>", "</rEASONING>", "<THoUGHT>", "</THiNK>"] {
                assert!(matches!(marks.at(mark), Lookup::Mark(_, len) if len == mark.len()));
                for cut in 1..mark.len() {
                    assert!(matches!(marks.at(&mark[..cut]), Lookup::Prefix), "{mark} {cut}");
                    assert!(cut < 2 || marks.may_stand(&mark.as_bytes()[..cut]), "{mark} {cut}");
                }
            }
        }
    }
}
