//! MCP over two streams: a message a line, each bounded.

use std::{fmt, io, sync::Arc};

use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::Mutex,
};

use super::{leaving::Leaving, lines::MessageLines, wire::Wire, written::line};

/// Two streams as a transport.
pub(super) struct StreamTransport {
    lines: MessageLines<BufReader<Box<dyn AsyncRead + Send + Unpin>>>,
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
        let lines = MessageLines::new(BufReader::new(Box::new(from) as Box<_>));
        Self { lines, writer: Arc::new(Mutex::new(Some(Box::new(to)))), wire }
    }

    /// Closes the way to the server. One that is stuck in a write stays open until that is over.
    pub(super) fn close_writer(&self) {
        if let Ok(mut writer) = self.writer.try_lock() {
            writer.take();
        }
    }

    /// Completes when the server has ended its output.
    pub(super) async fn drain(&mut self) {
        self.lines.drain().await;
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
        // What waits for its turn is a line, and no message any more: that is several times as large.
        let (call, line) = (Leaving::of(&message), line(message));
        async move {
            let line = line?;
            let mut writer = writer.lock().await;
            let open = writer.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
            // A line without its end was not taken.
            open.write_all(&line).await?;
            wire.leaves(call);
            open.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        match self.lines.next(&self.wire).await {
            Ok(Some(message)) => return Some(message),
            Ok(None) => {}
            Err(breach) => self.wire.breached(breach),
        }
        self.wire.ends();
        None
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
