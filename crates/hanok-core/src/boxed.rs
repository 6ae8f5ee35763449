//! Boxed errors and futures.

/// A boxed error of any kind, as a cause.
pub type BoxError = Box<dyn std::error::Error + Send + Sync + 'static>;

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
