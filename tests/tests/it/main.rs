//! What no single crate can show: the programs of the README, first graphs, mistakes at run time.

mod agent_parts;
mod debug_node;
mod error_codes;
mod exported_chain;
mod first_graph;
mod own_agent;
mod react_lines;
mod runtime_mistakes;
mod tool_attribute;
