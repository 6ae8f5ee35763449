//! The score of a tool for a question, as the sum of its parts.

use std::collections::BTreeMap;

use hanok_model::ToolSpec;

use super::{entry::StoredTool, query::ToolQuery};

/// The part of a tool that the question names: above all that the others come to.
const EXACT: f64 = 2.0;

/// The smoothing of reciprocal ranks (Cormack, Clarke, Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
/// Learning Methods", 2009).
const SMOOTHING: f64 = 60.0;

/// The weight of experience.
const EXPERIENCE: f64 = 0.3;

/// A tool that fits a question, and its score.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecommendedTool {
    /// The tool.
    pub spec: ToolSpec,
    /// Its score.
    pub score: ToolScore,
}

impl RecommendedTool {
    /// The name of the tool.
    pub fn name(&self) -> &str {
        self.spec.name()
    }
}

/// The score of a tool, by its parts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolScore {
    /// 2 for a tool that the question names, else 0.
    pub exact: f64,
    /// Up to 0.5, by its rank among the tools that have words of the question.
    pub keywords: f64,
    /// Up to 0.5, by its rank among the tools that mean what the question does.
    pub meaning: f64,
    /// From -0.15 to 0.15, by experience with it; 0 without.
    pub experience: f64,
}

impl ToolScore {
    /// The sum of the parts.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.exact + self.keywords + self.meaning + self.experience
    }
}

/// A tool, and where it was found.
#[derive(Debug)]
pub(super) struct Candidate {
    tool: StoredTool,
    pub(super) exact: bool,
    /// Its rank by the words of the question, counted from 0.
    pub(super) keywords: Option<usize>,
    /// Its rank by the meaning.
    pub(super) meaning: Option<usize>,
}

impl Candidate {
    /// The entry of `tool` in `all`.
    pub(super) fn of(all: &mut BTreeMap<String, Self>, tool: StoredTool) -> &mut Self {
        let new = |tool| Self { tool, exact: false, keywords: None, meaning: None };
        all.entry(tool.name().to_owned()).or_insert_with(|| new(tool))
    }

    fn score(&self, query: &ToolQuery) -> ToolScore {
        let of_rank = |rank: Option<usize>| {
            rank.map_or(0.0, |rank| 0.5 * (SMOOTHING + 1.0) / (SMOOTHING + 1.0 + rank as f64))
        };
        let bound = query.experience.get(self.tool.name()).and_then(|it| it.lower_bound());
        ToolScore {
            exact: if self.exact { EXACT } else { 0.0 },
            keywords: of_rank(self.keywords),
            meaning: of_rank(self.meaning),
            experience: bound.map_or(0.0, |bound| (bound - 0.5) * EXPERIENCE),
        }
    }
}

/// The pinned tools by name, and of the others the best: by score, and by name where it is equal. Denied ones are neither.
pub(super) fn ranked(
    candidates: impl Iterator<Item = Candidate>,
    query: &ToolQuery,
) -> (Vec<RecommendedTool>, Vec<RecommendedTool>) {
    let (mut pinned, mut others) = (Vec::new(), Vec::new());
    for candidate in candidates.filter(|it| !query.denied.contains(it.tool.name())) {
        let score = candidate.score(query);
        let is_pinned = candidate.tool.pinned;
        let tool = RecommendedTool { spec: candidate.tool.spec, score };
        if is_pinned { pinned.push(tool) } else { others.push(tool) }
    }
    pinned.sort_by(|a, b| a.name().cmp(b.name()));
    others.sort_by(|a, b| {
        b.score.total().total_cmp(&a.score.total()).then_with(|| a.name().cmp(b.name()))
    });
    others.truncate(query.limit);
    (pinned, others)
}
