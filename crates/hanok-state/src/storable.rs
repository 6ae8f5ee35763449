//! The bound of what a log can hold.

use serde::{Serialize, de::DeserializeOwned};

/// A value that can be stored and read again: every `Clone + Serialize + DeserializeOwned + Send + Sync + 'static` type is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored in a state",
    label = "not `Clone + Serialize + Deserialize + Send + Sync`",
    note = "derive them on `{Self}`: `#[derive(Clone, serde::Serialize, serde::Deserialize)]`; or leave the field out of the log with `#[state(transient)]`"
)]
pub trait Storable: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Serialize + DeserializeOwned + Send + Sync + 'static> Storable for T {}
