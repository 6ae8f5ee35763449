//! What a prompt lists or a request offers: agents, tools, teams; and what a tool takes.

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

/// Who or what can be asked.
#[derive(Debug, Clone, Default, PartialEq)]
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
    /// Whether it is a list of such.
    pub(crate) is_list: bool,
    pub(crate) description: String,
    /// The values it may have, if they are listed, each with what it is called, in lower case.
    pub(crate) values: Vec<(String, Vec<String>)>,
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

impl Parameter {
    /// The words of `aliases` that stand beside its value.
    pub(crate) fn cues<'a>(&self, aliases: &'a Aliases) -> &'a [String] {
        aliases.get(&self.name).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Listed {
    /// With the words of `aliases` by which it is asked for.
    pub(crate) fn known(self, aliases: &Aliases) -> Self {
        // The tool of a server has the server's name before its own, and a hash behind it where that could not be written.
        let is_of = |name: &&String| self.name.contains(&format!("__{name}"));
        let own = || aliases.keys().filter(is_of).max_by_key(|name| name.len());
        let known = aliases.get(&self.name).or_else(|| aliases.get(own()?));
        Self { aliases: known.cloned().unwrap_or(self.aliases), ..self }
    }

    /// Everything that is said of it, for comparing words.
    pub(crate) fn said(&self) -> String {
        let mut said = format!("{} {}", self.name.replace(['_', '-', '.'], " "), self.description);
        self.parameters.iter().for_each(|it| said.extend([" ", &it.description]));
        said
    }
}

/// The `- name: description` lines of a prompt, each with what is indented below it: the schema of a tool, or more of the description.
pub(crate) fn listed(prompt: &str) -> Vec<Listed> {
    let mut all: Vec<(Listed, String)> = Vec::new();
    let mut is_open = false;
    for line in prompt.lines() {
        match (entry(line), all.last_mut()) {
            (Some((name, said)), _) => {
                let (name, description) = (name.to_owned(), said.to_owned());
                all.push((Listed { name, description, ..Listed::default() }, String::new()));
                is_open = true;
            }
            (None, Some((_, below))) if is_open && line.starts_with([' ', '\t']) => {
                below.extend([line, "\n"]);
            }
            _ => is_open = false,
        }
    }
    let finished = |(mut listed, below): (Listed, String)| {
        listed.parameters = written(&below);
        if listed.parameters.is_empty() && !below.trim().is_empty() {
            listed.description.extend([" ", below.trim()]);
        }
        listed
    };
    all.into_iter().map(finished).collect()
}

/// A list's line that names something: no blank in the name, and none before the mark.
fn entry(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?;
    let (name, description) = rest.split_once([':', '：'])?;
    let name = name.trim_matches(|c: char| matches!(c, '*' | '`' | '"' | '[' | ']'));
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!name.is_empty() && name.len() <= 64 && name.chars().all(is_name))
        .then(|| (name, description.trim()))
}

/// The arguments in a JSON schema that stands in `text`.
fn written(text: &str) -> Vec<Parameter> {
    let json = text.find('{').and_then(|at| text.get(at..)).unwrap_or_default();
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    let schema = values.next().and_then(Result::ok);
    schema.map(|schema| parameters(&schema, &schema)).unwrap_or_default()
}

/// The arguments that `schema`, whose references are in `root`, describes, those that are required first.
pub(crate) fn parameters(schema: &Value, root: &Value) -> Vec<Parameter> {
    let required: Vec<&str> = list(schema, "required").filter_map(Value::as_str).collect();
    let parameter = |(name, written): (&String, &Value)| {
        let own = plain(written, root);
        let items = own.get("items").map(|items| plain(items, root));
        let said = [written, own].iter().find_map(|it| it.get("description")?.as_str());
        let values = ListedValue::all(items.unwrap_or(own), root).into_iter();
        Parameter {
            name: name.clone(),
            kind: kind(items.unwrap_or(own)),
            required: required.contains(&name.as_str()),
            is_list: items.is_some(),
            description: said.unwrap_or_default().to_owned(),
            values: values.filter_map(called).collect(),
        }
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut parameters: Vec<_> = properties.into_iter().flatten().map(parameter).collect();
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

/// A text of a list and what it is called.
fn called(listed: ListedValue) -> Option<(String, Vec<String>)> {
    let value = listed.value.as_str()?.to_owned();
    let described = listed.description.unwrap_or_default();
    let names = std::iter::once(value.as_str()).chain(described.split(','));
    let names = names.map(|name| name.trim().to_lowercase()).filter(|name| !name.is_empty());
    let names = names.collect();
    Some((value, names))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_prompt_lists_has_its_schema() {
        let prompt = "역할\n\n- find: 찾습니다\n  인자: {\"type\":\"object\",\"properties\":{\"q\":{\"type\":\"string\"},\
            \"n\":{\"type\":[\"integer\",\"null\"],\"description\":\"수\"}},\"required\":[\"q\"]}\n- `ext-1`: 계산\n- 이것은 규칙: 아님\n";
        let all = listed(prompt);
        let names: Vec<_> = all.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["find", "ext-1"]);
        let seen: Vec<_> =
            all[0].parameters.iter().map(|it| (it.name.as_str(), it.kind, it.required)).collect();
        assert_eq!(seen, [("q", Kind::Text, true), ("n", Kind::Whole, false)]);
    }

    #[test]
    fn a_file_lists_the_words_by_which_things_are_asked_for() {
        let file = "# notes\nadd_note: 메모해, note that\n\nfind_notes: 메모 찾,";
        let read: Vec<_> = aliases(file).collect();
        let want = [("add_note", vec!["메모해", "note that"]), ("find_notes", vec!["메모 찾"])];
        assert_eq!(read, want);
    }
}
