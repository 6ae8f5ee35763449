//! The parsers written in Rust.

use std::hint::black_box;

use dynamo_parsers::{ToolDefinition, detect_and_parse_tool_call};
use hanok_parse::{Bare, Declared, ParamType, Parser};
use openai_protocol::common::Tool;
use serde_json::json;
use tool_parser::{QwenParser, ToolParser};

use crate::{
    Result,
    measure::{Cpu, ensure, medians},
    text, texts,
};

/// How often a text is read in a round.
const TIMES: usize = 5;

/// The parser's speeds on the text of a work.
pub(crate) fn measure(parser: &str, work: &str, rounds: usize) -> Result<Vec<f64>> {
    let (text, calls) = text(work)?;
    match parser {
        "hanok" => hanok(&text, calls, rounds),
        "tool-parser" => tool_parser(&text, calls, rounds),
        "dynamo-parsers" => dynamo_parsers(&text, calls, rounds),
        other => Err(format!("no parser `{other}`").into()),
    }
}

fn hanok(text: &str, calls: usize, rounds: usize) -> Result<Vec<f64>> {
    let params = [
        ("q".to_owned(), ParamType::String, false),
        ("page".to_owned(), ParamType::Integer, false),
        ("filters".to_owned(), ParamType::Object, false),
        ("note".to_owned(), ParamType::String, false),
    ];
    let parser = Parser::new(Declared::new().tool_with("find", params)).policy(Bare::On);
    let pieces = texts::pieces(text);
    medians(rounds, async || {
        let whole =
            speed(text, calls, async || Ok(parser.parse(black_box(text)).calls.len())).await?;
        let in_pieces = speed(text, calls, async || {
            let (mut stream, mut events) = (parser.stream(), Vec::new());
            for piece in &pieces {
                stream.feed(piece, &mut events);
                black_box(&events);
                events.clear();
            }
            Ok(stream.finish(&mut events).calls.len())
        });
        Ok([whole, in_pieces.await?])
    })
}

fn tool_parser(text: &str, calls: usize, rounds: usize) -> Result<Vec<f64>> {
    let tools: Vec<Tool> = serde_json::from_value(json!([{
        "type": "function",
        "function": { "name": "find", "parameters": schema() },
    }]))?;
    let pieces = texts::pieces(text);
    medians(rounds, async || {
        let whole = speed(text, calls, async || {
            Ok(QwenParser::new().parse_complete(black_box(text)).await?.1.len())
        });
        let whole = whole.await?;
        let in_pieces = speed(text, calls, async || {
            let (mut parser, mut named) = (QwenParser::new(), 0);
            for piece in &pieces {
                let read = black_box(parser.parse_incremental(piece, &tools).await?);
                named += read.calls.iter().filter(|call| call.name.is_some()).count();
            }
            Ok(named)
        });
        // A speed that is none stands for calls that were lost.
        Ok([whole, in_pieces.await.unwrap_or(f64::NAN)])
    })
}

/// In one piece: its streams are of a server's chunks, not of text.
fn dynamo_parsers(text: &str, calls: usize, rounds: usize) -> Result<Vec<f64>> {
    let tools =
        [ToolDefinition { name: "find".to_owned(), parameters: Some(schema()), strict: None }];
    medians(rounds, async || {
        let whole = speed(text, calls, async || {
            let read = detect_and_parse_tool_call(black_box(text), Some("hermes"), Some(&tools));
            Ok(read.await?.0.len())
        });
        Ok([whole.await?])
    })
}

fn schema() -> serde_json::Value {
    json!({ "type": "object", "properties": {
        "q": { "type": "string" },
        "page": { "type": "integer" },
        "filters": { "type": "object" },
        "note": { "type": "string" },
    } })
}

/// Millions of bytes per second at which `read` reads the text, which holds so many calls.
async fn speed(text: &str, calls: usize, read: impl AsyncFn() -> Result<usize>) -> Result<f64> {
    let mut micros = 0.0;
    for _ in 0..TIMES {
        let cpu = Cpu::start();
        let found = read().await?;
        micros += cpu.micros();
        ensure(found == calls, &format!("{found} calls of {calls} were read"))?;
    }
    Ok((text.len() * TIMES) as f64 / micros)
}
