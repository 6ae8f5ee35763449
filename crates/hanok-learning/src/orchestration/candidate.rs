//! What is recalled for a query, with its score and the reasons why it does not count.

use hanok_core::{BoxError, Call};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::recalled::RecordOrigin;

use super::{
    cold_start::adjusted_confidence,
    judge::{TextJudge, TextRelation},
    normal::normalized,
    policy::CandidatePolicy,
    similarity::TextSimilarity,
    tally::Tally,
};

/// The parts of a candidate's score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CandidateScore {
    /// The likeness of its text and the query.
    pub similarity: TextSimilarity,
    /// Its rate of success; `None` when it was never used.
    pub success: Option<f64>,
    /// The number of uses that ended well or badly.
    pub uses: u64,
    /// The rate of success, adjusted to so many uses
    /// ([`calculate_confidence_multiplier`](crate::calculate_confidence_multiplier)).
    pub confidence: Option<f64>,
}

impl CandidateScore {
    pub(super) fn new(similarity: TextSimilarity, tally: Tally) -> Self {
        let (success, uses) = (tally.rate(), tally.count());
        let confidence = success.map(|rate| adjusted_confidence(rate, uses));
        Self { similarity, success, uses, confidence }
    }

    /// The number that candidates are ranked by: likeness × confidence, 0 without a use.
    pub fn rank(&self) -> f64 {
        self.similarity.value() * self.confidence.unwrap_or(0.0)
    }

    pub(super) fn shortfalls(&self, policy: &CandidatePolicy) -> Vec<Shortfall> {
        let mut shortfalls = Vec::new();
        let similarity = self.similarity.value();
        // A limit that is no number is never reached.
        let alike = similarity >= policy.similarity;
        if !alike {
            shortfalls.push(Shortfall::Unlike { similarity, least: policy.similarity });
        }
        match self.success {
            None => shortfalls.push(Shortfall::NeverUsed),
            Some(success) if success >= policy.success => {}
            Some(success) => {
                shortfalls.push(Shortfall::Unsuccessful { success, least: policy.success });
            }
        }
        if self.uses > 0 && self.uses < policy.uses {
            shortfalls.push(Shortfall::RarelyUsed { uses: self.uses, least: policy.uses });
        }
        shortfalls
    }
}

/// A reason why something that was recalled does not count.
#[derive(Debug, Clone, PartialEq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Shortfall {
    /// Its text is another one.
    #[error("its likeness is {similarity:.2}, and it takes {least}")]
    Unlike {
        /// The likeness.
        similarity: f64,
        /// The least that it takes.
        least: f64,
    },
    /// Nothing says how it does.
    #[error("it was never used")]
    NeverUsed,
    /// It fails too often.
    #[error("its rate of success is {success:.2}, and it takes {least}")]
    Unsuccessful {
        /// The rate of success.
        success: f64,
        /// The least that it takes.
        least: f64,
    },
    /// It was used too rarely.
    #[error("it was used {uses} times, and it takes {least}")]
    RarelyUsed {
        /// The number of uses.
        uses: u64,
        /// The least that it takes.
        least: u64,
    },
    /// People's newest decision was against it.
    #[error("the user decided against it last")]
    DecidedAgainst,
    /// It is of a text that asks for something else.
    #[error("its text is {relation:?}")]
    Judged {
        /// What the judge said.
        relation: TextRelation,
    },
    /// People confirmed it too rarely to use it without asking.
    #[error("people confirmed it {confirmed} times, and it takes {least}")]
    RarelyConfirmed {
        /// The number of times.
        confirmed: u64,
        /// The least that it takes.
        least: u64,
    },
    /// The confidence in it is too low to use it without asking.
    #[error("the confidence in it is {confidence:.2}, and it takes {least}")]
    Unsure {
        /// The confidence.
        confidence: f64,
        /// The least that it takes.
        least: f64,
    },
    /// People gave or confirmed another answer since.
    #[error("the user gave another answer since")]
    Superseded,
    /// Its text is like the query and not the same, and nobody judged both.
    #[error("its text is not the query's, and nobody judged whether it asks for the same")]
    Unjudged,
}

/// A record, or a part of it, that was recalled for a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate<T> {
    /// The name of its record: [`UserMemories::evidence`](crate::UserMemories::evidence) lists what it is made of.
    pub key: String,
    /// The text that it was recalled by. It is data: what a user said stands in it.
    pub text: String,
    /// What it is.
    pub value: T,
    /// The parts of its score.
    pub score: CandidateScore,
    /// What the query and its text ask for; `None` when they are not equal and nobody judged them.
    pub relation: Option<TextRelation>,
    /// The reasons why it does not count; none when it does.
    pub shortfalls: Vec<Shortfall>,
    /// The places that the newest evidence of its record comes from.
    pub origins: Vec<RecordOrigin>,
}

impl<T> Candidate<T> {
    /// True if it counts.
    pub fn qualifies(&self) -> bool {
        self.shortfalls.is_empty()
    }
}

/// All that was recalled for a query, the best first: what counts, and what does not with the reasons.
///
/// ```
/// use hanok_learning::Candidates;
///
/// let nothing = Candidates::<String>::default();
/// assert!(nothing.best().is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidates<T> {
    query: String,
    all: Vec<Candidate<T>>,
}

impl<T> Default for Candidates<T> {
    fn default() -> Self {
        Self { query: String::new(), all: Vec::new() }
    }
}

impl<T> Candidates<T> {
    /// Orders them: those that count first, then by rank; what is equal stays as it stands.
    pub(super) fn new(query: &str, mut all: Vec<Candidate<T>>, most: usize) -> Self {
        let normal = normalized(query);
        for candidate in &mut all {
            let same = normalized(&candidate.text) == normal;
            candidate.relation = same.then_some(TextRelation::Same);
        }
        all.sort_by(|a, b| {
            let by_rank = b.score.rank().total_cmp(&a.score.rank());
            b.qualifies().cmp(&a.qualifies()).then(by_rank)
        });
        all.truncate(most);
        Self { query: query.to_owned(), all }
    }

    /// All of them, the best first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Candidate<T>> {
        self.all.iter()
    }

    /// Those that count, the best first.
    pub fn qualified(&self) -> impl Iterator<Item = &Candidate<T>> {
        self.iter().filter(|candidate| candidate.qualifies())
    }

    /// The best of those that count.
    pub fn best(&self) -> Option<&Candidate<T>> {
        self.qualified().next()
    }

    /// Has `judge` compare the query with the text of each candidate that counts and has not the very same text: it stays one only if
    /// both ask for the same. Make it a step of a node, so that a replay has the same.
    ///
    /// # Errors
    ///
    /// As [`TextJudge::judge`].
    pub async fn judged(mut self, judge: &impl TextJudge, call: &Call) -> Result<Self, BoxError> {
        let unjudged = |it: &&mut Candidate<T>| it.qualifies() && it.relation.is_none();
        for candidate in self.all.iter_mut().filter(unjudged) {
            let relation = judge.judge(&self.query, &candidate.text, call).await?;
            candidate.relation = Some(relation);
            if relation != TextRelation::Same {
                candidate.shortfalls.push(Shortfall::Judged { relation });
            }
        }
        self.all.sort_by_key(|candidate| !candidate.qualifies());
        Ok(self)
    }
}
