//! The room `run`.

pub(crate) mod answer;
pub(crate) mod commit;
pub(crate) mod ephemeral;
pub(crate) mod group;
pub(crate) mod initial_fields;
pub(crate) mod merge;
pub(crate) mod parent_command;
pub(crate) mod plan;
pub(crate) mod rebase;
pub(crate) mod route;
pub(crate) mod run_state;
pub(crate) mod subgraph;
pub(crate) mod super_step;
pub(crate) mod task;
pub(crate) mod thread_cache;
pub(crate) mod time_limit;
pub(crate) mod turn_start;
pub(crate) mod unknown;
