//! The questions of a task: their identity, their terms, and the answers that it reads.

use std::sync::Arc;

use crate::{ids::Digest, node::attempt::TaskAttempt};
use hanok_checkpoint::{CheckpointError, Question};
use hanok_core::{Ask, AskError, BoxFuture, CallKey, NoteError, Request, RequestId, Stored};

/// An answer that does not fit its question.
#[derive(Debug, Clone)]
pub(crate) struct UnfitAnswer {
    pub(crate) id: String,
    /// The type that the node reads.
    pub(crate) expected: String,
    pub(crate) answer: Stored,
    pub(crate) reason: String,
}

impl TaskAttempt {
    /// The answer to the task's next question, if there is one; otherwise asks the question.
    pub(crate) fn ask(&self, request: Request) -> Result<Stored, AskError> {
        let Request { payload, schema, deadline, audience, check } = request;
        let scripted = self.stored_steps().scripted.as_deref();
        if !self.env.journal.is_kept() && scripted.is_none() {
            return Err(AskError::Nobody {
                reason: "an interrupt needs a checkpointer: the run has to end and go on later",
            });
        }
        let mut log = self.log();
        // Counted among equal ones: a question that another one comes before stays the same question.
        let before = log.questions.entry((payload.clone(), schema.clone())).or_default();
        let ordinal = *before;
        *before += 1;
        let id = Digest::new("question")
            .part(self.id().as_bytes())
            .part(&[u8::from(self.handling)])
            .part(&ordinal.to_le_bytes())
            .part(payload.as_bytes())
            .part(schema.as_deref().unwrap_or_default().as_bytes())
            .hex();
        let scripted = scripted.unwrap_or_default().iter().filter(|(asked, _)| *asked == payload);
        let scripted = scripted.map(|(_, answer)| answer).nth(ordinal as usize);
        if let Some(answer) = self.stored_steps().answers.get(&id).or(scripted) {
            log.used.insert(id.clone());
            let Some((check, error)) = check.and_then(|check| {
                let error = check.read(answer).err()?;
                Some((check, error))
            }) else {
                return Ok(answer.clone());
            };
            log.unfit.push(UnfitAnswer {
                id: id.clone(),
                expected: check.expected().to_owned(),
                answer: answer.clone(),
                reason: hanok_core::Chain(&*error).to_string(),
            });
            return Err(AskError::Waiting(RequestId(id.into())));
        }
        // A question that was asked keeps the deadline that it was asked with.
        let stored = self.stored_steps().questions.iter().find(|stored| stored.id == id);
        let deadline = stored.map_or(deadline, |stored| stored.deadline);
        if stored.is_some() && deadline.is_some_and(|d| d <= self.env.runtime.clock.now()) {
            return Err(AskError::Expired(RequestId(id.into())));
        }
        log.questions_asked.push(Question {
            id: id.clone(),
            task: self.id(),
            node: self.task.node.to_string(),
            payload,
            schema: schema.map(|schema| schema.to_string()),
            deadline,
            audience: (!audience.is_everybody()).then_some(audience),
        });
        Err(AskError::Waiting(RequestId(id.into())))
    }

    /// The answered questions of the task that it did not ask again when it ran again.
    pub(crate) fn unused(&self) -> Vec<Question> {
        let (task, log, steps) = (self.id(), self.log(), self.stored_steps());
        let stored = steps.questions.iter().filter(|question| question.task == task);
        let answered = stored.filter(|question| steps.answers.contains_key(&question.id));
        answered.filter(|question| !log.used.contains(&question.id)).cloned().collect()
    }
}

/// Lets the calls of a task ask questions, and keeps their notes.
pub(crate) struct Asker(pub(crate) Arc<TaskAttempt>);

impl Ask for Asker {
    fn ask(&self, request: Request) -> BoxFuture<'_, Result<Stored, AskError>> {
        Box::pin(async move { self.0.ask(request) })
    }

    fn note<'a>(&'a self, key: &'a CallKey, note: Stored) -> BoxFuture<'a, Result<(), NoteError>> {
        Box::pin(async move {
            let failed =
                |error: CheckpointError| NoteError { key: key.clone(), source: error.into() };
            self.0.note(key.as_str(), note).await.map_err(failed)
        })
    }

    fn noted(&self, key: &CallKey) -> Option<Stored> {
        self.0.noted(key.as_str())
    }
}
