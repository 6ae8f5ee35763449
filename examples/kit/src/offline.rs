#![doc = include_str!("offline/README.md")]

mod agent;
mod amounts;
mod choose;
mod dates;
mod form;
mod listed;
mod model;
mod names;
mod passages;
mod quote;
mod reply;
mod request;
mod summary;
mod tables;
mod talk;
mod values;
mod words;

pub use listed::aliases;
pub use model::OfflineModel;
pub use tables::everyday;
