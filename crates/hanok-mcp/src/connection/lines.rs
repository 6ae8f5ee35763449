//! Messages out of lines, each bounded.

use std::io;

use rmcp::model::ServerJsonRpcMessage;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use super::{
    answer::message,
    wire::{Breach, LONGEST, Wire},
};
use crate::depth::is_too_deep;

/// The most bytes of lines that are no messages: some programs greet.
const MOST_NOISE: usize = 64 * 1024;

/// Reads messages, a line each, until the end or a limit.
#[derive(Debug)]
pub(super) struct MessageLines<R> {
    from: R,
    /// The line so far.
    line: Vec<u8>,
    noise: usize,
}

impl<R: AsyncBufRead + Unpin> MessageLines<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, line: Vec::new(), noise: 0 }
    }

    /// The next message; `None` at the end.
    ///
    /// # Cancel safety
    ///
    /// A dropped call loses nothing: what was read of a line stays.
    pub(super) async fn next(
        &mut self,
        wire: &Wire,
    ) -> Result<Option<ServerJsonRpcMessage>, Breach> {
        // An output that cannot be read has ended.
        while let Ok(true) = self.fill_line().await? {
            let line = std::mem::take(&mut self.line);
            if is_too_deep(&line) {
                return Err(Breach::TooDeep);
            }
            let redacted = wire.redact.message(&line);
            let Some(message) = message(redacted.as_deref().unwrap_or(&line)) else {
                self.noise = self.noise.saturating_add(line.len() + 1);
                if self.noise > MOST_NOISE {
                    return Err(Breach::NoProtocol { bytes: self.noise });
                }
                continue;
            };
            wire.received(&message)?;
            return Ok(Some(message));
        }
        Ok(None)
    }

    /// Reads to the end of a line, without it; false at the end of the output.
    async fn fill_line(&mut self) -> Result<io::Result<bool>, Breach> {
        loop {
            let piece = match self.from.fill_buf().await {
                Ok(piece) => piece,
                Err(error) => return Ok(Err(error)),
            };
            if piece.is_empty() {
                return Ok(Ok(!self.line.is_empty()));
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let taken = piece.get(..end.unwrap_or(piece.len())).unwrap_or_default();
            if self.line.len() + taken.len() > LONGEST {
                return Err(Breach::TooLong);
            }
            self.line.extend_from_slice(taken);
            let count = taken.len() + usize::from(end.is_some());
            self.from.consume(count);
            if end.is_some() {
                return Ok(Ok(true));
            }
        }
    }

    /// Reads to the end of the output, and takes nothing of it.
    pub(super) async fn drain(&mut self) {
        while let Ok(piece) = self.from.fill_buf().await {
            let count = piece.len();
            if count == 0 {
                return;
            }
            self.from.consume(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Redact;

    const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

    async fn breach(text: &str) -> (Result<(), Breach>, usize) {
        let (mut lines, wire) = (MessageLines::new(text.as_bytes()), Wire::default());
        let mut count = 0;
        loop {
            match lines.next(&wire).await {
                Ok(Some(_)) => count += 1,
                Ok(None) => return (Ok(()), count),
                Err(breach) => return (Err(breach), count),
            }
        }
    }

    #[tokio::test]
    async fn a_program_is_held_to_the_limits() {
        let deep = format!("{}\n", "[".repeat(65));
        let lines = |line: &str, times: usize| format!("{line}\n").repeat(times);
        for (text, want) in [
            (format!("hello\n\n{NOTE}\n{NOTE}"), (Ok(()), 2)),
            (format!("{NOTE}\n{deep}{NOTE}\n"), (Err(Breach::TooDeep), 1)),
            ("x".repeat(LONGEST + 1), (Err(Breach::TooLong), 0)),
            ("x".repeat(LONGEST), (Err(Breach::NoProtocol { bytes: LONGEST + 1 }), 0)),
            (lines("noise", 20_000), (Err(Breach::NoProtocol { bytes: 65_538 }), 0)),
            (lines(NOTE, 10_001), (Err(Breach::Babbling), 10_000)),
        ] {
            let got = breach(&text).await;
            assert_eq!(got, want, "{}", crate::text::cut(&text, 80).0);
        }
    }
    /// A reader that is given up in the middle of a line goes on there.
    #[tokio::test]
    async fn a_line_that_comes_in_pieces_is_one_message() {
        let (ours, mut theirs) = tokio::io::duplex(8);
        let (mut lines, wire) =
            (MessageLines::new(tokio::io::BufReader::new(ours)), Wire::default());
        let writing = tokio::spawn(async move {
            use tokio::io::AsyncWriteExt;
            for piece in format!("{NOTE}\n{NOTE}\n").as_bytes().chunks(3) {
                theirs.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        let mut count = 0;
        loop {
            let next = tokio::select! {
                biased;
                next = lines.next(&wire) => next.unwrap(),
                () = tokio::task::yield_now() => continue,
            };
            match next {
                Some(_) => count += 1,
                None => break,
            }
        }
        writing.await.unwrap();
        assert_eq!(count, 2);
    }

    /// P55: what a message holds of a secret is gone before anybody reads it.
    #[tokio::test]
    async fn a_message_comes_without_the_secrets_of_its_connection() {
        let wire = Wire::new(true, Redact::new(["planted-secret".to_owned()]));
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"<planted-secret>"}],"structuredContent":{"key":"planted-secret"}}}"#;
        let message = MessageLines::new(text.as_bytes()).next(&wire).await.unwrap().unwrap();
        let message = serde_json::to_string(&message).unwrap();
        assert!(message.contains("<…>") && !message.contains("planted-secret"), "{message}");
    }
}
