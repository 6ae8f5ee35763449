//! Connections by streams of this program's own.

use std::{fmt, sync::Arc};

use tokio::io::{AsyncRead, AsyncWrite};

/// A stream of bytes in both directions.
pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for S {}

/// The way in which connections to an attached server are made.
#[derive(Clone)]
pub(crate) struct StreamConfig(Arc<dyn Fn() -> Box<dyn ByteStream> + Send + Sync>);

impl StreamConfig {
    pub(super) fn new<S: ByteStream + 'static>(
        connect: impl Fn() -> S + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(move || Box::new(connect())))
    }

    /// A new connection.
    pub(crate) fn connect(&self) -> Box<dyn ByteStream> {
        (self.0)()
    }
}

impl fmt::Debug for StreamConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StreamConfig")
    }
}
