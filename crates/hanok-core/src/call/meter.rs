//! The meter of what a run spends, and its budget.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// Calls, tokens, money and time that were spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Spent {
    /// Calls of a model.
    pub model_calls: u64,
    /// Calls of a tool.
    pub tool_calls: u64,
    /// Tokens that models read.
    pub input_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// The cost, in millionths of whatever prices are given in.
    #[serde(default)]
    pub cost: u64,
    /// The working time, in milliseconds; waiting for a person does not count.
    #[serde(default)]
    pub millis: u64,
}

impl Spent {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            model_calls: self.model_calls.saturating_add(other.model_calls),
            tool_calls: self.tool_calls.saturating_add(other.tool_calls),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost: self.cost.saturating_add(other.cost),
            millis: self.millis.saturating_add(other.millis),
        }
    }

    /// True when nothing was spent.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Tokens read and written.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// The limits of what a turn may spend. `None` is no limit.
///
/// Calls are counted before they are made, so their limits are never passed. What a call will cost in tokens or money is
/// known only afterwards: the call that passes such a limit is the last one.
///
/// As JSON it is an object of the limits, with the time in milliseconds. A name that is no limit is an error, so that no slip of the
/// pen is a budget without limits.
///
/// ```
/// use std::time::Duration;
///
/// use hanok_core::Budget;
///
/// let budget: Budget = serde_json::from_str(r#"{"tokens":9000,"time_ms":1500}"#)?;
/// assert_eq!((budget.tokens, budget.time), (Some(9_000), Some(Duration::from_millis(1_500))));
/// assert!(serde_json::from_str::<Budget>(r#"{"token":9000}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Calls of a model.
    pub model_calls: Option<u64>,
    /// Calls of a tool.
    pub tool_calls: Option<u64>,
    /// Tokens that models read and write.
    pub tokens: Option<u64>,
    /// Money, in millionths of whatever prices are given in.
    pub cost: Option<u64>,
    /// Time that is worked on the turn; waiting for a person does not count.
    #[serde(
        rename = "time_ms",
        serialize_with = "some_millis",
        deserialize_with = "of_some_millis"
    )]
    pub time: Option<Duration>,
}

/// A limit of a turn. As JSON it is an object of one entry, `{"steps": 25}`, with the time in milliseconds, `{"time_ms": 1500}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// So many super-steps.
    #[error("{}", counted(u64::from(*.0), "super-step"))]
    Steps(u32),
    /// So many calls of a model.
    #[error("{}", counted(*.0, "model call"))]
    ModelCalls(u64),
    /// So many calls of a tool.
    #[error("{}", counted(*.0, "tool call"))]
    ToolCalls(u64),
    /// So many tokens.
    #[error("{}", counted(*.0, "token"))]
    Tokens(u64),
    /// So much money, in millionths.
    #[error("a cost of {0} millionths")]
    Cost(u64),
    /// So much time.
    #[error("{0:?} of work")]
    #[serde(rename = "time_ms")]
    Time(#[serde(serialize_with = "millis", deserialize_with = "of_millis")] Duration),
}

/// The time in whole milliseconds, rounded up: no limit becomes one of nothing.
fn whole_millis(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

fn millis<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(whole_millis(*time))
}

fn of_millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

fn some_millis<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    time.map(whole_millis).serialize(to)
}

fn of_some_millis<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    Ok(Option::deserialize(from)?.map(Duration::from_millis))
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A call that was not made because a limit of the turn is reached. Hand it on: the run ends with that limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the turn has reached its limit of {0}")]
pub struct OverBudget(pub Limit);

/// Which kind of call is about to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Charge {
    /// A call of a model.
    Model,
    /// A call of a tool.
    Tool,
}

/// Counts what calls spend. Clones count into the same meter; a child also counts into its parents.
///
/// A meter admits calls up to the limits of its [`Budget`].
///
/// ```
/// use hanok_core::{Budget, Charge, Meter, Spent};
///
/// let budget = Budget { model_calls: Some(1), ..Budget::default() };
/// let turn = Meter::budgeted(budget, Spent::default());
/// turn.admit(Charge::Model)?;
/// let refused = turn.admit(Charge::Model).unwrap_err();
/// assert_eq!(refused.to_string(), "the turn has reached its limit of 1 model call");
/// # Ok::<(), hanok_core::OverBudget>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Meter(Arc<Counter>);

#[derive(Debug, Default)]
struct Counter {
    parent: Option<Meter>,
    count: Mutex<Count>,
}

#[derive(Debug, Default)]
struct Count {
    spent: Spent,
    budget: Budget,
    /// Calls that were admitted here, whether or not they have been counted as spent.
    admitted: Spent,
    /// The amount spent before this meter began to count.
    before: Spent,
    /// The limit that refused a call.
    refused: Option<Limit>,
    /// The limit past which nothing is admitted, whatever was counted.
    closed: Option<Limit>,
}

impl Meter {
    /// A meter that admits calls within `budget`, of which `before` is spent already.
    pub fn budgeted(budget: Budget, before: Spent) -> Self {
        let count = Count { budget, before, ..Count::default() };
        Self(Arc::new(Counter { parent: None, count: Mutex::new(count) }))
    }

    /// A meter whose counts are counted here too, and whose calls are admitted here.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(Arc::new(Counter { parent: Some(self.clone()), count: Mutex::default() }))
    }

    /// Adds what was spent.
    pub fn add(&self, spent: Spent) {
        self.chain().for_each(|meter| {
            let mut count = meter.count();
            count.spent = count.spent.plus(spent);
        });
    }

    /// Asks for one more call. Whoever makes calls of models or tools asks before each; one that is refused is not made.
    ///
    /// # Errors
    ///
    /// [`OverBudget`] when a limit is reached.
    pub fn admit(&self, charge: Charge) -> Result<(), OverBudget> {
        let refused = self.chain().find_map(|meter| meter.count().refuses(charge));
        if let Some(limit) = refused {
            self.count().refused = Some(limit);
            return Err(OverBudget(limit));
        }
        self.chain().for_each(|meter| {
            let mut count = meter.count();
            count.admitted = count.admitted.plus(charge.one());
        });
        Ok(())
    }

    /// Refuses a call for a `limit` of the caller's own, such as one of an interceptor: the run ends with it when the error is
    /// handed on.
    pub fn refuse(&self, limit: Limit) -> OverBudget {
        self.count().refused = Some(limit);
        OverBudget(limit)
    }

    /// Admits no further call, for a `limit` that is not counted here, such as time.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hanok_core::{Budget, Charge, Limit, Meter, Spent};
    ///
    /// let turn = Meter::budgeted(Budget::default(), Spent::default());
    /// turn.admit(Charge::Tool)?;
    /// turn.close(Limit::Time(Duration::from_secs(5)));
    /// let refused = turn.child().admit(Charge::Tool).unwrap_err();
    /// assert_eq!(refused.to_string(), "the turn has reached its limit of 5s of work");
    /// # Ok::<(), hanok_core::OverBudget>(())
    /// ```
    pub fn close(&self, limit: Limit) {
        self.count().closed.get_or_insert(limit);
    }

    /// The limit that refused a call which this very meter was asked for.
    pub fn refused(&self) -> Option<Limit> {
        self.count().refused
    }

    /// The limit that is reached by what was spent, if one is: nothing more should be started.
    pub fn exhausted(&self) -> Option<Limit> {
        self.chain().find_map(|meter| meter.count().is_past())
    }

    /// The amount spent so far.
    pub fn spent(&self) -> Spent {
        self.count().spent
    }

    /// The amount that the whole turn has spent so far, as far as the outermost of the meters that this one counts into counts it.
    pub fn turn(&self) -> Spent {
        let outermost = self.chain().last().unwrap_or(self);
        let count = outermost.count();
        count.before.plus(count.spent)
    }

    /// Takes the amount spent so far; the meter then begins at nothing. Its parents keep their counts.
    pub fn take(&self) -> Spent {
        std::mem::take(&mut self.count().spent)
    }

    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |meter| meter.0.parent.as_ref())
    }

    fn count(&self) -> MutexGuard<'_, Count> {
        self.0.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Charge {
    fn one(self) -> Spent {
        match self {
            Self::Model => Spent { model_calls: 1, ..Spent::default() },
            Self::Tool => Spent { tool_calls: 1, ..Spent::default() },
        }
    }
}

impl Count {
    fn refuses(&self, charge: Charge) -> Option<Limit> {
        let calls = self.before.plus(self.admitted);
        let over = |spent: u64, limit: Option<u64>| limit.filter(|limit| spent >= *limit);
        let of_calls = match charge {
            Charge::Model => {
                over(calls.model_calls, self.budget.model_calls).map(Limit::ModelCalls)
            }
            Charge::Tool => over(calls.tool_calls, self.budget.tool_calls).map(Limit::ToolCalls),
        };
        self.closed.or(of_calls).or_else(|| self.is_past())
    }

    fn is_past(&self) -> Option<Limit> {
        if self.closed.is_some() {
            return self.closed;
        }
        let spent = self.before.plus(self.spent);
        let over = |spent: u64, limit: Option<u64>| limit.filter(|limit| spent >= *limit);
        over(spent.tokens(), self.budget.tokens)
            .map(Limit::Tokens)
            .or_else(|| over(spent.cost, self.budget.cost).map(Limit::Cost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P17
    #[test]
    fn a_call_past_a_limit_is_not_admitted_and_says_which_limit() {
        let budget = Budget { model_calls: Some(2), tokens: Some(100), ..Budget::default() };
        let before = Spent { model_calls: 1, ..Spent::default() };
        let turn = Meter::budgeted(budget, before);
        let (first, second) = (turn.child(), turn.child());
        first.admit(Charge::Model).unwrap();
        assert_eq!(second.admit(Charge::Model), Err(OverBudget(Limit::ModelCalls(2))));
        assert_eq!((first.refused(), second.refused()), (None, Some(Limit::ModelCalls(2))));
        first.admit(Charge::Tool).unwrap();
        first.add(Spent { input_tokens: 60, output_tokens: 40, ..Spent::default() });
        assert_eq!(turn.exhausted(), Some(Limit::Tokens(100)));
        assert_eq!(second.admit(Charge::Tool), Err(OverBudget(Limit::Tokens(100))));
        assert_eq!(first.take().tokens(), 100);
        assert_eq!((first.spent().tokens(), turn.spent().tokens()), (0, 100));
        assert_eq!((first.turn().model_calls, first.turn().tokens()), (1, 100));
        first.refuse(Limit::ToolCalls(3));
        assert_eq!((first.refused(), turn.refused()), (Some(Limit::ToolCalls(3)), None));
    }
}
