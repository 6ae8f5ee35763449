//! gpt-oss and Beam: messages with a channel and a recipient.

use crate::{
    format::Format,
    text::{
        grammar::Headers,
        marks::{Entry, Meaning, OWN, common},
        rule::Tags,
    },
};

/// Beam's parameters: `<rfl:parameter name="key">value</rfl:parameter>`.
const RFL: Tags = Tags {
    open: "<rfl:parameter ",
    key: Some("name"),
    close: "</rfl:parameter>",
    end: "<|call|>",
    other_end: Some("<|end|>"),
    behind: &["<|return|>", "<|start|>assistant"],
    ..Tags::NEW
};

/// `<|start|>assistant<|channel|>commentary to=functions.find <|constrain|>json<|message|>{…}<|call|>`.
pub(crate) const HEADERS: Headers = Headers {
    start: "<|start|>",
    role: "assistant",
    channel: "<|channel|>",
    to: "to=",
    message: "<|message|>",
    reasoning: "analysis",
    answer: "final",
    closes: &["<|end|>"],
    until: &["<|return|>", "<|start|>assistant"],
    ends: &["<|eom|>", "<|end|>"],
    call_ends: &["<|call|>", "<|end|>"],
    others: &["<|constrain|>"],
    between: &["<|constrain|>json"],
    tags: Some(&RFL),
};

const HARMONY: &[Format] = &[Format::Harmony];
/// Muse has such headers, too, and tags of its own behind them.
const MESSAGES: &[Format] = &[Format::Harmony, Format::Muse];

pub(super) const MARKS: &[Entry] = &[
    Entry { token: "<|channel|>", mark: Meaning::Header(&HEADERS), formats: MESSAGES },
    Entry { token: "<|start|>", mark: Meaning::Header(&HEADERS), formats: MESSAGES },
    Entry { token: "<|message|>", mark: Meaning::Close, formats: MESSAGES },
    Entry { token: "<|constrain|>", mark: Meaning::Close, formats: HARMONY },
    Entry { token: "<|call|>", mark: Meaning::Close, formats: HARMONY },
];

/// What the headers say where no calls of theirs are looked for: whose turn begins, and what is reasoning.
pub(super) const GUARDS: &[Entry] = &[
    common("<|start|>", Meaning::Turn(OWN)),
    common(
        "<|channel|>analysis",
        Meaning::Think(&["<|end|>"], &["<|return|>", "<|start|>assistant"]),
    ),
];
