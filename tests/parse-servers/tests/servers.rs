//! Whether the adapters keep the contracts of the traits, on a text of Hermes, Llama and Mistral each, whole and in pieces.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use dynamo_parsers_v2::{
    Tool as DynamoTool, UnifiedEvent, UnifiedParser, UnifiedParserExt, UnifiedParserInit,
    UnifiedParserOutput, UnifiedParserStartingState, UnifiedToolOutputMode,
    create_unified_parser_for_family, register_unified_parser,
};
use hanok_parse::Format;
use openai_protocol::common::Tool;
use parse_servers::{dynamo, tool_parser::HanokParser};
use serde_json::{Value, json};
use tool_parser::{LlamaParser, MistralParser, ParserFactory, QwenParser, ToolCall, ToolParser};

/// A format, a text in it, the other crate's parser of it, and a factory of ours.
type Case = (Format, &'static str, fn() -> Box<dyn ToolParser>, Factory);
type Factory = fn(&[DynamoTool]) -> anyhow::Result<Box<dyn UnifiedParser>>;

const CASES: [Case; 3] = [
    (
        Format::Hermes,
        "Let me see.\n<tool_call>\n{\"name\": \"find\", \"arguments\": {\"q\": \"휴가 </a> } 정책\", \"n\": 2}}\n</tool_call>",
        || Box::new(QwenParser::new()),
        |tools| Ok(Box::new(dynamo::HanokParser::new(Format::Hermes, tools))),
    ),
    (
        Format::Llama3Json,
        "Let me see. <|python_tag|>{\"name\": \"find\", \"parameters\": {\"q\": \"휴가 </a> } 정책\", \"n\": 2}}",
        || Box::new(LlamaParser::new()),
        |tools| Ok(Box::new(dynamo::HanokParser::new(Format::Llama3Json, tools))),
    ),
    (
        Format::Mistral,
        "Let me see. [TOOL_CALLS] [{\"name\": \"find\", \"arguments\": {\"q\": \"휴가 </a> } 정책\", \"n\": 2}}]",
        || Box::new(MistralParser::new()),
        |tools| Ok(Box::new(dynamo::HanokParser::new(Format::Mistral, tools))),
    ),
];

fn arguments() -> Value {
    json!({ "q": "휴가 </a> } 정책", "n": 2 })
}

fn tools() -> Vec<Tool> {
    let properties = json!({ "q": { "type": "string" }, "n": { "type": "integer" } });
    let parameters = json!({ "type": "object", "properties": properties });
    let function = json!({ "name": "find", "parameters": parameters });
    serde_json::from_value(json!([{ "type": "function", "function": function }])).unwrap()
}

fn dynamo_tools() -> Vec<DynamoTool> {
    let tools = tools().into_iter().map(|tool| DynamoTool {
        name: tool.function.name,
        description: None,
        parameters: tool.function.parameters,
        strict: None,
    });
    tools.collect()
}

/// Both halves of `text`, at every character.
fn cuts(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.map(|at| text.split_at(at))
}

fn values(calls: &[ToolCall]) -> Vec<(String, Value)> {
    let value = |call: &ToolCall| {
        (call.function.name.clone(), serde_json::from_str(&call.function.arguments).unwrap())
    };
    calls.iter().map(value).collect()
}

#[tokio::test]
async fn tool_parser_has_the_calls_that_its_own_parsers_read() {
    for (format, text, theirs, _) in CASES {
        let factory = ParserFactory::new();
        factory.registry().register_parser("hanok", move || Box::new(HanokParser::new(format)));
        let ours = factory.registry().create_parser("hanok").unwrap();

        let (said, calls) = ours.parse_complete(text).await.unwrap();
        assert_eq!(values(&calls), [("find".to_owned(), arguments())], "{format}");
        let (said_of_theirs, theirs) = theirs().parse_complete(text).await.unwrap();
        assert_eq!((said.trim(), values(&calls)), (said_of_theirs.trim(), values(&theirs)));
        assert_eq!(calls, ours.parse_complete_with_tools(text, &tools()).await.unwrap().1);

        assert!(ours.has_tool_markers(text), "{format}");
        let prose = "Annual leave is 15 days.\n";
        assert!(!ours.has_tool_markers(prose), "{format}");
        assert_eq!(ours.parse_complete(prose).await.unwrap(), (prose.to_owned(), vec![]));
    }
}

/// Reads pieces to the end as a server does: the text, and the calls by their index.
async fn streamed(parser: &mut dyn ToolParser, pieces: &[&str]) -> (String, Vec<(String, String)>) {
    let (mut text, mut items) = (String::new(), Vec::new());
    for piece in pieces {
        let told = parser.parse_incremental(piece, &tools()).await.unwrap();
        text += &told.normal_text;
        items.extend(told.calls);
    }
    items.extend(parser.get_unstreamed_tool_args().unwrap_or_default());
    text += &parser.take_unstreamed_normal_text();
    let mut calls: Vec<(String, String)> = Vec::new();
    for item in items {
        match item.name {
            Some(name) => {
                assert_eq!(item.tool_index, calls.len());
                calls.push((name, item.parameters));
            }
            None => calls[item.tool_index].1 += &item.parameters,
        }
    }
    (text, calls)
}

#[tokio::test]
async fn tool_parser_streams_the_same_in_every_cut_and_again_after_a_reset() {
    for (format, text, ..) in CASES {
        let mut parser = HanokParser::new(format);
        for (first, second) in cuts(text) {
            let (said, calls) = streamed(&mut parser, &[first, second]).await;
            assert_eq!((said.trim(), calls.len()), ("Let me see.", 1), "{format}: {first}");
            let (name, json) = &calls[0];
            assert_eq!(
                (name.as_str(), serde_json::from_str(json).ok()),
                ("find", Some(arguments()))
            );
            parser.reset();
        }
    }
}

#[tokio::test]
async fn tool_parser_surfaces_what_never_became_a_call_once() {
    for (format, text, ..) in CASES {
        let cut = &text[..text.find("\"n\"").unwrap()];
        let mut parser = HanokParser::new(format);
        let (said, calls) = streamed(&mut parser, &[cut]).await;
        assert!(calls.is_empty(), "{format}");
        assert!(said.starts_with("Let me see.") && said.ends_with("정책\", "), "{format}: {said}");
        assert_eq!(parser.take_unstreamed_normal_text(), "");
        assert_eq!(parser.parse_complete(cut).await.unwrap(), (cut.to_owned(), vec![]));
    }
}

#[tokio::test]
async fn tool_parser_counts_the_calls_of_tools_that_it_was_given() {
    let call =
        |name| format!("<tool_call>{{\"name\": \"{name}\", \"arguments\": {{}}}}</tool_call>");
    let text = format!("One. {} Two. {} {}", call("find"), call("wipe"), call("find"));
    let pieces: Vec<_> = text.split_inclusive(' ').collect();
    let mut parser = HanokParser::new(Format::Hermes);
    let (said, calls) = streamed(&mut parser, &pieces).await;
    assert_eq!(calls, [("find".to_owned(), "{}".to_owned()), ("find".to_owned(), "{}".to_owned())]);
    assert!(
        said.starts_with("One.") && call("wipe").starts_with(&said[said.find('<').unwrap()..]),
        "{said}"
    );
    assert_eq!(parser.parse_complete(&text).await.unwrap().1.len(), 3);
}

/// A parser of a family that was registered, for one stream.
fn registered(family: &str, factory: Factory) -> Box<dyn UnifiedParser> {
    register_unified_parser(family, factory);
    create_unified_parser_for_family(family, &dynamo_tools()).unwrap()
}

fn text(text: &str) -> UnifiedEvent {
    UnifiedEvent::Text { text: text.to_owned() }
}

#[test]
fn dynamo_has_the_same_events_in_every_cut() {
    for (format, whole, _, factory) in CASES {
        let call = UnifiedEvent::ToolCall { name: "find".to_owned(), arguments: arguments() };
        let want = [text("Let me see."), call];
        let family = format!("hanok_{format}");
        assert_eq!(registered(&family, factory).parse_complete(whole).unwrap(), want, "{format}");
        for (first, second) in cuts(whole) {
            let mut parser = registered(&family, factory);
            parser.initialize(&[]).unwrap();
            let mut output = UnifiedParserOutput::default();
            parser.parse_into(first, &mut output).unwrap();
            parser.parse_into(second, &mut output).unwrap();
            output.append(&mut parser.finish().unwrap());
            assert_eq!(output.assembled(), want, "{format}: {first}");
            assert!(parser.finish().unwrap().is_empty(), "{format}");
        }
    }
}

#[test]
fn dynamo_drops_a_call_that_is_cut_off_and_hands_it_back_when_it_is_reset() {
    for (format, whole, _, factory) in CASES {
        let cut = &whole[..whole.find("\"n\"").unwrap()];
        let mut parser = registered(&format!("hanok_cut_{format}"), factory);
        assert_eq!(parser.parse_complete(cut).unwrap(), [text("Let me see.")], "{format}");

        let mut output = UnifiedParserOutput::default();
        parser.parse_into(cut, &mut output).unwrap();
        let rest = parser.reset();
        assert!(rest.contains("\"find\"") && cut.ends_with(&rest), "{format}: {rest}");
        assert_eq!(parser.parse_complete(whole).unwrap().len(), 2, "{format}");
    }
}

#[test]
fn dynamo_tells_reasoning_text_and_calls_in_their_order() {
    let (_, call, _, factory) = CASES[0];
    let mut parser = registered("hanok_order", factory);
    let starting_state = UnifiedParserStartingState::Reasoning;
    parser.initialize_request(UnifiedParserInit { starting_state, ..Default::default() }).unwrap();
    let other = call.replace("Let me see.", "And this.").replace("find", "not_offered");
    let events = parser.parse_complete(&format!("hm</think>{call}\n{other}")).unwrap();
    let names = events.iter().map(|event| match event {
        UnifiedEvent::Reasoning { text } | UnifiedEvent::Text { text } => text.trim(),
        UnifiedEvent::ToolCall { name, .. } => name,
        _ => "a message",
    });
    let want = ["hm", "Let me see.", "find", "And this.", "not_offered"];
    assert_eq!(names.collect::<Vec<_>>(), want);

    let tool_output_mode = UnifiedToolOutputMode::GuidedJson { named_tool: None };
    let guided = UnifiedParserInit { tool_output_mode, ..Default::default() };
    let error = parser.initialize_request(guided).unwrap_err().to_string();
    assert_eq!(error, "this parser does not read guided JSON");
}

#[test]
fn dynamo_has_the_ids_that_the_text_gives() {
    let factory: Factory = |tools| Ok(Box::new(dynamo::HanokParser::new(Format::KimiK2, tools)));
    let mut parser = registered("hanok_ids", factory);
    let call = "<|tool_call_begin|>functions.find:0<|tool_call_argument_begin|>{}<|tool_call_end|>";
    let section = format!("<|tool_calls_section_begin|>{call}<|tool_calls_section_end|>");
    assert_eq!(parser.parse_complete(&section).unwrap().len(), 1);
    assert_eq!((parser.tool_call_id(0), parser.tool_call_id(1)), (Some("functions.find:0"), None));
    assert!(parser.preserve_special_tokens());
}
