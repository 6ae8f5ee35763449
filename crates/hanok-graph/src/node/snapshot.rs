//! Snapshots: the state as a node reads it.

use std::{fmt, ops::Deref, sync::Arc};

/// The state at the beginning of the super-step. All nodes of the step read the same snapshot, and a clone costs a
/// pointer.
///
/// ```
/// # use {hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Default)] struct Count { n: u32 }
/// fn is_even(state: &Snapshot<Count>) -> bool {
///     state.n % 2 == 0
/// }
///
/// assert!(is_even(&Snapshot::new(Count { n: 4 })));
/// ```
pub struct Snapshot<S>(Arc<S>);

impl<S> Snapshot<S> {
    /// A snapshot of `state`, for calling a node by hand.
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

/// The same snapshot, as what shares it.
impl<S> From<Snapshot<S>> for Arc<S> {
    fn from(snapshot: Snapshot<S>) -> Self {
        snapshot.0
    }
}
