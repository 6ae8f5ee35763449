//! Any chat model, and what it leaves out of its contract.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hanok_core::{BoxFuture, Call, Charge, Token, TokenSink};

use crate::{ChatModel, ChatReply, ChatRequest, ModelError, race::until_the_end_of};

/// Any [`ChatModel`], chosen at run time. Clones share the model.
///
/// It does what the model leaves out of its contract: it asks [`Call::admit`] before each call, ends a call that is stopped or
/// whose time is over, counts [`ChatReply::usage`] when the model counted neither a call nor a token, and sends the whole reply to
/// the sink when the model sent no piece of it.
///
/// ```
/// use hanok_core::{Budget, Call, Meter, OverBudget, Spent};
/// use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError, SharedModel, Usage};
/// use hanok_state::Message;
///
/// /// A model that does nothing but answer.
/// #[derive(Debug)]
/// struct Short;
///
/// impl ChatModel for Short {
///     fn name(&self) -> &str {
///         "short"
///     }
///
///     async fn chat(&self, _: ChatRequest, _: &Call) -> Result<ChatReply, ModelError> {
///         let usage = Usage { input_tokens: 1_800, output_tokens: 200, ..Usage::default() };
///         Ok(ChatReply::new(Message::assistant("네"), self.name()).usage(usage))
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
/// # fn call() -> Call {
/// #     Call::new(hanok_core::CallKey::new("1"), std::sync::Arc::new(Still))
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ModelError> {
/// let budget = Budget { tokens: Some(5_000), ..Budget::default() };
/// let (model, meter) = (SharedModel::new(Short), Meter::budgeted(budget, Spent::default()));
/// for _ in 0..3 {
///     model.chat(ChatRequest::new(["졸리니?"]), &call().meter(meter.clone())).await?;
/// }
/// assert_eq!((meter.spent().model_calls, meter.spent().tokens()), (3, 6_000));
/// let refused = model.chat(ChatRequest::new(["졸리니?"]), &call().meter(meter)).await;
/// assert!(matches!(refused, Err(ModelError::OverBudget(_))));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct SharedModel(Arc<dyn Erased>);

impl SharedModel {
    /// Shares `model`.
    pub fn new(model: impl ChatModel) -> Self {
        Self(Arc::new(model))
    }
}

impl ChatModel for SharedModel {
    fn name(&self) -> &str {
        self.0.name_erased()
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        call.admit(Charge::Model)?;
        let sink = call.sink().map(|sink| Arc::new(Watched::new(sink)));
        let ask = async |call: Call| {
            let watched = match &sink {
                Some(sink) => call.tokens(sink.clone()),
                None => call,
            };
            until_the_end_of(&watched, self.0.chat_boxed(request, &watched)).await
        };
        let (result, counted) = call.metered(ask).await;
        let reply = result?;
        if counted.model_calls == 0 && counted.tokens() == 0 && reply.usage.spent().tokens() > 0 {
            call.spend().add(reply.usage.spent());
        }
        if let Some(sink) = sink {
            sink.whole(&reply);
        }
        Ok(reply)
    }
}

/// A sink that knows whether anything was written to it.
struct Watched {
    sink: Arc<dyn TokenSink>,
    is_written: AtomicBool,
}

impl Watched {
    fn new(sink: &Arc<dyn TokenSink>) -> Self {
        Self { sink: sink.clone(), is_written: AtomicBool::new(false) }
    }

    /// Hands on the whole reply, if nothing of it came.
    fn whole(&self, reply: &ChatReply) {
        if self.is_written.load(Ordering::Acquire) {
            return;
        }
        if let Some(reasoning) = &reply.reasoning {
            self.sink.token(Token::Reasoning(reasoning.clone()));
        }
        let text = reply.message.text();
        if !text.is_empty() {
            self.sink.token(Token::Text(text.into_owned()));
        }
    }
}

impl TokenSink for Watched {
    fn token(&self, token: Token) {
        self.is_written.store(true, Ordering::Release);
        self.sink.token(token);
    }

    fn call_piece(&self, place: u64, name: &str, arguments: &str) {
        self.sink.call_piece(place, name, arguments);
    }
}

trait Erased: fmt::Debug + Send + Sync {
    fn name_erased(&self) -> &str;

    fn chat_boxed<'a>(
        &'a self,
        request: ChatRequest,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>>;
}

impl<M: ChatModel> Erased for M {
    fn name_erased(&self) -> &str {
        self.name()
    }

    fn chat_boxed<'a>(
        &'a self,
        request: ChatRequest,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(self.chat(request, call))
    }
}
