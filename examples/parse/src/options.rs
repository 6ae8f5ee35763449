//! What the program is told on its command line.

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use clap::{Parser, ValueEnum};
use hanok_parse::{Bare, Format, Policy};

/// Reads tool calls, final answers and delegations out of what a model wrote.
///
/// Prints the events of one text as lines of JSON, while the text comes in. With --jsonl every line that it reads is a
/// case, and every line that it prints the result of one:
///
///   {"id": 1, "text": "…", "tools": ["find"], "schemas": {"find": {"q": "string"}}, "format": "hermes"}
///   {"id": 1, "calls": [{"name": "find", "args": {}}], "final": null, "error": null, "rejected": []}
///
/// Of a case only "id" and "text" are needed; without "tools" every name counts. A tool's entry in "schemas" is the
/// JSON Schema of its parameters, or the type of each by its name. A "format" that there is not is not looked for alone, and
/// its result says so in a "note".
///
/// Exit: 0 read, 1 something could not be read or written, 2 wrong usage.
#[derive(Debug, Clone, Parser)]
#[command(name = "parse", version, verbatim_doc_comment)]
pub struct Options {
    /// What to read; `-` is the standard input [default: -]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,

    /// Every line is a case, as JSON
    #[arg(long)]
    pub jsonl: bool,

    /// Hand a text to the parser in pieces of N bytes
    #[arg(long, value_name = "N")]
    pub split: Option<NonZeroUsize>,

    /// With the text's content and reasoning in each result
    #[arg(long, requires = "jsonl")]
    pub whole: bool,

    /// A tool that may be called; several times for several. Without --tool and --agent every name counts
    #[arg(long = "tool", value_name = "NAME", conflicts_with = "jsonl")]
    pub tools: Vec<String>,

    /// An agent that tasks may be delegated to; several times for several
    #[arg(long = "agent", value_name = "NAME", conflicts_with = "jsonl")]
    pub agents: Vec<String>,

    /// Print the table of a format as JSON, and read nothing
    #[arg(long, value_name = "FORMAT", conflicts_with = "jsonl")]
    pub table: Option<String>,

    /// A file with the table of a format; several times for several. What is built in is not looked for then
    #[arg(long = "with", value_name = "FILE", conflicts_with_all = ["jsonl", "format"])]
    pub tables: Vec<PathBuf>,

    /// The format that the text is in [default: whichever it turns out to be]
    #[arg(long, value_name = "FORMAT", conflicts_with = "jsonl")]
    pub format: Option<String>,

    /// Whether forms without a mark are read: bare JSON, Python's calls, labels such as `Action:`
    #[arg(long, value_enum, default_value_t = BareForms::On)]
    pub bare: BareForms,

    /// A format whose forms without a mark the prompt asked for; several times for several
    #[arg(long = "ask", value_name = "FORMAT")]
    pub asked: Vec<Format>,

    /// The first call's format does not hold for the calls behind it
    #[arg(long)]
    pub no_lock: bool,
}

/// Whether forms without a mark are read. A library's parser reads those that it was asked for; a text here runs nothing.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum BareForms {
    /// Never
    Off,
    /// Those that --ask names, or --format
    Asked,
    /// All of them
    On,
}

impl Options {
    /// The file, `None` for the standard input.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.file.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// `parser` as these options have it.
    pub(crate) fn applied(&self, parser: hanok_parse::Parser) -> hanok_parse::Parser {
        let bare = match self.bare {
            BareForms::Off => Bare::Off,
            BareForms::Asked => Bare::Asked,
            BareForms::On => Bare::On,
        };
        let policy = Policy { bare, lock: !self.no_lock };
        parser.policy(policy).asked(self.asked.iter().copied())
    }
}
