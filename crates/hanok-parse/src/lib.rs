//! Reads tool calls, final answers and delegations out of the text a language model writes.
//!
//! ```
//! use hanok_parse::{Declared, ErrorKind, Parser};
//!
//! let parser = Parser::new(Declared::new().tool("search-kb").agent("legal-review"));
//!
//! let reply = parser.parse("Thought: look it up\nAction: `search-kb`\nAction Input: {'q': 'a } b'}");
//! assert_eq!(reply.thought.as_deref(), Some("look it up"));
//! assert_eq!(reply.calls[0].name, "search-kb");
//! assert_eq!(reply.calls[0].arguments.as_str(), r#"{"q":"a } b"}"#);
//!
//! let reply = parser.parse("최종 답변: 연차는 15일입니다.\n\n- 3년부터 20일");
//! assert_eq!(reply.answer.as_deref(), Some("연차는 15일입니다.\n\n- 3년부터 20일"));
//!
//! let reply = parser.parse("Delegate: legal-review\nTask: check the special terms");
//! assert_eq!(reply.calls[0].arguments.as_str(), r#"{"task":"check the special terms"}"#);
//!
//! let reply = parser.parse(r#"<tool_call>{"name": "search-kb", "arguments": {"q": "#);
//! assert_eq!(reply.error.map(|error| error.kind), Some(ErrorKind::Truncated));
//! ```
//!
//! A model may write a call in any of these forms; which one is not configured.
//!
//! | form | example |
//! |---|---|
//! | ReAct, English or Korean | `Action: find` and `Action Input: {"q": 1}` on two lines |
//! | JSON action, bare or in a fence | `{"action": "find", "action_input": {"q": 1}}` |
//! | JSON call, bare or in a fence, one or a list | `{"name": "find", "arguments": {"q": 1}}` |
//! | Chat Completions JSON | `{"tool_calls": [{"function": {"name": "find", "arguments": "{}"}}]}` |
//! | Hermes, Qwen | `<tool_call>{"name": "find", "arguments": {"q": 1}}</tool_call>` |
//! | name and input in tags | `<tool_call>find</tool_call><tool_input>{"q": 1}</tool_input>` |
//! | Llama 3 | `<\|python_tag\|>{"name": "find", "parameters": {"q": 1}}` |
//! | delegation | `Delegate: agent` and `Task: what to do` on two lines |
//!
//! # What counts
//!
//! - A label counts at the start of a line, and a name when it was [declared](Declared). Labels, tags and brackets
//!   inside a JSON string are data.
//! - Small faults of JSON are mended, the content of strings is not touched, and a call that the text breaks off is
//!   no call.
//! - Reasoning (`<think>`) holds no calls. After a call, what the model invents (an observation, an answer that cannot
//!   know the result) does not count.
//! - Whatever was meant as a call and cannot be one is a [`ParseError`], which turns itself into a sentence for the
//!   model.
//!
//! No text makes the parser panic or overflow the stack, and its time is linear in the text.

mod advice;
mod after;
mod arguments;
mod calls;
mod declared;
mod dialects;
mod draft;
mod elements;
mod error;
mod event;
mod fence;
mod flow;
mod format;
mod formats;
mod given;
mod header;
mod input;
mod json_text;
mod labels;
mod lead;
mod look;
mod lost;
mod marks;
mod members;
mod name;
mod names;
mod opening;
mod pairs;
mod params;
mod parser;
mod python;
mod reading;
mod repair;
mod reply;
mod scan;
mod setup;
mod skip;
mod stream;
mod suffixed;
mod tags;
mod think;
mod tool_input;
mod walk;

pub use arguments::Arguments;
pub use declared::{Declared, ParamType};
pub use error::{ErrorKind, Expected, Language, ParseError};
pub use event::Event;
pub use format::{Format, UnknownFormat};
pub use parser::Parser;
pub use reply::{
    Call, CallKind, Note, NoteKind, Part, PartKind, Rejected, Repair, RepairKind, Reply,
};
pub use stream::Stream;
pub use think::Reasoning;

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
