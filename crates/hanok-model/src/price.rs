//! The price of a model.

use hanok_core::{Call, Spent};

use crate::{ChatModel, ChatReply, ChatRequest, ModelError, Usage};

/// The price of a model's tokens, in millionths for a million of them: a model whose million of input tokens costs 2.50
/// has `input: 2_500_000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Of a million tokens that the model reads.
    pub input: u64,
    /// Of a million tokens that it writes.
    pub output: u64,
}

impl Price {
    /// The cost of an exchange, in millionths, rounded up.
    pub fn of(self, usage: Usage) -> u64 {
        let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let cost = part(usage.input_tokens, self.input) + part(usage.output_tokens, self.output);
        u64::try_from(cost.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// A model whose calls are counted with what they cost, so that a turn's budget can hold it.
///
/// ```
/// use hanok_model::{Price, Usage};
///
/// let price = Price { input: 2_500_000, output: 10_000_000 };
/// let usage = Usage { input_tokens: 1_000, output_tokens: 200, ..Usage::default() };
/// assert_eq!(price.of(usage), 4_500);
/// ```
#[derive(Debug, Clone)]
pub struct Priced<M> {
    model: M,
    price: Price,
}

impl<M: ChatModel> Priced<M> {
    /// Counts what `model` costs at `price`.
    pub fn new(model: M, price: Price) -> Self {
        Self { model, price }
    }
}

impl<M: ChatModel> ChatModel for Priced<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        let reply = self.model.chat(request, call).await?;
        call.spend().add(Spent { cost: self.price.of(reply.usage), ..Spent::default() });
        Ok(reply)
    }
}
