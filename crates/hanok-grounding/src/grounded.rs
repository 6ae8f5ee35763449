//! The figures of an answer with their sources.

use std::collections::HashSet;
use std::ops::Range;

use hanok_agent::Language;
use serde::{Deserialize, Serialize};

use crate::sources::Source;

/// A figure of an answer, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroundedFigure {
    /// The figure as it is written.
    pub text: String,
    /// The bytes of the answer that it stands in.
    pub at: Range<usize>,
    /// Where it comes from, `None` for one that no source has.
    pub source: Option<Source>,
}

/// An answer whose figures were looked up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct Grounded {
    /// The answer.
    pub answer: String,
    /// Its figures, in its order.
    pub figures: Vec<GroundedFigure>,
}

impl Grounded {
    /// The figures that no source has.
    pub fn unsupported(&self) -> impl Iterator<Item = &GroundedFigure> {
        self.figures.iter().filter(|figure| figure.source.is_none())
    }

    /// True when every figure has a source.
    pub fn is_supported(&self) -> bool {
        self.unsupported().next().is_none()
    }

    /// The answer, with a last line that names the figures that no source has, each once. Without such a figure it is the answer.
    ///
    /// ```
    /// use hanok_agent::Language;
    /// use hanok_grounding::{Grounding, Sources};
    ///
    /// let sources = Sources::new().user("보증금이 3억원입니다.");
    /// let grounded = Grounding::new().check("보증금 3억원의 5%까지 오릅니다.", &sources);
    /// assert_eq!(
    ///     grounded.marked(Language::Korean),
    ///     "보증금 3억원의 5%까지 오릅니다.\n\n※ 확인되지 않은 수치: 5%"
    /// );
    /// ```
    #[must_use]
    pub fn marked(&self, language: Language) -> String {
        let names = self.names();
        if names.is_empty() {
            return self.answer.clone();
        }
        let head = match language {
            Language::Korean => "※ 확인되지 않은 수치",
            _ => "Figures that no source confirms",
        };
        format!("{}\n\n{head}: {names}", self.answer.trim_end())
    }

    /// What a model is told to have these figures looked up or left out.
    pub(crate) fn note(&self, language: Language) -> String {
        let names = self.names();
        match language {
            Language::Korean => format!(
                "답변의 다음 수치는 사용자의 말에도 도구의 결과에도 없습니다: {names}. 도구로 확인하거나, 도구의 결과에 있는 수치로 고치거나, 빼고 \
                 다시 답하세요."
            ),
            _ => format!(
                "These figures of the answer stand neither in what the user wrote nor in what a tool gave: {names}. Look them up with \
                 a tool, replace them by figures that a tool gave, or leave them out, and answer again."
            ),
        }
    }

    /// The figures that no source has, each once.
    pub(crate) fn names(&self) -> String {
        let mut before = HashSet::new();
        let names = self.unsupported().map(|figure| figure.text.trim());
        names.filter(|name| before.insert(*name)).collect::<Vec<_>>().join(", ")
    }
}
