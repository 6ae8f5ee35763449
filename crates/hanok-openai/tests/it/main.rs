//! What a client does with what a server answers.

mod answers;
mod breaker;
mod canary;
mod config;
mod conforms;
mod deviations;
mod failures;
mod server;
mod settings;
mod smoke;
mod tool_calls;
