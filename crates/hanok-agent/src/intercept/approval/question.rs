//! Questions that people decide, put to one audience after the other.

use hanok_core::{AskError, Audience, BoxError, Call, Check, Request, Stored, Timestamp};
use serde::Serialize;

use super::{
    decision::{Decision, DecisionKind},
    overdue::Escalation,
};

/// A question that is answered by a [`Decision`].
#[derive(Debug)]
pub(crate) struct DecisionQuestion<'a> {
    payload: Stored,
    /// What an answer is called, for people.
    expected: &'static str,
    digest: &'a str,
    allowed: &'a [DecisionKind],
    /// The JSON schema of the answers.
    answers: &'a str,
}

impl<'a> DecisionQuestion<'a> {
    /// Shows `shown`, which has this `digest`.
    pub(crate) fn new(
        shown: &impl Serialize,
        expected: &'static str,
        digest: &'a str,
        allowed: &'a [DecisionKind],
        answers: &'a str,
    ) -> Result<Self, AskError> {
        let payload = Stored::encode(shown).map_err(|error| AskError::Failed(error.into()))?;
        Ok(Self { payload, expected, digest, allowed, answers })
    }

    /// Asks the people of `audience`, then those of each escalation as long as nobody answers in time.
    pub(crate) async fn decide(
        &self,
        call: &Call,
        audience: &Audience,
        deadline: Option<Timestamp>,
        escalations: &[Escalation],
    ) -> Result<Decision, AskError> {
        let mut asked = self.put(call, audience, deadline).await;
        for Escalation { audience, within } in escalations {
            if !matches!(asked, Err(AskError::Expired(_))) {
                break;
            }
            // A question that was asked keeps the deadline that it was asked with.
            let deadline = call.clock().now().plus(*within);
            asked = self.put(call, audience, Some(deadline)).await;
        }
        asked
    }

    async fn put(
        &self,
        call: &Call,
        audience: &Audience,
        deadline: Option<Timestamp>,
    ) -> Result<Decision, AskError> {
        let (digest, allowed) = (self.digest.to_owned(), self.allowed.to_vec());
        let read = move |answer: &Stored| Decision::read(answer, &digest, &allowed);
        let check = {
            let read = read.clone();
            Check::new(self.expected, move |answer| read(answer).map(drop))
        };
        let request = Request {
            schema: Some(self.answers.into()),
            deadline,
            audience: audience.clone(),
            check: Some(check),
            ..Request::new(self.payload.clone())
        };
        let read: Result<Decision, BoxError> = read(&call.question(request).await?);
        read.map_err(AskError::Failed)
    }
}
