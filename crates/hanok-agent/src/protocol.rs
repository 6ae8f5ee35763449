//! The form in which a model calls tools.

/// The form in which an agent's model reads of tools and calls them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protocol {
    /// In the prompt, and by text (`Action:`, `Action Input:`): works with every model and server.
    #[default]
    Text,
    /// By the server's own tool calls. What the model writes as text calls nothing, unless the agent
    /// [asks for it](crate::ReactAgentBuilder::text_calls).
    Native,
}
