//! A conversation whose first and last turns are measured apart.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::measure::Cpu;

/// Of a part of a run that is measured apart.
const PART: usize = 100;

/// How many turns, and the CPU time up to the end of the first and the beginning of the last part. Clones are of one run.
#[derive(Debug, Clone)]
pub(crate) struct Course {
    pub(crate) turns: usize,
    times: Arc<Mutex<Times>>,
}

#[derive(Debug)]
struct Times {
    started: Cpu,
    marks: Vec<f64>,
}

impl Course {
    pub(crate) fn new(turns: usize) -> Self {
        let times = Times { started: Cpu::start(), marks: Vec::new() };
        Self { turns, times: Arc::new(Mutex::new(times)) }
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run begins now.
    pub(crate) fn start(&self) {
        self.times().started = Cpu::start();
    }

    /// Notes that there are so many messages, two a turn.
    pub(crate) fn said(&self, messages: usize) {
        let turn = messages / 2;
        if messages.is_multiple_of(2) && (turn == PART || turn + PART == self.turns) {
            let mut times = self.times();
            let now = times.started.micros();
            times.marks.push(now);
        }
    }

    /// All of it by turn, and the last part as a multiple of the first.
    pub(crate) fn figures(&self) -> [f64; 2] {
        let times = self.times();
        let all = times.started.micros();
        let growth = match times.marks.as_slice() {
            &[first, before_last] => (all - before_last) / first,
            _ => f64::NAN,
        };
        [all / self.turns as f64, growth]
    }
}
