//! When a failed call is tried again.

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Duration,
};

use hanok_core::{Rng, Timestamp};
use hanok_model::{ModelError, Wait};

use crate::http_date;

/// The longest wait between two attempts. A server that asks for a longer one is not waited for.
const LONGEST: Duration = Duration::from_secs(30);

/// The seeds of the standard library's hash maps, which the system makes.
#[derive(Debug)]
struct Seeds;

impl Rng for Seeds {
    fn bits(&self) -> u64 {
        RandomState::new().hash_one(0_u8)
    }
}

/// How often and after which waits.
#[derive(Debug, Clone)]
pub(crate) struct Retries {
    pub(crate) times: u32,
    pub(crate) first: Duration,
    pub(crate) rng: Arc<dyn Rng>,
}

impl Default for Retries {
    fn default() -> Self {
        Self { times: 3, first: Duration::from_millis(500), rng: Arc::new(Seeds) }
    }
}

impl Retries {
    /// How long to wait before the attempt after `failed` ones, `None` when there is to be none.
    ///
    /// Without a word of the server the wait is random between half of `first` · 2ⁿ and all of it.
    pub(crate) fn wait(
        &self,
        failed: u32,
        error: &ModelError,
        left: Option<Duration>,
    ) -> Option<Duration> {
        if failed > self.times || !helps(error) {
            return None;
        }
        let wait = match error {
            ModelError::RateLimited { retry_after: Some(after), .. }
            | ModelError::Server { retry_after: Some(after), .. } => *after,
            _ => self.jittered(failed),
        };
        (wait <= LONGEST && left.is_none_or(|left| wait < left)).then_some(wait)
    }

    fn jittered(&self, failed: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(failed.saturating_sub(1));
        let ceiling = self.first.saturating_mul(doubled).min(LONGEST);
        // 53 bits fill the mantissa: a fraction in [0, 1).
        #[allow(clippy::cast_precision_loss, reason = "53 bits are exact")]
        let fraction = (self.rng.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        ceiling.mul_f64(0.5 + fraction / 2.0)
    }
}

/// Whether another attempt may help. A slow server is not asked to do the same again.
fn helps(error: &ModelError) -> bool {
    match error {
        ModelError::TimedOut { what, .. } => *what == Wait::Connect,
        error => error.is_transient(),
    }
}

/// What `Retry-After` says (RFC 9110, 10.2.3): seconds, or a date.
pub(crate) fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    Some(http_date::parse(value)?.since(now))
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

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Timestamp(784_111_777_000); // 1994-11-06T08:49:37Z, the date of RFC 9110's example
        for (value, want) in [
            ("2", Some(2)),
            (" 0 ", Some(0)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("-1", None),
            ("nan", None),
            ("1e300", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(retry_after(value, now), want.map(Duration::from_secs), "{value:?}");
        }
    }

    /// P16
    #[test]
    fn waits_grow_and_end_and_never_pass_the_deadline() {
        let server = ModelError::Server { status: 500, retry_after: None, source: None };
        let told = |seconds| ModelError::RateLimited {
            retry_after: Some(Duration::from_secs(seconds)),
            source: None,
        };
        let millis = Duration::from_millis;
        for (bits, factor) in [(0, 0.5), (u64::MAX, 1.0)] {
            let retries = Retries { rng: Arc::new(Fixed(bits)), ..Retries::default() };
            for (failed, ceiling) in [(1, 500), (2, 1000), (3, 2000)] {
                let wait = retries.wait(failed, &server, None).unwrap();
                assert!(wait.abs_diff(millis(ceiling).mul_f64(factor)) < millis(1), "{wait:?}");
            }
            assert_eq!(retries.wait(4, &server, None), None);
            assert_eq!(retries.wait(1, &told(3), None), Some(millis(3000)));
            assert_eq!(retries.wait(1, &told(3), Some(millis(2000))), None);
            assert_eq!(retries.wait(1, &told(31), None), None);
            assert_eq!(retries.wait(1, &server, Some(millis(100))), None);
            let quota = ModelError::QuotaExceeded { source: None };
            assert_eq!(retries.wait(1, &quota, None), None);
        }
    }
}
