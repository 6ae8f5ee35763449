//! What models, tools and embedders do, by what they are asked for.

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
