//! Questions about contracts, answered by `contract`.

mod asked;
mod broken;
mod documents;
mod hostile;
mod paths;
mod program;
mod questions;
mod support;
mod whole;
