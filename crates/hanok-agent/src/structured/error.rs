//! The reasons for which there is no answer of the form that was asked for.

use hanok_core::BoxError;
use hanok_model::ModelError;
use thiserror::Error;

use crate::observation::cut;

/// The most bytes of a reply in an error.
const LONGEST_QUOTE: usize = 2_000;

/// The error of a structured answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StructuredError {
    /// The model did not answer.
    #[error("{0}")]
    Model(#[from] ModelError),
    /// The schema of the answer is none, or refers to what is not in it. Another attempt cannot help.
    #[error("the schema `{name}` cannot be used")]
    Schema {
        /// Its name.
        name: String,
        /// The cause.
        source: BoxError,
    },
    /// The model refused to answer, in its words, or its server kept the answer back.
    #[error("the model refused to answer as `{name}`")]
    Refused {
        /// The schema's name.
        name: String,
        /// The model's words, at most 2,000 bytes of them.
        text: String,
    },
    /// The answer was longer than it may be. Ask with more `max_tokens`, or for less.
    #[error("the answer as `{name}` was cut off")]
    CutOff {
        /// The schema's name.
        name: String,
        /// The beginning of the answer, at most 2,000 bytes.
        text: String,
    },
    /// The model said nothing, and nothing again.
    #[error("the model said nothing as `{name}`")]
    Empty {
        /// The schema's name.
        name: String,
    },
    /// The answer does not fit, and did not when the model was told what is wrong.
    #[error("the answer does not fit `{name}`: {}", mistakes.join(" "))]
    Invalid {
        /// The schema's name.
        name: String,
        /// The mistakes in the last answer, a sentence each.
        mistakes: Vec<String>,
        /// The last answer, at most 2,000 bytes of it.
        text: String,
    },
}

/// A reply that is no answer.
pub(super) struct Miss {
    pub(super) text: String,
    pub(super) reason: MissReason,
}

/// The reason for which a reply is no answer.
pub(super) enum MissReason {
    Refused,
    CutOff,
    /// These mistakes, which the model may mend.
    Mistakes(Vec<String>),
}

impl Miss {
    /// The error of an answer as `schema`, where nothing mends it.
    pub(super) fn error(self, schema: &str) -> StructuredError {
        let (name, is_empty) = (schema.to_owned(), self.text.trim().is_empty());
        let text = cut(&self.text, LONGEST_QUOTE).0.to_owned();
        match self.reason {
            MissReason::Refused => StructuredError::Refused { name, text },
            MissReason::CutOff => StructuredError::CutOff { name, text },
            MissReason::Mistakes(_) if is_empty => StructuredError::Empty { name },
            MissReason::Mistakes(mistakes) => StructuredError::Invalid { name, mistakes, text },
        }
    }
}
