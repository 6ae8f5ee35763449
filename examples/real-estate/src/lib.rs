//! The real-estate team: data, tools and wording.

pub mod area;
pub mod data;
pub mod documents;
pub mod money;
pub mod person;
pub mod question;
pub mod tools;
