//! What a model wrote, as calls and events.

use std::process::ExitCode;

use clap::Parser;
use parse::{Options, cases, failure, text};

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match &options.table {
        Some(format) => text::print_table(format),
        None if options.jsonl => cases::run(&options),
        None => text::run(&options),
    };
    failure::exit(result)
}
