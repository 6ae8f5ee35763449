//! Collections that share their structure, and the operations that change them.
//!
//! [`List`](list::List) and [`Map`](map::Map) are cheap to clone, so that a snapshot of a state is. [`Grow`](grow::Grow) is the
//! seam of values that are changed by operations.
//!
//! The room imports nothing of the crate.

pub(crate) mod grow;
#[cfg(feature = "schema")]
mod json_schema;
pub(crate) mod list;
pub(crate) mod map;
