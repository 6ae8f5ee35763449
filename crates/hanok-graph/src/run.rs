//! The room `run`.

pub(crate) mod answer;
pub(crate) mod commit;
pub(crate) mod ephemeral;
pub(crate) mod graph_run;
pub(crate) mod group;
pub(crate) mod initial_fields;
pub(crate) mod merge;
pub(crate) mod parent_command;
pub(crate) mod plan;
pub(crate) mod rebase;
pub(crate) mod route;
pub(crate) mod run_state;
pub(crate) mod step_outcome;
pub(crate) mod step_tasks;
pub(crate) mod subgraph;
pub(crate) mod subgraph_node;
pub(crate) mod super_step;
pub(crate) mod task;
pub(crate) mod task_limits;
pub(crate) mod task_outcome;
pub(crate) mod thread_cache;
pub(crate) mod time_limit;
pub(crate) mod turn_start;
pub(crate) mod unknown;
