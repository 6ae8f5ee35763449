//! Answers of a form that a JSON schema gives: what each value is about, its description says.

use hanok_model::{ListedValue, resolve_schema};
use serde_json::{Map, Value, json};

use crate::offline::{
    agent,
    amounts::is_amount,
    choose::{cue, fitting, has_any, is_greeting, parts, ranked},
    listed::{self, Listed, parameters, plain},
    request::Request,
    tables,
    talk::talk,
    values::values,
    words::content,
};

/// How deep a schema is followed.
const DEEPEST: usize = 16;

/// How sure a choice is that fits, and one that does not.
const SURE: f64 = 0.8;
const UNSURE: f64 = 0.4;

/// A value that fits `schema`, as far as it is made of objects, lists, choices and plain values: of a choice, the value whose
/// description fits the question best; of a list of choices, those that fit.
pub(crate) fn fill(schema: &Value, request: &Request) -> Value {
    filled(schema, schema, request, 0)
}

fn filled(schema: &Value, root: &Value, request: &Request, depth: usize) -> Value {
    let schema = resolve_schema(schema, root);
    let options = ListedValue::all(schema, root);
    if depth > DEEPEST {
        return Value::Null;
    }
    if !options.is_empty() {
        return chosen_option(options, request);
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        if parameters(schema, root).iter().any(is_amount) {
            return arguments(schema, root, request);
        }
        let listed = &request.listed;
        let value = |(name, schema): (&String, &Value)| {
            // What is named like something that is listed has its arguments.
            let value = match listed.iter().any(|listed| listed.name == *name) {
                true if chosen(&request.question, listed).contains(name) => {
                    arguments(plain(schema, root), root, request)
                }
                true => Value::Null,
                false => filled(schema, root, request, depth + 1),
            };
            (name.clone(), value)
        };
        return Value::Object(properties.iter().map(value).collect());
    }
    if let Some(first) = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.get(0)) {
        return filled(first, root, request, depth + 1);
    }
    let (question, said) = (&request.question, described(schema));
    let is_about = |words: &[&str]| has_any(&said, words);
    match kind_of(schema) {
        Some("string") if is_about(&["what the user wants"]) => {
            let words = content(question).into_iter().take(2).map(|word| word.text);
            words.collect::<Vec<_>>().join(" ").into()
        }
        Some("string") => {
            let english = "Its description is nearest to the question.";
            request.language.either("설명이 이 질문에 가장 가깝습니다.", english).into()
        }
        Some("integer" | "number") if is_about(&["sure", "확신"]) => {
            json!(if fitting(question, &request.listed).is_empty() { UNSURE } else { SURE })
        }
        Some("integer" | "number") => json!(0),
        Some("boolean") if is_about(&["cannot deal with", "다룰 수 없는"]) => {
            json!(!is_greeting(question) && !fitting(question, &request.listed).is_empty())
        }
        Some("boolean") if is_about(&["도구"]) => json!(talk(request, &request.listed).is_none()),
        Some("boolean") => {
            let is_about_data = is_about(&tables::FOR_DOCUMENTS) || is_about(&["data"]);
            json!(is_about_data && agent::is_answered(request))
        }
        Some("array") => {
            let items = resolve_schema(schema.get("items").unwrap_or(&Value::Null), root);
            let options = known(&ListedValue::all(items, root), request);
            match items.get("properties").and_then(Value::as_object) {
                _ if !options.is_empty() => json!(chosen(question, &options)),
                Some(properties) => {
                    tasks(properties, request).iter().map(|task| task.object(properties)).collect()
                }
                None if is_about(&["parts"]) => json!(parts(question)),
                None if is_about(&["names"]) => json!(chosen(question, &request.listed)),
                None => json!([]),
            }
        }
        Some("object") => json!({}),
        _ => Value::Null,
    }
}

fn kind_of(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        kind => kind.and_then(Value::as_str),
    }
}

fn described(schema: &Value) -> String {
    schema.get("description").and_then(Value::as_str).unwrap_or_default().to_lowercase()
}

/// The object of `schema`, as far as the question says its values; what it does not say is null.
fn arguments(schema: &Value, root: &Value, request: &Request) -> Value {
    let tool = Listed { parameters: parameters(schema, root), ..Listed::default() };
    let mut said = values(&request.question, &tool, request.now.as_ref(), &request.aliases);
    let value =
        |it: &listed::Parameter| (it.name.clone(), said.remove(&it.name).unwrap_or_default());
    Value::Object(tool.parameters.iter().map(value).collect())
}

/// Values with their descriptions, to be compared with the question.
fn known(options: &[ListedValue], request: &Request) -> Vec<Listed> {
    let listed = options.iter().map(|it| {
        // What a value stands for may be said in the system prompt, where that lists it.
        let name = it.words();
        let listed = request.listed.iter().find(|listed| listed.name == name);
        let description = it.description.clone().or_else(|| Some(listed?.description.clone()));
        let description = description.unwrap_or_default();
        Listed { name, description, ..Listed::default() }.known(&request.aliases)
    });
    listed.collect()
}

/// The option that fits: one for talking where nothing has to be looked up.
fn chosen_option(options: Vec<ListedValue>, request: &Request) -> Value {
    let listed = known(&options, request);
    let talks = |it: &&Listed| has_any(&it.description.to_lowercase(), &tables::FOR_TALK);
    let name = match (talk(request, &listed), listed.iter().find(talks)) {
        (Some(_), Some(for_talk)) => Some(for_talk.name.clone()),
        _ => ranked(&request.question, &listed).into_iter().next(),
    };
    let at = listed.iter().position(|listed| Some(&listed.name) == name.as_ref()).unwrap_or(0);
    options.into_iter().nth(at).map_or(Value::Null, |it| it.value)
}

/// The names of those that fit any part of the question, in the order in which they are listed.
fn chosen(question: &str, listed: &[Listed]) -> Vec<String> {
    let of_parts: Vec<String> =
        parts(question).iter().flat_map(|part| fitting(part, listed)).collect();
    let names = listed.iter().map(|listed| &listed.name);
    names.filter(|name| of_parts.contains(name)).cloned().collect()
}

/// One thing to do, and who does it.
#[derive(Clone)]
struct Task {
    who: Listed,
    text: String,
}

impl Task {
    /// It as an object: what each property is, its description says.
    fn object(&self, properties: &Map<String, Value>) -> Value {
        let (purpose, needs) = needs(&self.who.description);
        let value = |schema: &Value| {
            let said = described(schema);
            match () {
                () if is_array(schema) => json!(needs),
                () if said.contains("by its name") || said.contains("short name") => {
                    json!(self.who.name)
                }
                () if has_any(&said, &["task"]) => json!(self.text),
                () => json!(purpose),
            }
        };
        Value::Object(properties.iter().map(|(name, it)| (name.clone(), value(it))).collect())
    }
}

/// What there is to do, as objects with `properties`. Where none of these says what it needs: a step for each sentence, in their order.
/// Else for each of those listed the parts of the question that it fits, behind those that it needs.
fn tasks(properties: &Map<String, Value>, request: &Request) -> Vec<Task> {
    let (question, listed) = (&request.question, &request.listed);
    if tables::AGAIN.iter().any(|words| question.contains(words)) {
        return Vec::new();
    }
    if !properties.values().any(is_array) {
        return sentences(question).iter().flat_map(|text| in_sentence(text, listed)).collect();
    }
    let mut tasks: Vec<Task> = Vec::new();
    for part in parts(question) {
        for who in listed.iter().filter(|it| fitting(&part, listed).contains(&it.name)) {
            match tasks.iter_mut().find(|known| known.who.name == who.name) {
                Some(task) => task.text.extend([" ", &part]),
                None => tasks.push(Task { who: who.clone(), text: part.clone() }),
            }
        }
    }
    let mut next = 0;
    while let Some(task) = tasks.get(next).cloned() {
        let is_new = |it: &&Listed| tasks.iter().all(|known| known.who.name != it.name);
        let (_, needed) = needs(&task.who.description);
        let new = listed.iter().filter(|it| needed.contains(&it.name)).filter(is_new);
        let new: Vec<_> =
            new.map(|who| Task { who: who.clone(), text: task.text.clone() }).collect();
        // What is needed stands before, and may need something itself.
        next += usize::from(new.is_empty());
        tasks.splice(next..next, new);
    }
    tasks
}

/// The sentences and questions of a request, each to be done for itself. A point behind a number ends none.
fn sentences(question: &str) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for sentence in question.split_inclusive(". ") {
        let is_number = |it: &&mut String| {
            it.trim_end_matches(['.', ' ']).ends_with(|c: char| c.is_ascii_digit())
        };
        match sentences.last_mut().filter(is_number) {
            Some(last) => last.push_str(sentence),
            None => sentences.push(sentence.to_owned()),
        }
    }
    let bare = |it: &String| it.trim().trim_start_matches("그리고 ").to_owned();
    sentences.iter().flat_map(|sentence| parts(&bare(sentence))).collect()
}

/// Those that a sentence asks for. Where the words of one are a part of another's, that is meant: `회의실 예약` in `회의실 예약 현황`.
fn in_sentence(text: &str, listed: &[Listed]) -> Vec<Task> {
    let names = fitting(text, listed);
    let who: Vec<_> = listed.iter().filter(|it| names.contains(&it.name)).collect();
    let cues: Vec<_> = who.iter().map(|it| cue(text, &it.aliases).unwrap_or_default()).collect();
    let is_taken = |one: &[usize]| cues.iter().any(|other| takes(other, one));
    let meant = who.iter().zip(&cues).filter(|(_, cue)| !is_taken(cue));
    meant.map(|(who, _)| Task { who: (*who).clone(), text: text.to_owned() }).collect()
}

/// Whether the words of `one` are meant as a part of `other`, or stand wider apart than it: `회의 … 잡` beside `회의실 잡`.
fn takes(other: &[usize], one: &[usize]) -> bool {
    let is_in = |some: &[usize], all: &[usize]| some.iter().all(|at| all.contains(at));
    let span = |at: &[usize]| at.last().zip(at.first()).map(|(last, first)| last - first);
    match (is_in(one, other), is_in(other, one)) {
        (true, false) => true,
        (false, false) => one.iter().any(|at| other.contains(at)) && span(other) < span(one),
        _ => false,
    }
}

/// A description without what it says of needs, and those that it says it needs first.
fn needs(description: &str) -> (&str, Vec<String>) {
    let split = tables::NEEDS.iter().find_map(|words| description.split_once(words));
    let (said, after) = split.unwrap_or((description, ""));
    let names = after.split(')').next().unwrap_or_default().split(',').map(str::trim);
    (said.trim(), names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

/// Whether `schema` is one of a list, which may be left out.
fn is_array(schema: &Value) -> bool {
    let is = |kind: &Value| kind.as_str() == Some("array");
    let is_kind = schema
        .get("type")
        .is_some_and(|kind| is(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is)));
    let one_of = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
    is_kind || one_of.flatten().any(is_array)
}
