//! What is wrong with a configuration, and where.

use std::{fmt, path::PathBuf};

use thiserror::Error;

/// One fault of a configuration, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigFault {
    /// The place: `mcpServers.files.args[1]`, or `line 3, column 7` of what is no JSON.
    pub place: String,
    /// The fault, and what to write instead.
    pub what: String,
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// The reason for which there is no configuration.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the configuration `{}` cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The text has faults.
    #[error("the configuration{} cannot be used{}", of(path), listed(faults))]
    Faulty {
        /// The file, if it was one.
        path: Option<PathBuf>,
        /// All faults.
        faults: Vec<ConfigFault>,
    },
}

fn of(path: &Option<PathBuf>) -> String {
    path.as_ref().map(|path| format!(" `{}`", path.display())).unwrap_or_default()
}

fn listed(faults: &[ConfigFault]) -> String {
    faults.iter().map(|fault| format!("\n- {fault}")).collect()
}
