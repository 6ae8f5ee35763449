//! Calls that must not be repeated.

use hanok_core::{AskError, BoxError};
use hanok_graph::{Context, StepError};

/// The intent to make one call that must not be repeated. It is kept before the call is made: whoever finds it, and no
/// result, cannot know whether the call was made.
#[derive(Debug)]
pub(crate) struct Intent {
    call: String,
    attempt: u32,
}

impl Intent {
    /// The intent to make the call `id`, kept; `None` when an earlier run of the task meant to make it and left no result.
    ///
    /// A run that was suspended because the tool asked a person says so with [`Intent::suspend`]: the call is then made
    /// from its beginning.
    pub(crate) async fn keep(context: &Context, id: &str) -> Result<Option<Self>, StepError> {
        let mine = format!("{:032x}", context.runtime().ids.id());
        for attempt in 0.. {
            let intent = Self { call: id.to_owned(), attempt };
            let meant = || std::future::ready(Ok::<_, BoxError>(mine.clone()));
            let by: String = context.step(&intent.name("intent"), meant).await?;
            if by == mine {
                return Ok(Some(intent));
            }
            if !intent.was_suspended(context).await? {
                break;
            }
        }
        Ok(None)
    }

    /// Takes the intent back: the tool waits for a person.
    pub(crate) async fn suspend(&self, context: &Context) -> Result<(), StepError> {
        let done = || std::future::ready(Ok::<_, BoxError>(()));
        context.step(&self.name("suspended"), done).await
    }

    async fn was_suspended(&self, context: &Context) -> Result<bool, StepError> {
        // A step that fails keeps nothing: it only looks.
        let look =
            || std::future::ready(Err::<(), _>(AskError::Nobody { reason: "not suspended" }));
        match context.step(&self.name("suspended"), look).await {
            Ok(()) => Ok(true),
            Err(StepError::Failed(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn name(&self, what: &str) -> String {
        format!("{what}-{}-{}", self.call, self.attempt)
    }
}
