//! The policy: the trigger of a compaction, and the messages that it keeps.

use hanok_model::TokenCounter;
use hanok_parse::Language;
use thiserror::Error;

/// The condition under which a conversation is made smaller.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Trigger {
    /// It has at least so many messages.
    Messages(usize),
    /// It has more than so many messages.
    Above(usize),
    /// The prompt has at least so many tokens.
    Tokens(u64),
    /// The prompt fills at least this share of the model's window ([`Compaction::window`]), above 0 and below 1.
    Fraction(f64),
    /// One of these.
    Any(Vec<Trigger>),
    /// All of these.
    All(Vec<Trigger>),
}

/// The messages that stay at least, counted from the end. A call stays with its results, so it may be more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeepRecent {
    /// So many messages.
    Messages(usize),
    /// As many messages as fit into so many tokens.
    Tokens(u64),
    /// So many turns, each from what a user says to what the user says next.
    Turns(usize),
}

/// The handling of a summary beyond the most that are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overflow {
    /// The oldest is dropped.
    #[default]
    DropOldest,
    /// The two oldest are made into one, by one more call of the model. Where that fails again and again, the oldest is dropped
    /// at twice the most that are kept.
    Fold,
}

/// The reason for which a policy cannot work.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A trigger is zero, or a share is not between 0 and 1.
    #[error(
        "the trigger {0:?} fires always or never; give it a number above 0, and a share below 1"
    )]
    Trigger(Trigger),
    /// An `Any` or `All` of nothing.
    #[error("the trigger {0:?} has nothing in it")]
    Empty(Trigger),
    /// A share of a window that is not known.
    #[error("the trigger {0:?} needs the model's window; set it with `window`")]
    NoWindow(Trigger),
    /// The messages that stay would fire the trigger again at once.
    #[error("{keep:?} stays, and {trigger:?} would fire again at once; keep less")]
    KeepsTooMuch {
        /// The messages that stay.
        keep: KeepRecent,
        /// The trigger that fires.
        trigger: Trigger,
    },
    /// A limit of tokens that the window never lets it reach, or that is none.
    #[error(
        "the trigger {trigger:?} fires at {limit} tokens, and the window has {window}; take less, but not nothing"
    )]
    Limit {
        /// The trigger that fires.
        trigger: Trigger,
        /// At how many tokens.
        limit: u64,
        /// The model's window.
        window: u64,
    },
    /// No summary may be kept.
    #[error("at least one summary is kept, and two where they are folded")]
    NoSummaries,
}

/// The policy by which a conversation is kept small.
///
/// Its defaults: at 10 messages the oldest are summarised and 5 stay, the last 3 summaries are kept, and there is no limit of
/// tokens.
///
/// ```
/// use hanok_memory::{Compaction, KeepRecent, Overflow, Trigger};
///
/// let policy = Compaction::new()
///     .trigger(Trigger::Any(vec![Trigger::Messages(40), Trigger::Fraction(0.6)]))
///     .window(128_000)
///     .keep(KeepRecent::Turns(6))
///     .overflow(Overflow::Fold);
/// policy.check()?;
/// assert_eq!(policy.limit(), Some(76_800));
/// # Ok::<(), hanok_memory::PolicyError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Compaction {
    pub(crate) trigger: Trigger,
    pub(crate) keep: KeepRecent,
    pub(crate) summaries: usize,
    pub(crate) overflow: Overflow,
    pub(crate) window: Option<u64>,
    pub(crate) counter: TokenCounter,
    pub(crate) language: Language,
    pub(crate) summary_tokens: u32,
    pub(crate) pinned_tokens: u64,
    pub(crate) long_result: u64,
}

impl Default for Compaction {
    fn default() -> Self {
        Self::new()
    }
}

impl Compaction {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            trigger: Trigger::Messages(10),
            keep: KeepRecent::Messages(5),
            summaries: 3,
            overflow: Overflow::default(),
            window: None,
            counter: TokenCounter::default(),
            language: Language::default(),
            summary_tokens: 500,
            pinned_tokens: 1_000,
            long_result: 200,
        }
    }

    /// Sets the trigger of a compaction. Default: 10 messages.
    ///
    /// ```
    /// use hanok_memory::{Compaction, Trigger};
    ///
    /// // At 60 % of the window, but never for a few long messages.
    /// let policy = Compaction::new()
    ///     .trigger(Trigger::All(vec![Trigger::Fraction(0.6), Trigger::Above(8)]))
    ///     .window(32_000);
    /// assert_eq!(policy.limit(), Some(19_200));
    /// ```
    pub fn trigger(self, trigger: Trigger) -> Self {
        Self { trigger, ..self }
    }

    /// Sets the messages that stay. Default: 5 messages.
    pub fn keep(self, keep: KeepRecent) -> Self {
        Self { keep, ..self }
    }

    /// Limits the summaries that are kept. Default: 3.
    pub fn summaries(self, summaries: usize) -> Self {
        Self { summaries, ..self }
    }

    /// Sets the handling of more summaries. Default: the oldest is dropped.
    pub fn overflow(self, overflow: Overflow) -> Self {
        Self { overflow, ..self }
    }

    /// Sets the tokens that the model can read and write. A prompt is kept below them by all means. Default: not known.
    pub fn window(self, tokens: u64) -> Self {
        Self { window: Some(tokens), ..self }
    }

    /// Sets the counter of tokens. Default: by o200k_base, the vocabulary of OpenAI's current models; without the feature
    /// `tiktoken`, an estimate from the characters of a text, which errs upwards. For another model name it, so that more is
    /// allowed for: [`TokenCounter::for_model`].
    pub fn counter(self, counter: TokenCounter) -> Self {
        Self { counter, ..self }
    }

    /// Sets the language of requests to models and of marks in the conversation. Default: English.
    pub fn language(self, language: Language) -> Self {
        Self { language, ..self }
    }

    /// Sets the most tokens of a summary, which the model is asked to keep. Default: 500.
    pub fn summary_tokens(self, tokens: u32) -> Self {
        Self { summary_tokens: tokens, ..self }
    }

    /// Limits the tokens of all pinned facts. A fact beyond them is not pinned, and that is reported. What is
    /// pinned is never dropped. Default: 1,000.
    pub fn pinned_tokens(self, tokens: u64) -> Self {
        Self { pinned_tokens: tokens, ..self }
    }

    /// Sets the tokens from which on a result is long. An old long result is cleared before anything is summarised. Default:
    /// 200.
    pub fn long_result(self, tokens: u64) -> Self {
        Self { long_result: tokens, ..self }
    }

    /// The counter of tokens.
    #[must_use]
    pub fn token_counter(&self) -> &TokenCounter {
        &self.counter
    }

    /// The least number of tokens at which the trigger fires, `None` where it looks at messages alone.
    pub fn limit(&self) -> Option<u64> {
        self.tokens_of(&self.trigger)
    }

    fn tokens_of(&self, trigger: &Trigger) -> Option<u64> {
        match trigger {
            Trigger::Messages(_) | Trigger::Above(_) => None,
            Trigger::Tokens(tokens) => Some(*tokens),
            Trigger::Fraction(share) => self.window.map(|window| share_of(window, *share)),
            Trigger::Any(all) | Trigger::All(all) => {
                all.iter().filter_map(|trigger| self.tokens_of(trigger)).min()
            }
        }
    }

    /// Checks the policy.
    ///
    /// ```
    /// use hanok_memory::{Compaction, KeepRecent, PolicyError, Trigger};
    ///
    /// let again = Compaction::new().trigger(Trigger::Messages(10)).keep(KeepRecent::Messages(9));
    /// assert!(matches!(again.check(), Err(PolicyError::KeepsTooMuch { .. })));
    /// ```
    ///
    /// # Errors
    ///
    /// [`PolicyError`] says what is wrong with which part.
    pub fn check(&self) -> Result<(), PolicyError> {
        let least = if self.overflow == Overflow::Fold { 2 } else { 1 };
        if self.summaries < least {
            return Err(PolicyError::NoSummaries);
        }
        self.check_trigger(&self.trigger)
    }

    fn check_trigger(&self, trigger: &Trigger) -> Result<(), PolicyError> {
        let refused = |error: fn(Trigger) -> PolicyError| Err(error(trigger.clone()));
        let again = || PolicyError::KeepsTooMuch { keep: self.keep, trigger: trigger.clone() };
        let single = matches!(trigger, Trigger::Tokens(_) | Trigger::Fraction(_));
        if let (true, Some(limit), Some(window)) = (single, self.tokens_of(trigger), self.window)
            && (limit == 0 || limit > window)
            && !matches!(trigger, Trigger::Fraction(share) if !(*share > 0.0 && *share < 1.0))
        {
            return Err(PolicyError::Limit { trigger: trigger.clone(), limit, window });
        }
        match (trigger, self.keep) {
            (Trigger::Messages(0) | Trigger::Tokens(0), _) => refused(PolicyError::Trigger),
            (Trigger::Messages(at), KeepRecent::Messages(keep)) if keep + 2 > *at => Err(again()),
            (Trigger::Above(above), KeepRecent::Messages(keep)) if keep + 1 > *above => {
                Err(again())
            }
            (Trigger::Tokens(limit), KeepRecent::Tokens(keep)) if keep > target(*limit) => {
                Err(again())
            }
            (Trigger::Fraction(share), _) if !(*share > 0.0 && *share < 1.0) => {
                refused(PolicyError::Trigger)
            }
            (Trigger::Fraction(share), keep) => match (self.window, keep) {
                (None, _) => refused(PolicyError::NoWindow),
                (Some(window), KeepRecent::Tokens(keep))
                    if keep > target(share_of(window, *share)) =>
                {
                    Err(again())
                }
                _ => Ok(()),
            },
            (Trigger::Any(all) | Trigger::All(all), _) => {
                if all.is_empty() {
                    return refused(PolicyError::Empty);
                }
                all.iter().try_for_each(|trigger| self.check_trigger(trigger))
            }
            _ => Ok(()),
        }
    }

    /// True for a conversation of so many messages and tokens that is to be made smaller. Tokens are counted on demand.
    pub(crate) fn fires(&self, messages: usize, tokens: &impl Fn() -> u64) -> bool {
        self.holds(&self.trigger, messages, tokens)
    }

    fn holds(&self, trigger: &Trigger, messages: usize, tokens: &impl Fn() -> u64) -> bool {
        match trigger {
            Trigger::Messages(at) => messages >= *at,
            Trigger::Above(above) => messages > *above,
            Trigger::Tokens(_) | Trigger::Fraction(_) => {
                self.tokens_of(trigger).is_some_and(|limit| tokens() >= limit)
            }
            Trigger::Any(all) => all.iter().any(|trigger| self.holds(trigger, messages, tokens)),
            Trigger::All(all) => all.iter().all(|trigger| self.holds(trigger, messages, tokens)),
        }
    }

    /// The size that may not be reached: the window, else a quarter above the limit.
    pub(crate) fn most(&self) -> Option<u64> {
        let quarter_above = |limit: u64| limit.saturating_add(limit / 4);
        let limit = self.limit().map(quarter_above);
        match (self.window, limit) {
            (Some(window), Some(limit)) => Some(window.min(limit)),
            (one, other) => one.or(other),
        }
    }
}

/// The size to which a prompt at `limit` is brought down: as much as fills up again in many turns.
pub(crate) fn target(limit: u64) -> u64 {
    limit / 4 * 3
}

/// The least that is worth a call of the model, in tokens.
pub(crate) fn worth(limit: u64) -> u64 {
    limit / 10
}

fn share_of(window: u64, share: f64) -> u64 {
    let tokens = window as f64 * share;
    tokens as u64
}

#[cfg(test)]
mod tests {
    use super::{Compaction, KeepRecent, Overflow, PolicyError, Trigger};

    #[test]
    fn triggers_are_joined_by_any_and_all() {
        use Trigger::{Above, All, Any, Messages, Tokens};
        for (trigger, messages, tokens, want) in [
            (Messages(10), 9, 0, false),
            (Messages(10), 10, 0, true),
            (Above(10), 10, 0, false),
            (Above(10), 11, 0, true),
            (Tokens(100), 1, 99, false),
            (Tokens(100), 1, 100, true),
            (Any(vec![Messages(10), Tokens(100)]), 3, 100, true),
            (Any(vec![Messages(10), Tokens(100)]), 10, 1, true),
            (Any(vec![Messages(10), Tokens(100)]), 9, 99, false),
            (All(vec![Messages(10), Tokens(100)]), 10, 99, false),
            (All(vec![Messages(10), Tokens(100)]), 10, 100, true),
        ] {
            let policy = Compaction::new().trigger(trigger.clone());
            assert_eq!(policy.fires(messages, &|| tokens), want, "{trigger:?} {messages} {tokens}");
        }
    }

    #[test]
    fn a_policy_that_cannot_work_is_refused() {
        let share = |share| Compaction::new().trigger(Trigger::Fraction(share));
        for (policy, want) in [
            (Compaction::new(), None),
            (Compaction::new().keep(KeepRecent::Messages(9)), Some("keep less")),
            (Compaction::new().keep(KeepRecent::Messages(8)), None),
            (
                Compaction::new().trigger(Trigger::Tokens(10_000)).window(2_000),
                Some("the window has 2000"),
            ),
            (share(0.0001).window(1000), Some("fires at 0 tokens")),
            (Compaction::new().trigger(Trigger::Messages(0)), Some("a number above 0")),
            (Compaction::new().trigger(Trigger::Any(vec![])), Some("nothing in it")),
            (share(0.5), Some("`window`")),
            (share(0.5).window(1000), None),
            (share(0.5).window(1000).keep(KeepRecent::Tokens(400)), Some("keep less")),
            (share(1.5).window(1000), Some("below 1")),
            (share(f64::NAN).window(1000), Some("below 1")),
            (Compaction::new().summaries(0), Some("at least one")),
            (Compaction::new().summaries(1).overflow(Overflow::Fold), Some("two")),
        ] {
            let found = policy.check().map_err(|error| error.to_string());
            match want {
                None => assert_eq!(found, Ok(()), "{policy:?}"),
                Some(want) => assert!(found.unwrap_err().contains(want), "{policy:?}"),
            }
        }
        assert_eq!(Compaction::new().summaries(0).check(), Err(PolicyError::NoSummaries));
    }
}
