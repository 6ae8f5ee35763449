//! What people answered when a query was not clear, and whether the answer held when it was used again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    days::Days,
    error::Refusal,
    evidence::{Actor, Evidence},
    kind::MemoryKind,
};

use super::{admission, normal::text_key, stamped::Stamped, tally::Tally};

/// How clear a query is, in thousandths: so sums of it do not depend on the order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Clarity(u16);

impl Clarity {
    /// The clarity `share`, from 0 to 1; what is beyond is 0 or 1, and what is no number is 0.
    ///
    /// ```
    /// use hanok_learning::Clarity;
    ///
    /// assert_eq!([0.4567, -1.0, 7.0, f64::NAN].map(|share| Clarity::new(share).share()), [0.457, 0.0, 1.0, 0.0]);
    /// ```
    pub fn new(share: f64) -> Self {
        // A cast of a float goes to the nearest number that there is, and of no number to 0.
        Self((share.clamp(0.0, 1.0) * 1_000.0).round() as u16)
    }

    /// The clarity of so many thousandths; what is more than 1,000 is 1,000.
    pub const fn from_thousandths(thousandths: u16) -> Self {
        Self(if thousandths > 1_000 { 1_000 } else { thousandths })
    }

    /// The clarity as a share, from 0 to 1.
    pub fn share(self) -> f64 {
        f64::from(self.0) / 1_000.0
    }
}

/// What became of a query that was not clear, as a node reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClarificationReport {
    /// The query.
    pub query: String,
    /// The answer that made it clear.
    pub answer: String,
    /// What became of it.
    pub event: ClarificationEvent,
}

/// What became of an answer that made a query clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ClarificationEvent {
    /// The user gave it.
    Answered {
        /// The clarity of the query before.
        before: Clarity,
        /// Its clarity with the answer.
        after: Clarity,
    },
    /// The user chose it again, or said that it is right where the program had used it.
    Confirmed,
    /// The user took it back where it had been used.
    Refuted,
    /// The program used it without asking: no evidence that it is right.
    Applied,
}

impl ClarificationReport {
    /// The report that `event` became of the answer `answer` to what was not clear in `query`. Its evidence is the user's
    /// ([`Actor::User`]), and the program's ([`Actor::Automatic`]) for [`ClarificationEvent::Applied`].
    pub fn new(
        query: impl Into<String>,
        answer: impl Into<String>,
        event: ClarificationEvent,
    ) -> Self {
        Self { query: query.into(), answer: answer.into(), event }
    }
}

/// An answer, and what became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClarificationTally {
    /// The answer, as the newest report writes it.
    pub answer: Option<Stamped<String>>,
    /// How often people gave it.
    pub answered: u64,
    /// How often people confirmed it when it was used again (successes), and took it back (failures).
    pub reused: Tally,
    /// How often the program used it without asking.
    pub applied: u64,
    /// The clarity before, of all that was answered, in thousandths.
    pub before_thousandths: u64,
    /// The clarity with the answer, of all that was answered, in thousandths.
    pub after_thousandths: u64,
}

impl ClarificationTally {
    /// The mean clarity before and with the answer, from 0 to 1; `None` before it was first given.
    pub fn mean_clarity(&self) -> Option<(f64, f64)> {
        let mean = |sum: u64| sum as f64 / (self.answered as f64 * 1_000.0);
        let sums = (self.before_thousandths, self.after_thousandths);
        (self.answered > 0).then(|| (mean(sums.0), mean(sums.1)))
    }
}

/// The answers that made one query clear. It is a [`MemoryKind`], and its own record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClarificationMemory {
    /// The query, as the newest report writes it.
    pub query: Option<Stamped<String>>,
    /// The answers, by their normal forms or hashes.
    pub answers: BTreeMap<String, ClarificationTally>,
    /// The key of the answer that people gave or confirmed last.
    pub newest: Option<Stamped<String>>,
}

impl ClarificationMemory {
    /// The name of the record for `query`.
    pub fn key_of(query: &str) -> String {
        text_key(query)
    }

    /// What became of `answer`.
    pub fn answer(&self, answer: &str) -> Option<&ClarificationTally> {
        self.answers.get(&text_key(answer))
    }
}

impl MemoryKind for ClarificationMemory {
    const NAME: &'static str = "clarification";
    type Body = ClarificationReport;
    type Record = Self;

    fn key(evidence: &Evidence<ClarificationReport>) -> String {
        Self::key_of(&evidence.body.query)
    }

    fn fold(mut record: Self, evidence: &Evidence<ClarificationReport>) -> Self {
        let ClarificationReport { query, answer, event } = &evidence.body;
        Stamped::new(evidence, query.clone()).replace_older(&mut record.query);
        let key = text_key(answer);
        if matches!(event, ClarificationEvent::Answered { .. } | ClarificationEvent::Confirmed) {
            Stamped::new(evidence, key.clone()).replace_older(&mut record.newest);
        }
        let tally = record.answers.entry(key).or_default();
        Stamped::new(evidence, answer.clone()).replace_older(&mut tally.answer);
        match event {
            ClarificationEvent::Answered { before, after } => {
                tally.answered = tally.answered.saturating_add(1);
                let sums = [
                    (&mut tally.before_thousandths, before),
                    (&mut tally.after_thousandths, after),
                ];
                for (sum, clarity) in sums {
                    *sum = sum.saturating_add(u64::from(clarity.0));
                }
            }
            ClarificationEvent::Confirmed => tally.reused.add(true),
            ClarificationEvent::Refuted => tally.reused.add(false),
            ClarificationEvent::Applied => tally.applied = tally.applied.saturating_add(1),
        }
        record
    }

    fn text(record: &Self) -> String {
        record.query.as_ref().map(|query| query.value.clone()).unwrap_or_default()
    }

    /// The query with the answer that people gave or confirmed last, and its day.
    fn recalled(record: &Self, days: Days) -> String {
        let query = Self::text(record);
        let newest = record.newest.as_ref().and_then(|newest| {
            let answer = record.answers.get(&newest.value)?.answer.as_ref()?;
            Some(format!("{query}: {} [{}]", answer.value, days.name(newest.at)))
        });
        newest.unwrap_or(query)
    }

    fn admit(evidence: &Evidence<ClarificationReport>) -> Result<(), Refusal> {
        let ClarificationReport { query, answer, event } = &evidence.body;
        admission::text("query", query)?;
        admission::text("answer", answer)?;
        match event {
            ClarificationEvent::Applied => admission::actor(evidence, &[Actor::Automatic]),
            _ => admission::actor(evidence, &[Actor::User]),
        }
    }
}
