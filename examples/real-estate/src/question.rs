//! What a question states, read by rules, and the arguments of the tools that come of it.
//!
//! [`Keywords::stated`] reads amounts, places and facts from the words of a question, and leaves out what is not clear.
//! [`arguments`] makes of them what a tool takes, or says what is [`Missing`].

mod amounts;
mod arguments;
mod facts;
mod keywords;
mod missing;
mod places;
mod stated;
mod words;

pub use arguments::arguments;
pub use keywords::{AmountRange, AreaRange, Keywords};
pub use missing::{Lacking, Missing};
