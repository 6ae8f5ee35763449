//! Listening: connections with limits, and an end in order.

use std::{future::pending, sync::Arc, time::Duration};

use axum::Router;
use hanok_core::Cancellation;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream, ToSocketAddrs},
    sync::{OwnedSemaphorePermit, Semaphore},
};

use crate::server::{Served, StartError};

/// The connections at once.
const CONNECTIONS: usize = 10_000;

/// How long a client may take to send a request's head.
const HEAD: Duration = Duration::from_secs(10);

/// How large a head may be, in bytes.
const HEADERS: usize = 64 * 1024;

/// How long a server that ends still answers.
const ANSWERS: Duration = Duration::from_secs(2);

impl Served {
    /// Listens on `address` until the process is told to end (SIGTERM, Ctrl-C), then ends in order: nothing is taken up any more,
    /// what is under way finishes its super-steps for [`grace`](crate::Server::grace), and the rest is given back. A second signal ends
    /// the process at once.
    ///
    /// # Errors
    ///
    /// [`StartError::Address`] and [`StartError::Open`].
    pub async fn run(
        self,
        address: impl ToSocketAddrs + std::fmt::Display,
    ) -> Result<(), StartError> {
        let listener = self.listen(address).await?;
        self.run_on(listener).await;
        Ok(())
    }

    /// The listener of `address`.
    ///
    /// # Errors
    ///
    /// As [`run`](Served::run).
    pub async fn listen(
        &self,
        address: impl ToSocketAddrs + std::fmt::Display,
    ) -> Result<TcpListener, StartError> {
        let failed = |source| StartError::Address { address: address.to_string(), source };
        let listener = TcpListener::bind(&address).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        if self.lets_anybody_in && !bound.ip().is_loopback() {
            return Err(StartError::Open(bound));
        }
        Ok(listener)
    }

    /// As [`run`](Served::run), on a listener.
    pub async fn run_on(self, listener: TcpListener) {
        self.run_until(listener, told_to_end()).await;
    }

    /// As [`run`](Served::run), on a listener and until `ends` completes.
    pub async fn run_until(self, listener: TcpListener, ends: impl Future<Output = ()>) {
        let (router, connections) = (self.router(), Arc::new(Semaphore::new(CONNECTIONS)));
        let mut ends = Box::pin(ends);
        loop {
            let accepted = tokio::select! {
                () = &mut ends => break,
                accepted = accept(&listener, &connections) => accepted,
            };
            let (stream, permit) = accepted;
            serve(&router, self.service.draining.clone(), stream, permit);
        }
        drop(listener);
        self.service.draining.cancel();
        let drained = self.runs().shutdown(self.grace);
        let (left, ()) = tokio::join!(drained, async {
            let all = u32::try_from(CONNECTIONS).unwrap_or(u32::MAX);
            if tokio::time::timeout(ANSWERS, connections.acquire_many(all)).await.is_err() {
                tracing::info!("connections are open still");
            }
        });
        if left > 0 {
            tracing::warn!(left, "runs were not given back in time");
        }
    }
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> (TcpStream, OwnedSemaphorePermit) {
    loop {
        let Ok(permit) = Arc::clone(connections).acquire_owned().await else {
            return pending().await;
        };
        match listener.accept().await {
            Ok((stream, _)) => return (stream, permit),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Serves a connection. When the server drains, it answers what was asked, and no more.
fn serve(router: &Router, draining: Cancellation, stream: TcpStream, permit: OwnedSemaphorePermit) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection sends late");
    }
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEADERS);
    let service = TowerToHyperService::new(router.clone());
    let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
    tokio::spawn(async move {
        let mut connection = Box::pin(connection);
        let ended = tokio::select! {
            ended = &mut connection => ended,
            () = draining.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended");
        }
        drop(permit);
    });
}

/// Completes when the process is told to end; the second time ends the process.
async fn told_to_end() {
    signal().await;
    tokio::spawn(async {
        signal().await;
        std::process::exit(1);
    });
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};

    let Ok(mut terminated) = signal(SignalKind::terminate()) else { return pending().await };
    tokio::select! {
        _ = terminated.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

#[cfg(not(unix))]
async fn signal() {
    let _ = tokio::signal::ctrl_c().await;
}
