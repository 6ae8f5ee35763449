//! Counts of tokens.
mod estimate;

use hanok_state::{Content, Message, Part};

use crate::ChatRequest;

/// The tokens of every message besides its text, and of the beginning of the reply: the rule of OpenAI's cookbook,
/// "How to count tokens with tiktoken" (3 tokens a message, 1 for a name, 3 for the reply).
const PER_MESSAGE: u64 = 3;
const PER_NAME: u64 = 1;
const PER_REPLY: u64 = 3;

/// The tokens of a picture of 1024 × 1024 in full detail by OpenAI's rule (85 tokens and 170 for each of four tiles).
const PER_IMAGE: u64 = 765;

/// Counts tokens, with the feature `tiktoken` by OpenAI's vocabularies, which are loaded once in a process. Without it every
/// count is an estimate from the characters of a text, which errs upwards.
///
/// | counter | with `tiktoken` | without |
/// | --- | --- | --- |
/// | [`for_model`](Self::for_model), of OpenAI | its vocabulary, exactly | the estimate |
/// | [`for_model`](Self::for_model), any other | the estimate: other vocabularies make more of Korean than OpenAI's | the estimate |
/// | [`default`](Self::default), no model | o200k_base, that of OpenAI's current models | the estimate |
#[derive(Clone, Debug)]
pub struct TokenCounter {
    counting: Counting,
}

#[derive(Clone, Debug)]
enum Counting {
    Estimate,
    #[cfg(feature = "tiktoken")]
    Exact(exact::Vocabulary),
    /// The vocabulary that a model most likely has.
    #[cfg(feature = "tiktoken")]
    Likely(exact::Vocabulary),
}

impl Default for TokenCounter {
    /// The counter where the model is not known: by o200k_base with the feature `tiktoken`, else the estimate.
    fn default() -> Self {
        #[cfg(feature = "tiktoken")]
        let counting = Counting::Likely(exact::Vocabulary::O200k);
        #[cfg(not(feature = "tiktoken"))]
        let counting = Counting::Estimate;
        Self { counting }
    }
}

#[cfg(feature = "tiktoken")]
mod exact;

impl TokenCounter {
    /// The counter for the model of this name.
    pub fn for_model(name: &str) -> Self {
        #[cfg(feature = "tiktoken")]
        if let Some(vocabulary) = exact::Vocabulary::of(name) {
            return Self { counting: Counting::Exact(vocabulary) };
        }
        let _ = name;
        Self::estimate()
    }

    /// The estimate, for any model.
    pub fn estimate() -> Self {
        Self { counting: Counting::Estimate }
    }

    /// True for a counter that counts texts by the vocabulary of the model that it was made for.
    pub fn is_exact(&self) -> bool {
        match self.counting {
            Counting::Estimate => false,
            #[cfg(feature = "tiktoken")]
            Counting::Exact(_) => true,
            #[cfg(feature = "tiktoken")]
            Counting::Likely(_) => false,
        }
    }

    /// The tokens of `text`.
    pub fn text(&self, text: &str) -> u64 {
        match &self.counting {
            Counting::Estimate => estimate::tokens(text),
            #[cfg(feature = "tiktoken")]
            Counting::Exact(vocabulary) | Counting::Likely(vocabulary) => vocabulary.tokens(text),
        }
    }

    /// The tokens of one message, with what a message costs besides its text.
    pub fn message(&self, message: &Message) -> u64 {
        let name = message.name().map_or(0, |name| self.text(name) + PER_NAME);
        let calls = message.tool_calls().iter();
        let calls: u64 = calls
            .map(|call| PER_MESSAGE + self.text(&call.name) + self.text(call.arguments.as_str()))
            .sum();
        PER_MESSAGE + self.text(&message.role().to_string()) + name + calls + self.content(message)
    }

    /// The tokens that a model reads when it is asked to go on after `messages`.
    pub fn messages<'a>(&self, messages: impl IntoIterator<Item = &'a Message>) -> u64 {
        messages.into_iter().map(|message| self.message(message)).sum::<u64>() + PER_REPLY
    }

    /// The tokens that a model reads for `request`: its messages, and its tools and schema as JSON.
    pub fn request(&self, request: &ChatRequest) -> u64 {
        let tools: u64 = request
            .tools
            .iter()
            .map(|tool| {
                let words = self.text(tool.name()) + self.text(tool.description());
                PER_MESSAGE + words + self.text(&tool.schema().to_string())
            })
            .sum();
        let format = match &request.response_format {
            crate::ResponseFormat::JsonSchema { schema, .. } => self.text(&schema.0.to_string()),
            crate::ResponseFormat::Text => 0,
        };
        self.messages(&request.messages) + tools + format
    }

    fn content(&self, message: &Message) -> u64 {
        match message.content() {
            Content::Text(text) => self.text(text),
            Content::Parts(parts) => parts.iter().map(|part| self.part(part)).sum(),
        }
    }

    fn part(&self, part: &Part) -> u64 {
        match part {
            Part::Text { text } => self.text(text),
            Part::Image { .. } => PER_IMAGE,
            Part::Other { json } => self.text(json.as_str()),
            _ => 0,
        }
    }
}
