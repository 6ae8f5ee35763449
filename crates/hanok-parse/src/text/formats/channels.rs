//! gpt-oss: messages with a channel and a recipient.

use crate::{
    format::Format,
    text::marks::{Entry, Mark, OWN, common},
};

const HARMONY: &[Format] = &[Format::Harmony];

pub(super) const MARKS: &[Entry] = &[
    Entry { token: "<|channel|>", mark: Mark::Header, formats: HARMONY },
    Entry { token: "<|start|>", mark: Mark::Header, formats: HARMONY },
    Entry { token: "<|message|>", mark: Mark::Close, formats: HARMONY },
    Entry { token: "<|constrain|>", mark: Mark::Close, formats: HARMONY },
    Entry { token: "<|call|>", mark: Mark::Close, formats: HARMONY },
];

/// What the headers say where no calls of theirs are looked for: whose turn begins, and what is reasoning.
pub(super) const GUARDS: &[Entry] = &[
    common("<|start|>", Mark::Turn(OWN)),
    common("<|channel|>analysis", Mark::Think(&["<|end|>"], &["<|return|>", "<|start|>assistant"])),
];
