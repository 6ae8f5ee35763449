//! The end of a check.

use std::process::ExitCode;

/// Any failure of a check itself, as opposed to a fault that it found.
pub(crate) type Error = Box<dyn std::error::Error>;
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// The exit code of a program whose checks have passed or not.
pub(crate) fn code(passed: bool) -> ExitCode {
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
