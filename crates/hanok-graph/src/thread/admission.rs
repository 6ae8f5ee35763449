//! The moment at which an input is taken.

use std::sync::{Arc, Mutex, PoisonError};

use futures_channel::oneshot;

/// Tells once that an input is taken. When the last clone is dropped before, it was refused or had nothing to do.
#[derive(Clone)]
pub(crate) struct Admission(Arc<Mutex<Option<oneshot::Sender<()>>>>);

impl Admission {
    /// An admission, and what it tells.
    pub(crate) fn new() -> (Self, oneshot::Receiver<()>) {
        let (send, taken) = oneshot::channel();
        (Self(Arc::new(Mutex::new(Some(send)))), taken)
    }

    pub(crate) fn is_taken(&self) {
        if let Some(send) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // Nobody may be waiting for it.
            let _ = send.send(());
        }
    }
}
