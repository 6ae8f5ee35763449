#![doc = include_str!("offline/README.md")]

mod agent;
mod amounts;
mod arithmetic;
mod choice;
mod conversation;
mod cues;
mod dates;
mod extract;
mod fitting;
mod intent;
mod lists;
mod model;
mod passages;
mod people;
mod pick;
mod prompt;
mod reckon;
mod reply;
mod route;
mod stated;
mod summary;
mod tables;
mod typed;
mod words;

pub use model::OfflineModel;
pub use prompt::aliases;
pub use tables::{everyday, is_outside};
