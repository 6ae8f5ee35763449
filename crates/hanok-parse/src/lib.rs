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
//! # Streams
//!
//! Text that comes in pieces is read while it comes: [`Parser::stream`] tells [`Event`]s for a screen, and the same
//! [`Reply`] at its end, however the text was cut. No mark of a format is ever told as content, and of a call its name
//! comes once and whole, its arguments piece by piece.
//!
//! ```
//! use hanok_parse::{Declared, Event, Parser};
//!
//! let parser = Parser::new(Declared::new().tool("find"));
//! let (mut stream, mut told) = (parser.stream(), Vec::new());
//! for piece in ["Let me see. <tool_c", "all>{'name': 'find', 'argum", "ents': {'q': 'annual le"] {
//!     stream.feed(piece, &mut told);
//! }
//! assert_eq!(told[0], Event::Content { text: "Let me see.".into() });
//! assert!(matches!(&told[1], Event::CallStarted { name, .. } if name == "find"));
//! assert_eq!(told[2], Event::Arguments { call: 0, json: r#"{"q":"annual le"#.into() });
//!
//! stream.feed("ave'}}</tool_call>", &mut told);
//! assert_eq!(stream.finish(&mut told).calls[0].arguments.as_str(), r#"{"q":"annual leave"}"#);
//! ```
//!
//! # Formats
//!
//! All formats are looked for in one pass; [`Parser::format`] narrows it to one. What a mark begins is judged by what
//! follows, and by the declared names and types.
//!
//! | [`Format`] | a call |
//! |---|---|
//! | `react` | `Action: find` and `Action Input: {"q": 1}` on two lines, or `행동:` and `행동 입력:` |
//! | `supervisor` | `Delegate: agent` and `Task: what to do` on two lines |
//! | `smolagents`, `json_action`, `bare_json`, `openai_json`, `xlam` | a JSON object or a list at the start of a line, bare or in a fence |
//! | `hermes`, `granite4`, `ernie45`, `longcat`, `granite`, `granite_20b_fc`, `jamba`, `hunyuan_a13b` | JSON in a tag: `<tool_call>{"name": "find", "arguments": {}}</tool_call>` |
//! | `llama3_json`, `mistral`, `internlm`, `cohere`, `apertus`, `phi4mini`, `gigachat3`, `inkling`, `k2_horizon` | JSON behind a token: `<\|python_tag\|>{"name": "find", "parameters": {}}` |
//! | `tool_input_xml`, `function_tag`, `mistral_v11`, `deepseek_v3`, `deepseek_v3.1`, `kimi_k2`, `harmony`, `plamo3`, `qwen_agent` | a name and its JSON: `[TOOL_CALLS]find[ARGS]{}` |
//! | `qwen3_xml`, `seed_oss`, `glm45`, `glm47`, `hy_v3`, `hy_v4`, `deepseek_v3.2`, `deepseek_v4`, `deepseek_v4.1`, `anthropic_xml`, `dots`, `muse`, `minimax_m2`, `minicpm5`, `step3`, `kimi_k3`, `k2_horizon` | parameters in tags: `<function=find><parameter=q>text</parameter></function>` |
//! | `minimax_m3` | parameters as nested elements |
//! | `pythonic`, `llama_builtin`, `olmo3`, `lfm2` | `[find(q="text", n=-1)]` |
//! | `gemma4`, `functiongemma` | `<\|tool_call>call:find{q:<\|"\|>text<\|"\|>}<tool_call\|>` |
//!
//! Where strings are written as they are, between tags, a parameter that is declared as a string keeps its text byte for
//! byte, and others are decoded. Where a value's own close tag may stand in it, it ends where the format goes on.
//!
//! To add a format, write a line for each of its marks in a table of `src/formats`: which token it is, and the rule of
//! how the call goes on behind it (JSON, a name and a separator, parameters in tags, Python's calls). Add its name to
//! [`Format`] and a writer of its calls to `tests/forms`: the tests then read it whole, by name, in every cut and in
//! reasoning.
//!
//! # What counts
//!
//! - A label counts at the start of a line, and a name when it was [declared](Declared). Labels, tags and brackets
//!   inside a JSON string are data.
//! - Small faults of JSON are mended and [noted](Note), the content of strings is not touched, and a call that the text
//!   breaks off is no call.
//! - A tool's result that the model repeats holds no calls and no answer: what stands between the marks of one, or behind
//!   `Observation:` up to the next label. The turn of another role ends the reply.
//! - Reasoning (`<think>` and each model's own marks) holds no calls. After a call, what the model invents (an
//!   observation, an answer that cannot know the result) does not count.
//! - Whatever was meant as a call and cannot be one is a [`ParseError`], which turns itself into a sentence for the
//!   model, and so does every note.
//!
//! No text makes the parser panic or overflow the stack, and its time is linear in the text, however it is cut.

mod declared;
mod format;
mod json;
mod parse;
mod readers;
mod reply;
mod schema;
mod text;
mod work;

pub use declared::{CallKind, Declared, ParamType};
pub use format::{Format, UnknownFormat};
pub use json::fault::{Repair, RepairKind};
pub use parse::deltas::{CallDelta, Delta, Deltas, FunctionDelta};
pub use parse::parser::Parser;
pub use parse::stream::Stream;
pub use readers::think::Reasoning;
pub use reply::arguments::Arguments;
pub use reply::error::{ErrorKind, Expected, Language, ParseError};
pub use reply::event::Event;
pub use reply::finish::{Finish, FinishReason};
pub use reply::note::{Note, NoteKind};
pub use reply::outcome::{Call, Part, PartKind, Rejected, Reply};
pub use reply::types::Mistyped;
pub use schema::SchemaError;
pub use text::table::{FormatTable, Grammar, TableError};
pub use text::template::Formats;

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
