//! Programs in packages outside the workspace, which nobody is to build who did not ask for them.

use std::path::{Path, PathBuf};

use crate::command::Tool;
use crate::result::Result;

/// A package with one program.
pub(crate) struct Apart {
    pub(crate) manifest: &'static str,
    pub(crate) program: &'static str,
    /// Where it is built.
    pub(crate) folder: &'static str,
}

impl Apart {
    /// The program, built for speed; `None` when the compiler has said why not.
    ///
    /// # Errors
    ///
    /// Cargo could not be started.
    pub(crate) fn built(&self) -> Result<Option<PathBuf>> {
        let build = ["build", "--release", "--quiet", "--manifest-path", self.manifest];
        let built = Tool::cargo().arguments(build).arguments(["--target-dir", self.folder]);
        let program = format!("{}{}", self.program, std::env::consts::EXE_SUFFIX);
        Ok(built.shown()?.then(|| Path::new(self.folder).join("release").join(program)))
    }
}
