//! The end of what a program writes to its standard error.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::Semaphore,
};

use crate::{redact::Redact, text::shown};

/// The most bytes that are remembered.
const LONGEST: usize = 64 * 1024;

/// The last 64 KiB of a program's standard error. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct Stderr {
    end: Arc<Mutex<VecDeque<u8>>>,
    ended: Arc<Semaphore>,
}

impl Default for Stderr {
    fn default() -> Self {
        Self { end: Arc::default(), ended: Arc::new(Semaphore::new(0)) }
    }
}

impl Stderr {
    /// Reads `from` to its end, so that the program never waits for it.
    pub(super) fn read(&self, mut from: impl AsyncRead + Unpin + Send + 'static) {
        let end = self.clone();
        tokio::spawn(async move {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut piece).await {
                end.push(piece.get(..count).unwrap_or_default());
            }
            end.ended.close();
        });
    }

    /// Completes when there is no more to read.
    pub(super) async fn ended(&self) {
        // It never has a permit, and is closed at the end.
        let _ = self.ended.acquire().await;
    }

    fn push(&self, piece: &[u8]) {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        end.extend(piece);
        let excess = end.len().saturating_sub(LONGEST);
        end.drain(..excess);
    }

    /// The remembered text, with its hidden and acting characters as escapes.
    pub(super) fn text(&self) -> String {
        let bytes: Vec<u8> = {
            let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
            end.iter().copied().collect()
        };
        // An escape is longer than its character, at most ten times.
        shown(&String::from_utf8_lossy(&bytes), LONGEST * 10)
    }

    /// The last lines in one, for an error, without what `redact` cuts out: before they are cut, for a part of it would stay.
    pub(super) fn tail(&self, redact: &Redact) -> String {
        let text = redact.text(&self.text());
        let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.iter().rev().take(5).rev().copied().collect::<Vec<_>>().join(" | ");
        crate::text::cut(&last, 1024).0.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P44: the standard error is bounded, and its end is what stays.
    #[tokio::test]
    async fn the_end_of_a_long_output_stays() {
        let stderr = Stderr::default();
        let long = format!("{}\nend\u{1b}[2J\n", "x".repeat(300_000));
        stderr.read(std::io::Cursor::new(long.into_bytes()));
        stderr.ended().await;
        let text = stderr.text();
        assert!(text.len() < LONGEST + 64, "{}", text.len());
        assert!(text.ends_with("x\nend\\u{1b}[2J\n"), "{:?}", &text[text.len() - 20..]);
        assert!(stderr.tail(&Redact::default()).len() <= 1024);
    }

    /// P55: also of a secret that stands where the text is cut nothing is shown.
    #[tokio::test]
    async fn a_secret_at_the_end_of_what_is_shown_is_cut_out_whole() {
        let stderr = Stderr::default();
        let text = format!("{}planted-secret\n", "x".repeat(1020));
        stderr.read(std::io::Cursor::new(text.into_bytes()));
        stderr.ended().await;
        let tail = stderr.tail(&Redact::new(["planted-secret".to_owned()]));
        assert!(!tail.contains("plan"), "{tail}");
    }
}
