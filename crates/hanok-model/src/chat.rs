//! Models that answer conversations.

use std::fmt;

use hanok_core::Call;

use crate::{ChatReply, ChatRequest, ModelError};

/// A language model.
///
/// ```
/// use hanok_core::{Call, Token};
/// use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError, Usage};
/// use hanok_state::Message;
///
/// /// Says what the user said.
/// #[derive(Debug)]
/// struct Echo;
///
/// impl ChatModel for Echo {
///     fn name(&self) -> &str {
///         "echo"
///     }
///
///     async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
///         if call.stop().is_cancelled() {
///             return Err(ModelError::Cancelled);
///         }
///         let text = request.messages.last().map(|last| last.text().into_owned()).unwrap_or_default();
///         if let Some(sink) = call.sink() {
///             sink.token(Token::Text(text.clone()));
///         }
///         let usage = Usage { output_tokens: 1, estimated: true, ..Usage::default() };
///         call.spend().add(usage.spent());
///         Ok(ChatReply::new(Message::assistant(text), self.name()).usage(usage))
///     }
/// }
///
/// # #[derive(Debug)]
/// # struct Still;
/// # impl hanok_core::Clock for Still {
/// #     fn now(&self) -> hanok_core::Timestamp { hanok_core::Timestamp::default() }
/// #     fn sleep(&self, _: std::time::Duration) -> hanok_core::BoxFuture<'static, ()> {
/// #         Box::pin(std::future::pending())
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ModelError> {
/// # let call = Call::new(hanok_core::CallKey::new("1"), std::sync::Arc::new(Still));
/// let reply = Echo.chat(ChatRequest::new(["안녕"]), &call).await?;
/// assert_eq!((reply.message.text().as_ref(), call.spend().spent().model_calls), ("안녕", 1));
/// # Ok(())
/// # }
/// ```
///
/// # Contract
///
/// - When [`Call::sink`] is `Some`, the model sends what it writes to it while it writes, piece by piece, and the
///   pieces put together are the text (and the reasoning) of the reply. A tool call is only in the reply: nobody can act
///   on half of one.
/// - Every reply that was paid for is counted in [`Call::spend`]: one model call and its tokens.
/// - [`Call::stop`] ends the call at once with [`ModelError::Cancelled`], [`Call::time_left`] with
///   [`ModelError::TimedOut`].
/// - What is tried again is tried again inside, and never after the first piece went to the sink.
///
/// A [`SharedModel`](crate::SharedModel), which is what agents ask, does the first three for a model that leaves them out.
pub trait ChatModel: fmt::Debug + Send + Sync + 'static {
    /// The model's name, as its server knows it.
    fn name(&self) -> &str;

    /// Answers `request`.
    ///
    /// # Errors
    ///
    /// [`ModelError`]: its variants say what to do.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the request. The tokens it cost are then not counted.
    fn chat(
        &self,
        request: ChatRequest,
        call: &Call,
    ) -> impl Future<Output = Result<ChatReply, ModelError>> + Send;

    /// Asks the model `text`, outside of a graph, and returns the text of its reply.
    ///
    /// ```
    /// # use hanok_model::{ChatModel, ModelError};
    /// async fn capital(model: &impl ChatModel) -> Result<String, ModelError> {
    ///     model.ask("What is the capital of Korea? One word.").await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`chat`](ChatModel::chat).
    #[cfg(feature = "system-clock")]
    fn ask(
        &self,
        text: impl Into<String>,
    ) -> impl Future<Output = Result<String, ModelError>> + Send
    where
        Self: Sized,
    {
        let request = ChatRequest::new([hanok_state::Message::user(text.into())]);
        async move {
            let reply = self.chat(request, &Call::detached()).await?;
            Ok(reply.message.text().into_owned())
        }
    }
}
