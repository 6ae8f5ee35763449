//! MCP over the standard streams of a program.

use std::{io, sync::Arc, time::Duration};

use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};

use super::{
    child::{ChildGroup, Streams},
    stderr::Stderr,
    stream::StreamTransport,
    wire::Wire,
};
use crate::config::StdioConfig;

/// A program as a transport.
#[derive(Debug)]
pub(super) struct StdioTransport {
    streams: StreamTransport,
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
        Ok(Self { streams: StreamTransport::start(stdout, stdin, wire), child })
    }

    /// As [`StreamTransport::wake`]: a program that is fetched first, or that reads much, takes a while to start.
    pub(super) async fn wake(&mut self, most: Duration) {
        self.streams.wake(most).await;
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.streams.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.streams.receive().await
    }

    async fn close(&mut self) -> io::Result<()> {
        // A writer that is stuck keeps its stream; the program is ended all the same.
        self.streams.close_writer();
        self.child.end(self.streams.drain()).await;
        Ok(())
    }
}
