//! A run from which nothing comes.

use std::time::{Duration, Instant};

/// How long nothing may come before a person is told.
const LONG: Duration = Duration::from_secs(20);

/// When something came last, and whether the silence since was told.
#[derive(Debug)]
pub(crate) struct Silence {
    since: Instant,
    reported: bool,
}

impl Silence {
    pub(crate) fn new(now: Instant) -> Self {
        Self { since: now, reported: false }
    }

    /// Something came.
    pub(crate) fn end(&mut self, now: Instant) {
        *self = Self::new(now);
    }

    /// What to say of the silence, once for each.
    pub(crate) fn report(&mut self, now: Instant) -> Option<String> {
        let is_due = !self.reported && now.saturating_duration_since(self.since) >= LONG;
        self.reported |= is_due;
        let text = "초 동안 아무것도 오지 않았습니다. 계속 기다립니다. Ctrl-C로 멈출 수 있습니다.";
        is_due.then(|| format!("{}{text}", LONG.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_is_told_once_and_the_next_one_again() {
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        let mut silence = Silence::new(begun);
        let mut told = Vec::new();
        for second in 1..=70 {
            if second == 25 || second == 40 {
                silence.end(at(second));
            }
            told.extend(silence.report(at(second)).map(|_| second));
        }
        // The one that began at 25 did not last.
        assert_eq!(told, [20, 60]);
    }
}
