//! DeepSeek's DSML: tags with its name between bars, and what others write like it.

use super::xml::{INVOKE, named};

use crate::{
    format::Format,
    text::{
        marks::{Entry, Meaning, of},
        rule::{Attribute, Rule, Tags},
    },
};

const DSML: &[Format] = &[Format::DeepseekV32, Format::DeepseekV4];
const DSML41: &[Format] = &[Format::DeepseekV41];
const GCML: &[Format] = &[Format::Gigachat3];

/// The marks of calls in tags that begin with `$mark`, in one of these sections.
macro_rules! marks {
    ($formats:ident, $mark:literal, [$($section:literal),*]) => {{
        const TAGS: Tags = Tags {
            open: concat!("<", $mark, "parameter "),
            close: concat!("</", $mark, "parameter>"),
            end: concat!("</", $mark, "invoke>"),
            behind: &[$(concat!("</", $mark, $section, ">")),*],
            ..INVOKE
        };
        const OPEN: Rule = named(&TAGS);
        const NAMELESS: Rule =
            Rule { attribute: Some(Attribute { key: "name", end: "", tags: &TAGS }), ..Rule::NEW };
        &[
            of($formats, concat!("<", $mark, "invoke "), Meaning::Open(&OPEN)),
            of($formats, concat!("<", $mark, "invoke>"), Meaning::Open(&NAMELESS)),
            of($formats, concat!("</", $mark, "invoke>"), Meaning::Close),
            $(
                of($formats, concat!("<", $mark, $section, ">"), Meaning::Close),
                of($formats, concat!("</", $mark, $section, ">"), Meaning::Close),
            )*
        ]
    }};
}

/// Proxies write the bars twice, or those of ASCII.
pub(super) const MARKS: [&[Entry]; 6] = [
    marks!(DSML, "｜DSML｜", ["function_calls", "tool_calls"]),
    marks!(DSML, "｜｜DSML｜｜", ["function_calls", "tool_calls"]),
    marks!(DSML, "|DSML|", ["function_calls", "tool_calls"]),
    marks!(DSML, "||DSML||", ["function_calls", "tool_calls"]),
    marks!(DSML41, "｜DSML｜ ", ["calls"]),
    marks!(GCML, "｜GCML｜", ["function_calls", "tool_calls"]),
];
