//! What the check of exported chains needs: a Python that knows BLAKE3.

use std::path::{Path, PathBuf};

use crate::python;

/// The variable in which the test finds it.
pub(crate) const PYTHON: &str = "HANOK_TEST_PYTHON";

/// The package.
const WANTED: &str = "blake3>=1.0,<2";

/// A Python with the package, made below `target` if it is not there; where there can be none, a note for the summary.
pub(crate) fn python(target: &Path) -> (Option<PathBuf>, String) {
    match python::with(&target.join("chains"), &[WANTED]) {
        Ok(python) => (Some(python), String::new()),
        Err(why) => (None, format!("; exported chains are not checked in Python: {why}")),
    }
}
