//! Any server that speaks OpenAI's HTTP API (OpenAI itself, vLLM, llama.cpp, Ollama, a gateway) as hanok's
//! [`ChatModel`](hanok_model::ChatModel) and [`Embedder`](hanok_model::Embedder).
//!
//! ```no_run
//! # use hanok_core::Call;
//! use hanok_model::{ChatModel, ChatRequest};
//! use hanok_openai::OpenAi;
//! use hanok_state::Message;
//!
//! # async fn ask(call: &Call) -> Result<(), hanok_model::ModelError> {
//! let model = OpenAi::from_env().await?;
//! let reply = model.chat(ChatRequest::new([Message::user("휴가는 며칠인가요?")]), call).await?;
//! println!("{}", reply.message.text());
//! # Ok(())
//! # }
//! ```
//!
//! # Settings
//!
//! | variable | meaning |
//! | --- | --- |
//! | `OPENAI_BASE_URL` | the address of the API, `…/v1`. Default: OpenAI's own |
//! | `OPENAI_API_KEY` | the key. Without one no `Authorization` header is sent |
//! | `OPENAI_MODEL` | the chat model. Without it the server's only model; with several, the error lists them |
//! | `OPENAI_EMBEDDING_MODEL` | the model of [`OpenAiEmbedder`] |
//! | `OPENAI_TIMEOUT` | how many seconds a server may be silent; a call may take five times as long in all, and at least 600 s. Default: 120 |
//!
//! Either of the first two means that there is a server ([`OpenAi::is_configured`]). All of it can be set in code:
//! [`OpenAi::builder`].
//!
//! # What happens when a server misbehaves
//!
//! Every failure is a [`ModelError`](hanok_model::ModelError) by what to do about it, with the server's words as its
//! source. A lost connection, a status of 5xx and 429 are tried again with a growing, random wait, or after the
//! `Retry-After` of the server; never after the first piece of a stream was seen, and never past the call's deadline. Each
//! wait and the size of each answer is bounded. The key is cut out of everything a server says, also in its base64 and
//! percent-encoded forms.
//!
//! A stream that says an error, or breaks off with something else after good pieces, is a failed server
//! ([`ModelError::Server`](hanok_model::ModelError::Server)).
//!
//! # What is async-openai's, and what is not
//!
//! Requests are built as the types of `async-openai`. Its client is not used: it always sends an `Authorization` header and
//! does not bound what it reads. Nor are its types of answers, which want what many servers leave out and drop
//! `reasoning_content`. The transport is `reqwest` alone. What a program configured for async-openai, Azure among it, is taken
//! by `OpenAi::from_config` (feature `config`).
//! Redirects are not followed: a key goes to the address that was configured and to no other. A proxy of the environment
//! is used except for a server on this machine.

mod builder;
mod chat;
mod client;
#[cfg(feature = "config")]
mod config;
mod embedder;
mod environment;
mod http_date;
mod not_configured;
mod redact;
mod refusal;
mod retry;
mod server;
mod sse;
mod tls;
mod wait;
mod wire;

// The crates whose types stand in what this one says.
pub use hanok_core as core;
pub use hanok_model as model;

pub use builder::OpenAiBuilder;
pub use chat::OpenAi;
pub use embedder::OpenAiEmbedder;

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
