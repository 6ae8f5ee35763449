//! An expert on one contract: it plans which articles to read, reads them, asks itself whether that is enough, and answers with
//! the articles named and the standard contract kept apart.
//!
//! ```text
//! START -> scope_validator -> check_previous_context -> planner -> respond -> END
//!                 \-> END                       /-> planner -> evaluator -> respond
//!                              planner -> executor | parallel_executor -> evaluator -> planner
//! ```
//!
//! Everything reusable is in the crates: the parser of contracts in `hanok-documents`, the search in `hanok-retrieval`, the rounds of
//! planning, calling and judging in `hanok-agent`. What is here is this program's own: its state, its prompts, its rules and its graph.

mod book;
mod cite;
mod evaluator;
mod event;
mod expert;
mod options;
mod planner;
mod previous;
mod prompt;
mod question;
mod respond;
mod rounds;
mod scope;
mod state;
mod talking;
mod tools;

pub use book::{Book, Material, Origin};
pub use event::ContractEvent;
pub use expert::Expert;
pub use options::Options;
pub use previous::PreviousTurn;
pub use state::{ContractState, ContractStateUpdate};
