//! What models, tools and embedders do, by what they are asked for.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod blocking;
mod clock;
mod doubles;
mod extract;
mod injected;
mod model;
mod semantic;
mod time_limit;
mod tokens;
mod tool_macro;
