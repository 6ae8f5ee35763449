//! Sends hanok's traces to an OpenTelemetry collector: OTLP over HTTP with protobuf, TLS by rustls.
//!
//! ```no_run
//! use hanok_otlp::{OtlpConfig, install};
//!
//! # async fn run() -> Result<(), hanok_otlp::OtlpError> {
//! let traces = install(OtlpConfig::new("http://localhost:4318", "leave-desk"))?;
//! // … graphs run, and each run is a trace …
//! traces.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Spans are gathered and sent by a thread of their own; a collector that is slow or gone holds nobody up, and spans beyond
//! what is gathered are dropped. What goes wrong is told as a warning under the target `hanok_otlp`.
//!
//! Only hanok's own spans are sent, and they hold no prompt, answer, argument or result unless
//! [`ContentCapture`](hanok_telemetry::ContentCapture) is on; [`OtlpConfig::target`] adds those of your crates.

mod collector;
mod config;
mod error;
mod export;

// The crates whose types stand in what this one says.
pub use hanok_telemetry as telemetry;

pub use config::OtlpConfig;
pub use error::OtlpError;
pub use export::{OtlpGuard, install, layer};

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
