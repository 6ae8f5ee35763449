//! MCP over two streams: a message a line, each bounded.

use std::{fmt, io, sync::Arc, time::Duration};

use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ClientRequest, PingRequest, RequestId, ServerJsonRpcMessage},
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

    /// Completes when the server answers anything, which one that has only begun to start does not: `most` of it is waited for. What is
    /// asked first is a `ping`, which every server answers, whichever of the protocol's beginnings it knows.
    pub(super) async fn wake(&mut self, most: Duration) {
        let id = RequestId::String("hanok-wake".into());
        let ping = ClientRequest::from(PingRequest::default());
        let ping = ClientJsonRpcMessage::request(ping, id.clone());
        let answered = async {
            // One that takes nothing is found out by what is sent next.
            if self.send(ping).await.is_err() {
                return;
            }
            while let Some(message) = self.receive().await {
                match message {
                    ServerJsonRpcMessage::Response(response) if response.id == id => return,
                    ServerJsonRpcMessage::Error(error)
                        if error.id.as_ref().is_none_or(|it| *it == id) =>
                    {
                        return;
                    }
                    _ => {}
                }
            }
        };
        drop(tokio::time::timeout(most, answered).await);
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
            let (end, text) = line.split_last().ok_or(io::ErrorKind::InvalidData)?;
            let mut writer = writer.lock().await;
            let open = writer.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
            // A line without its end is not taken, and one with it may be at once: whoever reads it may be quicker than this.
            open.write_all(text).await?;
            wire.leaves(call);
            open.write_all(std::slice::from_ref(end)).await?;
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

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        task::{Context, Poll},
    };

    use hanok_core::Call;
    use rmcp::model::{
        CallToolRequest, CallToolRequestParams, ClientRequest, JsonRpcMessage, RequestId,
        RequestMetaObject,
    };

    use super::*;
    use crate::connection::wire::{Followed, KEY};

    /// What is written at once, and whether it was noted before that the call may be taken.
    type Written = Arc<std::sync::Mutex<Vec<(Vec<u8>, bool)>>>;

    /// A server to which one call is written.
    struct Server {
        followed: Followed,
        written: Written,
    }

    impl AsyncWrite for Server {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let piece = (bytes.to_vec(), self.followed.may_be_taken());
            self.written.lock().unwrap().push(piece);
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// P4: a server that reads a call and dies at once has taken it, and one that has no whole line has not.
    #[tokio::test]
    async fn a_call_may_be_taken_from_the_end_of_its_line_on() {
        let (wire, written) = (Arc::new(Wire::default()), Written::default());
        let followed = wire.follow("k", &Call::detached());
        let server = Server { followed, written: written.clone() };
        let mut transport = StreamTransport::start(tokio::io::empty(), server, wire);
        let mut params = CallToolRequestParams::new("echo");
        let mut meta = RequestMetaObject::new();
        meta.0.0.insert(KEY.to_owned(), "k".into());
        params.meta = Some(meta);
        let request = ClientRequest::from(CallToolRequest::new(params));
        transport.send(JsonRpcMessage::request(request, RequestId::Number(7))).await.unwrap();
        let pieces = written.lock().unwrap().clone();
        let whole: Vec<_> = pieces.iter().flat_map(|piece| piece.0.clone()).collect();
        assert!(whole.ends_with(b"}\n"));
        for (piece, may_be_taken) in pieces {
            assert_eq!(piece.ends_with(b"\n"), may_be_taken, "{}", piece.escape_ascii());
        }
    }
}
