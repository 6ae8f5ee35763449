//! The marks that stand anywhere in a text: tags and special tokens.

/// What a mark means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Opens reasoning, which runs to this close tag.
    Think(&'static str),
    /// Closes reasoning.
    EndThink,
    /// Opens a call in a tag.
    ToolCall,
    /// Opens calls without a close tag.
    PythonTag,
    /// Closes a call. Counts only behind one; elsewhere it is dropped.
    Close,
    /// Begins what only the program may say: a result, or another turn.
    Foreign,
    /// Ends a turn. Never shown.
    Stop,
}

pub(crate) const TOOL_CALL_CLOSE: &str = "</tool_call>";
pub(crate) const TOOL_INPUT: &str = "<tool_input>";
pub(crate) const TOOL_INPUT_CLOSE: &str = "</tool_input>";

/// Tokens that end a turn.
pub(crate) const STOPS: [&str; 11] = [
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|im_end|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "<|return|>",
    "<｜end▁of▁sentence｜>",
    "<end_of_turn>",
    "</s>",
];

const MARKS: [(&str, Mark); 13] = [
    ("<tool_call>", Mark::ToolCall),
    ("<|python_tag|>", Mark::PythonTag),
    ("<think>", Mark::Think("</think>")),
    ("<thinking>", Mark::Think("</thinking>")),
    ("</think>", Mark::EndThink),
    ("</thinking>", Mark::EndThink),
    (TOOL_CALL_CLOSE, Mark::Close),
    (TOOL_INPUT_CLOSE, Mark::Close),
    ("<tool_response>", Mark::Foreign),
    ("<tool_result>", Mark::Foreign),
    ("<|im_start|>", Mark::Foreign),
    ("<|start_header_id|>", Mark::Foreign),
    ("<start_of_turn>", Mark::Foreign),
];

/// The shortest end of a text that counts as a mark that broke off.
const SHORTEST: usize = 3;

/// The mark that `rest` begins with, and its length.
pub(crate) fn at(rest: &str) -> Option<(Mark, usize)> {
    let stops = STOPS.iter().map(|stop| (*stop, Mark::Stop));
    let mut marks = MARKS.iter().copied().chain(stops);
    marks.find(|(token, _)| rest.starts_with(token)).map(|(token, mark)| (mark, token.len()))
}

/// The mark that `rest` is the beginning of, when the text broke off inside it.
pub(crate) fn cut(rest: &str) -> Option<Mark> {
    let stops = STOPS.iter().map(|stop| (*stop, Mark::Stop));
    let mut marks = MARKS.iter().copied().chain(stops);
    let begins = |token: &str| rest.len() >= SHORTEST && token.starts_with(rest);
    marks.find(|(token, _)| begins(token)).map(|(_, mark)| mark)
}

/// `text` without the tokens that end a turn.
pub(crate) fn without_stops(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tail)) = rest.find('<').and_then(|at| rest.split_at_checked(at)) {
        kept.push_str(before);
        rest = match STOPS.iter().find_map(|stop| tail.strip_prefix(stop)) {
            Some(behind) => behind,
            None => {
                kept.push('<');
                tail.strip_prefix('<').unwrap_or_default()
            }
        };
    }
    kept.push_str(rest);
    kept
}
