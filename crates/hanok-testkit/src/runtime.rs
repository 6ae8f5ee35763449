//! The runtime of the suites.

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};

#[allow(clippy::expect_used, reason = "nothing can be tested without it")]
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a tokio runtime")
});

/// Waits for `future` on a tokio runtime that all tests of a process share: a store may keep connections between calls.
///
/// # Panics
///
/// Within another `block_on`.
pub fn block_on<F: Future>(future: F) -> F::Output {
    RUNTIME.block_on(future)
}
