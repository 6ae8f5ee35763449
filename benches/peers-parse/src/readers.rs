//! Each parser as its documentation says, on one case.

use dynamo_parsers::{ToolDefinition, detect_and_parse_tool_call};
use hanok_parse::{Bare, Declared, Parser};
use openai_protocol::common::Tool;
use serde_json::{Value, json};
use tool_parser::ParserFactory;

use crate::cases::{Calls, Case, Reads};

pub(crate) const ALL: [(&str, Reads); 3] =
    [("hanok", hanok), ("tool-parser", tool_parser), ("dynamo-parsers", dynamo_parsers)];

/// What the others call a format: tool-parser, dynamo-parsers.
const NAMES: [(&str, Option<&str>, Option<&str>); 17] = [
    ("deepseek_v3", Some("deepseek"), Some("deepseek_v3")),
    ("deepseek_v3.1", Some("deepseek31"), Some("deepseek_v3_1")),
    ("deepseek_v3.2", Some("deepseek32"), Some("deepseek_v3_2")),
    ("deepseek_v4", Some("deepseek_v4"), Some("deepseek_v4")),
    ("deepseek_v4.1", Some("deepseek_v41"), None),
    ("gemma4", Some("gemma4"), Some("gemma4")),
    ("glm4.5", Some("glm45_moe"), None),
    ("glm4.7", Some("glm47_moe"), Some("glm47")),
    ("harmony", None, Some("harmony")),
    ("kimi_k2", Some("kimik2"), Some("kimi_k2")),
    ("kimi_k3", Some("kimi_k3"), Some("kimi_k3")),
    ("llama3_json", Some("llama"), Some("llama3_json")),
    ("llama4_pythonic", Some("pythonic"), Some("pythonic")),
    ("mistral", Some("mistral"), Some("mistral")),
    ("mistral_v11", Some("mistral"), Some("mistral")),
    ("qwen3_xml", Some("qwen_xml"), Some("qwen3_coder")),
    ("hermes", Some("qwen"), Some("hermes")),
];

/// hanok finds out the format, and reads reasoning itself.
fn hanok(case: &Case) -> Option<Calls> {
    let declared = case.tools.iter().try_fold(Declared::new(), |declared, tool| {
        let (name, schema) = (tool.get("name")?.as_str()?, tool.get("parameters"));
        Some(match schema.map(|schema| declared.clone().tool_schema(name, schema)) {
            Some(Ok(declared)) => declared,
            _ => declared.tool(name),
        })
    })?;
    let reply = Parser::new(declared).policy(Bare::On).parse(&case.text);
    Some(reply.calls.iter().map(|call| read(&call.name, call.arguments.as_str())).collect())
}

fn tool_parser(case: &Case) -> Option<Calls> {
    let name = names(case)?.0?;
    let tools = case.tools.iter().map(|tool| json!({ "type": "function", "function": tool }));
    let tools: Vec<Tool> = serde_json::from_value(tools.collect()).unwrap_or_default();
    let parser = ParserFactory::new().registry().create_parser(name)?;
    let calls = wait(parser.parse_complete_with_tools(unreasoned(&case.text), &tools));
    let calls = calls.map(|(_, calls)| calls).unwrap_or_default();
    Some(calls.iter().map(|call| read(&call.function.name, &call.function.arguments)).collect())
}

fn dynamo_parsers(case: &Case) -> Option<Calls> {
    let name = names(case)?.1?;
    let tools = case.tools.iter().filter_map(|tool| {
        let name = tool.get("name")?.as_str()?.to_owned();
        Some(ToolDefinition { name, parameters: tool.get("parameters").cloned(), strict: None })
    });
    let tools: Vec<_> = tools.collect();
    let text = unreasoned(&case.text);
    let calls = wait(detect_and_parse_tool_call(text, Some(name), Some(&tools)));
    let calls = calls.map(|(calls, _)| calls).unwrap_or_default();
    Some(calls.iter().map(|call| read(&call.function.name, &call.function.arguments)).collect())
}

fn names(case: &Case) -> Option<(Option<&'static str>, Option<&'static str>)> {
    let format = case.format.as_deref()?;
    NAMES.iter().find(|(name, ..)| *name == format).map(|(_, one, other)| (*one, *other))
}

/// What their servers hand on: the text behind the reasoning.
fn unreasoned(text: &str) -> &str {
    text.rsplit_once("</think>").map_or(text, |(_, text)| text)
}

fn read(name: &str, arguments: &str) -> (String, Value) {
    let value = serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments));
    (name.to_owned(), value)
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(future),
        Err(error) => panic!("no runtime: {error}"),
    }
}
