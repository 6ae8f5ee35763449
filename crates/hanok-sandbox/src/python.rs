//! Python in a jail.
//!
//! [`jail`] says how the jail is built, [`seccomp`] what its programs may not ask of the kernel, [`cgroup`] how all of them
//! together are bounded where a folder for that is given; [`run`] runs one program and keeps what it says, [`probe`] tries
//! the jail before anything is run in it.

#[cfg(target_os = "linux")]
mod cgroup;
mod error;
#[cfg(target_os = "linux")]
mod jail;
#[cfg(target_os = "linux")]
mod kept;
mod limits;
#[cfg(target_os = "linux")]
mod probe;
mod repl;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod seccomp;

pub use error::JailError;
pub use repl::{PythonRepl, PythonReplBuilder};
