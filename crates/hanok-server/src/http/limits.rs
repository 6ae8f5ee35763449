//! What one caller may ask for at once.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::http::StatusCode;
use hanok_core::Clock;

use super::{auth::Signed, problem::Problem};

/// The bytes of a body.
pub(crate) const BODY: usize = 4 * 1024 * 1024;

/// How long a body may take.
pub(crate) const BODY_TIME: Duration = Duration::from_secs(30);

/// How deep JSON may be nested.
const DEPTH: usize = 64;

/// The requests of a principal, if nobody says otherwise: so many at once, and so many a second.
pub(crate) const REQUESTS: u32 = 50;

/// The streams of a principal.
const STREAMS: usize = 100;

/// The principals whose requests are remembered.
const PRINCIPALS: usize = 10_000;

/// What callers have asked for lately.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    clock: Arc<dyn Clock>,
    requests: f64,
    callers: Arc<Mutex<BTreeMap<(String, String), Asked>>>,
}

/// What one caller has asked for.
#[derive(Debug, Default)]
struct Asked {
    /// The requests that it has left.
    left: f64,
    /// When that was counted.
    counted: Duration,
    streams: usize,
}

/// A stream of a caller, until it is dropped.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    limits: Limits,
    of: (String, String),
}

impl Limits {
    pub(crate) fn new(clock: Arc<dyn Clock>, requests: u32) -> Self {
        Self { clock, requests: f64::from(requests), callers: Arc::default() }
    }

    fn callers(&self) -> MutexGuard<'_, BTreeMap<(String, String), Asked>> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits one request.
    pub(crate) fn request(&self, signed: &Signed) -> Result<(), Problem> {
        let now = self.clock.monotonic();
        let mut callers = self.callers();
        if callers.len() >= PRINCIPALS {
            // Whoever has been still for a second has all that it may have.
            let second = Duration::from_secs(1);
            callers.retain(|_, it| it.streams > 0 || now.saturating_sub(it.counted) < second);
        }
        let most = self.requests;
        let new = || Asked { left: most, counted: now, streams: 0 };
        let asked = callers.entry(key(signed)).or_insert_with(new);
        let gained = now.saturating_sub(asked.counted).as_secs_f64() * most;
        (asked.left, asked.counted) = ((asked.left + gained).min(most), now);
        if asked.left < 1.0 {
            return Err(too_many(&format!("a principal makes at most {most} requests a second")));
        }
        asked.left -= 1.0;
        Ok(())
    }

    /// Admits one stream.
    pub(crate) fn stream(&self, signed: &Signed) -> Result<StreamPermit, Problem> {
        let of = key(signed);
        let mut callers = self.callers();
        let asked = callers.entry(of.clone()).or_default();
        if asked.streams >= STREAMS {
            return Err(too_many("a principal has at most 100 streams"));
        }
        asked.streams += 1;
        Ok(StreamPermit { limits: self.clone(), of })
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        if let Some(asked) = self.limits.callers().get_mut(&self.of) {
            asked.streams = asked.streams.saturating_sub(1);
        }
    }
}

fn key(signed: &Signed) -> (String, String) {
    (signed.tenant.as_str().to_owned(), signed.principal.name.clone())
}

fn too_many(detail: &str) -> Problem {
    Problem::new(StatusCode::TOO_MANY_REQUESTS, "HNK-423", detail)
}

/// Refuses JSON that is nested too deep.
pub(crate) fn check_depth(json: &[u8]) -> Result<(), Problem> {
    let (mut depth, mut deepest, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    match deepest > DEPTH {
        true => Err(Problem::unprocessable("JSON is nested at most 64 deep")),
        false => Ok(()),
    }
}
