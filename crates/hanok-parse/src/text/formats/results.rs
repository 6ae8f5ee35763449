//! The results of tools, in tags that no format has: models write them, and so do those who speak in a result.

use crate::text::marks::{Entry, Meaning, common};

const OUTPUT: &[&str] = &["</tool_output>", "</TOOL_OUTPUT>", "</Tool_Output>"];
const OUTPUTS: &[&str] = &["</tool_outputs>", "</TOOL_OUTPUTS>", "</Tool_Outputs>"];
const OBSERVATION: &[&str] = &["</observation>", "</Observation>", "</OBSERVATION>"];

pub(super) const MARKS: &[Entry] = &[
    common("<tool_output>", Meaning::Result(OUTPUT)),
    common("<tool_output ", Meaning::Result(OUTPUT)),
    common("<TOOL_OUTPUT>", Meaning::Result(OUTPUT)),
    common("<Tool_Output>", Meaning::Result(OUTPUT)),
    common("<tool_outputs>", Meaning::Result(OUTPUTS)),
    common("<TOOL_OUTPUTS>", Meaning::Result(OUTPUTS)),
    common("<Tool_Outputs>", Meaning::Result(OUTPUTS)),
    common("<|tool_output|>", Meaning::Result(&["<|/tool_output|>", "<|assistant|>"])),
    common("<Observation>", Meaning::Result(OBSERVATION)),
    common("<OBSERVATION>", Meaning::Result(OBSERVATION)),
];
