//! Ctrl-C.

/// The times that somebody pressed Ctrl-C, none of which is lost between two waits.
#[derive(Debug)]
pub(crate) struct Interrupts {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl Interrupts {
    /// Listens from now on.
    pub(crate) fn new() -> Self {
        Self {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).ok(),
        }
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal {
            signal.recv().await;
            return;
        }
        // Where nothing can be listened to, nothing comes.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
