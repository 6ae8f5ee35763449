//! Three teams over one supervisor, which answers questions about renting, buying and lending a home in Korea.
//!
//! ```text
//! initialize -> load_memory -> planning -> execute_teams -> aggregate_results -> generate_response
//!                                              |-- search, analysis, document
//! ```
//!
//! | read this | for |
//! | --- | --- |
//! | `main.rs`, `app` | how the parts are put together |
//! | `teams` | the three graphs; `teams::select`: a model chooses the tools and their arguments in one request |
//! | `teams::check` | the rules that check these arguments against what the user wrote |
//! | `tools` | ten tools over the files of `data/`, a file each |
//! | `documents`, `documents::review` | contracts from `templates/*.md`, and what is risky in them |
//! | `memory`, `learning` | what of a user's words is remembered, and how the program learns beside the conversation |
//! | `talking` | the commands of the terminal: the plan, the decision log, what-if |
//!
//! A question takes at most five requests to the model with two teams: intent, plan, and one for each team; the last writes the
//! answer. The prompts are in `prompts/`: keyword extraction shares a request with the selection of tools, and insights share one with
//! the response.

pub mod app;
pub mod data;
pub mod documents;
pub mod learning;
pub mod memory;
pub mod money;
mod options;
pub mod person;
pub mod talking;
pub mod teams;
pub mod tools;

pub use options::Options;
pub use talking::Talking;
