//! What the tests of Python's jail need of the system.

use std::path::Path;
use std::time::Duration;

use crate::command::Tool;

/// Where the tool looks for it.
const BUBBLEWRAP: &str = "/usr/bin/bwrap";

/// How long each step of installing it may take.
const PATIENCE: Duration = Duration::from_secs(180);

/// A note for the summary: empty where bubblewrap is there, or Debian's could be installed.
pub(crate) fn note() -> &'static str {
    let is_there = || Path::new(BUBBLEWRAP).exists();
    let install = ["install", "-y", "-q", "--no-install-recommends", "bubblewrap"];
    // Lists of packages may be missing or old.
    for arguments in [&install[..], &["update", "-q"], &install] {
        if is_there() {
            return "";
        }
        let apt = Tool::named("apt-get").variable("DEBIAN_FRONTEND", "noninteractive");
        if apt.arguments(arguments).limit(PATIENCE).run().is_err() {
            break;
        }
    }
    if is_there() {
        return "";
    }
    "; Python's jail is not tested: bubblewrap is not installed, and apt-get could not do it"
}
