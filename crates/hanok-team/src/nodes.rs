//! The nodes of a team supervisor, in the order in which a turn goes through them.

pub(crate) mod aggregate_results;
pub(crate) mod execute_teams;
pub(crate) mod generate_response;
pub(crate) mod initialize;
pub(crate) mod load_memory;
pub(crate) mod planning;
