//! What a reply means, by how it is written.

mod attacks;
mod contract;
mod echoes;
mod families;
mod faults;
mod formats;
mod forms;
mod grammars;
mod hostile;
mod neutralise;
mod places;
mod properties;
mod seed_patterns;
mod server;
mod special;
mod spellings;
mod splits;
mod streams;
mod support;
mod tables;
