//! Calls written in the formats, and read again.

mod json_forms;
mod raw_forms;

use hanok_parse::{Format, Parser, Reply};
use serde_json::{Map, Value};

use crate::{bytes::Bytes, declared, sound, splits, values};

/// A call as it is meant: the tool, and its arguments.
pub(crate) type Meant = (&'static str, Map<String, Value>);

/// A way to write calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub(crate) format: Format,
    write: fn(&[Meant]) -> String,
    /// What no string may hold, for it would end there.
    never: &'static [&'static str],
    /// How many calls it can hold.
    most: usize,
    /// Whether prose may stand before it, and behind it.
    prose: (bool, bool),
    /// Whether keys are written as they are, so that they have to be words.
    bare_keys: bool,
    /// Whether objects and lists are written as elements, so that texts in them have no type.
    elements: bool,
    /// Whether it is looked for only where it is named.
    hinted: bool,
}

impl Form {
    /// JSON between marks that say where it ends.
    const fn new(format: Format, write: fn(&[Meant]) -> String) -> Self {
        Self {
            format,
            write,
            never: &[],
            most: 3,
            prose: (true, true),
            bare_keys: false,
            elements: false,
            hinted: false,
        }
    }
}

/// Every form.
pub(crate) fn all() -> Vec<Form> {
    json_forms::ALL.iter().chain(raw_forms::ALL).copied().collect()
}

/// Reads what was written, whole, hinted, in pieces and cut off.
pub(crate) fn read_as_written(form: Form, bytes: &mut Bytes<'_>) {
    let count = 1 + bytes.below(form.most);
    let (seed, cut) = (bytes.next(), u16::from_be_bytes([bytes.next(), bytes.next()]));
    let before = if form.prose.0 { bytes.one(&BEFORE) } else { "" };
    let after = if form.prose.1 { bytes.one(&AFTER) } else { "" };
    let thinking = form.prose.0 && bytes.once_in(4);
    let meant: Vec<Meant> = (0..count)
        .map(|_| {
            let (name, args) = values::call(bytes);
            let args = args.into_iter().map(|(key, value)| (key, tame(value, &form)));
            (name, args.collect())
        })
        .collect();
    let written = (form.write)(&meant);
    let thought = if thinking { DECOY } else { "" };
    let text = format!("{thought}{before}{written}{after}");
    for parser in parsers(form) {
        let reply = parser.parse(&text);
        sound(&parser, &text, &reply);
        check(&form, &meant, &text, &reply);
        let prose: String = [before, after].concat();
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(squeezed(&reply.content), squeezed(&prose), "the content of {text:?}");
        splits::agree(&parser, &text, &reply, seed);
        splits::events_agree(&parser, &text, seed);
        is_never_more(&parser, &meant, &text, usize::from(cut) % (text.len() + 1));
    }
}

/// The parsers that look for it.
fn parsers(form: Form) -> Vec<Parser> {
    let by_name = crate::reads_all(declared()).format(form.format);
    if form.hinted { vec![by_name] } else { vec![crate::reads_all(declared()), by_name] }
}

const BEFORE: [&str; 3] = ["", "Let me see.\n", "안녕하세요 🙂. 확인해 보겠습니다.\n\n"];
const AFTER: [&str; 3] = ["", "\n", "\n끝났습니다."];
const DECOY: &str = "<think>\nAction: f\nAction Input: {}\n<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>\n</think>\n\n";

fn check(form: &Form, meant: &[Meant], text: &str, reply: &Reply) {
    let format = form.format;
    assert!(reply.error.is_none(), "{format}: {:?} in {text:?}", reply.error);
    let read: Vec<_> = reply
        .calls
        .iter()
        .map(|call| match call.arguments.decode::<Value>() {
            Ok(args) => (call.name.as_str(), args),
            Err(error) => panic!("{format}: {error} in {text:?}"),
        })
        .collect();
    let want: Vec<_> =
        meant.iter().map(|(name, args)| (*name, Value::Object(args.clone()))).collect();
    assert_eq!(read, want, "{format}: {text:?}");
}

/// A text that is cut off holds calls of the whole one, from the first on, and no others.
fn is_never_more(parser: &Parser, meant: &[Meant], text: &str, cut: usize) {
    let text = String::from_utf8_lossy(text.as_bytes().get(..cut).unwrap_or_default());
    let reply = parser.parse(&text);
    assert!(reply.calls.len() <= meant.len(), "{text:?} was cut off and calls more");
    // A name in its tag is a whole call of GLM's, where nobody says that `<tool_input>` may follow.
    let ends = text.trim_end().ends_with("</tool_call>");
    for (call, (name, args)) in reply.calls.iter().zip(meant) {
        if ends && call.name == *name && call.arguments.as_str() == "{}" {
            continue;
        }
        let read: Option<Value> = call.arguments.decode().ok();
        let same = call.name == *name && read == Some(Value::Object(args.clone()));
        assert!(same, "{text:?} was cut off and calls {}{}", call.name, call.arguments);
    }
}

/// A text of two calls of a form, and the prose before them. `find` gets `text`.
pub(crate) fn sample(form: Form, text: &str) -> (&'static str, String) {
    let args = |text: &str| Map::from_iter([("q".to_owned(), Value::from(text))]);
    let meant: Vec<Meant> =
        [("find", args(text)), ("ping", Map::new())].into_iter().take(form.most).collect();
    (if form.prose.0 { "Let me see.\n" } else { "" }, (form.write)(&meant))
}

/// Checks that nothing of a call is content, wherever a text of two calls is cut off. A form that no mark begins may be
/// prose until it says otherwise.
pub(crate) fn hides_its_marks(form: Form) {
    let (before, written) = sample(form, "전세");
    if !["<", "✿", "[TOOL_CALLS]"].iter().any(|mark| written.starts_with(mark)) {
        return;
    }
    let text = format!("{before}{written}");
    for parser in [crate::reads_all(declared()), crate::reads_all(declared()).format(form.format)] {
        for (cut, _) in text.char_indices() {
            let text = text.get(..cut).unwrap_or_default();
            let content = parser.parse(text).content;
            let shown = content.strip_prefix(before.trim()).unwrap_or_default().trim();
            // One or two letters may be anything.
            let hides = shown.chars().count() <= 2;
            assert!(hides, "{}: {content:?} of {text:?}", form.format);
        }
    }
}

/// The value without what the form cannot hold.
fn tame(value: Value, form: &Form) -> Value {
    let is_wild = |text: &str| form.never.iter().any(|mark| text.contains(mark));
    match value {
        Value::String(text) if is_wild(&text) => "tame".into(),
        Value::Array(_) if form.elements => Value::from(vec![1, 2]),
        Value::Object(_) if form.elements => Map::from_iter([("a".to_owned(), 1.into())]).into(),
        Value::Array(items) => items.into_iter().map(|item| tame(item, form)).collect(),
        Value::Object(members) => {
            let is_word =
                |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric());
            let members = members.into_iter().enumerate().map(|(index, (key, value))| {
                let is_kept = if form.bare_keys { is_word(&key) } else { !is_wild(&key) };
                (if is_kept { key } else { format!("k{index}") }, tame(value, form))
            });
            Value::Object(members.collect())
        }
        value => value,
    }
}

/// Each call written, one after the other.
fn each(meant: &[Meant], write: impl Fn(&str, &Map<String, Value>) -> String) -> String {
    meant.iter().map(|(name, args)| write(name, args)).collect()
}

/// Each call written, with `between` between them.
fn joined(
    meant: &[Meant],
    between: &str,
    write: impl Fn(&str, &Map<String, Value>) -> String,
) -> String {
    meant.iter().map(|(name, args)| write(name, args)).collect::<Vec<_>>().join(between)
}

fn json(args: &Map<String, Value>) -> String {
    Value::Object(args.clone()).to_string()
}
