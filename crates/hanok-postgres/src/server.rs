//! The way to the server: connections, transactions and how often they are tried, TLS.
//!
//! A call is a few `Query`s in one transaction. It is tried again while the server is away, unless the failure leaves unknown
//! whether it was done.

pub(crate) mod pool;
pub(crate) mod tls;
