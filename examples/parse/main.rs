//! What a model wrote, as calls and events.

use std::process::ExitCode;

use clap::Parser;
use parse::{Options, cases, failure, text};

fn main() -> ExitCode {
    let options = Options::parse();
    failure::exit(if options.jsonl { cases::run(&options) } else { text::run(&options) })
}
