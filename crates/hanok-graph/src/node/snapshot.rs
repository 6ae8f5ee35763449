//! The state as a node sees it.

use std::{fmt, ops::Deref, sync::Arc};

/// The state as it was when the super-step began. All nodes of the step see the same; a clone costs a pointer.
pub struct Snapshot<S>(Arc<S>);

impl<S> Snapshot<S> {
    /// A snapshot of `state`, to call a node by hand.
    pub fn new(state: S) -> Self {
        Self(Arc::new(state))
    }

    pub(crate) fn shared(state: Arc<S>) -> Self {
        Self(state)
    }
}

impl<S> Clone for Snapshot<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S> Deref for Snapshot<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

impl<S: fmt::Debug> fmt::Debug for Snapshot<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
