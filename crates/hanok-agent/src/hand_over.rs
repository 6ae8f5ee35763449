//! The part of a conversation that an agent receives with a hand-off.

use hanok_core::{BoxError, Chain};
use hanok_graph::{Context, StepError};
use hanok_model::DataMark;
use hanok_parse::Language;
use hanok_state::Message;
use serde::{Deserialize, Serialize};

use crate::{
    conversation,
    handoff::{Handoff, HandoffHistory},
    observation::{LONGEST_RESULT, cut},
    progress::AgentProgress,
    summariser::Summariser,
};

/// The part of a conversation that an agent receives with a hand-off.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HandedOver {
    /// The messages, without the task.
    pub messages: Vec<Message>,
    /// The reason for which there is no summary, where one was asked for. The messages are then the user's last one.
    pub no_summary: Option<String>,
}

/// A summary, or the reason for its absence, as the step stores it.
#[derive(Serialize, Deserialize)]
struct StoredSummary {
    text: Result<String, String>,
    mark: DataMark,
}

impl Handoff {
    /// Selects the part of `messages` that the other agent sees, by [`Handoff::history`]. The task is not a part of it:
    /// [`Handoff::message`].
    ///
    /// A summary is made by `summariser` in a memoised step that is named `step`. Without one, because it is empty or fails,
    /// the agent receives the user's last message; [`HandedOver::no_summary`] and [`AgentProgress::NoSummary`] hold the
    /// reason.
    ///
    /// ```
    /// use hanok_agent::{Handoff, HandoffHistory, Language};
    /// use hanok_graph::{Context, StepError};
    /// use hanok_state::Message;
    ///
    /// /// The messages that `billing` reads first.
    /// async fn brief(conversation: &[Message], context: &Context) -> Result<Vec<Message>, StepError> {
    ///     let handoff = Handoff::new("billing").history(HandoffHistory::User);
    ///     let handed = handoff.hand_over(conversation, None, Language::English, context, "brief").await?;
    ///     Ok(handed.messages)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`StepError`] when the summary cannot be stored, or the run was asked to stop.
    pub async fn hand_over<C: Send + Sync + 'static>(
        &self,
        messages: &[Message],
        summariser: Option<&Summariser>,
        language: Language,
        context: &Context<C>,
        step: &str,
    ) -> Result<HandedOver, StepError> {
        let mut no_summary = None;
        let by_user = || messages.iter().filter(|message| conversation::is_from_user(message));
        let last = by_user().next_back().cloned();
        let messages = match self.history {
            HandoffHistory::Full => messages.to_vec(),
            HandoffHistory::User => by_user().cloned().collect(),
            HandoffHistory::Last => last.into_iter().collect(),
            HandoffHistory::None => Vec::new(),
            HandoffHistory::Summary => {
                let summary = summary(messages, summariser, context, step).await?;
                let text = summary.text.map(|text| summary.mark.around(&text));
                let text = text.map(|text| conversation::summary(&text, language));
                no_summary = text.as_ref().err().cloned();
                text.ok().into_iter().chain(last).collect()
            }
        };
        if let Some(reason) = no_summary.clone() {
            context.custom(&AgentProgress::NoSummary { to: self.to.clone(), reason });
        }
        Ok(HandedOver { messages, no_summary })
    }
}

/// The summary of `messages`, made once and for all of the task's runs; so is the failure to make one.
async fn summary<C: Send + Sync + 'static>(
    messages: &[Message],
    summariser: Option<&Summariser>,
    context: &Context<C>,
    step: &str,
) -> Result<StoredSummary, StepError> {
    let call = context.call("model", "summary", step).quiet();
    let work = || async {
        let made = match summariser {
            Some(summariser) => summariser.summarise(messages.to_vec(), call).await,
            None => Err("there is nobody to make a summary".into()),
        };
        let text = match made {
            // A stop is none of the summary's: it is made when the run goes on.
            Err(error) if context.cancellation().is_cancelled() => return Err(error),
            Err(error) => Err(Chain(&*error).to_string()),
            Ok(text) if text.trim().is_empty() => Err("the summary is empty".to_owned()),
            Ok(text) => Ok(cut(text.trim(), LONGEST_RESULT).0.to_owned()),
        };
        Ok::<_, BoxError>(StoredSummary { text, mark: DataMark::new(&*context.runtime().rng) })
    };
    context.step(step, work).await
}
