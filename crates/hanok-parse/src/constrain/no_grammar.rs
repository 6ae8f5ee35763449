//! Why there is no grammar.

use std::fmt;

use crate::schema::SchemaError;

/// Why a format and its tools have no grammar for a constrained sampler.
///
/// The first four are about the format, whatever the tools are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoGrammar {
    /// No mark begins the calls of the format: JSON, Python or labels at the start of a line.
    Unmarked {
        /// The name of the format.
        format: String,
    },
    /// The calls have a grammar of their own, of which the table has only the words.
    OwnGrammar {
        /// The name of the format.
        format: String,
    },
    /// The marks begin answers, too: a sampler that calls a tool behind them would permit no answer.
    Answers {
        /// The name of the format.
        format: String,
    },
    /// The models of the format write other words in or round their calls than the table says.
    Untold {
        /// The name of the format.
        format: String,
    },
    /// There are no tools.
    NoTools,
    /// The name of a tool cannot stand in a call: it has signs besides letters, digits, `_`, `-` and `.`.
    Name {
        /// The tool.
        tool: String,
    },
    /// A text cannot stand in a call of this format: the name of a parameter, a text that its schema lists, or the end of a call
    /// that may have no parameters.
    Text {
        /// The tool.
        tool: String,
        /// The text.
        text: String,
    },
    /// The schema of a tool cannot be read.
    Schema(SchemaError),
}

impl fmt::Display for NoGrammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unmarked { format } => {
                write!(f, "no mark begins the calls of `{}`", format.escape_debug())
            }
            Self::OwnGrammar { format } => {
                let format = format.escape_debug();
                write!(f, "the calls of `{format}` have a grammar that its table does not say")
            }
            Self::Answers { format } => {
                write!(f, "the marks of `{}` begin answers, too", format.escape_debug())
            }
            Self::Untold { format } => {
                let format = format.escape_debug();
                write!(f, "the calls of `{format}` have other words than its table says")
            }
            Self::NoTools => f.write_str("there are no tools"),
            Self::Name { tool } => {
                write!(f, "the name `{}` cannot stand in a call", tool.escape_debug())
            }
            Self::Text { tool, text } => write!(
                f,
                "the text `{}` of the tool `{}` cannot stand in a call of this format",
                text.escape_debug(),
                tool.escape_debug()
            ),
            Self::Schema(_) => f.write_str("the schema of a tool cannot be read"),
        }
    }
}

impl std::error::Error for NoGrammar {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Schema(error) => Some(error),
            _ => None,
        }
    }
}

impl From<SchemaError> for NoGrammar {
    fn from(error: SchemaError) -> Self {
        Self::Schema(error)
    }
}
