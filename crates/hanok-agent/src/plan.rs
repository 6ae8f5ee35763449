//! Plan, act, evaluate: a planner proposes calls, an executor makes them, an evaluator says whether what they gave is enough.
//!
//! | files | what they hold |
//! | --- | --- |
//! | `planning` | the part of a state that the loop reads and writes |
//! | `task` | what the loop is about: how calls are proposed, what becomes of their results, when it is enough |
//! | `plan_loop` | the nodes and edges of the loop, in a graph of anybody |
//! | `plan_agent`, `plan_state`, `model_task`, `words` | an agent over it, whose model plans, judges and answers |
//!
//! ```text
//! planner ─┬─ executor ──────────┬─ evaluator ─┬─ planner (what is missing)
//!          ├─ parallel_executor ─┘             └─ the node behind the loop
//!          ├─ evaluator (every call was made before)
//!          └─ the node behind the loop (there is nothing to call)
//! ```
//!
//! A call that was made is not made again in the turn, and the rounds have a limit: so the loop ends whatever models write.

pub(crate) mod model_task;
pub(crate) mod plan_agent;
pub(crate) mod plan_loop;
pub(crate) mod plan_state;
pub(crate) mod planning;
pub(crate) mod task;
mod words;
