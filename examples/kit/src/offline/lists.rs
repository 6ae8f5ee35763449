//! Lists of a form that a JSON schema gives: choices that fit the question, its parts, and one object for each part.

use serde_json::{Map, Value, json};

use crate::offline::{
    conversation::Conversation,
    fitting::{cue_in, fitting},
    intent::has,
    prompt::Listed,
    route::{is_greeting, parts},
    tables,
    words::content,
};

/// How sure a choice is that fits, and one that does not.
const SURE: f64 = 0.8;
const UNSURE: f64 = 0.4;

/// The list `array` of `items`: those of `options` that fit the question; one object for each thing to do; names out of what the
/// system prompt lists, or the question's parts.
pub(crate) fn fill(
    array: &Value,
    items: &Value,
    options: &[Listed],
    conversation: &Conversation,
) -> Value {
    let question = &conversation.question;
    if !options.is_empty() {
        return json!(chosen(question, options));
    }
    let said = described(array);
    if let Some(properties) = items.get("properties").and_then(Value::as_object) {
        let is_again = tables::AGAIN.iter().any(|words| question.contains(words));
        let is_of_steps = !properties.values().any(is_array);
        let tasks = match (is_again, is_of_steps) {
            (true, _) => Vec::new(),
            (false, true) => in_order(question, &conversation.listed),
            (false, false) => tasks(conversation),
        };
        let object = |task: &Task| {
            let value = |(name, schema): (&String, &Value)| (name.clone(), task.value(schema));
            Value::Object(properties.iter().map(value).collect::<Map<_, _>>())
        };
        return tasks.iter().map(object).collect();
    }
    match () {
        () if has(&said, "parts") => json!(parts(question)),
        () if has(&said, "names") => json!(chosen(question, &conversation.listed)),
        () => json!([]),
    }
}

/// The names of those that fit any part of the question, in the order in which they are listed.
pub(crate) fn chosen(question: &str, listed: &[Listed]) -> Vec<String> {
    let of_parts: Vec<String> =
        parts(question).iter().flat_map(|part| fitting(part, listed)).collect();
    let names = listed.iter().map(|listed| &listed.name);
    names.filter(|name| of_parts.contains(name)).cloned().collect()
}

/// One thing to do, and who does it.
struct Task {
    who: Listed,
    text: String,
    needs: Vec<String>,
}

impl Task {
    /// What a property of its object is, by what its description asks for.
    fn value(&self, schema: &Value) -> Value {
        let said = described(schema);
        let is_list = is_array(schema);
        match () {
            () if is_list => json!(self.needs),
            () if said.contains("by its name") || said.contains("short name") => {
                json!(self.who.name)
            }
            () if has(&said, "task") => json!(self.text),
            () => json!(plain(&self.who.description)),
        }
    }
}

/// What there is to do: for each of those listed the parts of the question that it fits, and those that another one needs.
fn tasks(conversation: &Conversation) -> Vec<Task> {
    let listed = &conversation.listed;
    let mut texts: Vec<(usize, String)> = Vec::new();
    for part in parts(&conversation.question) {
        for name in fitting(&part, listed) {
            let Some(at) = listed.iter().position(|listed| listed.name == name) else { continue };
            match texts.iter_mut().find(|(known, _)| *known == at) {
                Some((_, text)) => {
                    text.push(' ');
                    text.push_str(&part);
                }
                None => texts.push((at, part.clone())),
            }
        }
    }
    let mut next = 0;
    while let Some((at, text)) = texts.get(next).cloned() {
        let needed = listed.get(at).map(needs).unwrap_or_default();
        let is_new = |at: &usize| texts.iter().all(|(known, _)| known != at);
        let position = |need: &String| listed.iter().position(|listed| listed.name == *need);
        let new: Vec<_> = needed.iter().filter_map(position).filter(is_new).collect();
        // What is needed stands before, and may need something itself.
        next += usize::from(new.is_empty());
        texts.splice(next..next, new.into_iter().map(|at| (at, text.clone())));
    }
    let task = |(at, text): (usize, String)| {
        let who = listed.get(at)?.clone();
        Some(Task { needs: needs(&who), who, text })
    };
    texts.into_iter().filter_map(task).collect()
}

/// The steps, where none says what it needs: in the order in which they are asked for, each sentence for itself.
fn in_order(question: &str, listed: &[Listed]) -> Vec<Task> {
    let ends = |text: &str| text.ends_with(|c: char| !c.is_ascii_digit());
    let mut sentences: Vec<String> = Vec::new();
    for sentence in question.split_inclusive(". ") {
        match sentences.last_mut().filter(|it| !ends(it.trim_end().trim_end_matches('.'))) {
            Some(last) => last.push_str(sentence),
            None => sentences.push(sentence.to_owned()),
        }
    }
    let bare = |sentence: &str| sentence.trim().trim_start_matches("그리고 ").to_owned();
    let parts = sentences.iter().flat_map(|sentence| parts(&bare(sentence)));
    let tasks = parts.flat_map(|text| {
        let fitting = fitting(&text, listed);
        let who = listed.iter().filter(|it| fitting.contains(&it.name)).collect::<Vec<_>>();
        let cues: Vec<_> = who.iter().map(|it| cue_in(&text, &it.aliases)).collect();
        let is_taken = |one: &Option<Vec<usize>>| {
            one.as_ref().is_some_and(|one| cues.iter().flatten().any(|it| takes(it, one)))
        };
        let meant = who.iter().zip(&cues).filter(|(_, cue)| !is_taken(cue));
        let task = |(who, _): (&&Listed, _)| Task {
            who: (*who).clone(),
            text: text.clone(),
            needs: Vec::new(),
        };
        meant.map(task).collect::<Vec<_>>()
    });
    tasks.collect()
}

/// Whether the words of `one` are meant as a part of `other`: `회의실 예약` in `회의실 예약 현황`, and `회의 … 잡` beside `회의실 잡`.
fn takes(other: &[usize], one: &[usize]) -> bool {
    let is_in = |some: &[usize], all: &[usize]| some.iter().all(|at| all.contains(at));
    let span = |at: &[usize]| at.last().zip(at.first()).map(|(last, first)| last - first);
    let is_shared = one.iter().any(|at| other.contains(at));
    match (is_in(one, other), is_in(other, one)) {
        (true, false) => true,
        (false, false) => is_shared && span(other) < span(one),
        _ => false,
    }
}

/// Those that `listed` says it needs first.
fn needs(listed: &Listed) -> Vec<String> {
    let said = &listed.description;
    let begin = tables::NEEDS.iter().find_map(|words| said.split_once(words));
    let Some((_, after)) = begin else { return Vec::new() };
    let names = after.split(')').next().unwrap_or_default().split(',');
    names.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// A description without what it says of needs.
fn plain(description: &str) -> &str {
    let begin = tables::NEEDS.iter().find_map(|words| description.split_once(words));
    begin.map_or(description, |(before, _)| before).trim()
}

/// Whether `schema` is one of a list, which may be left out.
fn is_array(schema: &Value) -> bool {
    let kinds = schema.get("type");
    let is = |kind: &Value| kind.as_str() == Some("array");
    let one_of = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
    kinds.is_some_and(|kind| is(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is)))
        || one_of.flatten().any(is_array)
}

/// Whether a text says what is wanted.
pub(crate) fn is_about_wish(schema: &Value) -> bool {
    described(schema).contains("what the user wants")
}

/// What is wanted, in two words of the question.
pub(crate) fn wish(conversation: &Conversation) -> String {
    let words = content(&conversation.question);
    words.into_iter().take(2).map(|word| word.text).collect::<Vec<_>>().join(" ")
}

/// Whether a number says how sure the choice is.
pub(crate) fn is_about_sureness(schema: &Value) -> bool {
    let said = described(schema);
    has(&said, "sure") || said.contains("확신")
}

/// How sure: whether anything that is listed fits.
pub(crate) fn sureness(conversation: &Conversation) -> f64 {
    match fitting(&conversation.question, &conversation.listed).is_empty() {
        true => UNSURE,
        false => SURE,
    }
}

/// Whether a value says if the question can be dealt with at all.
pub(crate) fn is_about_scope(schema: &Value) -> bool {
    let said = described(schema);
    said.contains("cannot deal with") || said.contains("다룰 수 없는")
}

/// Whether anything that is listed fits.
pub(crate) fn is_in_scope(conversation: &Conversation) -> bool {
    let question = &conversation.question;
    !is_greeting(question) && !fitting(question, &conversation.listed).is_empty()
}

fn described(schema: &Value) -> String {
    schema.get("description").and_then(Value::as_str).unwrap_or_default().to_lowercase()
}
