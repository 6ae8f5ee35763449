//! Tags of a structural tag.

use serde_json::{Value, json};

use crate::constrain::{
    calls::{self, ID},
    no_grammar::NoGrammar,
    rules::{Rules, Written},
    spelling::{Arguments, Block, Body, Call, Tool},
    values::arguments,
};

/// The tag of what a mark begins.
pub(crate) fn of_block(block: &Block<'_>, tools: &[Tool<'_>]) -> Result<Value, NoGrammar> {
    let tag = match &block.body {
        Body::Call(call) => Tag::of_call(call, tools)?,
        Body::List(heads, items, tails) => {
            let tags = items.iter().map(|item| Ok(Tag::of_call(item, tools)?.json("", "")));
            let tags = tags.collect::<Result<Vec<_>, NoGrammar>>()?;
            let list = json!({
                "type": "tags_with_separator",
                "tags": tags,
                "separator": ", ",
                "at_least_one": true,
            });
            Tag::of(heads, vec![list], tails)
        }
        Body::Python => {
            let content = grammar(|rules| calls::python(tools, rules))?;
            Tag { begin: String::new(), content, end: String::new() }
        }
    };
    Ok(tag.json(&block.open, &block.close))
}

struct Tag {
    begin: String,
    content: Value,
    end: String,
}

impl Tag {
    fn of_call(call: &Call<'_>, tools: &[Tool<'_>]) -> Result<Self, NoGrammar> {
        let Some(tool) = tools.get(call.tool) else { return Err(NoGrammar::NoTools) };
        let content = match call.arguments {
            Arguments::Json => json!({"type": "json_schema", "json_schema": tool.schema}),
            other => grammar(|rules| arguments(rules, *tool, other))?,
        };
        let mut parts = Vec::new();
        if let Some(behind) = &call.id {
            parts.extend([grammar(|_| Ok(ID.to_owned()))?, constant(behind)]);
        }
        parts.push(content);
        Ok(Self::of(&call.heads, parts, &call.tails))
    }

    /// The tag of `contents` behind one of `heads` and before one of `tails`. What is the same in all of these is its beginning and
    /// its end.
    fn of(heads: &[String], contents: Vec<Value>, tails: &[String]) -> Self {
        let first = heads.first().map(String::as_str).unwrap_or_default();
        // No text that is left is empty: older samplers refuse such a one.
        let begins = |begin: &&str| {
            heads.len() == 1
                || heads.iter().all(|head| head.starts_with(*begin) && head.len() > begin.len())
        };
        let ends = first.char_indices().map(|(at, _)| at).chain([first.len()]).rev();
        let begin = ends.filter_map(|at| first.get(..at)).find(begins).unwrap_or_default();
        let rests: Vec<_> = heads.iter().filter_map(|head| head.strip_prefix(begin)).collect();
        let mut parts = Vec::new();
        if heads.len() > 1 {
            parts.push(or(rests.into_iter().map(constant).collect()));
        }
        parts.extend(contents);
        let end = match tails {
            [end] => end.clone(),
            _ => {
                parts.push(or(tails.iter().map(|tail| constant(tail)).collect()));
                String::new()
            }
        };
        Self { begin: begin.to_owned(), content: sequence(parts), end }
    }

    fn json(self, open: &str, close: &str) -> Value {
        let (begin, end) = (open.to_owned() + &self.begin, self.end + close);
        json!({"type": "tag", "begin": begin, "content": self.content, "end": end})
    }
}

fn grammar(root: impl FnOnce(&mut Rules) -> Written) -> Result<Value, NoGrammar> {
    let mut rules = Rules::default();
    let root = root(&mut rules)?;
    Ok(json!({"type": "grammar", "grammar": rules.print(&root)}))
}

fn constant(text: &str) -> Value {
    json!({"type": "const_string", "value": text})
}

fn or(elements: Vec<Value>) -> Value {
    json!({"type": "or", "elements": elements})
}

fn sequence(mut elements: Vec<Value>) -> Value {
    match elements.pop() {
        Some(only) if elements.is_empty() => only,
        last => {
            elements.extend(last);
            json!({"type": "sequence", "elements": elements})
        }
    }
}
