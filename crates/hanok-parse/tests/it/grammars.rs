//! Grammars for constrained samplers: what they make is read back as the same calls.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at what it did not expect"
)]

mod ebnf;
mod sample;

use std::collections::BTreeMap;

use hanok_parse::{Declared, Format, FormatTable, NoGrammar, Parser};
use proptest::prelude::*;
use serde_json::{Value, json};

use self::{
    ebnf::{Ebnf, accepts},
    sample::{Meant, Sampler},
};
use crate::forms;

type Tools = Vec<(&'static str, Value)>;

/// Schemas with all that a grammar has of one. Each says the place of its tool, by which a sampled call is known.
fn tools() -> Tools {
    let find = json!({
        "title": "0", "type": "object", "required": ["q", "mode"],
        "properties": {
            "q": {"type": "string"},
            "n": {"type": "integer"},
            "mode": {"enum": ["near", "far away", "a\"b"]},
            "note": {"type": ["string", "null"]},
            "deep": {
                "type": "object", "required": ["b"],
                "properties": {
                    "a": {"type": "string"}, "b": {"type": "boolean"}, "c": {"type": "number"},
                },
            },
            "list": {"type": "array", "items": {"$ref": "#/$defs/item"}},
            "any": {},
            "one": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]},
            "set": {"enum": [1, true, null, "true", ["a", {"b": "c"}]]},
        },
        "$defs": {"item": {
            "type": "object", "required": ["id"],
            "properties": {"id": {"type": "integer"}, "next": {"$ref": "#/$defs/item"}},
        }},
    });
    let search = json!({
        "title": "1", "type": "object",
        "properties": {"text": {"type": "string"}, "on": {"type": "boolean"}},
    });
    let ping = json!({"title": "2", "type": "object", "properties": {}});
    let plan = json!({
        "title": "3", "type": "object", "required": ["목표"],
        "properties": {"목표": {"type": "string"}},
    });
    vec![("find", find), ("crm.search-kb", search), ("ping", ping), ("계획", plan)]
}

/// Names that are hard to read: without identifiers, of JSON's own words, each the beginning of another.
fn odd_tools() -> Tools {
    let keys = ["a-b", "c.d", "7th", "_e", "null", "name", "type", "arguments", "id", "parameters"];
    let kinds = ["string", "integer", "boolean", "object", "array"].into_iter().cycle();
    let member = |(key, kind): (&str, &str)| (key.to_owned(), json!({"type": kind}));
    let members: Value = keys.into_iter().zip(kinds).map(member).collect();
    let names = ["find", "find_all", "find-all.now", "_x", "7"];
    let tool = |(at, name): (usize, &'static str)| {
        (name, json!({"title": at.to_string(), "type": "object", "properties": members}))
    };
    names.into_iter().enumerate().map(tool).collect()
}

fn borrowed(tools: &Tools) -> Vec<(&str, &Value)> {
    tools.iter().map(|(name, schema)| (*name, schema)).collect()
}

fn declared(tools: &Tools) -> Declared {
    tools.iter().fold(Declared::new(), |declared, (name, schema)| {
        declared.tool_schema(*name, schema).unwrap()
    })
}

/// The two grammars of a format, and what reads the sentences that they make.
struct Grammars {
    tools: Tools,
    ebnf: Ebnf,
    tag: Value,
    parser: Parser,
}

impl Grammars {
    fn of(format: Format, tools: Tools) -> Option<Self> {
        let ebnf = Ebnf::new(&format.to_ebnf(&borrowed(&tools)).ok()?);
        let tag = format.structural_tag(&borrowed(&tools)).unwrap();
        let parser = Parser::new(declared(&tools)).format(format);
        Some(Self { tools, ebnf, tag, parser })
    }

    /// What is read of `count` sentences of each grammar, where it is something else than what they mean.
    fn misread(&self, seed: u64, count: usize) -> Option<String> {
        let mut sampler = Sampler::new(seed, &self.tools);
        (0..count).find_map(|_| {
            let (text, meant) = sampler.sentence(&self.ebnf);
            self.differs(&text, &meant).or_else(|| {
                let (text, meant) = sampler.tag(&self.tag);
                let text = format!("Let me see. {text}");
                self.differs(&text, &meant)
            })
        })
    }

    fn differs(&self, text: &str, meant: &[Meant]) -> Option<String> {
        let reply = self.parser.parse(text);
        let calls = reply.calls.iter().map(|call| {
            (call.name.as_str(), serde_json::from_str(call.arguments.as_str()).unwrap())
        });
        let read: Vec<(&str, Value)> = calls.collect();
        let meant: Vec<_> =
            meant.iter().map(|(at, value)| (self.tools[*at].0, value.clone())).collect();
        let is_same = read == meant && reply.error.is_none() && reply.rejected.is_empty();
        (!is_same).then(|| format!("{text:?}\n read {read:?}\nmeant {meant:?}\n{reply:?}"))
    }
}

/// `grammar` in a tag, with what is put in the place of a text that stands in it.
fn planted(value: &Value, old: &str, new: &str) -> Value {
    match value {
        Value::String(text) => Value::from(text.replace(old, new)),
        Value::Array(items) => items.iter().map(|item| planted(item, old, new)).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), planted(value, old, new))).collect()
        }
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn what_a_grammar_makes_is_read_back_as_the_same_calls(seed: u64) {
        for format in Format::ALL {
            let misread = Grammars::of(*format, tools()).and_then(|own| own.misread(seed, 6));
            prop_assert!(misread.is_none(), "{format}: {}", misread.unwrap());
        }
    }
}

#[test]
fn calls_with_odd_names_are_read_back_too() {
    for format in Format::ALL {
        let misread = Grammars::of(*format, odd_tools()).and_then(|own| own.misread(3, 40));
        assert!(misread.is_none(), "{format}: {}", misread.unwrap());
    }
}

/// What models write is in the grammar of their format, but for second ways to write it: of attributes, in CDATA, with what the
/// prompt wrote.
#[test]
fn what_models_write_is_in_the_grammar() {
    let find = json!({"type": "object", "properties": {
        "list": {"type": "array"}, "n": {"type": "integer"}, "q": {"type": "string"},
    }});
    let ping = json!({"type": "object", "properties": {}});
    let args = [("list", json!([1, "a"])), ("n", json!(3)), ("q", json!("휴가"))];
    let (mut missing, mut formats) = (BTreeMap::<&str, usize>::new(), BTreeMap::new());
    for form in forms::all() {
        let Ok(grammar) = form.format.to_ebnf(&[("find", &find), ("ping", &ping)]) else {
            continue;
        };
        let written = (form.write)(&[("find", &args)]);
        let written = ["</s>", "<|eom_id|>", "<|calls|>"]
            .iter()
            .fold(written, |text, stop| text.replace(stop, ""));
        let is_in = accepts(&Ebnf::new(&grammar), written.trim());
        *missing.entry(form.format.as_str()).or_default() += usize::from(!is_in);
        *formats.entry(form.format.as_str()).or_insert(false) |= is_in;
    }
    // Its own way leaves the close mark out, which the table has. The pairs of GLM 4.7, which it writes, too, are in it.
    formats.remove("glm53");
    assert!(formats.values().all(|has| *has), "{formats:?}");
    missing.retain(|_, count| *count > 0);
    let listed = missing.iter().map(|(format, count)| format!("{format} {count}"));
    let want = "anthropic_xml 1, glm47 1, glm53 1, granite 1, internlm 1, llama3_json 1, minicpm5 2, minimax_m2 1, pythonic 1";
    assert_eq!(listed.collect::<Vec<_>>().join(", "), want);
}

/// The property can fail: a grammar that is wrong in one place makes what is read as something else.
#[test]
fn a_fault_in_a_grammar_is_found() {
    for (format, old, new) in [
        (Format::Hermes, "tool_call>", "toolcall>"),
        (Format::Llama3Json, r#"\"name\":"#, r#"\"called\":"#),
        (Format::MistralV11, "[ARGS]", "[ARG]"),
        (Format::Pythonic, "find", "fund"),
        (Format::Glm45, "</arg_value>", "</arg_val>"),
        (Format::SolarOpen, "<|tool_call:name|>", ""),
        (Format::Gemma4, "call:", "calls:"),
        // What ends a value may stand in it.
        (Format::MinimaxM2, "text1 ::= ", r#"text1 ::= [^] text1 | "<" text1 | "#),
        // So it may in a string of an object.
        (Format::MinimaxM2, "text0 ::= ", r#"text0 ::= "<" text0 | [/>] text0 | "#),
        // Another parameter may begin on a line of a text.
        (Format::Qwen3Xml, r#" | "\n" text1-1"#, r#" | "\n" text1"#),
    ] {
        let right = Grammars::of(format, tools()).unwrap();
        let own = tools();
        let grammar = format.to_ebnf(&borrowed(&own)).unwrap();
        let faulty = grammar.replace(old, new);
        assert_ne!(faulty, grammar, "{format}: {old}");
        let faulty = Grammars { ebnf: Ebnf::new(&faulty), ..right };
        assert!((1..40).any(|seed| faulty.misread(seed, 20).is_some()), "{format}: {old}");
    }
    // In a tag.
    for (format, old, new) in [
        (Format::Hermes, "\"parameters\":", "\"params_of\":"),
        (Format::Qwen3Xml, "</function>", "</func>"),
        (Format::Functiongemma, "<start_function_call>", "<start_function>"),
    ] {
        let right = Grammars::of(format, tools()).unwrap();
        let tag = planted(&right.tag, old, new);
        assert_ne!(tag, right.tag, "{format}: {old}");
        let faulty = Grammars { tag, ..right };
        assert!((1..40).any(|seed| faulty.misread(seed, 20).is_some()), "{format}: {old}");
    }
}

#[test]
fn a_format_has_a_grammar_or_a_reason() {
    let tools = tools();
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for format in Format::ALL {
        let (ebnf, tag) =
            (format.to_ebnf(&borrowed(&tools)), format.structural_tag(&borrowed(&tools)));
        assert_eq!(ebnf.as_ref().err(), tag.as_ref().err(), "{format}");
        let reason = match ebnf.err() {
            None => "grammar",
            Some(NoGrammar::Unmarked { .. }) => "unmarked",
            Some(NoGrammar::OwnGrammar { .. }) => "own grammar",
            Some(NoGrammar::Answers { .. }) => "answers",
            Some(NoGrammar::Untold { .. }) => "untold",
            Some(other) => panic!("{format}: {other}"),
        };
        reasons.entry(reason).or_default().push(format.as_str());
    }
    let listed = reasons.iter().map(|(reason, formats)| format!("{reason}: {}", formats.join(" ")));
    let want = [
        "answers: functionary",
        "grammar: tool_input_xml hermes llama3_json function_tag pythonic olmo3 lfm2 mistral mistral_v11 granite \
         granite4 longcat ernie45 jamba hunyuan_a13b hy_v3 internlm deepseek_v3.1 qwen3_xml seed_oss \
         glm45 glm47 glm53 minimax_m2 anthropic_xml dots muse minicpm5 gemma4 functiongemma apertus phi4mini \
         k2_horizon solar_open2 solar_open nemotron_nano_v2 iquest sarashina hyperclovax",
        "own grammar: hy_v4 minimax_m3 harmony cwm langchain_xml",
        "unmarked: react supervisor smolagents json_action bare_json openai_json xlam tool_code ui_tars granite_pythonic",
        "untold: llama_builtin granite_20b_fc deepseek_v3 deepseek_v3.2 deepseek_v4 deepseek_v4.1 kimi_k2 kimi_k3 step3 cohere gigachat3 \
         inkling plamo3 calling_tool qwen_agent",
    ];
    assert_eq!(listed.collect::<Vec<_>>(), want);
}

#[test]
fn a_structural_tag_has_a_tag_for_each_tool() {
    let (find, ping) =
        (json!({"type": "object", "properties": {"q": {}}}), json!({"type": "object"}));
    let tools: &[(&str, &Value)] = &[("find", &find), ("ping", &ping)];
    let named = |name: &str, schema: &Value| {
        json!({
            "type": "tag",
            "begin": format!("<|tool_call_begin|>{name}<|tool_sep|>"),
            "content": {"type": "json_schema", "json_schema": schema},
            "end": "<|tool_call_end|>",
        })
    };
    let table = json!({"name": "mine", "marks": [
        {"token": "<|tool_call_begin|>", "open": {
            "name": [["<|tool_sep|>", "json"]], "closes": ["<|tool_call_end|>"],
        }},
    ]});
    let table = FormatTable::from_json(&table.to_string()).unwrap();
    let want = json!({
        "type": "structural_tag",
        "format": {
            "type": "triggered_tags",
            "triggers": ["<|tool_call_begin|>"],
            "tags": [named("find", &find), named("ping", &ping)],
            "at_least_one": false,
            "stop_after_first": false,
        },
    });
    assert_eq!(table.structural_tag(tools), Ok(want));

    // Where the name stands in the object, models spell it in several ways.
    let tag = Format::Granite4.structural_tag(&tools[..1]).unwrap();
    let one = &tag["format"]["tags"][0];
    assert_eq!((&one["begin"], &one["end"]), (&json!("<tool_call>"), &json!("</tool_call>")));
    let parts = one["content"]["elements"].as_array().unwrap();
    let spelled =
        json!({"type": "const_string", "value": "\n{\"name\": \"find\", \"arguments\": "});
    assert!(parts[0]["elements"].as_array().unwrap().contains(&spelled), "{one}");
    assert_eq!(parts[1], json!({"type": "json_schema", "json_schema": find}));
    assert_eq!(parts[2]["elements"][1], json!({"type": "const_string", "value": "}\n"}));
}

/// A new model of a known grammar is a file, from which its grammar is printed.
#[test]
fn a_table_of_ones_own_has_a_grammar() {
    let table = r#"{"name": "my_model", "marks": [
        {"token": "<my_call>", "open": {
            "closes": ["</my_call>"],
            "name": [["<k>", {"tags_here": {
                "open": "<k>", "head": "</k>", "value": "<v>", "close": "</v>", "end": "</my_call>"
            }}]]
        }},
        {"token": "</my_call>", "close": true}
    ]}"#;
    let table = FormatTable::from_json(table).unwrap();
    // Nothing says that a name alone is a call.
    let error = table.to_ebnf(&borrowed(&tools())).unwrap_err();
    let text = "</my_call>".to_owned();
    assert_eq!(error, NoGrammar::Text { tool: "crm.search-kb".to_owned(), text });

    let tools = vec![tools().swap_remove(0)];
    let grammars = Grammars {
        ebnf: Ebnf::new(&table.to_ebnf(&borrowed(&tools)).unwrap()),
        tag: table.structural_tag(&borrowed(&tools)).unwrap(),
        parser: Parser::new(declared(&tools)).tables([&table]).unwrap(),
        tools,
    };
    assert_eq!(grammars.misread(7, 100), None);
}

#[test]
fn tools_that_cannot_be_written_are_refused_with_words() {
    let object = |key: &str, schema: Value| json!({"type": "object", "properties": {key: schema}});
    let text = || json!({"type": "string"});
    for (format, name, schema, want) in [
        (
            Format::Hermes,
            "Web Search",
            object("q", text()),
            "the name `Web Search` cannot stand in a call",
        ),
        (Format::Hermes, "f", json!({"type": "array"}), "the schema of a tool cannot be read"),
        (
            Format::MinimaxM2,
            "f",
            object("a>b", text()),
            "the text `a>b` of the tool `f` cannot stand in a call of this format",
        ),
        (
            Format::MinimaxM2,
            "f",
            object("q", json!({"enum": ["a</parameter>"]})),
            "the text `a</parameter>` of the tool `f` cannot stand in a call of this format",
        ),
        (
            Format::Functiongemma,
            "f",
            object("q", json!({"const": "<escape>"})),
            "the text `<escape>` of the tool `f` cannot stand in a call of this format",
        ),
        (Format::React, "f", object("q", text()), "no mark begins the calls of `react`"),
    ] {
        let error = format.to_ebnf(&[(name, &schema)]).unwrap_err();
        assert_eq!(error.to_string(), want, "{format}");
        assert_eq!(format.structural_tag(&[(name, &schema)]), Err(error), "{format}");
    }
    // JSON has quotes around any key, and stands in for what cannot be written otherwise.
    let schema = object("two words", text());
    for (format, other) in [(Format::Hermes, "f(\""), (Format::Qwen3Xml, "<parameter")] {
        let grammar = format.to_ebnf(&[("f", &schema)]).unwrap();
        assert!(grammar.contains(r#"\"two words\""#) && !grammar.contains(other), "{grammar}");
    }
    assert_eq!(Format::Hermes.to_ebnf(&[]), Err(NoGrammar::NoTools));
}
