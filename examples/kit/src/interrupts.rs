//! Ctrl-C, and what else asks the program to end.

#[cfg(unix)]
use std::task::Poll;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The times that somebody pressed Ctrl-C or asked the program to end, none of which is lost between two waits.
#[derive(Debug)]
pub(crate) struct Interrupts {
    #[cfg(unix)]
    ctrl_c: Option<Signal>,
    /// A request of another program, and the end of the terminal.
    #[cfg(unix)]
    ends: Vec<Signal>,
    is_ending: bool,
}

impl Interrupts {
    /// Listens from now on.
    pub(crate) fn new() -> Self {
        Self {
            #[cfg(unix)]
            ctrl_c: signal(SignalKind::interrupt()).ok(),
            #[cfg(unix)]
            ends: [SignalKind::terminate(), SignalKind::hangup()]
                .into_iter()
                .filter_map(|kind| signal(kind).ok())
                .collect(),
            is_ending: false,
        }
    }

    /// True once the program was asked to end: what is under way may stop in peace, and nothing more begins.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(ctrl_c) = &mut self.ctrl_c {
            let (ends, is_ending) = (&mut self.ends, &mut self.is_ending);
            std::future::poll_fn(|context| {
                if ends.iter_mut().any(|signal| signal.poll_recv(context).is_ready()) {
                    *is_ending = true;
                    return Poll::Ready(());
                }
                ctrl_c.poll_recv(context).map(|_| ())
            })
            .await;
            return;
        }
        // Where nothing can be listened to, nothing comes.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}

/// Does `work`, unless somebody presses Ctrl-C or asks the program to end before it is done: then it is dropped, and there is `None`.
pub async fn unless_interrupted<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut interrupts = Interrupts::new();
    tokio::select! {
        biased;
        () = interrupts.next() => None,
        done = work => Some(done),
    }
}
