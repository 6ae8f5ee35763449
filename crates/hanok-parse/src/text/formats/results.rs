//! The results of tools, in tags that no format has: models write them, and so do those who speak in a result.

use crate::text::marks::{Entry, Mark, common};

const OUTPUT: &[&str] = &["</tool_output>", "</TOOL_OUTPUT>", "</Tool_Output>"];
const OUTPUTS: &[&str] = &["</tool_outputs>", "</TOOL_OUTPUTS>", "</Tool_Outputs>"];
const OBSERVATION: &[&str] = &["</observation>", "</Observation>", "</OBSERVATION>"];

pub(super) const MARKS: &[Entry] = &[
    common("<tool_output>", Mark::Result(OUTPUT)),
    common("<tool_output ", Mark::Result(OUTPUT)),
    common("<TOOL_OUTPUT>", Mark::Result(OUTPUT)),
    common("<Tool_Output>", Mark::Result(OUTPUT)),
    common("<tool_outputs>", Mark::Result(OUTPUTS)),
    common("<TOOL_OUTPUTS>", Mark::Result(OUTPUTS)),
    common("<Tool_Outputs>", Mark::Result(OUTPUTS)),
    common("<|tool_output|>", Mark::Result(&["<|/tool_output|>", "<|assistant|>"])),
    common("<Observation>", Mark::Result(OBSERVATION)),
    common("<OBSERVATION>", Mark::Result(OBSERVATION)),
];
