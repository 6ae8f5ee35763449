//! Servers that do what they should not.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::{
    fmt,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
};

/// What a server does with a connection once it has read a request.
#[derive(Clone, Default)]
pub(crate) struct Reply {
    bytes: Vec<u8>,
    then: Then,
}

/// What it does after its first bytes.
#[derive(Clone, Default)]
enum Then {
    #[default]
    Close,
    Reset,
    Silence,
    Endless(Vec<u8>, Duration),
}

impl Reply {
    /// Says these bytes and closes.
    pub(crate) fn raw(bytes: impl AsRef<[u8]>) -> Self {
        Self { bytes: bytes.as_ref().to_vec(), then: Then::Close }
    }

    pub(crate) fn answer(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let head =
            format!("HTTP/1.1 {status} Said\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
        Self::raw([head.as_bytes(), body].concat())
    }

    pub(crate) fn json(body: &str) -> Self {
        Self::answer(200, "content-type: application/json; charset=utf-8\r\n", body)
    }

    pub(crate) fn redirect(to: &str) -> Self {
        Self::answer(302, &format!("location: {to}\r\n"), "")
    }

    /// And then it breaks the connection.
    pub(crate) fn reset(self) -> Self {
        Self { then: Then::Reset, ..self }
    }

    /// And then it says nothing more, and keeps the connection.
    pub(crate) fn silence(self) -> Self {
        Self { then: Then::Silence, ..self }
    }

    /// And then it says `bytes` again and again, `pause` after each.
    pub(crate) fn endless(self, bytes: impl AsRef<[u8]>, pause: Duration) -> Self {
        Self { then: Then::Endless(bytes.as_ref().to_vec(), pause), ..self }
    }

    async fn give(self, stream: &mut (impl AsyncWrite + AsyncRead + Unpin)) -> bool {
        if stream.write_all(&self.bytes).await.is_err() {
            return false;
        }
        match self.then {
            Then::Close => {
                // A client that was sent away may have closed before.
                drop(stream.shutdown().await);
                false
            }
            Then::Reset => true,
            Then::Silence => std::future::pending().await,
            Then::Endless(bytes, pause) => {
                while stream.write_all(&bytes).await.is_ok() {
                    tokio::time::sleep(pause).await;
                }
                false
            }
        }
    }
}

/// A server on this machine, gone with the runtime of its test.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// One that answers a request by what it says.
    pub(crate) async fn new(reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::on("127.0.0.1:0", reply).await
    }

    pub(crate) async fn on(
        at: &str,
        reply: impl Fn(&str) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(at).await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (reply, log) = (Arc::new(reply), seen.clone());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (reply, log) = (reply.clone(), log.clone());
                tokio::spawn(async move {
                    let request = request(&mut stream).await;
                    log.lock().unwrap().push(request.clone());
                    if reply(&request).give(&mut stream).await {
                        stream.set_zero_linger().unwrap();
                    }
                });
            }
        });
        Self { address, seen }
    }

    /// One that is always given the same answer.
    pub(crate) async fn always(reply: Reply) -> Self {
        Self::new(move |_| reply.clone()).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far, each whole. A connection that says nothing is an empty one.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

/// A request, head and body, as it was sent.
pub(crate) async fn request(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let (mut said, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&said).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return text,
            Ok(count) => said.extend_from_slice(&buffer[..count]),
        }
    }
}

/// Answers one request on a connection that is more than TCP.
pub(crate) async fn serve(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), reply: Reply) {
    request(stream).await;
    reply.give(stream).await;
}
