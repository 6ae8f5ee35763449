//! What a state is, and what updates make of it.

mod dynamic;
mod json;
mod messages;
mod read_json;
mod reduce;
mod schema;
mod setters;
mod updates;
mod writes;
