//! A conversation whose parts are measured apart.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{Result, measure::Cpu};

/// Of a part of a run that is measured apart.
const PART: usize = 100;

/// What a node says.
pub(crate) fn text() -> String {
    "m".repeat(200)
}

/// How many turns, and the CPU time up to the end of the first and the beginning of the last part.
#[derive(Clone)]
pub(crate) struct Course {
    pub(crate) turns: usize,
    marks: Arc<Mutex<(Option<Cpu>, Vec<f64>)>>,
}

impl Course {
    pub(crate) fn new(turns: usize) -> Self {
        Self { turns, marks: Arc::default() }
    }

    pub(crate) fn start(&self) {
        *self.marks.lock().unwrap_or_else(PoisonError::into_inner) =
            (Some(Cpu::start()), Vec::new());
    }

    /// Notes that there are so many messages.
    pub(crate) fn over(&self, messages: usize) {
        let (turn, half) = (messages / 2, messages % 2);
        if half == 0 && (turn == PART || turn + PART == self.turns) {
            let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
            let now = marks.0.map(Cpu::micros);
            marks.1.extend(now);
        }
    }

    /// All of it by turn, and the last part as a multiple of the first.
    pub(crate) fn figures(&self) -> [f64; 2] {
        let marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        let all = marks.0.map_or(f64::NAN, Cpu::micros);
        let growth = match marks.1.as_slice() {
            &[first, before_last, ..] => (all - before_last) / first,
            _ => f64::NAN,
        };
        [all / self.turns as f64, growth]
    }
}

/// The size of a database with its log, after everybody has let go of it.
pub(crate) fn megabytes(file: &Path) -> Result<f64> {
    let wal = file.with_extension("db-wal");
    let log = std::fs::metadata(wal).map_or(0, |log| log.len());
    Ok((std::fs::metadata(file)?.len() + log) as f64 / 1e6)
}
