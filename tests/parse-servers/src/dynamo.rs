//! hanok-parse as a `UnifiedParser` of the crate `dynamo-parsers-v2`.
//!
//! - Every name is told, as the trait asks: whoever runs a call checks that its tool was offered.
//! - A call is told when it is whole: only then is it sure that nothing of it is taken back.
//! - `finish` takes a call without an end of its own for cut off, `finish_at_eos` takes it. What cannot be read is dropped.
//! - Guided JSON is refused.

use anyhow::{Result, bail};
use dynamo_parsers_v2::{
    Tool, ToolCallDelta, UnifiedParser, UnifiedParserInit, UnifiedParserOutput,
    UnifiedParserStartingState, UnifiedToolOutputMode,
};
use hanok_parse::{Declared, Finish, Format, Parser};

use crate::reading::{Reading, Told, with_tool};

/// A parser of one format, for one stream.
///
/// ```
/// use dynamo_parsers_v2::{Tool, UnifiedParser, register_unified_parser};
/// use hanok_parse::Format;
/// use parse_servers::dynamo::HanokParser;
///
/// fn hermes(tools: &[Tool]) -> anyhow::Result<Box<dyn UnifiedParser>> {
///     Ok(Box::new(HanokParser::new(Format::Hermes, tools)))
/// }
///
/// register_unified_parser("hermes", hermes);
/// ```
#[derive(Debug)]
pub struct HanokParser {
    parser: Parser,
    reading: Reading,
    /// The ids of the calls that were told, if the text gave them.
    ids: Vec<Option<String>>,
}

impl HanokParser {
    /// A parser of `format`, which knows the schemas of `tools`.
    #[must_use]
    pub fn new(format: Format, tools: &[Tool]) -> Self {
        let declared = tools.iter().fold(Declared::any(), |declared, tool| {
            with_tool(declared, &tool.name, &tool.parameters)
        });
        let parser = Parser::new(declared).format(format);
        Self { reading: Reading::new(&parser), parser, ids: Vec::new() }
    }

    fn tell(&mut self, told: Told, output: &mut UnifiedParserOutput) {
        match told {
            Told::Text(text) => output.push_text(text),
            Told::Reasoning(text) => output.push_reasoning(text),
            Told::Call { id, name, arguments } => {
                let tool_index = self.ids.len();
                self.ids.push(id);
                let name = Some(name);
                output.push_call(ToolCallDelta { tool_index, name, arguments, complete: true });
            }
            Told::Unread(_) => {}
        }
    }

    /// Begins a new text. Returns the one before.
    fn replaced(&mut self) -> Reading {
        std::mem::replace(&mut self.reading, Reading::new(&self.parser))
    }

    fn end(&mut self, finish: Finish) -> UnifiedParserOutput {
        let mut output = UnifiedParserOutput::default();
        for told in self.replaced().end(finish) {
            self.tell(told, &mut output);
        }
        output
    }
}

impl UnifiedParser for HanokParser {
    fn initialize_request(&mut self, init: UnifiedParserInit) -> Result<()> {
        if init.tool_output_mode != UnifiedToolOutputMode::Native {
            bail!("this parser does not read guided JSON");
        }
        if init.starting_state == UnifiedParserStartingState::Reasoning {
            self.parser = self.parser.clone().in_reasoning();
        }
        self.replaced();
        Ok(())
    }

    fn parse_into(&mut self, delta: &str, output: &mut UnifiedParserOutput) -> Result<()> {
        for told in self.reading.feed(delta) {
            self.tell(told, output);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<UnifiedParserOutput> {
        Ok(self.end(Finish::Length))
    }

    fn finish_at_eos(&mut self) -> Result<UnifiedParserOutput> {
        Ok(self.end(Finish::Stop))
    }

    fn reset(&mut self) -> String {
        self.ids.clear();
        let rest = self.replaced().end(Finish::Length).into_iter();
        let text = rest.filter_map(|told| match told {
            Told::Text(text) | Told::Reasoning(text) | Told::Unread(text) => Some(text),
            Told::Call { .. } => None,
        });
        text.collect()
    }

    fn preserve_special_tokens(&self) -> bool {
        true
    }

    fn tool_call_id(&self, tool_index: usize) -> Option<&str> {
        self.ids.get(tool_index)?.as_deref()
    }
}
