//! MCP over two streams: a message a line, each bounded.

use std::{fmt, io, sync::Arc};

use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::{Mutex, mpsc},
};

use super::{lines::read, wire::Wire};

/// The messages that wait for the client. A server that sends more waits itself.
const WAITING: usize = 32;

/// Two streams as a transport.
pub(super) struct StreamTransport {
    messages: mpsc::Receiver<ServerJsonRpcMessage>,
    writer: Arc<Mutex<Option<Box<dyn AsyncWrite + Send + Unpin>>>>,
    wire: Arc<Wire>,
}

impl StreamTransport {
    /// Reads messages from `from`, and writes them to `to`.
    pub(super) fn start(
        from: impl AsyncRead + Send + Unpin + 'static,
        to: impl AsyncWrite + Send + Unpin + 'static,
        wire: Arc<Wire>,
    ) -> Self {
        let (sender, messages) = mpsc::channel(WAITING);
        let reading = wire.clone();
        tokio::spawn(async move {
            if let Err(breach) = read(BufReader::new(from), &reading, &sender).await {
                reading.breached(breach);
            }
            reading.ends();
        });
        Self { messages, writer: Arc::new(Mutex::new(Some(Box::new(to)))), wire }
    }

    /// Closes the way to the server. One that is stuck in a write stays open until that is over.
    pub(super) fn close_writer(&self) {
        if let Ok(mut writer) = self.writer.try_lock() {
            writer.take();
        }
    }

    /// Completes when the server has ended its output.
    pub(super) async fn drain(&mut self) {
        while self.messages.recv().await.is_some() {}
    }
}

impl Transport<RoleClient> for StreamTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (writer, wire) = (self.writer.clone(), self.wire.clone());
        let message = wire.outgoing(message);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut writer = writer.lock().await;
            let open = writer.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
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
        self.close_writer();
        Ok(())
    }
}

impl fmt::Debug for StreamTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamTransport").finish_non_exhaustive()
    }
}
