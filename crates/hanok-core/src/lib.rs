//! The names, seams and stored values that every hanok crate agrees on.
//!
//! Three things live here, and nothing that knows a runtime, a database or a model:
//!
//! - **names**: [`Tenant`], [`ThreadKey`], [`Namespace`], [`ItemKey`], [`TaskId`], [`RunId`], [`Position`]: typed, bounded,
//!   never interpolated into anything;
//! - **seams**: [`Clock`], [`Ids`], [`Rng`], [`Spawner`]: nothing in hanok reads a global clock or rolls a global die;
//! - **stored values**: [`Stored`] (one value as canonical msgpack), the closed vocabulary [`Change`], and the fold
//!   [`Fields`] that a log of changes amounts to.
//!
//! Beside them stand what a search reads of a text, its [`words`], and an error with its causes as a text: [`Chain`].
//!
//! ```
//! use hanok_core::{Change, Fields, Stored};
//!
//! let mut fields = Fields::default();
//! fields.apply("log", &Change::Append(vec![Stored::encode(&"opened")?]))?;
//! fields.apply("log", &Change::Append(vec![Stored::encode(&"closed")?]))?;
//! assert_eq!(fields.to_string(), r#"{"log":["opened","closed"]}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod boxed;
mod call;
mod chain;
mod clock;
mod codes;
mod effect;
mod fields;
mod ids;
mod labels;
mod name;
mod near;
mod panicked;
mod printable;
mod rate;
mod risk;
mod secret;
mod sentences;
mod spawn;
mod stored;
#[cfg(feature = "system-clock")]
mod system_clock;
mod text_form;
mod words;

// The crate whose moments `Timestamp` is converted to and from.
#[cfg(feature = "jiff")]
pub use jiff;

pub use boxed::{BoxError, BoxFuture};
pub use call::ask::{Ask, AskError, Check, LostCall, NoteError, Request, RequestId};
pub use call::audience::{Answerer, Audience};
pub use call::cancel::{Cancellation, Cancelled};
pub use call::gate::Gate;
pub use call::info::{CallDescription, CallInfo, CallItem, CallSink};
pub use call::meter::{Budget, Charge, Limit, Meter, OverBudget, Spent};
pub use call::provided::Need;
pub use call::wait::Waiting;
pub use call::{Call, CallKey, Token, TokenSink};
pub use chain::Chain;
pub use clock::{Clock, PastTheEnd, Timestamp};
pub use effect::Effect;
pub use fields::change::{Change, Changes, MessageChange};
pub use fields::fold::{Field, Fields, FoldError, MessageFold};
pub use fields::schema::{StoredField, StoredSchema, StoredState};
pub use ids::{Ids, Rng};
pub use labels::{ItemKey, Labels};
pub use name::{InvalidName, Namespace, Position, RunId, TaskId, Tenant, ThreadKey, from_hex};
pub use near::near;
pub use panicked::Panicked;
pub use printable::Printable;
pub use rate::rate_bounds;
pub use risk::Risk;
pub use secret::Secret;
pub use sentences::sentences;
pub use spawn::{Spawned, Spawner};
pub use stored::error::{Mismatch, StoredError};
pub use stored::msgpack::{Reader, Writer};
pub use stored::shared::Shared;
pub use stored::value::Stored;
#[cfg(feature = "system-clock")]
pub use system_clock::SystemClock;
pub use words::{Script, Word, words};

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
