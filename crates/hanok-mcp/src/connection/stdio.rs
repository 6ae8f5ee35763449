//! MCP over the standard streams of a program: a message a line, each bounded.

use std::{io, sync::Arc};

use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::ChildStdin,
    sync::{Mutex, mpsc},
};

use super::{
    child::{ChildGroup, Streams},
    stderr::Stderr,
    wire::{Breach, LONGEST, Wire},
};
use crate::{config::StdioConfig, depth::is_too_deep};

/// The messages that wait for the client. A program that sends more waits itself.
const WAITING: usize = 32;

/// The most bytes of lines that are no messages: some programs greet.
const MOST_NOISE: usize = 64 * 1024;

/// A program as a transport.
#[derive(Debug)]
pub(super) struct StdioTransport {
    messages: mpsc::Receiver<ServerJsonRpcMessage>,
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    wire: Arc<Wire>,
    child: ChildGroup,
}

impl StdioTransport {
    /// Starts the program. What it writes to its standard error goes to `stderr`.
    pub(super) fn start(
        config: &StdioConfig,
        wire: Arc<Wire>,
        stderr: &Stderr,
    ) -> io::Result<Self> {
        let (child, streams) = ChildGroup::start(config)?;
        let Streams { stdin, stdout, stderr: errors } = streams;
        stderr.read(errors);
        let (sender, messages) = mpsc::channel(WAITING);
        let reading = wire.clone();
        tokio::spawn(async move {
            if let Err(breach) = read(BufReader::new(stdout), &reading, &sender).await {
                reading.breached(breach);
            }
            reading.ends();
        });
        Ok(Self { messages, stdin: Arc::new(Mutex::new(Some(stdin))), wire, child })
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (stdin, wire) = (self.stdin.clone(), self.wire.clone());
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut stdin = stdin.lock().await;
            let open = stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
            // A line without its end was not taken.
            open.write_all(&line).await?;
            wire.leaves(&message);
            open.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        // A writer that is stuck holds the lock; the program is ended all the same.
        if let Ok(mut stdin) = self.stdin.try_lock() {
            stdin.take();
        }
        let Self { messages, child, .. } = self;
        child.end(async { while messages.recv().await.is_some() {} }).await;
        Ok(())
    }
}

/// Reads messages until the end, or until the program passes a limit.
async fn read(
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
