//! The score of a tool for a question, as the sum of its parts.

use std::collections::BTreeMap;

use hanok_model::ToolSpec;

use super::query::ToolQuery;

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

/// The places at which a tool was found.
#[derive(Debug, Default)]
pub(super) struct Candidate {
    pub(super) pinned: bool,
    pub(super) exact: bool,
    /// Its rank by the words of the question, counted from 0.
    pub(super) keywords: Option<usize>,
    /// Its rank by the meaning.
    pub(super) meaning: Option<usize>,
}

/// Tools by their names, each with its score.
pub(super) type Scored = Vec<(String, ToolScore)>;

impl Candidate {
    fn score(&self, name: &str, query: &ToolQuery) -> ToolScore {
        let of_rank = |rank: Option<usize>| {
            rank.map_or(0.0, |rank| 0.5 * (SMOOTHING + 1.0) / (SMOOTHING + 1.0 + rank as f64))
        };
        let bound = query.experience.get(name).and_then(|it| it.lower_bound());
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
    candidates: BTreeMap<String, Candidate>,
    query: &ToolQuery,
) -> (Scored, Scored) {
    let (mut pinned, mut others) = (Scored::new(), Scored::new());
    for (name, candidate) in candidates {
        if !query.allows(&name) {
            continue;
        }
        let score = candidate.score(&name, query);
        if candidate.pinned { pinned.push((name, score)) } else { others.push((name, score)) }
    }
    // They come by their names, and this keeps the order of equal ones.
    others.sort_by(|(_, a), (_, b)| b.total().total_cmp(&a.total()));
    others.truncate(query.limit);
    (pinned, others)
}
