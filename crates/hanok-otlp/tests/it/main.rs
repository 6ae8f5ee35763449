//! What is exported, and what becomes of it.

mod export;
mod server;
