//! Rules for values that a JSON Schema describes.

use serde_json::Value;

use crate::{
    constrain::{
        no_grammar::NoGrammar,
        rules::{
            ESCAPED, ESCAPES, NUMBER, Rules, Written, is_plain, joined, literal, name_part, one_of,
            optional,
        },
        spelling::{Arguments, Tool},
    },
    declared::{Declared, ParamType},
    text::table_data::TagsData,
};

/// How many types of a schema are followed: one may hold itself.
const DEEPEST: usize = 32;

/// What stands behind a backslash in a string of Python, and what stands in no such string as it is.
const PYTHON_ESCAPES: &str = r#"["'\\nrt]"#;
const PYTHON_ESCAPED: &str = r"\\\u0000-\u001f\u007f";

/// In which notation values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation<'q> {
    Json,
    /// JSON between tags, in whose strings these do not stand.
    Between(&'q Ends),
    Python,
    /// Gemma's: keys without quotes, and this around strings.
    Quoted(&'q str),
}

/// What ends a value between tags.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ends {
    words: Vec<String>,
    /// The rules of a text, and of what stands between the quotes of a string, without these words.
    text: String,
    string: String,
}

impl Notation<'_> {
    /// What the names of its rules have.
    fn name(self) -> String {
        match self {
            Self::Json => "json".to_owned(),
            Self::Between(ends) => format!("json-{}", ends.string),
            Self::Python => "python".to_owned(),
            Self::Quoted(quote) => format!("quoted{}", name_part(quote)),
        }
    }

    /// `null`, `true` and `false`.
    fn words(self) -> [&'static str; 3] {
        match self {
            Self::Python => ["None", "True", "False"],
            Self::Json | Self::Between(_) | Self::Quoted(_) => ["null", "true", "false"],
        }
    }
}

/// The arguments of `tool`.
pub(crate) fn arguments(rules: &mut Rules, tool: Tool<'_>, arguments: Arguments<'_>) -> Written {
    let notation = match arguments {
        Arguments::Json => Notation::Json,
        Arguments::Python => Notation::Python,
        Arguments::Quoted(quote) => Notation::Quoted(quote),
        Arguments::Tags(tags, none) => return in_tags(rules, tool, tags, none),
    };
    let mut values = Values { tool, notation, rules };
    let base = format!("tool{}-{}", tool.at, notation.name());
    values.arguments(&base)
}

/// Parameters in tags, each at most once, in the order of the schema.
fn in_tags(rules: &mut Rules, tool: Tool<'_>, tags: &TagsData, none: bool) -> Written {
    let declared = Declared::new().tool_schema(tool.name, tool.schema)?;
    // A format may have several tags.
    let ends = ends_of(rules, tags);
    let base = format!("tool{}-tags-{}", tool.at, ends.text);
    rules.rule(&base, |rules| {
        let gap = rules.gap();
        let mut body = gap.clone();
        let skips: Vec<_> = tags.skips.iter().map(|skip| literal(skip)).collect();
        let skips = format!("({}) {gap}", skips.join(" | "));
        let around = if tags.skips.is_empty() { String::new() } else { optional(&skips, true) };
        body += &around;
        let mut values = Values { tool, notation: Notation::Between(&ends), rules };
        let root = values.resolved(tool.schema);
        // Without a parameter it would not be known that this is a call.
        if !none && !members(root).any(|(key, _)| is_required(root, key)) {
            return Err(values.unfit(&tags.end));
        }
        for (at, (key, schema)) in members(root).enumerate() {
            let key = values.plain(key)?;
            let kind = declared.param(tool.name, key).unwrap_or(ParamType::Any);
            let name = format!("{base}-value{at}");
            let value = values.between_tags(&name, kind, schema, &ends)?;
            let key_tag = match &tags.key {
                Some(attribute) => format!("{}{attribute}=\"{key}\"{}", tags.open, tags.head),
                None => format!("{}{key}{}", tags.open, tags.head),
            };
            let line = if tags.lines { "\n" } else { "" };
            let open = match &tags.value {
                Some(open) => {
                    let kind = type_tag(tags, kind, &gap);
                    format!("{} {gap}{kind} {}", literal(&key_tag), literal(open))
                }
                None => literal(&(key_tag + line)),
            };
            let close = literal(&format!("{line}{}", tags.close));
            let param = format!("{open} {value} {close} {gap}");
            body += &optional(&param, !is_required(root, key));
        }
        Ok(body + &around)
    })
}

/// The tag that may name the type of a value. A text that may be `null` has none: it would be a text then.
fn type_tag(tags: &TagsData, kind: ParamType, gap: &str) -> String {
    let words: &[&str] = match kind {
        ParamType::String => &["string"],
        ParamType::NullableString => &[],
        _ => &["integer", "number", "boolean", "object", "array", "null"],
    };
    let Some((open, close)) = tags.kind.as_ref().filter(|_| !words.is_empty()) else {
        return String::new();
    };
    let words: Vec<_> = words.iter().map(|word| literal(word)).collect();
    let tag = format!("{} ({}) {} {gap}", literal(open), words.join(" | "), literal(close));
    optional(&tag, true)
}

/// What ends a value between `tags`, with the rules of what does not end there.
fn ends_of(rules: &mut Rules, tags: &TagsData) -> Ends {
    let words = tags.other_end.iter().chain([&tags.close, &tags.end]).cloned();
    let mut words: Vec<String> = words.collect();
    let string = rules.until(&words, true);
    words.extend(tags.cdata.is_some().then(|| "<![CDATA[".to_owned()));
    // Another parameter on a line of its own ends it, too.
    words.extend(tags.lines.then(|| format!("\n{}", tags.open)));
    let text = rules.until(&words, false);
    Ends { words, text, string }
}

/// Writes rules for the values of a tool in one notation.
struct Values<'r, 's, 'q> {
    tool: Tool<'s>,
    notation: Notation<'q>,
    rules: &'r mut Rules,
}

impl<'s> Values<'_, 's, '_> {
    /// As [`Rules::rule`].
    fn rule(&mut self, name: &str, make: impl FnOnce(&mut Self) -> Written) -> Written {
        if let Some(at) = self.rules.begin(name) {
            let body = make(self)?;
            self.rules.end(at, body);
        }
        Ok(name.to_owned())
    }

    fn unfit(&self, text: &str) -> NoGrammar {
        NoGrammar::Text { tool: self.tool.name.to_owned(), text: text.to_owned() }
    }

    /// A name that stands in a call without quotes. Python's have letters, digits and `_` alone, and no digit first.
    fn plain<'n>(&self, name: &'n str) -> Result<&'n str, NoGrammar> {
        let is_identifier =
            !name.contains(['-', '.']) && !name.starts_with(|first: char| first.is_numeric());
        let is_fit = self.notation != Notation::Python || is_identifier;
        if is_plain(name) && is_fit { Ok(name) } else { Err(self.unfit(name)) }
    }

    /// `text`, if nothing in it ends a value.
    fn fit(&self, text: String) -> Written {
        let is_unfit = match self.notation {
            Notation::Between(ends) => ends.words.iter().any(|end| text.contains(end)),
            Notation::Quoted(quote) => text.contains(quote),
            Notation::Json | Notation::Python => false,
        };
        if is_unfit { Err(self.unfit(&text)) } else { Ok(text) }
    }

    fn gap(&mut self) -> String {
        match self.notation {
            Notation::Quoted(_) => literal(""),
            _ => self.rules.gap(),
        }
    }

    /// The schema that `schema` refers to, or itself.
    fn resolved(&self, schema: &'s Value) -> &'s Value {
        let mut schema = schema;
        for _ in 0..DEEPEST {
            let reference = schema.get("$ref").and_then(Value::as_str);
            let pointer = reference.and_then(|reference| reference.strip_prefix('#'));
            let Some(target) = pointer.and_then(|own| self.tool.schema.pointer(own)) else { break };
            schema = target;
        }
        schema
    }

    /// All arguments, with what stands around them.
    fn arguments(&mut self, base: &str) -> Written {
        self.rule(base, |own| {
            let schema = own.resolved(own.tool.schema);
            if own.notation != Notation::Python {
                return own.object(schema, base);
            }
            if own.tool.name.starts_with(|first: char| first.is_numeric()) {
                return Err(own.unfit(own.tool.name));
            }
            let members = own
                .members(schema, base, |own, key| Ok(literal(&format!("{}=", own.plain(key)?))))?;
            Ok(format!("\"(\" {members} \")\""))
        })
    }

    /// A value between tags. A text is written as it is, up to its close tag.
    fn between_tags(
        &mut self,
        name: &str,
        kind: ParamType,
        schema: &'s Value,
        ends: &Ends,
    ) -> Written {
        self.rule(name, |own| match kind {
            ParamType::String | ParamType::NullableString => {
                let listed = listed(own.resolved(schema)).map(|value| {
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    Ok(literal(&own.fit(text)?))
                });
                let listed: Vec<_> = listed.collect::<Result<_, NoGrammar>>()?;
                Ok(if listed.is_empty() { ends.text.clone() } else { listed.join(" | ") })
            }
            _ => own.value(schema, name, DEEPEST),
        })
    }

    /// A value of `schema`. What a schema says besides types, members, items and listed values is not in the grammar.
    fn value(&mut self, schema: &'s Value, base: &str, depth: usize) -> Written {
        let Some(depth) = depth.checked_sub(1) else { return self.plain_type("") };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = self.resolved(schema);
            if target.get("$ref").is_some() {
                return self.plain_type("");
            }
            let (at, notation, place) = (self.tool.at, self.notation.name(), name_part(reference));
            let name = format!("tool{at}-{notation}-at{place}");
            return self.rule(&name, |own| own.value(target, &name, depth));
        }
        if listed(schema).next().is_some() {
            return one_of(listed(schema).map(|value| Ok(literal(&self.written(value)?))));
        }
        let branches = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array());
        let mut branches = branches.flatten().enumerate().peekable();
        if branches.peek().is_some() {
            return one_of(
                branches.map(|(at, one)| self.value(one, &format!("{base}-{at}"), depth)),
            );
        }
        match schema.get("type") {
            Some(Value::String(kind)) => self.typed(kind, schema, base, depth),
            Some(Value::Array(kinds)) => {
                let kinds = kinds.iter().filter_map(Value::as_str);
                one_of(kinds.map(|kind| self.typed(kind, schema, base, depth)))
            }
            _ if schema.get("properties").is_some() => self.typed("object", schema, base, depth),
            _ => self.plain_type(""),
        }
    }

    fn typed(&mut self, kind: &str, schema: &'s Value, base: &str, depth: usize) -> Written {
        let items = schema.get("items").filter(|items| items.is_object());
        match (kind, items) {
            ("object", _) if schema.get("properties").is_some() => {
                let name = format!("{base}-object");
                self.rule(&name, |own| own.object(schema, &name))
            }
            ("array", Some(items)) => {
                let item = self.value(items, &format!("{base}-item"), depth)?;
                Ok(self.list("[", &item, "]"))
            }
            _ => self.plain_type(kind),
        }
    }

    /// A value of a type that says no more. What is no type is any value.
    fn plain_type(&mut self, kind: &str) -> Written {
        const KINDS: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];
        let [null, yes, no] = self.notation.words();
        let name = format!("{}-{kind}", self.notation.name());
        match kind {
            "integer" => Ok(self.rules.fixed("integer", r#""-"? ("0" | [1-9] [0-9]{0,17})"#)),
            "number" => {
                let integer = self.plain_type("integer")?;
                let digits = r#"("." [0-9]{1,17})? ([eE] [-+]? [0-9]{1,2})?"#;
                Ok(self.rules.fixed("number", &format!("{integer} {digits}")))
            }
            "boolean" => Ok(format!("(\"{yes}\" | \"{no}\")")),
            "null" => Ok(literal(null)),
            "string" => self.rule(&name, |own| {
                let part = |quote: &str, escaped: &str, escapes: &str| {
                    let letter = format!(r#"[^{escaped}] | "\\" ({escapes} | {NUMBER})"#);
                    format!("{0} ({letter})* {0}", literal(quote))
                };
                Ok(match own.notation {
                    Notation::Json => part("\"", ESCAPED, ESCAPES),
                    Notation::Python => {
                        let double = part("\"", ESCAPED, PYTHON_ESCAPES);
                        let single = part("'", &format!("'{PYTHON_ESCAPED}"), PYTHON_ESCAPES);
                        format!("{double} | {single}")
                    }
                    Notation::Between(ends) => format!(r#""\"" {} "\"""#, ends.string),
                    Notation::Quoted(quote) => {
                        let text = own.rules.until(&[quote.to_owned()], false);
                        format!("{0} {text} {0}", literal(quote))
                    }
                })
            }),
            "object" => self.rule(&name, |own| {
                let key = match own.notation {
                    Notation::Quoted(_) => "[a-zA-Z_] [a-zA-Z0-9_]{0,63}".to_owned(),
                    _ => own.plain_type("string")?,
                };
                let member = format!("{key} \":\" {} {}", own.gap(), own.plain_type("")?);
                Ok(own.list("{", &member, "}"))
            }),
            "array" => self.rule(&name, |own| {
                let item = own.plain_type("")?;
                Ok(own.list("[", &item, "]"))
            }),
            _ => self.rule(&format!("{}-value", self.notation.name()), |own| {
                one_of(KINDS.into_iter().map(|kind| own.plain_type(kind)))
            }),
        }
    }

    /// Any number of `item`s between `open` and `close`.
    fn list(&mut self, open: &str, item: &str, close: &str) -> String {
        let (gap, comma) = (self.gap(), self.comma());
        format!("\"{open}\" {gap} ({item} ({comma} {item})* {gap})? \"{close}\"")
    }

    /// What separates two members or items.
    fn comma(&mut self) -> String {
        let gap = self.gap();
        format!("{gap} \",\" {gap}")
    }

    /// An object with the members that `schema` names, in their order. One that names none has any.
    fn object(&mut self, schema: &'s Value, base: &str) -> Written {
        if schema.get("properties").and_then(Value::as_object).is_none() {
            return self.plain_type("object");
        }
        let members = self.members(schema, base, |own, key| match own.notation {
            Notation::Quoted(_) => Ok(literal(&format!("{}:", own.plain(key)?))),
            _ => {
                let key = own.fit(Value::from(key).to_string())?;
                Ok(format!("{} {}", literal(&(key + ":")), own.gap()))
            }
        })?;
        let gap = self.gap();
        Ok(format!("\"{{\" {gap} {members} {gap} \"}}\""))
    }

    /// The members that `schema` names, each behind what `head` writes.
    fn members(
        &mut self,
        schema: &'s Value,
        base: &str,
        head: impl Fn(&mut Self, &str) -> Written,
    ) -> Written {
        let comma = self.comma();
        let mut all = Vec::new();
        for (at, (key, inner)) in members(schema).enumerate() {
            let name = format!("{base}-value{at}");
            let value = self.rule(&name, |own| own.value(inner, &name, DEEPEST))?;
            all.push((format!("{} {value}", head(self, key)?), !is_required(schema, key)));
        }
        // From the last one: what may stand first, and what may follow, with the comma before it.
        let (mut firsts, mut follow) = (vec![Ok(literal(""))], String::new());
        for (at, (member, is_optional)) in all.iter().enumerate().rev() {
            if !is_optional {
                firsts.clear();
            }
            firsts.push(Ok(format!("{member}{follow}")));
            let next = optional(&format!("{comma} {member}"), *is_optional) + &follow;
            let next = next.trim_start();
            if at > 0 {
                follow = format!(" {}", self.rules.fixed(&format!("{base}-from{at}"), next));
            }
        }
        one_of(firsts.into_iter().rev())
    }

    /// A listed value as it is written.
    fn written(&self, value: &Value) -> Written {
        let [null, yes, no] = self.notation.words();
        match (value, self.notation) {
            (Value::Null, _) => Ok(null.to_owned()),
            (Value::Bool(is), _) => Ok(if *is { yes } else { no }.to_owned()),
            (Value::String(text), Notation::Quoted(quote)) => {
                Ok(format!("{quote}{}{quote}", self.fit(text.clone())?))
            }
            (Value::String(_) | Value::Number(_), _) => self.fit(value.to_string()),
            (Value::Array(items), _) => {
                let items = joined(items.iter().map(|item| self.written(item)), ",")?;
                Ok(format!("[{items}]"))
            }
            (Value::Object(members), _) => {
                let member = |(key, value): (&String, &Value)| {
                    let key = match self.notation {
                        Notation::Quoted(_) => self.plain(key)?.to_owned(),
                        _ => self.fit(Value::from(key.as_str()).to_string())?,
                    };
                    Ok(format!("{key}:{}", self.written(value)?))
                };
                Ok(format!("{{{}}}", joined(members.iter().map(member), ",")?))
            }
        }
    }
}

/// The members that a schema names.
fn members(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    members.map(|(key, schema)| (key.as_str(), schema))
}

fn is_required(schema: &Value, key: &str) -> bool {
    let names = schema.get("required").and_then(Value::as_array);
    names.is_some_and(|names| names.iter().any(|name| name == key))
}

/// The values that a schema lists.
fn listed(schema: &Value) -> impl Iterator<Item = &Value> {
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    listed.chain(schema.get("const"))
}
