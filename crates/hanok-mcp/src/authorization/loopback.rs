//! The address of this machine to which a browser comes back.

use std::{io, time::Duration};

use reqwest::Url;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

/// The most bytes of the head of a request.
const LONGEST: usize = 16 * 1024;

/// The time that one connection has for its request.
const READING: Duration = Duration::from_secs(10);

const PATH: &str = "/callback";

/// The address to which a browser comes back.
#[derive(Debug)]
pub(super) struct Loopback {
    listener: TcpListener,
    port: u16,
}

impl Loopback {
    /// Listens on `port` of this machine, on any free one where that is 0.
    pub(super) async fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// The address, as an authorization server is told it.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// The address with which a browser has come back whose `state` is this one. All else is answered and forgotten.
    pub(super) async fn redirected(&self, state: &str) -> io::Result<Url> {
        loop {
            let (mut stream, _) = self.listener.accept().await?;
            let target = timeout(READING, target(&mut stream)).await.ok().flatten();
            let url = target.and_then(|target| self.url(&target));
            let is_ours = |url: &Url| query(url, "state").as_deref() == Some(state);
            let (status, words) = match &url {
                Some(url) if is_ours(url) && query(url, "error").is_some() => {
                    ("200 OK", "You are not signed in. You can close this window.")
                }
                Some(url) if is_ours(url) => {
                    ("200 OK", "You are signed in. You can close this window.")
                }
                _ => ("404 Not Found", "There is nothing here."),
            };
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{words}",
                words.len()
            );
            // A browser that has gone away was here all the same.
            let _ = timeout(READING, stream.write_all(answer.as_bytes())).await;
            if let Some(url) = url.filter(is_ours) {
                return Ok(url);
            }
        }
    }

    fn url(&self, target: &str) -> Option<Url> {
        let url = Url::parse(&format!("http://127.0.0.1:{}{target}", self.port)).ok()?;
        (url.path() == PATH).then_some(url)
    }
}

/// The value of `name` in the query of `url`.
pub(super) fn query(url: &Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// The target of a request of HTTP, when it is a `GET`.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let (mut head, mut bytes) = (Vec::new(), [0; 1024]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut bytes).await.ok()?;
        head.extend_from_slice(bytes.get(..read)?);
        if read == 0 || head.len() > LONGEST {
            return None;
        }
    }
    let head = String::from_utf8(head).ok()?;
    let (target, _) = head.strip_prefix("GET ")?.split_once(' ')?;
    target.starts_with('/').then(|| target.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ask(port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn only_the_browser_that_was_sent_comes_back() {
        let loopback = Loopback::bind(0).await.unwrap();
        let (port, address) = (loopback.port, loopback.address());
        let waiting = tokio::spawn(async move { loopback.redirected("s1").await.unwrap() });
        for request in [
            "GET /favicon.ico HTTP/1.1\r\n\r\n",
            "GET /callback?code=evil&state=s2 HTTP/1.1\r\n\r\n",
            "GET /callback?code=evil HTTP/1.1\r\n\r\n",
            "POST /callback?code=evil&state=s1 HTTP/1.1\r\n\r\n",
            "GET http://elsewhere/callback?state=s1 HTTP/1.1\r\n\r\n",
            "\r\n\r\n",
        ] {
            let answer = ask(port, request).await;
            assert!(answer.starts_with("HTTP/1.1 404"), "{request}: {answer}");
        }
        let answer = ask(port, "GET /callback?code=c1&state=s1 HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert!(answer.contains("You are signed in"), "{answer}");
        assert_eq!(waiting.await.unwrap().as_str(), format!("{address}?code=c1&state=s1"));
    }
}
