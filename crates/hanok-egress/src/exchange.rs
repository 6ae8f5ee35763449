//! One connection and what is said on it.

use std::{
    future::poll_fn,
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
};

use hyper::{
    Request, Response,
    body::{Body, Bytes, Incoming},
    client::conn::http1::{Builder, Connection, SendRequest},
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};

use crate::{EgressError, target::Target};

/// The most bytes of the head of an answer.
const HEAD: usize = 64 * 1024;

/// The most lines of it.
const HEAD_LINES: usize = 100;

pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

type Io = TokioIo<Box<dyn Stream>>;

/// Connects to the first of `addresses` that takes a connection.
pub(crate) async fn connect(
    target: &Target,
    addresses: &[SocketAddr],
) -> Result<TcpStream, EgressError> {
    let mut refused = io::Error::from(io::ErrorKind::NotFound);
    for address in addresses {
        match TcpStream::connect(address).await {
            // Whatever stood between: this is the address that was checked.
            Ok(stream) if stream.peer_addr().is_ok_and(|peer| peer == *address) => {
                return Ok(stream);
            }
            Ok(_) => refused = io::ErrorKind::AddrNotAvailable.into(),
            Err(error) => refused = error,
        }
    }
    Err(EgressError::Unreachable { host: target.host.clone(), source: refused })
}

/// Speaks TLS on `stream`, with who proves to be the host of `target`.
pub(crate) async fn secured(
    target: &Target,
    stream: TcpStream,
    config: Arc<rustls::ClientConfig>,
) -> Result<Box<dyn Stream>, EgressError> {
    let refused = |source| EgressError::Tls { host: target.host.clone(), source };
    let name = ServerName::try_from(target.host.clone()).map_err(|error| refused(error.into()))?;
    let secured = TlsConnector::from(config).connect(name, stream).await;
    Ok(Box::new(secured.map_err(|error| refused(error.into()))?))
}

/// One request and its answer on a connection of their own. The connection is driven by whoever waits for the answer; no task
/// is started for it.
pub(crate) struct Exchange {
    connection: Pin<Box<Connection<Io, String>>>,
    sender: SendRequest<String>,
    is_over: bool,
}

impl Exchange {
    pub(crate) async fn open(
        target: &Target,
        stream: Box<dyn Stream>,
    ) -> Result<Self, EgressError> {
        let (sender, connection) = Builder::new()
            // It may read as much again before it looks.
            .max_buf_size(HEAD / 2)
            .max_headers(HEAD_LINES)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| broken(target, error))?;
        Ok(Self { connection: Box::pin(connection), sender, is_over: false })
    }

    /// Sends `request` and waits for the head of its answer.
    pub(crate) async fn send(
        &mut self,
        target: &Target,
        request: Request<String>,
    ) -> Result<Response<Incoming>, EgressError> {
        let answer = self.sender.send_request(request);
        let answer = drive(&mut self.connection, &mut self.is_over, answer).await;
        answer.map_err(|error| broken(target, error))
    }

    /// The next bytes of `body`.
    pub(crate) async fn bytes(
        &mut self,
        target: &Target,
        body: &mut Incoming,
    ) -> Result<Option<Bytes>, EgressError> {
        let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx));
        match drive(&mut self.connection, &mut self.is_over, frame).await {
            // What is no data are trailers, which nobody reads.
            Some(Ok(frame)) => Ok(Some(frame.into_data().unwrap_or_default())),
            Some(Err(error)) => Err(broken(target, error)),
            None => Ok(None),
        }
    }
}

/// What `work` gives, which waits for `connection`.
async fn drive<T>(
    connection: &mut Pin<Box<Connection<Io, String>>>,
    is_over: &mut bool,
    work: impl Future<Output = T>,
) -> T {
    let mut work = pin!(work);
    poll_fn(|cx| {
        // Its error is also that of the work.
        if !*is_over && connection.as_mut().poll(cx).is_ready() {
            *is_over = true;
        }
        work.as_mut().poll(cx)
    })
    .await
}

fn broken(target: &Target, error: hyper::Error) -> EgressError {
    // hyper has a name for this in its server alone.
    if error.is_parse() && error.to_string().contains("too large") {
        return EgressError::HeadTooLarge { limit: HEAD };
    }
    EgressError::Broken { host: target.host.clone(), source: error.into() }
}
