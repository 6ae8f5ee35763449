//! The form in which a model calls tools.

/// The form in which an agent's model reads of tools and calls them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protocol {
    /// In the prompt, and by text (`Action:`, `Action Input:`): works with every model and server.
    #[default]
    Text,
    /// By the server's own tool calls. A call that the model writes as text is understood all the same.
    Native,
}
