//! Grammars for constrained samplers, printed from the tables of formats.
//!
//! [`spelling`] says how the calls of a table are spelled. From this [`calls`] writes a grammar in EBNF, with arguments by
//! [`values`], and [`mod@structural_tag`] tags for text that holds calls.

mod calls;
mod no_grammar;
mod rules;
mod spelling;
mod structural_tag;
mod values;

use serde_json::{Value, json};

pub use no_grammar::NoGrammar;

use self::{
    rules::{Rules, is_plain, joined, literal},
    spelling::{Spelling, Tool},
};
use crate::{declared::Declared, format::Format, text::table::FormatTable};

impl Format {
    /// The structural tag of the table that is built in: see [`FormatTable::structural_tag`].
    ///
    /// # Errors
    ///
    /// [`NoGrammar`], for a format whose table does not say how its calls are spelled, and for tools that cannot be written so.
    pub fn structural_tag(self, tools: &[(&str, &Value)]) -> Result<Value, NoGrammar> {
        FormatTable::builtin(self).structural_tag(tools)
    }

    /// The grammar in EBNF of the table that is built in: see [`FormatTable::to_ebnf`].
    ///
    /// # Errors
    ///
    /// [`NoGrammar`], for a format whose table does not say how its calls are spelled, and for tools that cannot be written so.
    pub fn to_ebnf(self, tools: &[(&str, &Value)]) -> Result<String, NoGrammar> {
        FormatTable::builtin(self).to_ebnf(tools)
    }
}

impl FormatTable {
    /// The structural tag of text that may call `tools`, each a name and the JSON Schema of its arguments: what a constrained
    /// sampler is held to while it writes.
    ///
    /// It is the `response_format` of a request to a server that samples by XGrammar, such as vLLM and SGLang. The revision is the
    /// one of XGrammar 0.2, with a `format` of `triggered_tags`. Samplers that take the earlier one, with `structures`, do not take
    /// it.
    ///
    /// - Text is free up to a mark that begins a call. Then a call of one of the tools follows, and free text again.
    /// - Arguments are a `json_schema`, or a `grammar` where they are no JSON. Where the table leaves a choice, such as an object or
    ///   a list of them, the tag does, too.
    /// - `at_least_one` and `stop_after_first` are `false`. Set them in the value to force a call, or to permit one alone.
    /// - Marks that count only at the start of a line are no triggers, because prose has their words. A call behind one is free text.
    /// - Reasoning is free text: a mark in it would begin a call. Begin behind it, or put a tag for it before.
    ///
    /// ```
    /// use hanok_parse::Format;
    ///
    /// let schema = serde_json::json!({"type": "object", "properties": {"q": {"type": "string"}}});
    /// let tag = Format::MistralV11.structural_tag(&[("find", &schema)])?;
    /// assert_eq!(tag["format"]["triggers"], serde_json::json!(["[TOOL_CALLS]"]));
    /// assert_eq!(tag["format"]["tags"][0]["begin"], "[TOOL_CALLS]find[ARGS]");
    /// assert_eq!(tag["format"]["tags"][0]["content"]["json_schema"], schema);
    /// # Ok::<(), hanok_parse::NoGrammar>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`NoGrammar`], for a table that does not say how its calls are spelled, and for tools that cannot be written so.
    pub fn structural_tag(&self, tools: &[(&str, &Value)]) -> Result<Value, NoGrammar> {
        let tools = checked(tools)?;
        let spelling = spelled(self, &tools)?;
        let blocks = || spelling.blocks.iter().filter(|block| !block.is_line);
        let mut triggers: Vec<&str> = blocks().map(|block| block.open.as_str()).collect();
        triggers.dedup();
        if triggers.is_empty() {
            return Err(NoGrammar::Unmarked { format: self.name().to_owned() });
        }
        let tags = blocks().map(|block| structural_tag::of_block(block, &tools));
        Ok(json!({
            "type": "structural_tag",
            "format": {
                "type": "triggered_tags",
                "triggers": triggers,
                "tags": tags.collect::<Result<Vec<_>, _>>()?,
                "at_least_one": false,
                "stop_after_first": false,
            },
        }))
    }

    /// The grammar of texts that are nothing but calls of `tools`, one or more: for a sampler that has to call something. Each
    /// tool is a name and the JSON Schema of its arguments.
    ///
    /// The notation is the EBNF of XGrammar 0.2 (`root ::= …`), without its macros and options.
    ///
    /// - Objects have the members that their schema names, in the order in which `serde_json` has them, and no others.
    /// - Types, members, items, listed values, unions and references within the schema are in the grammar. Bounds, patterns and
    ///   `allOf` are not: compare the arguments with the schema.
    /// - What would end a value between tags cannot stand in it.
    ///
    /// ```
    /// use hanok_parse::{Format, NoGrammar};
    ///
    /// let schema = serde_json::json!({"type": "object", "properties": {"q": {"type": "string"}}});
    /// let grammar = Format::Qwen3Xml.to_ebnf(&[("find", &schema)])?;
    /// assert!(grammar.starts_with("root ::= ") && grammar.contains(r#""<parameter=q>"#));
    ///
    /// // No mark says that a call follows.
    /// let none = Format::React.to_ebnf(&[("find", &schema)]);
    /// assert_eq!(none, Err(NoGrammar::Unmarked { format: "react".to_owned() }));
    /// # Ok::<(), NoGrammar>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`NoGrammar`], for a table that does not say how its calls are spelled, and for tools that cannot be written so.
    pub fn to_ebnf(&self, tools: &[(&str, &Value)]) -> Result<String, NoGrammar> {
        let tools = checked(tools)?;
        let spelling = spelled(self, &tools)?;
        let mut rules = Rules::default();
        let has_lines = spelling.blocks.iter().any(|block| block.is_line);
        let between = if has_lines { literal("\n") } else { rules.gap() };
        let calls = spelling.blocks.iter().map(|block| calls::block(block, &tools, &mut rules));
        let calls = joined(calls, " | ")?;
        let call = rules.fixed("call", &calls);
        let mut parts = vec![call.clone()];
        for (open, close) in &spelling.wrappers {
            let gap = rules.gap();
            let (open, close) = (literal(open), literal(close));
            parts.push(format!("{open} {gap} {call} ({gap} {call})* {gap} {close}"));
        }
        let part = rules.fixed("part", &parts.join(" | "));
        Ok(rules.print(&format!("{part} ({between} {part})*")))
    }
}

/// The tools, if their names and schemas can be read.
fn checked<'s>(tools: &[(&'s str, &'s Value)]) -> Result<Vec<Tool<'s>>, NoGrammar> {
    if tools.is_empty() {
        return Err(NoGrammar::NoTools);
    }
    let tool = |(at, (name, schema)): (usize, &(&'s str, &'s Value))| {
        if !is_plain(name) {
            return Err(NoGrammar::Name { tool: (*name).to_owned() });
        }
        Declared::new().tool_schema(*name, schema)?;
        Ok(Tool { at, name, schema })
    };
    tools.iter().enumerate().map(tool).collect()
}

/// How the calls of `table` are spelled, without the ways in which a tool cannot be written. Each tool has one at least.
fn spelled<'t>(table: &'t FormatTable, tools: &[Tool<'_>]) -> Result<Spelling<'t>, NoGrammar> {
    let (mut spelling, mut fault) = (Spelling::of(table, tools)?, None);
    spelling.blocks.retain(|block| match calls::block(block, tools, &mut Rules::default()) {
        Ok(_) => true,
        Err(error) => {
            fault.get_or_insert(error);
            false
        }
    });
    let has = |at: usize| spelling.blocks.iter().any(|block| block.body.calls(at));
    match fault {
        Some(fault) if !(0..tools.len()).all(has) => Err(fault),
        _ => Ok(spelling),
    }
}
