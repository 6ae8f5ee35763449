//! Why Python was not run, or was stopped.

use std::time::Duration;

use hanok_model::ToolError;
use thiserror::Error;

/// Why Python was not run, or was stopped.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum JailError {
    /// There is no jail on this system.
    #[error("Python runs in a jail only, and there is one for Linux on x86-64 and aarch64 alone")]
    Platform,
    /// A program that makes the jail is not there.
    #[error("Python runs in a jail only, and `{program}` is not there; {how}")]
    Missing { program: String, how: &'static str },
    /// The system does not let the jail be made.
    #[error(
        "Python runs in a jail only, and none can be made here ({said}); bubblewrap 0.8 or later and user namespaces are needed (`sysctl user.max_user_namespaces`; in a container: its seccomp and AppArmor profiles)"
    )]
    NoJail { said: String },
    /// The jail was made and does not hold.
    #[error("Python runs in a jail only, and the one that can be made here does not hold: {holes}")]
    Leaky { holes: String },
    /// The control group for the jail cannot be made.
    #[error("the control group below `{folder}` cannot be made")]
    Cgroup { folder: String, source: std::io::Error },
    /// The program is too long.
    #[error("the program has {size} bytes, more than {limit}")]
    TooLong { size: usize, limit: usize },
    /// The program took too long, and was killed with all that it had started.
    #[error("the program was stopped after {after:?}{}", written(output))]
    TimedOut { after: Duration, output: String },
    /// The program said too much, and was killed.
    #[error("the program was stopped because it wrote more than {limit} bytes{}", written(output))]
    Flood { limit: u64, output: String },
    /// The call was asked to stop.
    #[error("the call was stopped")]
    Cancelled,
    /// Something between us and the jail failed.
    #[error("the jail could not be started")]
    Io(#[from] std::io::Error),
}

fn written(output: &str) -> String {
    match output {
        "" => "; it had written nothing".to_owned(),
        output => format!("; it had written:\n{output}"),
    }
}

impl From<JailError> for ToolError {
    fn from(error: JailError) -> Self {
        match error {
            JailError::Cancelled => Self::Cancelled,
            JailError::TooLong { .. } => Self::arguments(error),
            JailError::Platform
            | JailError::Missing { .. }
            | JailError::NoJail { .. }
            | JailError::Leaky { .. } => Self::refused(error.to_string()),
            other => Self::failed(other),
        }
    }
}
