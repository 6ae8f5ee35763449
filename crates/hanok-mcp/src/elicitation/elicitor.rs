//! Somebody who answers at once.

use std::{fmt, pin::pin, sync::Arc, time::Duration};

use futures::future::{Either, select};
use hanok_core::{BoxFuture, Clock};

use super::{answer::ElicitationAnswer, question::Elicitation};

/// The time for which an answer at once is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Asks a person who is there now, for servers of the versions up to 2025-11-25: those wait for the answer within the call. A
/// server of 2026-07-28 does not, and is answered through the call's run.
///
/// # Contract
///
/// - Dropping the future withdraws the question: after 120 s, or when the server takes it back.
/// - An answer that does not fit the form counts as [`ElicitationAnswer::Cancel`].
///
/// ```
/// use hanok_mcp::{Elicitation, ElicitationAnswer, Elicitor};
///
/// /// Declines whatever is asked, and says so.
/// #[derive(Debug)]
/// struct Unattended;
///
/// impl Elicitor for Unattended {
///     async fn elicit(&self, question: &Elicitation) -> ElicitationAnswer {
///         println!("{} wants to know: {}", question.server, question.message);
///         ElicitationAnswer::Decline
///     }
/// }
/// ```
pub trait Elicitor: fmt::Debug + Send + Sync + 'static {
    /// Puts `question` to the person.
    fn elicit(&self, question: &Elicitation) -> impl Future<Output = ElicitationAnswer> + Send;
}

trait Erased: fmt::Debug + Send + Sync {
    fn elicit_boxed<'a>(&'a self, question: &'a Elicitation) -> BoxFuture<'a, ElicitationAnswer>;
}

impl<E: Elicitor> Erased for E {
    fn elicit_boxed<'a>(&'a self, question: &'a Elicitation) -> BoxFuture<'a, ElicitationAnswer> {
        Box::pin(self.elicit(question))
    }
}

/// Any [`Elicitor`], chosen at run time.
#[derive(Debug, Clone)]
pub(crate) struct SharedElicitor(Arc<dyn Erased>);

impl SharedElicitor {
    pub(crate) fn new(elicitor: impl Elicitor) -> Self {
        Self(Arc::new(elicitor))
    }
}

/// The elicitor of a client, with its clock.
#[derive(Debug, Clone)]
pub(crate) struct Prompter {
    pub(crate) elicitor: Option<SharedElicitor>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// An answer at once, and why it is none of a person's.
#[derive(Debug)]
pub(crate) struct Prompted {
    pub(crate) answer: ElicitationAnswer,
    pub(crate) unanswered: Option<&'static str>,
}

impl Prompted {
    pub(crate) fn cancelled(reason: &'static str) -> Self {
        Self { answer: ElicitationAnswer::Cancel, unanswered: Some(reason) }
    }
}

impl Prompter {
    /// The answer to `question`, or a cancelled one when there is none in time.
    pub(crate) async fn ask(&self, question: &Elicitation) -> Prompted {
        let Some(elicitor) = &self.elicitor else {
            return Prompted::cancelled("nobody can be asked at once");
        };
        let answering = elicitor.0.elicit_boxed(question);
        match select(answering, pin!(self.clock.sleep(PATIENCE))).await {
            Either::Left((answer, _)) => match question.check(&answer) {
                Ok(()) => Prompted { answer, unanswered: None },
                Err(_) => Prompted::cancelled("the answer does not fit the form"),
            },
            Either::Right(_) => Prompted::cancelled("nobody answered within 120 s"),
        }
    }
}
