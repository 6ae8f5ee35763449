//! What the team of `real-estate` finds, reckons, writes and says.

mod answers;
mod documents;
mod law;
mod money;
mod program;
mod python;
mod stream;
mod team;
mod watched;
