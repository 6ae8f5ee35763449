//! No panic reaches Python: there it would be no `Exception`, and end a server that catches those.

use std::panic::{self, AssertUnwindSafe};

use pyo3::{PyResult, exceptions::PyRuntimeError};

/// Returns the result of `work`, or a `RuntimeError` if it panics. What `work` was changing then is not to be used again.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
        PyRuntimeError::new_err(format!("a fault of hanok-parse, please report it: {words}"))
    })
}
