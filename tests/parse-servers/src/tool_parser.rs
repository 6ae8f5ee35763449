//! hanok-parse as a `ToolParser` of the crate `tool-parser`.
//!
//! - Names: `parse_incremental` tells only tools that it was given. The other two methods tell every name, for their caller to check.
//! - Reasoning is normal text, without its marks. Servers take it off before.
//! - What was meant as a call and cannot be one is text: in a stream at the end, by `take_unstreamed_normal_text`. The trait does not
//!   say why a text ended, so a call without an end of its own counts as cut off.

use async_trait::async_trait;
use hanok_parse::{Declared, Finish, Format, Parser};
use openai_protocol::common::Tool;
use tool_parser::{
    FunctionCall, StreamingParseResult, ToolCall, ToolParser, errors::ParserResult,
    types::ToolCallItem,
};

use crate::reading::{Reading, Told, with_tool};

/// A parser of one format.
///
/// ```
/// use hanok_parse::Format;
/// use parse_servers::tool_parser::HanokParser;
///
/// let factory = tool_parser::ParserFactory::new();
/// factory.registry().register_parser("hermes", || Box::new(HanokParser::new(Format::Hermes)));
/// ```
#[derive(Debug)]
pub struct HanokParser {
    format: Format,
    /// None before the first piece, and after the last text was taken.
    reading: Option<Reading>,
    /// So many calls were told.
    calls: usize,
}

impl HanokParser {
    /// A parser of `format`.
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self { format, reading: None, calls: 0 }
    }

    fn parser(&self, declared: Declared, tools: &[Tool]) -> Parser {
        let declared = tools.iter().fold(declared, |declared, tool| {
            with_tool(declared, &tool.function.name, &tool.function.parameters)
        });
        Parser::new(declared).format(self.format)
    }

    fn whole(&self, output: &str, tools: &[Tool]) -> (String, Vec<ToolCall>) {
        let mut reading = Reading::new(&self.parser(Declared::any(), tools));
        let mut all = reading.feed(output);
        all.extend(reading.end(Finish::Length));
        let (mut text, mut calls) = (String::new(), Vec::new());
        for told in all {
            match told {
                Told::Text(more) | Told::Reasoning(more) | Told::Unread(more) => text += &more,
                Told::Call { name, arguments, .. } => {
                    calls.push(ToolCall { function: FunctionCall { name, arguments } });
                }
            }
        }
        (if calls.is_empty() { output.to_owned() } else { text }, calls)
    }

    /// What would be told if the text ended here.
    fn rest(&self) -> StreamingParseResult {
        let reading = self.reading.clone();
        result(reading.map(|one| one.end(Finish::Length)).unwrap_or_default(), self.calls)
    }
}

#[async_trait]
impl ToolParser for HanokParser {
    async fn parse_complete(&self, output: &str) -> ParserResult<(String, Vec<ToolCall>)> {
        Ok(self.whole(output, &[]))
    }

    async fn parse_complete_with_tools(
        &self,
        output: &str,
        tools: &[Tool],
    ) -> ParserResult<(String, Vec<ToolCall>)> {
        Ok(self.whole(output, tools))
    }

    async fn parse_incremental(
        &mut self,
        chunk: &str,
        tools: &[Tool],
    ) -> ParserResult<StreamingParseResult> {
        let begun = self.reading.take();
        let begun = begun.unwrap_or_else(|| Reading::new(&self.parser(Declared::new(), tools)));
        let told = result(self.reading.insert(begun).feed(chunk), self.calls);
        self.calls += told.calls.iter().filter(|call| call.name.is_some()).count();
        Ok(told)
    }

    fn has_tool_markers(&self, text: &str) -> bool {
        let reply = self.parser(Declared::any(), &[]).parse(text);
        !reply.calls.is_empty() || reply.error.is_some()
    }

    fn get_unstreamed_tool_args(&self) -> Option<Vec<ToolCallItem>> {
        Some(self.rest().calls).filter(|calls| !calls.is_empty())
    }

    fn take_unstreamed_normal_text(&mut self) -> String {
        let rest = self.rest().normal_text;
        self.reading = None;
        rest
    }

    fn reset(&mut self) {
        *self = Self::new(self.format);
    }
}

/// A call is two items: its name, and all of its arguments.
fn result(all: Vec<Told>, mut at: usize) -> StreamingParseResult {
    let mut result = StreamingParseResult::default();
    for told in all {
        match told {
            Told::Text(more) | Told::Reasoning(more) | Told::Unread(more) => {
                result.normal_text += &more;
            }
            Told::Call { name, arguments, .. } => {
                let item = |name, parameters| ToolCallItem { tool_index: at, name, parameters };
                result.calls.extend([item(Some(name), String::new()), item(None, arguments)]);
                at += 1;
            }
        }
    }
    result
}
