//! Retry policies of nodes.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use hanok_core::Rng;

use crate::{error::NodeError, node_error::find_cause};

/// The default of the first delay.
const FIRST: Duration = Duration::from_millis(500);

/// The default of the longest delay.
const CAP: Duration = Duration::from_secs(128);

/// The class of an error: transient or permanent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Another attempt may succeed, but not before this delay, if the error names one (a server's `Retry-After`).
    Transient(Option<Duration>),
    /// Another attempt would fail again.
    Permanent,
}

type Classify = Arc<dyn Fn(&NodeError) -> Option<Class> + Send + Sync>;

/// A retry policy: the number of attempts and the delays between them.
///
/// The delay before attempt *n* + 1 is `first` × `factor`^(*n* − 1), at most `cap`. With jitter it is a random part of
/// that, between a half and the whole. A later time that the error names counts instead.
///
/// Without [`when`](Retry::when) or [`classify`](Retry::classify) the policy applies to every error. A panic, an
/// undeclared target, and an update that cannot be stored or merged are permanent then: they would fail in the same way
/// again.
///
/// ```
/// use std::time::Duration;
///
/// use hanok_graph::Retry;
///
/// // Three more attempts, after exactly 1 s, 3 s and 9 s.
/// let retry = Retry::attempts(4).first(Duration::from_secs(1)).factor(3.0).jitter(false);
/// # drop(retry);
/// ```
#[derive(Clone)]
#[must_use]
pub struct Retry {
    attempts: u32,
    first: Duration,
    factor: f64,
    cap: Duration,
    jitter: bool,
    classify: Classify,
}

impl Retry {
    /// A policy of at most `attempts` attempts, the first one included.
    pub fn attempts(attempts: u32) -> Self {
        Self {
            attempts,
            first: FIRST,
            factor: 2.0,
            cap: CAP,
            jitter: true,
            classify: Arc::new(by_default),
        }
    }

    /// Sets the delay before the second attempt. Default: 500 ms.
    pub fn first(self, first: Duration) -> Self {
        Self { first, ..self }
    }

    /// Sets the factor from one delay to the next. Default: 2.
    pub fn factor(self, factor: f64) -> Self {
        Self { factor, ..self }
    }

    /// Sets the longest delay, unless an error asks for more. Default: 128 s.
    pub fn cap(self, cap: Duration) -> Self {
        Self { cap, ..self }
    }

    /// Switches random delays on or off. They keep nodes that failed together from returning together. Default: on.
    pub fn jitter(self, jitter: bool) -> Self {
        Self { jitter, ..self }
    }

    /// Applies to the errors for which `when` is true. Of several policies of a node, the first that applies counts.
    ///
    /// ```
    /// use hanok_graph::{NodeError, Retry};
    ///
    /// let timeouts = Retry::attempts(5).when(|error| matches!(error, NodeError::TimedOut { .. }));
    /// # drop(timeouts);
    /// ```
    pub fn when(self, when: impl Fn(&NodeError) -> bool + Send + Sync + 'static) -> Self {
        let classify = move |error: &NodeError| when(error).then_some(Class::Transient(None));
        Self { classify: Arc::new(classify), ..self }
    }

    /// Applies to errors that are, or are caused by, an `E`. `classify` decides whether one is transient or permanent.
    ///
    /// ```
    /// use std::io::{Error, ErrorKind};
    ///
    /// use hanok_graph::{Class, Retry};
    ///
    /// let network = Retry::attempts(5).classify(|error: &Error| match error.kind() {
    ///     ErrorKind::TimedOut | ErrorKind::ConnectionReset => Class::Transient(None),
    ///     _ => Class::Permanent,
    /// });
    /// # drop(network);
    /// ```
    pub fn classify<E: Error + 'static>(
        self,
        classify: impl Fn(&E) -> Class + Send + Sync + 'static,
    ) -> Self {
        let classify = move |error: &NodeError| caused_by::<E>(error).map(&classify);
        Self { classify: Arc::new(classify), ..self }
    }

    /// The delay before the next attempt, after `attempt` (counted from 1) failed with `error`: `None` if this policy
    /// does not apply to the error, `Some(None)` if there is no next attempt.
    pub(crate) fn delay(
        &self,
        attempt: u32,
        error: &NodeError,
        rng: &dyn Rng,
    ) -> Option<Option<Duration>> {
        let after = match (self.classify)(error)? {
            Class::Permanent => return Some(None),
            Class::Transient(after) => after.unwrap_or_default(),
        };
        if attempt >= self.attempts {
            return Some(None);
        }
        let exponent = i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX);
        let grown = self.first.as_secs_f64() * self.factor.max(0.0).powi(exponent);
        let capped = grown.min(self.cap.as_secs_f64()).max(0.0);
        let part = if self.jitter { 0.5 + fraction(rng) / 2.0 } else { 1.0 };
        let delay = Duration::try_from_secs_f64(capped * part).unwrap_or(self.cap);
        Some(Some(delay.max(after)))
    }
}

/// A number from 0 to 1, of 32 random bits.
fn fraction(rng: &dyn Rng) -> f64 {
    let bits = u32::try_from(rng.bits() >> 32).unwrap_or(u32::MAX);
    f64::from(bits) / f64::from(u32::MAX)
}

fn by_default(error: &NodeError) -> Option<Class> {
    Some(match error {
        NodeError::Failed(_)
        | NodeError::TimedOut { .. }
        | NodeError::Idle { .. }
        | NodeError::Lost => Class::Transient(None),
        _ => Class::Permanent,
    })
}

/// The error itself, or the first of its causes, that is an `E`.
pub(crate) fn caused_by<E: Error + 'static>(error: &NodeError) -> Option<&E> {
    let first: &(dyn Error + 'static) = match error {
        NodeError::Failed(error) => error.as_ref(),
        error => error,
    };
    find_cause(first)
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("attempts", &self.attempts)
            .field("first", &self.first)
            .field("factor", &self.factor)
            .field("cap", &self.cap)
            .field("jitter", &self.jitter)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Fixed(u64);

    impl Rng for Fixed {
        fn bits(&self) -> u64 {
            self.0
        }
    }

    fn failed(text: &str) -> NodeError {
        NodeError::Failed(text.into())
    }

    /// B47
    #[test]
    fn delays_grow_by_the_factor_up_to_the_cap_and_jitter_takes_at_most_half() {
        let second = Duration::from_secs(1);
        let plain = Retry::attempts(9).first(second).cap(Duration::from_secs(5)).jitter(false);
        let seconds = |retry: &Retry, rng: u64| {
            let delay = |attempt| retry.delay(attempt, &failed("x"), &Fixed(rng)).unwrap().unwrap();
            [1, 2, 3, 4].map(|attempt| delay(attempt).as_secs_f64())
        };
        assert_eq!(seconds(&plain, 0), [1.0, 2.0, 4.0, 5.0]);
        let random = plain.jitter(true);
        assert_eq!(seconds(&random, 0), [0.5, 1.0, 2.0, 2.5]);
        assert_eq!(seconds(&random, u64::MAX), [1.0, 2.0, 4.0, 5.0]);
    }

    /// B47, B48
    #[test]
    fn an_error_is_tried_again_as_its_class_says_and_no_sooner_than_it_asks() {
        let policy =
            Retry::attempts(3).jitter(false).classify(|error: &std::io::Error| {
                match error.kind() {
                    std::io::ErrorKind::TimedOut => Class::Transient(Some(Duration::from_secs(9))),
                    _ => Class::Permanent,
                }
            });
        let io = |kind| NodeError::Failed(std::io::Error::from(kind).into());
        let (late, gone) = (io(std::io::ErrorKind::TimedOut), io(std::io::ErrorKind::NotFound));
        let rng = Fixed(0);
        assert_eq!(policy.delay(1, &late, &rng), Some(Some(Duration::from_secs(9))));
        assert_eq!(policy.delay(3, &late, &rng), Some(None));
        assert_eq!(policy.delay(1, &gone, &rng), Some(None));
        assert_eq!(policy.delay(1, &failed("another kind"), &rng), None);
        let panicked = NodeError::Panicked(String::new());
        assert_eq!(Retry::attempts(3).delay(1, &panicked, &rng), Some(None));
    }
}
