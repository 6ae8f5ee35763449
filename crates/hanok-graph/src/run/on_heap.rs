//! Futures on the heap.

use hanok_core::BoxFuture;

/// The future in a box of its own. Graphs call each other sixteen deep, and all of them are polled on one stack: what is rare,
/// or large, is not to take room there for all that call it.
pub(crate) fn on_heap<'a, T>(future: impl Future<Output = T> + Send + 'a) -> BoxFuture<'a, T> {
    Box::pin(future)
}
