//! What the tools do, and what they refuse.

mod amounts;
mod calculator;
mod clock;
mod egress;
mod files;
mod number;
mod python_repl;
mod read_file;
mod server;
mod support;
mod todos;
mod tools;
mod web_tools;
