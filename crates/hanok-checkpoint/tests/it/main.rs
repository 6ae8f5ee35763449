//! What stores, logs and folds of threads do. One program, since each more would be linked by itself.

mod folds;
mod gaps;
mod hostile;
mod json;
mod lines;
mod memory;
mod memory_store;
mod stored;
