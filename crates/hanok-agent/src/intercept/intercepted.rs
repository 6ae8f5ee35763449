//! Interceptors around a model outside an agent.

use hanok_core::Call;
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError, SharedModel};
use hanok_parse::Language;

use super::{Interceptor, SharedInterceptor, TurnContext, chain::NextModel};
use crate::usage::TurnUsage;

/// A model with interceptors around it, for nodes of one's own and for whatever takes a model.
///
/// ```
/// use hanok_agent::{Intercepted, Redaction};
/// use hanok_core::{Call, CallKey};
/// use hanok_model::{ChatModel, ChatRequest, Exchange, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let call = Call::new(CallKey::new("1"), hanok_graph::Runtime::default().clock);
/// let model = ScriptedModel::new([Exchange::says("ok").contains("mail [EMAIL_1]")]);
/// let model = Intercepted::new(model).intercept(Redaction::new());
/// model.chat(ChatRequest::new(["mail kim@example.com"]), &call).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Intercepted {
    model: SharedModel,
    interceptors: Vec<SharedInterceptor>,
    language: Language,
}

impl Intercepted {
    /// `model`, with nothing around it yet.
    pub fn new(model: impl ChatModel) -> Self {
        let (model, language) = (SharedModel::new(model), Language::default());
        Self { model, interceptors: Vec::new(), language }
    }

    /// Adds an interceptor within those that were added before. Default: none.
    pub fn intercept(mut self, interceptor: impl Interceptor) -> Self {
        self.interceptors.push(SharedInterceptor::new(interceptor));
        self
    }

    /// The language of what interceptors say to the model. Default: English.
    pub fn language(self, language: Language) -> Self {
        Self { language, ..self }
    }
}

impl ChatModel for Intercepted {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        let usage = TurnUsage { spent: call.spend().turn(), ..TurnUsage::default() };
        let turn = TurnContext { agent: "", usage: &usage, language: self.language };
        NextModel::new(&self.interceptors, &self.model, turn).run(request, call).await
    }
}
