//! Answers of a form that a JSON schema gives: a choice among values, and words about it.

use hanok_model::{ListedValue, resolve_schema};
use serde_json::{Map, Value, json};

use crate::offline::{
    agent,
    conversation::Conversation,
    cues,
    intent::has,
    lists,
    prompt::{self, Listed},
    route::{ranked, talk},
    stated,
};

/// A value that fits `schema`, as far as it is made of objects, lists, choices and plain values: of a choice, the value whose
/// description fits the question best; of a list of choices, those that fit.
pub(crate) fn fill(schema: &Value, conversation: &Conversation) -> Value {
    filled(schema, schema, conversation, 0)
}

/// How deep a schema is followed.
const DEEPEST: usize = 16;

fn filled(schema: &Value, root: &Value, conversation: &Conversation, depth: usize) -> Value {
    let schema = resolve_schema(schema, root);
    let options = ListedValue::all(schema, root);
    if depth > DEEPEST {
        return Value::Null;
    }
    if !options.is_empty() {
        return chosen(options, conversation);
    }
    if stated::is_typed(schema) {
        return stated::fill(schema, root, &conversation.question, &conversation.aliases);
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let value = |name: &String, schema| match is_listed(name, conversation) {
            Some(true) => arguments(schema, root, conversation),
            Some(false) => Value::Null,
            None => filled(schema, root, conversation, depth + 1),
        };
        let object: Map<_, _> =
            properties.iter().map(|(name, schema)| (name.clone(), value(name, schema))).collect();
        return Value::Object(object);
    }
    let several = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array());
    if let Some(first) = several.and_then(|several| several.first()) {
        return filled(first, root, conversation, depth + 1);
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        kind => kind.and_then(Value::as_str),
    };
    match kind {
        Some("string") if lists::is_about_wish(schema) => lists::wish(conversation).into(),
        Some("string") => {
            let english = "Its description is nearest to the question.";
            conversation.language.either("설명이 이 질문에 가장 가깝습니다.", english).into()
        }
        Some("integer" | "number") if lists::is_about_sureness(schema) => {
            json!(lists::sureness(conversation))
        }
        Some("integer" | "number") => json!(0),
        Some("boolean") if lists::is_about_scope(schema) => json!(lists::is_in_scope(conversation)),
        Some("boolean") if schema.to_string().contains("도구") => {
            json!(talk(conversation, &conversation.listed).is_none())
        }
        Some("boolean") => json!(is_about_data(schema) && agent::is_answered(conversation)),
        Some("array") => {
            let items = resolve_schema(schema.get("items").unwrap_or(&Value::Null), root);
            let options = ListedValue::all(items, root);
            lists::fill(schema, items, &listed(&options, conversation), conversation)
        }
        Some("object") => json!({}),
        _ => Value::Null,
    }
}

/// Whether a property of this name is for something that the system prompt lists, and whether that fits the question.
fn is_listed(name: &String, conversation: &Conversation) -> Option<bool> {
    let listed = &conversation.listed;
    let is_known = listed.iter().any(|listed| listed.name == *name);
    is_known.then(|| lists::chosen(&conversation.question, listed).contains(name))
}

/// The arguments of something that is listed.
fn arguments(schema: &Value, root: &Value, conversation: &Conversation) -> Value {
    stated::fill(prompt::plain(schema, root), root, &conversation.question, &conversation.aliases)
}

/// Whether a value says if the data is an answer.
fn is_about_data(schema: &Value) -> bool {
    let said = schema.get("description").and_then(Value::as_str).unwrap_or_default().to_lowercase();
    cues::FOR_DOCUMENTS.iter().any(|word| has(&said, word)) || has(&said, "data")
}

/// Values with their descriptions, to be compared with the question.
fn listed(options: &[ListedValue], conversation: &Conversation) -> Vec<Listed> {
    let listed = options.iter().map(|it| {
        // What a value stands for may be said in the system prompt, where that lists it.
        let name = it.words();
        let said = || conversation.listed.iter().find(|listed| listed.name == name);
        let description = it.description.clone().or_else(|| Some(said()?.description.clone()));
        let description = description.unwrap_or_default();
        let listed = Listed { name, description, aliases: Vec::new(), parameters: Vec::new() };
        listed.known(&conversation.aliases)
    });
    listed.collect()
}

/// The option that fits: one for talking where nothing has to be looked up.
fn chosen(options: Vec<ListedValue>, conversation: &Conversation) -> Value {
    let listed = listed(&options, conversation);
    let talks = |listed: &&Listed| {
        let said = listed.description.to_lowercase();
        cues::FOR_TALK.iter().any(|word| has(&said, word))
    };
    let name = match (talk(conversation, &listed), listed.iter().find(talks)) {
        (Some(_), Some(for_talk)) => Some(for_talk.name.clone()),
        _ => ranked(&conversation.question, &listed).into_iter().next(),
    };
    let at = listed.iter().position(|listed| Some(&listed.name) == name.as_ref()).unwrap_or(0);
    options.into_iter().nth(at).map_or(Value::Null, |it| it.value)
}
