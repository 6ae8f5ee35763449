//! Messages out of lines, each bounded.

use std::io;

use rmcp::model::ServerJsonRpcMessage;
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt},
    sync::mpsc,
};

use super::wire::{Breach, LONGEST, Wire};
use crate::depth::is_too_deep;

/// The most bytes of lines that are no messages: some programs greet.
const MOST_NOISE: usize = 64 * 1024;

/// Reads messages until the end, or until the server passes a limit.
pub(super) async fn read(
    mut from: impl AsyncBufRead + Unpin,
    wire: &Wire,
    to: &mpsc::Sender<ServerJsonRpcMessage>,
) -> Result<(), Breach> {
    let (mut line, mut noise) = (Vec::new(), 0_usize);
    // An output that cannot be read has ended.
    while let Ok(true) = next_line(&mut from, &mut line).await? {
        if is_too_deep(&line) {
            return Err(Breach::TooDeep);
        }
        let Ok(message) = serde_json::from_slice::<ServerJsonRpcMessage>(&line) else {
            noise = noise.saturating_add(line.len() + 1);
            if noise > MOST_NOISE {
                return Err(Breach::NoProtocol { bytes: noise });
            }
            continue;
        };
        wire.received(&message)?;
        if to.send(message).await.is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// Reads one line without its end; false at the end of the output.
async fn next_line(
    from: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> Result<io::Result<bool>, Breach> {
    line.clear();
    loop {
        let piece = match from.fill_buf().await {
            Ok(piece) => piece,
            Err(error) => return Ok(Err(error)),
        };
        if piece.is_empty() {
            return Ok(Ok(!line.is_empty()));
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let taken = piece.get(..end.unwrap_or(piece.len())).unwrap_or_default();
        if line.len() + taken.len() > LONGEST {
            return Err(Breach::TooLong);
        }
        line.extend_from_slice(taken);
        let count = taken.len() + usize::from(end.is_some());
        from.consume(count);
        if end.is_some() {
            return Ok(Ok(true));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

    async fn breach(text: &str) -> (Result<(), Breach>, usize) {
        let (sender, mut receiver) = mpsc::channel(20_000);
        let read = read(text.as_bytes(), &Wire::default(), &sender).await;
        drop(sender);
        let mut count = 0;
        while receiver.recv().await.is_some() {
            count += 1;
        }
        (read, count)
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
}
