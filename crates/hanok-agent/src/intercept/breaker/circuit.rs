//! The circuit of a server: closed, open, or half open.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hanok_core::Timestamp;

/// Closed while calls succeed, open after failures, and then half open for one call that tries.
#[derive(Debug, Default)]
pub(super) struct Circuit(Mutex<CircuitState>);

#[derive(Debug, Default)]
struct CircuitState {
    /// The times of the last failures in a row.
    failures: VecDeque<Timestamp>,
    /// Since when it is open.
    open: Option<Timestamp>,
    /// True while one call tries the server.
    trying: bool,
}

/// A call that is let through. One that is dropped says nothing of the server.
pub(super) struct Pass<'a> {
    circuit: &'a Circuit,
    tries: bool,
}

impl Circuit {
    /// Lets a call through, or says for how long none is.
    pub(super) fn enter(&self, now: Timestamp, cool_down: Duration) -> Result<Pass<'_>, Duration> {
        let mut state = self.state();
        let Some(since) = state.open else { return Ok(Pass { circuit: self, tries: false }) };
        let left = cool_down.saturating_sub(now.since(since));
        if !left.is_zero() || state.trying {
            return Err(left);
        }
        state.trying = true;
        Ok(Pass { circuit: self, tries: true })
    }

    fn state(&self) -> MutexGuard<'_, CircuitState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass<'_> {
    pub(super) fn succeeded(self) {
        let mut state = self.circuit.state();
        // What was begun before it opened does not close it.
        if state.open.is_none() || self.tries {
            state.failures.clear();
            state.open = None;
        }
    }

    pub(super) fn failed(self, now: Timestamp, most: u32, window: Duration) {
        let mut state = self.circuit.state();
        if state.open.is_some() {
            if self.tries {
                state.open = Some(now);
            }
            return;
        }
        state.failures.push_back(now);
        while state.failures.front().is_some_and(|first| now.since(*first) > window) {
            state.failures.pop_front();
        }
        if u32::try_from(state.failures.len()).unwrap_or(u32::MAX) >= most {
            state.failures.clear();
            state.open = Some(now);
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.tries {
            self.circuit.state().trying = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hanok_core::Timestamp;

    use super::Circuit;

    const COOL: Duration = Duration::from_secs(30);
    const WINDOW: Duration = Duration::from_secs(60);

    fn at(seconds: u64) -> Timestamp {
        Timestamp::default().plus(Duration::from_secs(seconds))
    }

    fn fail(circuit: &Circuit, seconds: u64) {
        circuit.enter(at(seconds), COOL).ok().unwrap().failed(at(seconds), 3, WINDOW);
    }

    /// P20
    #[test]
    fn failures_in_a_row_open_it_and_one_call_tries() {
        let circuit = Circuit::default();
        // Too far apart, or with a success between.
        [0, 50, 100].into_iter().for_each(|seconds| fail(&circuit, seconds));
        circuit.enter(at(101), COOL).ok().unwrap().succeeded();
        [102, 103].into_iter().for_each(|seconds| fail(&circuit, seconds));
        let early = circuit.enter(at(104), COOL).ok().unwrap();
        fail(&circuit, 104);
        assert_eq!(circuit.enter(at(110), COOL).err(), Some(Duration::from_secs(24)));
        early.succeeded();
        assert_eq!(circuit.enter(at(133), COOL).err(), Some(Duration::from_secs(1)));

        let tries = circuit.enter(at(134), COOL).ok().unwrap();
        assert!(circuit.enter(at(134), COOL).is_err());
        tries.failed(at(135), 3, WINDOW);
        assert_eq!(circuit.enter(at(136), COOL).err(), Some(Duration::from_secs(29)));
        // One that was dropped said nothing: another tries.
        drop(circuit.enter(at(165), COOL).ok().unwrap());
        circuit.enter(at(165), COOL).ok().unwrap().succeeded();
        fail(&circuit, 166);
        assert!(circuit.enter(at(166), COOL).is_ok());
    }
}
