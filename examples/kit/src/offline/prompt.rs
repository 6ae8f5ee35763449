//! What a system prompt lists: agents or tools, and which of the two.

use std::collections::BTreeMap;

use hanok_model::{ListedValue, resolve_schema};
use serde_json::Value;

/// The words by which something is asked for, by its name.
pub(crate) type Aliases = BTreeMap<String, Vec<String>>;

/// The words by which things are asked for, as a file lists them: a line for each, `name: word, word of several words`. Empty lines and
/// those that begin with `#` say nothing.
pub fn aliases(file: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let (name, words) = line.split_once(':')?;
        let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
        Some((name.trim(), words.collect()))
    })
}

/// Who or what is named in a prompt.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed {
    /// The name, as it is called.
    pub(crate) name: String,
    /// What it is for.
    pub(crate) description: String,
    /// The words by which it is asked for, as the program knows them.
    pub(crate) aliases: Vec<String>,
    /// What a tool takes.
    pub(crate) parameters: Vec<Parameter>,
}

/// One argument of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    pub(crate) description: String,
    /// The values it may have, if they are listed.
    pub(crate) values: Vec<Listing>,
}

/// A value that an argument may have, and what it is called.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listing {
    pub(crate) value: String,
    /// The value and the parts of its description, in lower case.
    pub(crate) names: Vec<String>,
}

/// What an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// A day with its time, in the words of RFC 3339.
    Moment,
    Whole,
    Number,
    Truth,
    Other,
}

/// Whom the prompt makes of its reader.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    /// It routes to agents.
    Supervisor(Vec<Listed>),
    /// It calls tools.
    Agent(Vec<Listed>),
    /// It has only the conversation.
    Alone,
}

/// Reads a prompt. The form it asks for tells whom it speaks to.
pub(crate) fn read(prompt: &str) -> Part {
    let labelled = |labels: &[&str]| {
        prompt.lines().any(|line| {
            let line = line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            labels.iter().any(|label| {
                line.strip_prefix(label)
                    .is_some_and(|rest| rest.trim_start().starts_with([':', '：']))
            })
        })
    };
    if labelled(&["action", "행동"]) {
        Part::Agent(listed(prompt))
    } else if labelled(&["delegate", "위임"]) {
        Part::Supervisor(listed(prompt))
    } else {
        Part::Alone
    }
}

/// The `- name: description` lines, each with what is indented below it.
pub(crate) fn listed(prompt: &str) -> Vec<Listed> {
    let mut all: Vec<(String, String, String)> = Vec::new();
    let mut open = false;
    for line in prompt.lines() {
        if let Some((name, description)) = entry(line) {
            all.push((name.to_owned(), description.to_owned(), String::new()));
            open = true;
        } else if open && line.starts_with([' ', '\t']) {
            if let Some((_, _, below)) = all.last_mut() {
                below.push_str(line);
                below.push('\n');
            }
        } else {
            open = false;
        }
    }
    all.into_iter()
        .map(|(name, description, below)| {
            let parameters = parameters(&below);
            let description = if parameters.is_empty() && !below.trim().is_empty() {
                format!("{description} {}", below.trim())
            } else {
                description
            };
            Listed { name, description, aliases: Vec::new(), parameters }
        })
        .collect()
}

/// A list's line that names something: no blank in the name, and no blank before the mark.
fn entry(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?;
    let (name, description) = rest.split_once(':').or_else(|| rest.split_once('：'))?;
    let name = name.trim_matches(|c: char| matches!(c, '*' | '`' | '"' | '[' | ']'));
    let fits = !name.is_empty()
        && name.chars().count() <= 64
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    fits.then(|| (name, description.trim()))
}

/// The arguments in a JSON schema that stands in `text`.
fn parameters(text: &str) -> Vec<Parameter> {
    let Some(at) = text.find('{') else { return Vec::new() };
    let json = text.get(at..).unwrap_or_default();
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    values.next().and_then(Result::ok).map(|schema| of_schema(&schema)).unwrap_or_default()
}

/// The arguments that `schema` describes, those that are required first.
pub(crate) fn of_schema(schema: &Value) -> Vec<Parameter> {
    let required: Vec<&str> = list(schema, "required").filter_map(Value::as_str).collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut parameters: Vec<_> = properties
        .into_iter()
        .flatten()
        .map(|(name, described)| {
            let plain = plain(described, schema);
            let said = [described, plain].iter().find_map(|it| it.get("description")?.as_str());
            Parameter {
                name: name.clone(),
                kind: kind(plain),
                required: required.contains(&name.as_str()),
                description: said.unwrap_or_default().to_owned(),
                values: ListedValue::all(plain, schema).into_iter().filter_map(listing).collect(),
            }
        })
        .collect();
    parameters.sort_by_key(|parameter| !parameter.required);
    parameters
}

/// A schema without the choice to leave it out, and behind its reference.
pub(crate) fn plain<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let schema = resolve_schema(schema, root);
    let mut options = list(schema, "anyOf").filter(|it| it.get("type") != Some(&"null".into()));
    match (options.next(), options.next()) {
        (Some(only), None) => resolve_schema(only, root),
        _ => schema,
    }
}

/// A value and what it is called: of a text only.
fn listing(listed: ListedValue) -> Option<Listing> {
    let value = listed.value.as_str()?.to_owned();
    let described = listed.description.unwrap_or_default();
    let names = std::iter::once(value.as_str()).chain(described.split(','));
    let names = names.map(|name| name.trim().to_lowercase()).filter(|name| !name.is_empty());
    let names = names.collect();
    Some(Listing { value, names })
}

fn kind(schema: &Value) -> Kind {
    let name = match schema.get("type") {
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null")
        }
        Some(name) => name.as_str(),
        None => {
            let options = list(schema, "anyOf").chain(list(schema, "oneOf"));
            return options.map(kind).find(|kind| *kind != Kind::Other).unwrap_or(Kind::Other);
        }
    };
    match name {
        Some("string") if schema.get("format") == Some(&"date-time".into()) => Kind::Moment,
        Some("string") => Kind::Text,
        Some("integer") => Kind::Whole,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Truth,
        _ => Kind::Other,
    }
}

fn list<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

impl Listed {
    /// With the words of `aliases` by which it is asked for.
    pub(crate) fn known(self, aliases: &Aliases) -> Self {
        // The tool of a server has the server's name before its own, and a hash behind it where that could not be written.
        let is_of = |name: &&String| self.name.contains(&format!("__{name}"));
        let own = || aliases.keys().filter(is_of).max_by_key(|name| name.len());
        let known = aliases.get(&self.name).or_else(|| aliases.get(own()?));
        let aliases = known.cloned().unwrap_or(self.aliases);
        Self { aliases, ..self }
    }

    /// Everything the prompt says of it, for comparing words.
    pub(crate) fn said(&self) -> String {
        let mut said = format!("{} {}", self.name.replace(['_', '-', '.'], " "), self.description);
        for parameter in &self.parameters {
            said.push(' ');
            said.push_str(&parameter.description);
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_listed_with_their_schema() {
        let prompt = "역할\n\n## 도구\n\n- find: 찾습니다\n  인자: {\"type\":\"object\",\"properties\":{\"q\":{\"type\":\"string\"},\
            \"n\":{\"type\":[\"integer\",\"null\"],\"description\":\"수\"}},\"required\":[\"q\"]}\n\n## 답할 때\n\nAction: 이름";
        let Part::Agent(tools) = read(prompt) else { panic!("{prompt}") };
        assert_eq!(tools.len(), 1);
        assert_eq!(tools[0].name, "find");
        let seen: Vec<_> =
            tools[0].parameters.iter().map(|p| (p.name.as_str(), p.kind, p.required)).collect();
        assert_eq!(seen, [("q", Kind::Text, true), ("n", Kind::Whole, false)]);
    }

    #[test]
    fn agents_are_listed_in_a_supervisors_prompt() {
        let prompt =
            "- rag_agent: 문서\n- `ext-1`: 계산\n- 이것은 규칙: 아님\n```\nDelegate: 이름\n```";
        let Part::Supervisor(agents) = read(prompt) else { panic!("{prompt}") };
        let names: Vec<_> = agents.iter().map(|agent| agent.name.as_str()).collect();
        assert_eq!(names, ["rag_agent", "ext-1"]);
    }

    #[test]
    fn a_file_lists_the_words_by_which_things_are_asked_for() {
        let file = "# notes\nadd_note: 메모해, note that\n\nfind_notes: 메모 찾,";
        let read: Vec<_> = aliases(file).collect();
        let want = [("add_note", vec!["메모해", "note that"]), ("find_notes", vec!["메모 찾"])];
        assert_eq!(read, want);
    }

    #[test]
    fn a_prompt_without_either_form_leaves_only_the_conversation() {
        assert_eq!(read("You are kind.\n- be: brief"), Part::Alone);
    }
}
