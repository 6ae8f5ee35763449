//! What is wrong is caught by the suites that it breaks.

mod broken_checkpointers;
mod broken_kinds;
mod broken_models;
mod broken_stores;
