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
//! Beside them stands what a search reads of a text: its [`words`].
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

mod call;
mod cancel;
mod change;
mod clock;
mod effect;
mod encode;
mod fold;
mod ids;
mod json;
mod labels;
mod meter;
mod msgpack;
mod name;
mod printable;
mod schema;
mod secret;
mod shared;
mod spawn;
mod stored;
mod words;

pub use call::{Ask, AskError, Call, CallKey, Check, Request, RequestId, Token, TokenSink};
pub use cancel::{Cancellation, Cancelled};
pub use change::{Change, Changes, MessageChange};
pub use clock::{Clock, Timestamp};
pub use effect::Effect;
pub use fold::{Field, Fields, FoldError, MessageFold};
pub use ids::{Ids, Rng};
pub use labels::{ItemKey, Labels};
pub use meter::{Budget, Charge, Limit, Meter, OverBudget, Spent};
pub use msgpack::{Reader, Writer};
pub use name::{InvalidName, Namespace, Position, RunId, TaskId, Tenant, ThreadKey};
pub use printable::Printable;
pub use schema::{StoredField, StoredSchema};
pub use secret::Secret;
pub use shared::Shared;
pub use spawn::{Spawned, Spawner};
pub use stored::{Stored, StoredError};
pub use words::{Script, Word, words};

/// A boxed error of any kind, as a cause.
pub type BoxError = Box<dyn std::error::Error + Send + Sync + 'static>;

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
