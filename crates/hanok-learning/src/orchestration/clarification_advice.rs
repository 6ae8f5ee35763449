//! Answers that may be used again for a query that is not clear.

use hanok_core::{BoxError, Call};
use hanok_parse::Language;
use serde::{Deserialize, Serialize};

use super::{
    candidate::{Candidate, Candidates, Shortfall},
    judge::{TextJudge, TextRelation},
    tally::Tally,
};

/// An answer that a person gave before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReusableAnswer {
    /// The answer. It is data: a user said it.
    pub answer: String,
    /// How often people confirmed it when it was used again, and took it back.
    pub reused: Tally,
    /// How often the program used it without asking.
    pub applied: u64,
    /// The mean clarity of the query before and with it, from 0 to 1.
    pub clarity: Option<(f64, f64)>,
    /// The reasons why it is not used without asking, beside those of the candidate.
    pub automatic_shortfalls: Vec<Shortfall>,
}

impl ReusableAnswer {
    /// The query with the answer behind it, which is shown before it is used.
    ///
    /// ```
    /// use hanok_learning::{ReusableAnswer, Tally};
    /// use hanok_learning::parse::Language;
    ///
    /// let reused = Tally::default();
    /// let answer = ReusableAnswer { answer: "A동".into(), reused, applied: 0, clarity: None, automatic_shortfalls: vec![] };
    /// assert_eq!(answer.merged("계약서 보여 줘", Language::Korean), "계약서 보여 줘\n\n추가 정보: A동");
    /// ```
    pub fn merged(&self, query: &str, language: Language) -> String {
        let heading = match language {
            Language::Korean => "추가 정보",
            _ => "Further information",
        };
        format!("{query}\n\n{heading}: {}", self.answer)
    }
}

/// What may be answered for a query from what people answered before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClarificationAdvice {
    /// The answers, the best first.
    pub answers: Candidates<ReusableAnswer>,
}

impl ClarificationAdvice {
    /// The answer that may be used without asking: it counts, its query asks for the same, people confirmed it often enough and it is
    /// their newest. `None` when there is none, or when two differ.
    pub fn automatic(&self) -> Option<&Candidate<ReusableAnswer>> {
        let mut all = self.answers.qualified().filter(|candidate| {
            candidate.relation == Some(TextRelation::Same)
                && candidate.value.automatic_shortfalls.is_empty()
        });
        let first = all.next()?;
        all.all(|other| other.value.answer == first.value.answer).then_some(first)
    }

    /// All reasons why a candidate is not used without asking.
    pub fn reasons(candidate: &Candidate<ReusableAnswer>) -> Vec<Shortfall> {
        let unjudged = candidate.relation.is_none().then_some(Shortfall::Unjudged);
        let own = candidate.shortfalls.iter().chain(&candidate.value.automatic_shortfalls);
        own.cloned().chain(unjudged).collect()
    }

    /// Has `judge` compare the query with those of the answers, as [`Candidates::judged`] does.
    ///
    /// # Errors
    ///
    /// As [`TextJudge::judge`].
    pub async fn judged(self, judge: &impl TextJudge, call: &Call) -> Result<Self, BoxError> {
        Ok(Self { answers: self.answers.judged(judge, call).await? })
    }
}
