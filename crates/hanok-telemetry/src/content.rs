//! The choice of whether traces hold what people, models and tools say.

use tracing::Span;

use crate::names::{INPUT_MESSAGES, OUTPUT_MESSAGES, TOOL_CALL_ARGUMENTS, TOOL_CALL_RESULT};

/// The choice of whether traces hold prompts, answers, arguments and results. Default: `Off`.
///
/// A trace is read by more people than a conversation, kept elsewhere and longer. Whoever switches this on decides that.
/// The text is made by a closure, which is not called unless it is wanted and somebody listens.
///
/// ```
/// use hanok_telemetry::{ContentCapture, tool};
///
/// let span = tool("search", "call-1");
/// ContentCapture::Off.arguments(&span, || unreachable!("nobody asked for it"));
/// ContentCapture::On.arguments(&span, || r#"{"query":"leave"}"#.to_owned());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ContentCapture {
    /// Traces hold names and numbers only.
    #[default]
    Off,
    /// Traces hold what is said, too.
    On,
}

impl ContentCapture {
    /// Records the messages that a model or an agent was given, as JSON.
    pub fn input(self, span: &Span, messages: impl FnOnce() -> String) {
        self.record(span, INPUT_MESSAGES, messages);
    }

    /// Records the messages that a model or an agent answered, as JSON.
    pub fn output(self, span: &Span, messages: impl FnOnce() -> String) {
        self.record(span, OUTPUT_MESSAGES, messages);
    }

    /// Records the arguments of a tool's call, as JSON.
    pub fn arguments(self, span: &Span, arguments: impl FnOnce() -> String) {
        self.record(span, TOOL_CALL_ARGUMENTS, arguments);
    }

    /// Records the result of a tool's call.
    pub fn result(self, span: &Span, result: impl FnOnce() -> String) {
        self.record(span, TOOL_CALL_RESULT, result);
    }

    fn record(self, span: &Span, name: &'static str, text: impl FnOnce() -> String) {
        if self == Self::On && !span.is_disabled() {
            span.record(name, text().as_str());
        }
    }
}
