//! What must hold for every text that the parser reads, and for every text in which amounts are.
//!
//! A target is a function of bytes that panics when a claim does not hold. The fuzzers of `libfuzzer` call them with what
//! they think up, the properties of `hanok-parse` with what proptest draws, and `tests/corpus.rs` with what was found
//! before.

#![allow(clippy::panic, reason = "a claim that does not hold is told by a panic")]

mod amounts;
mod broken;
mod bytes;
mod forms;
mod json;
mod sound;
mod soup;
mod splits;
mod told;
mod values;

use hanok_parse::{Bare, Declared, Format, FormatTable, ParamType, Parser, Policy, Reasoning};

use bytes::Bytes;
pub use sound::sound;
pub use soup::MARKS;
pub use told::Told;

/// A claim over all bytes.
pub type Target = fn(&[u8]);

/// Every target by its name, which is that of its binary and of the folder of its corpus.
pub const TARGETS: [(&str, Target); 8] = [
    ("any_text", any_text),
    ("calls", calls),
    ("repair", repair),
    ("events", events),
    ("amounts", amounts),
    ("special", special),
    ("tables", tables),
    ("neutralise", neutralise),
];

/// Any text is a sound reply, and the same however it is cut into pieces.
///
/// The last two bytes choose what is declared and where the text is cut; the text stands first, so that a fuzzer that
/// appends and splices keeps it.
pub fn any_text(data: &[u8]) {
    let (text, choices) = data.split_at(data.len().saturating_sub(2));
    let text = String::from_utf8_lossy(text);
    let mut choices = Bytes::new(choices);
    let parser = parser(&mut choices);
    let reply = parser.parse(&text);
    sound(&parser, &text, &reply);
    splits::agree(&parser, &text, &reply, choices.next());
}

/// What was written in some format is read as it was written, hinted or not, and cut off it is never more.
pub fn calls(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let form = bytes.one(&forms::all());
    forms::read_as_written(form, &mut bytes);
}

/// The formats that [`calls`] writes, some in several forms.
#[must_use]
pub fn forms() -> Vec<Format> {
    forms::all().iter().map(|form| form.format).collect()
}

/// The marks of the form at `index` of [`forms`] are never content.
pub fn marks_are_hidden(index: usize) {
    forms::hides_its_marks(
        Bytes::new(&[u8::try_from(index).unwrap_or_default()]).one(&forms::all()),
    );
}

/// A text of each of [`forms`], with prose, two calls if it can hold them, and `text` as an argument.
#[must_use]
pub fn samples(text: &str) -> Vec<String> {
    let sample = |form| {
        let (before, written) = forms::sample(form, text);
        before.to_owned() + &written
    };
    forms::all().into_iter().map(sample).collect()
}

/// The marks as a dictionary for libFuzzer.
#[must_use]
pub fn dictionary() -> String {
    let entry = |mark: &&str| {
        let bytes = mark.bytes().map(|byte| match byte {
            b'"' | b'\\' => format!("\\{}", char::from(byte)),
            b' '..=b'~' => char::from(byte).to_string(),
            other => format!("\\x{other:02x}"),
        });
        format!("\"{}\"\n", bytes.collect::<String>())
    };
    soup::MARKS.iter().map(entry).collect()
}

/// Small faults of JSON are mended, and strings keep their content.
pub fn repair(data: &[u8]) {
    broken::mended(&mut Bytes::new(data));
}

/// What is told piece by piece, without what was taken back, is the reply.
pub fn events(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let parser = parser(&mut bytes);
    let seed = bytes.next();
    let text = soup::text(&mut bytes);
    splits::events_agree(&parser, &text, seed);
}

/// Amounts of any text are in order and on boundaries, and what is written of one is read as the same.
pub fn amounts(data: &[u8]) {
    amounts::read_in_order(&String::from_utf8_lossy(data));
}

/// Neutralised text calls nothing, stays as it is when it is neutralised again, and is restored to what it was.
///
/// The first byte says whether the text is made of marks or is the bytes themselves, and how much a quotation leaves out.
pub fn neutralise(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let choice = bytes.next();
    let text = match choice % 2 {
        0 => soup::text(&mut bytes),
        _ => String::from_utf8_lossy(data.get(1..).unwrap_or_default()).into_owned(),
    };
    let broken = hanok_parse::neutralise(&text);
    assert_eq!(hanok_parse::neutralise(&broken), broken, "{text:?} is broken again");
    // A text may have broken marks of its own.
    if hanok_parse::restore(&text) == text {
        assert_eq!(hanok_parse::restore(&broken), text, "{text:?} is not restored");
    }
    let part = broken.char_indices().nth(usize::from(choice / 2)).map_or(0, |(at, _)| at);
    let parser = reads_all(declared());
    for quoted in [&*broken, broken.get(part..).unwrap_or_default()] {
        // A part of a line may begin with a label that prose had before it.
        let is_line =
            quoted.len() == broken.len() || broken.get(..part).is_some_and(|it| it.ends_with('\n'));
        let reply = parser.parse(quoted);
        let is_text = reply.calls.is_empty() && reply.answer.is_none() && reply.thought.is_none();
        assert!(is_text || !is_line, "{quoted:?} is read: {reply:?}");
    }
}

/// Where special tokens are known, nothing else is a mark, and it does not matter how the other text is cut.
///
/// Each piece of the text is made of marks; a byte says whether it came as special tokens.
pub fn special(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let formats: Vec<Format> = (0..3).map(|_| bytes.one(Format::ALL)).collect();
    let has_tokens = formats.iter().all(|format| is_of_tokens(*format));
    let parser = reads_all(declared()).formats(formats.iter().copied());
    let seed = bytes.next();
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        let is_special = bytes.once_in(3);
        let mark = bytes.one(MARKS);
        pieces.push((mark, is_special && mark.starts_with(['<', '['])));
    }
    let text: String = pieces.iter().map(|(text, _)| *text).collect();
    let plain: Vec<_> = pieces.iter().map(|(text, _)| (*text, false)).collect();
    let whole = splits::fed_special(&parser, &pieces, None);
    sound(&parser, &text, &whole);
    assert_eq!(splits::fed_special(&parser, &pieces, Some(seed)), whole, "{pieces:?} in pieces");
    let nothing = splits::fed_special(&parser, &plain, Some(seed));
    let runs = has_tokens && !nothing.calls.is_empty();
    assert!(!runs, "{text:?} calls without a special token in {formats:?}: {nothing:?}");
}

/// Whether the calls of a format begin with marks, and not with words, brackets or nothing.
fn is_of_tokens(format: Format) -> bool {
    let table = FormatTable::builtin(format).to_json();
    let table: serde_json::Value = serde_json::from_str(&table).unwrap_or_default();
    let all = |key: &str, part: fn(&serde_json::Value) -> bool| {
        let list = table.get(key).and_then(serde_json::Value::as_array);
        list.is_none_or(|list| list.iter().all(part))
    };
    all("grammars", |grammar| matches!(grammar.as_str(), Some("headers" | "pairs")))
        && all("lines", |line| {
            line.get("token")
                .and_then(serde_json::Value::as_str)
                .is_some_and(|token| token.contains("<|"))
        })
}

/// Any JSON is a table or says why not, a table is written as it was read, and no text breaks a parser of it.
pub fn tables(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let format = bytes.one(Format::ALL);
    let json = FormatTable::builtin(format).to_json();
    // A table that is known, with some of its letters changed.
    let mut letters: Vec<char> = json.chars().collect();
    for _ in 0..bytes.below(4) {
        let at = usize::from(u16::from_be_bytes([bytes.next(), bytes.next()])) % letters.len();
        if let Some(letter) = letters.get_mut(at) {
            *letter = char::from(bytes.next() & 0x7f);
        }
    }
    let Ok(table) = FormatTable::from_json(&letters.into_iter().collect::<String>()) else {
        return;
    };
    assert_eq!(FormatTable::from_json(&table.to_json()).as_ref(), Ok(&table));
    let Ok(parser) = reads_all(declared()).tables([&table]) else { return };
    let seed = bytes.next();
    let text = soup::text(&mut bytes);
    let reply = parser.parse(&text);
    sound(&parser, &text, &reply);
    splits::agree(&parser, &text, &reply, seed);
}

/// A parser that reads forms without a mark, too.
pub(crate) fn reads_all(declared: Declared) -> Parser {
    Parser::new(declared).policy(Bare::On)
}

/// Some parser: the texts' names declared or not, with a hint or without, and then by some policy.
fn parser(choices: &mut Bytes<'_>) -> Parser {
    let choice = choices.next();
    let known = match choice % 4 {
        0 => Declared::any(),
        1 => Declared::new(),
        _ => declared(),
    };
    let parser = reads_all(known);
    let parser = if choice & 4 == 0 { parser } else { parser.reasoning(Reasoning::Promote) };
    // Half of the choices give no hint.
    match Format::ALL.get(usize::from(choice >> 3) * 2) {
        Some(format) if choice & 8 != 0 => parser.format(*format),
        _ => {
            let bare = [Bare::On, Bare::Asked, Bare::Off];
            let bare = bare.get(usize::from(choice >> 4) % 3).copied().unwrap_or_default();
            let policy = Policy { bare, lock: choice >> 4 < 12 };
            parser.policy(policy).asked([Format::React])
        }
    }
}

/// The tools and agents of the texts that are made here.
pub fn declared() -> Declared {
    let params = |names: &[&str]| -> Vec<(String, ParamType, bool)> {
        names.iter().map(|name| ((*name).to_owned(), values::kind(name), false)).collect()
    };
    Declared::new()
        .tool_with("find", params(&["q"]))
        .tool_with("ping", [])
        .tool_with("plan", params(&values::KEYS))
        .tool("f")
        .agent("rag_agent")
}
