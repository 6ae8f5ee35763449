//! A network that loses things at the worst moment.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, tcp},
};

/// What is lost with the next commit, and then the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Loss {
    Nothing,
    /// The commit does not reach the server.
    Question,
    /// The server commits, and its answer does not come back.
    Answer,
    /// Nothing comes back any more, and the connection stays.
    Silence,
    /// Nothing is lost, but nothing comes back before the commit was sent. This one lasts.
    Patience,
}

/// Stands between a store and its server.
#[derive(Debug, Clone)]
pub(crate) struct Proxy {
    port: u16,
    loss: Arc<AtomicU8>,
    lost: Arc<AtomicU32>,
    /// How many answers come through, of all connections.
    answers: Arc<AtomicU32>,
    /// Whether new connections are taken and never answered.
    mute: Arc<AtomicBool>,
}

impl Proxy {
    /// Stands in front of 127.0.0.1:`server`.
    pub(crate) async fn start(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = Self {
            port,
            loss: Arc::default(),
            lost: Arc::default(),
            answers: Arc::new(AtomicU32::new(u32::MAX)),
            mute: Arc::default(),
        };
        let this = proxy.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if this.mute.load(Ordering::SeqCst) {
                    tokio::spawn(async move {
                        let _client = client;
                        std::future::pending::<()>().await;
                    });
                    continue;
                }
                let server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
                tokio::spawn(this.clone().carry(client, server));
            }
        });
        proxy
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Loses something of the next commit.
    pub(crate) fn lose(&self, loss: Loss) {
        self.loss.store(loss as u8, Ordering::SeqCst);
    }

    /// Lets so many answers of the server through, and then nothing; the connections stay.
    pub(crate) fn answer_no_more_after(&self, answers: u32) {
        self.answers.store(answers, Ordering::SeqCst);
    }

    /// Takes new connections and answers them nothing.
    pub(crate) fn greet_nobody(&self) {
        self.mute.store(true, Ordering::SeqCst);
    }

    /// How often something was lost.
    pub(crate) fn lost(&self) -> u32 {
        self.lost.load(Ordering::SeqCst)
    }

    async fn carry(self, client: TcpStream, server: TcpStream) {
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        let swallow = Arc::new(AtomicU8::new(0));
        // Whichever ends first ends the connection.
        tokio::select! {
            () = self.ask(from_client, to_server, Arc::clone(&swallow)) => {}
            () = answer(from_server, to_client, swallow, Arc::clone(&self.answers)) => {}
        }
    }

    async fn ask(
        &self,
        mut from: tcp::OwnedReadHalf,
        mut to: tcp::OwnedWriteHalf,
        swallow: Arc<AtomicU8>,
    ) {
        let mut chunk = vec![0; 1 << 16];
        loop {
            let Ok(length @ 1..) = from.read(&mut chunk).await else { return };
            let commits = chunk[..length].windows(6).any(|it| it == b"COMMIT");
            let holds = self.loss.load(Ordering::SeqCst) == Loss::Patience as u8;
            if holds {
                swallow.store(if commits { 0 } else { Loss::Patience as u8 }, Ordering::SeqCst);
            }
            let loss = if commits && !holds { self.loss.swap(0, Ordering::SeqCst) } else { 0 };
            self.lost.fetch_add(u32::from(loss > 0), Ordering::SeqCst);
            if loss == Loss::Question as u8 {
                return;
            }
            swallow.fetch_max(loss, Ordering::SeqCst);
            if to.write_all(&chunk[..length]).await.is_err() {
                return;
            }
        }
    }
}

async fn answer(
    mut from: tcp::OwnedReadHalf,
    mut to: tcp::OwnedWriteHalf,
    swallow: Arc<AtomicU8>,
    answers: Arc<AtomicU32>,
) {
    /// Ready for a query, and in no transaction.
    const DONE: &[u8] = b"Z\0\0\0\x05I";
    let mut chunk = vec![0; 1 << 16];
    loop {
        let Ok(length @ 1..) = from.read(&mut chunk).await else { return };
        while swallow.load(Ordering::SeqCst) == Loss::Patience as u8 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let left = answers.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| match left {
            u32::MAX => Some(left),
            left => left.checked_sub(1),
        });
        if left.is_err() {
            continue;
        }
        if swallow.load(Ordering::SeqCst) == 0 {
            if to.write_all(&chunk[..length]).await.is_err() {
                return;
            }
        } else if swallow.load(Ordering::SeqCst) == Loss::Answer as u8
            && chunk[..length].ends_with(DONE)
        {
            return;
        }
    }
}
