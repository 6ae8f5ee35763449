//! Summaries of conversations that are handed over.

use std::{fmt, sync::Arc};

use hanok_core::{BoxError, BoxFuture, Call};
use hanok_model::{ChatModel, ChatRequest, DataMark, SharedModel};
use hanok_parse::{Language, Parser, restore};
use hanok_state::Message;
use hanok_telemetry::ContentCapture;

use crate::{
    conversation, prompt,
    protocol::Protocol,
    reply::ask_model::{Reading, ask_model},
};

type Summarise =
    dyn Fn(Vec<Message>, Call) -> BoxFuture<'static, Result<String, BoxError>> + Send + Sync;

/// Makes a summary of a conversation, for [`HandoffHistory::Summary`](crate::HandoffHistory::Summary). Clones are the same.
///
/// ```
/// use hanok_agent::Summariser;
///
/// let first = Summariser::new(|messages, _call| async move {
///     let first = messages.first().map(|message| message.text().into_owned());
///     first.ok_or("nothing was said")
/// });
/// # drop(first);
/// ```
#[derive(Clone)]
pub struct Summariser(Arc<Summarise>);

impl Summariser {
    /// A summary is what `summarise` makes of the messages.
    pub fn new<F, Fut, E>(summarise: F) -> Self
    where
        F: Fn(Vec<Message>, Call) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        Self(Arc::new(move |messages, call| {
            let made = summarise(messages, call);
            Box::pin(async move { made.await.map_err(Into::into) })
        }))
    }

    /// A summary is what `model` answers when it is asked for one in `language`. It is shown the conversation as data.
    ///
    /// ```
    /// use hanok_agent::{HandoffHistory, HandoffTool, Language, Summariser};
    /// use hanok_model::ScriptedModel;
    ///
    /// // A small model summarises what the large ones wrote.
    /// let small = ScriptedModel::new([]);
    /// let summariser = Summariser::model(small, Language::Korean);
    /// let handoff = HandoffTool::to("billing", "Knows invoices").history(HandoffHistory::Summary);
    /// # drop((summariser, handoff));
    /// ```
    pub fn model(model: impl ChatModel, language: Language) -> Self {
        let model = SharedModel::new(model);
        Self::new(move |messages, call| {
            let model = model.clone();
            async move {
                let request = summary_request(&messages, &call, language);
                let (parser, off) = (Parser::default().without_calls(), ContentCapture::Off);
                let reading = Reading::new(&parser, Protocol::Native);
                let reply = ask_model(&model, request, &call, reading, off).await?;
                let said = parser.parse(&reply.message.text()).content;
                Ok::<_, hanok_model::ModelError>(restore(&said).into_owned())
            }
        })
    }

    /// The summary of `messages`.
    pub(crate) fn summarise(
        &self,
        messages: Vec<Message>,
        call: Call,
    ) -> BoxFuture<'static, Result<String, BoxError>> {
        (self.0)(messages, call)
    }
}

fn summary_request(messages: &[Message], call: &Call, language: Language) -> ChatRequest {
    let transcript = DataMark::of_call(call).around(&conversation::transcript(messages));
    ChatRequest::new([Message::system(prompt::summarise(language)), Message::user(transcript)])
}

impl fmt::Debug for Summariser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Summariser")
    }
}
