//! Reads tool calls, final answers and delegations out of the text a language model writes.
//!
//! ```
//! use hanok_parse::{Declared, ErrorKind, Format, Parser};
//!
//! // Labels count where the prompt asks for them.
//! let parser = Parser::new(Declared::new().tool("search-kb").agent("legal-review"))
//!     .asked([Format::React, Format::Supervisor]);
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
//! # Trust
//!
//! A model quotes pages, logs and other models. How much it takes to write a call by accident, or to be made to, differs by its
//! [`Mark`], which each [`Call`] has:
//!
//! | [`Mark`] | a call is marked by | read |
//! |---|---|---|
//! | `Special` | a token of the vocabulary: `<\|tool_call\|>`, `[TOOL_CALLS]` | unless other formats were told |
//! | `Tag` | a tag, or a label with a close: `<tool_call>`, a fence of `tool_code` | unless other formats were told |
//! | `Bare` | nothing but JSON, Python, or a label at the start of a line: `{"name": …}`, `[find()]`, `Action:` | where the prompt [asks](Parser::asked) for it, the format was [told](Parser::format), or [`Bare::On`] says so |
//!
//! - **Lock**: the format of the first call holds for the rest of the reply. [`Reply::lock`] is a value to keep, and
//!   [`Parser::locked`] goes on with it in the next reply of a conversation. Calls in other formats are text, with a note.
//! - **Told**: a parser that is told one format ([`Parser::format`], [`Formats::of_template`]) reads no other, and all of that:
//!   its bare forms count behind prose on their line, and [committed](Parser::committed) streams tell calls as they come.
//! - **Data** is known without a call round it: the value of a parameter whose call did not begin, an element that no format has
//!   (`<search_results>…</search_results>`), a fence with other text or of a language that calls nothing, a here document, what
//!   follows a token that says that it is a result. A close mark that closes nothing says that the calls before it were data.
//!
//! # Formats
//!
//! All formats with a mark are looked for in one pass; [`Parser::format`] narrows it to one. What a mark begins is judged by what
//! follows, and by the declared names and types.
//!
//! | [`Format`] | a call |
//! |---|---|
//! | `react` | `Action: find` and `Action Input: {"q": 1}` on two lines, or `행동:` and `행동 입력:`, `도구:` and `도구 입력:` |
//! | `ui_tars` | `Action: find(q='text')` |
//! | `supervisor` | `Delegate: agent` and `Task: what to do` on two lines |
//! | `smolagents`, `json_action`, `bare_json`, `openai_json`, `xlam` | a JSON object or a list at the start of a line, bare or in a fence |
//! | `hermes`, `granite4`, `ernie45`, `longcat`, `granite`, `granite_20b_fc`, `jamba`, `hunyuan_a13b`, `nemotron_nano_v2` | JSON in a tag: `<tool_call>{"name": "find", "arguments": {}}</tool_call>` |
//! | `llama3_json`, `mistral`, `internlm`, `cohere`, `apertus`, `phi4mini`, `gigachat3`, `inkling`, `k2_horizon`, `sarashina`, `hyperclovax` | JSON behind a token: `<\|python_tag\|>{"name": "find", "parameters": {}}` |
//! | `tool_input_xml`, `function_tag`, `mistral_v11`, `deepseek_v3`, `deepseek_v3.1`, `kimi_k2`, `harmony`, `plamo3`, `qwen_agent`, `solar_open`, `functionary` | a name and its JSON: `[TOOL_CALLS]find[ARGS]{}` |
//! | `qwen3_xml`, `seed_oss`, `glm45`, `glm47`, `glm53`, `hy_v3`, `hy_v4`, `deepseek_v3.2`, `deepseek_v4`, `deepseek_v4.1`, `anthropic_xml`, `dots`, `muse`, `minimax_m2`, `minicpm5`, `step3`, `kimi_k3`, `k2_horizon`, `solar_open2`, `iquest` | parameters in tags: `<function=find><parameter=q>text</parameter></function>` |
//! | `minimax_m3` | parameters as nested elements |
//! | `pythonic`, `llama_builtin`, `olmo3`, `lfm2`, `tool_code`, `calling_tool` | `[find(q="text", n=-1)]` |
//! | `granite_pythonic` | `find(q="text")` on a line of its own, where [`Parser::format`] or [`Parser::formats`] names it: prose shows code so |
//! | `gemma4`, `functiongemma` | `<\|tool_call>call:find{q:<\|"\|>text<\|"\|>}<tool_call\|>` |
//! | `cwm`, `langchain_xml` | a name and words: `<tool>find</tool><tool_input>text</tool_input>` |
//!
//! Some have a second form: `hermes` a call of Python's in its tag, `harmony` Beam's tags behind a header, `gigachat3` DSML with
//! the word GCML, `deepseek_v4` its bars twice or of ASCII.
//!
//! Where strings are written as they are, between tags, a parameter that is declared as a string keeps its text byte for
//! byte, and others are decoded. Where a value's own close tag may stand in it, it ends where the format goes on.
//!
//! A new model of a known grammar needs no release: its marks are a [`FormatTable`], read from JSON, which has words
//! and no code. To add a format here,
//! write a line for each of its marks in a table of `src/text/formats`: which token it is, and the rule of how the call goes on
//! behind it (JSON, a name and a separator, parameters in tags, Python's calls). Add its name to [`Format`] and a writer of
//! its calls to `tests/it/forms`: the tests then read it whole, by name, in every cut and in reasoning, and attack every other
//! format with it.
//!
//! # Text of others
//!
//! [`neutralise`] breaks the marks in text that others wrote and that goes into a prompt, so that a model may quote it and calls
//! nothing. [`restore`] mends them in what the model wrote.
//!
//! # Servers
//!
//! - [`Parser::formats`] narrows what is looked for, to what [`Formats::of_template`] finds in a chat template, say.
//! - [`Parser::in_reasoning`] is for prompts that end in an open `<think>`, [`Parser::committed`] for events that are sent on
//!   and cannot be taken back, [`Parser::named`] for a tool that has to be called.
//! - [`Stream::feed_special`] takes what came as special tokens: nothing else is a mark then.
//! - [`Stream::finish_with`] takes why the text ended: what has no end of its own is truncated after [`Finish::Length`].
//!   [`Reply::finish`] is the reason to give.
//! - [`Call::id`] keeps the id that a format carries, [`Event::CallStarted`] tells it where it stands before the arguments,
//!   [`Deltas`] makes the deltas of Chat Completions.
//! - [`Declared::tool_schema`] takes JSON Schema; a value that contradicts it is noted, or refused ([`Mistyped`]).
//! - [`Format::structural_tag`] and [`Format::to_ebnf`] print the grammar of a format and its tools for constrained samplers, and say
//!   why where there is [none](NoGrammar).
//!
//! # Features
//!
//! `serde`: [`Reply`], [`Event`], [`Delta`], [`Format`] and what they are made of are `Serialize` and `Deserialize`, arguments are
//! decoded into types, and a [`FormatTable`] is read from JSON. Off by default; without it the crate needs `serde_json` alone.
//!
//! # What is not read
//!
//! Of the cases in the test suites of other parsers these are left out on purpose:
//!
//! - A bare name and JSON on the next line, without a mark before either: prose lists names so.
//! - `>>>name` of Functionary within a line: it counts at the start of one.
//! - Bare JSON behind prose on its line, unless its one format was told: JSON counts at the start of a line, or in a fence.
//! - Two lists of Python's calls on one line with prose between them: such a line talks about them. One list counts beside prose.
//!
//! # What counts
//!
//! - A label counts at the start of a line, and a name when it was [declared](Declared). Labels, tags and brackets
//!   inside a JSON string are data.
//! - Small faults of JSON are mended and [noted](Note), the content of strings is not touched, and a call that the text
//!   breaks off is no call.
//! - A tool's result that the model repeats holds no calls and no answer: what stands between the marks of one, or behind
//!   `Observation:` up to the next thought or answer. The turn of another role ends the reply.
//! - Reasoning (`<think>` and its relatives in any case, and each model's own marks) holds no calls. This and the line before hold
//!   whichever formats are looked for. A close mark counts where reasoning is open, or once
//!   before any was opened; another one is text. After a call, what the model invents (an observation, an answer that cannot
//!   know the result) does not count.
//! - What is shown is not called, and leaves a [note](NoteKind::Quoted): in a blockquote, a comment, a row of a table, inline code, quotation marks, or a fence in
//!   another fence. Inline code and quotation marks begin before the call and end behind it on its line; over lines, pairs such as “…”
//!   do within a paragraph, and straight quotes, apostrophes and backticks where they stand directly around the call, with at most
//!   16 KiB between. What has no end encloses nothing. A call in a plain fence of its own is one, also on a single line.
//! - Plain text is an argument where a format has words: behind `Action Input:`, as a string of `action_input`,
//!   in `cwm` and in `langchain_xml`; never behind a mark that announces JSON.
//! - Whatever was meant as a call and cannot be one is a [`ParseError`], which turns itself into a sentence for the
//!   model, and so does every note. A mark that looks like a call's and belongs to no known format is text with a note, and so
//!   is a list of Python's calls in which one cannot be read.
//!
//! No text makes the parser panic or overflow the stack, and its time is linear in the text, however it is cut.

// An older compiler than that of the workspace reads this crate.
#![deny(clippy::incompatible_msrv)]

mod constrain;
mod declared;
mod format;
mod json;
mod neutralise;
mod parse;
mod policy;
mod readers;
mod reply;
mod schema;
mod text;
mod work;

pub use constrain::NoGrammar;
pub use declared::{CallKind, Declared, ParamType};
pub use format::{Format, UnknownFormat};
pub use json::fault::{Repair, RepairKind};
pub use neutralise::{neutralise, restore};
pub use parse::deltas::{CallDelta, Delta, Deltas, FunctionDelta};
pub use parse::parser::Parser;
pub use parse::stream::Stream;
pub use policy::{Bare, Lock, Mark, Policy};
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
#[cfg(all(doctest, feature = "serde"))]
#[doc = include_str!("../README.md")]
struct Readme;
