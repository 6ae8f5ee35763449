//! Questions to a person, which suspend the run until they are answered.

use std::{fmt, sync::Arc};

use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::{
    boxed::{BoxError, BoxFuture},
    call::{CallKey, audience::Audience},
    clock::Timestamp,
    name::{InvalidName, checked},
    panicked::Panicked,
    stored::value::Stored,
    text_form,
};

/// Names one request to a person. As text and as JSON it is that text; one that is read so is checked like every name.
///
/// ```
/// use hanok_core::RequestId;
///
/// let id: RequestId = "q-17".parse()?;
/// assert_eq!(id, RequestId("q-17".into()));
/// assert!(RequestId::try_from("x".repeat(257)).is_err());
/// # Ok::<(), hanok_core::InvalidName>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub Arc<str>);

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_form! {
    RequestId: |text| checked("request's id", text).map(Self) => InvalidName;
}

/// A question to a person.
#[derive(Debug, Clone)]
pub struct Request {
    /// The value that the person sees.
    pub payload: Stored,
    /// The JSON Schema that an answer has to fit, as JSON text.
    pub schema: Option<Arc<str>>,
    /// Until when an answer counts.
    pub deadline: Option<Timestamp>,
    /// The people who may answer.
    pub audience: Audience,
    /// A further check of the answer. One that fails it leaves the question open.
    pub check: Option<Check>,
}

/// Reads an answer, or says why it cannot.
type ReadAnswer = dyn Fn(&Stored) -> Result<(), BoxError> + Send + Sync;

/// A check of an answer before it is taken as one.
///
/// ```
/// use hanok_core::{Check, Stored};
///
/// let check = Check::of::<bool>();
/// check.read(&Stored::encode(&true)?)?;
/// assert!(check.read(&Stored::encode("perhaps")?).is_err());
/// assert_eq!(check.expected(), "bool");
/// # Ok::<(), hanok_core::BoxError>(())
/// ```
#[derive(Clone)]
pub struct Check {
    expected: Arc<str>,
    read: Arc<ReadAnswer>,
}

impl Check {
    /// An answer has to be what `expected` names, and `read` has to be able to read it.
    pub fn new(
        expected: impl Into<Arc<str>>,
        read: impl Fn(&Stored) -> Result<(), BoxError> + Send + Sync + 'static,
    ) -> Self {
        Self { expected: expected.into(), read: Arc::new(read) }
    }

    /// An answer has to be a `T`.
    pub fn of<T: DeserializeOwned>() -> Self {
        let read: fn(&Stored) -> Result<(), BoxError> =
            |answer| Ok(answer.decode::<T>().map(drop)?);
        Self::new(std::any::type_name::<T>(), read)
    }

    /// The name of what is expected, for people.
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Reads an answer.
    ///
    /// # Errors
    ///
    /// Why it cannot be read; a check that panics is none that passes.
    pub fn read(&self, answer: &Stored) -> Result<(), BoxError> {
        Panicked::catch(|| (self.read)(answer))?
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("expected", &self.expected).finish_non_exhaustive()
    }
}

impl Request {
    /// A request that shows `payload`, takes any answer of anybody, and waits for ever.
    pub fn new(payload: Stored) -> Self {
        let audience = Audience::everybody();
        Self { payload, schema: None, deadline: None, audience, check: None }
    }
}

/// Why a question has no answer now.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AskError {
    /// The run stops here and goes on when the answer is there. Hand this error on.
    #[error("waiting for an answer to `{0}`")]
    Waiting(RequestId),
    /// Nobody answered in time.
    #[error("nobody answered `{0}` before its deadline")]
    Expired(RequestId),
    /// Nobody can be asked here.
    #[error("nobody can be asked here: {reason}")]
    Nobody {
        /// Why not.
        reason: &'static str,
    },
    /// The question or its answer could not be read or written.
    #[error("a question could not be asked")]
    Failed(#[source] BoxError),
}

/// A note of a call that could not be kept.
#[derive(Debug, Error)]
#[error("a note of the call {key} could not be kept")]
pub struct NoteError {
    /// The call.
    pub key: CallKey,
    /// The cause.
    #[source]
    pub source: BoxError,
}

/// The error of a call that is under way and of which nobody knows any more what became: its [note](crate::Call::note) leads nowhere, such
/// as a handle that a server has forgotten. The note is dropped, and the call is in doubt like one without a note.
///
/// ```
/// use hanok_core::{BoxError, Call, LostCall};
///
/// async fn wait(call: Call) -> Result<String, BoxError> {
///     match call.noted::<String>()? {
///         Some(job) => Err(LostCall(format!("the server knows no job {job}").into()).into()),
///         None => Ok("begun and done".to_owned()),
///     }
/// }
/// ```
#[derive(Debug, Error)]
#[error("{0}")]
pub struct LostCall(#[source] pub BoxError);

/// The run behind a call: asks a person, and suspends the run until they answer; keeps notes of calls that are under way.
pub trait Ask: Send + Sync + 'static {
    /// Asks `request`.
    ///
    /// # Errors
    ///
    /// [`AskError::Waiting`] when the run has to stop for the answer; hand it on.
    fn ask(&self, request: Request) -> BoxFuture<'_, Result<Stored, AskError>>;

    /// Keeps `note` of the call `key`, in the place of an earlier one. It is safe when this returns. Default: nothing is kept.
    ///
    /// # Errors
    ///
    /// [`NoteError`] when it cannot be kept.
    fn note<'a>(&'a self, key: &'a CallKey, note: Stored) -> BoxFuture<'a, Result<(), NoteError>> {
        let (_, _) = (key, note);
        Box::pin(std::future::ready(Ok(())))
    }

    /// The newest note of the call `key`. Default: none.
    fn noted(&self, key: &CallKey) -> Option<Stored> {
        let _ = key;
        None
    }
}
