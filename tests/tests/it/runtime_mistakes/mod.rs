//! What a user is told of a mistake that shows when the program runs: what is wrong, with which name or value, and what to
//! write or to call instead. Each test is a page, with a heading for each mistake and the error as `Chain` prints it.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod agents;
mod builds;
mod graphs;
mod nodes;
mod people;
mod stores;
mod threads;

use std::error::Error;

use hanok::{RunError, checkpoint::CheckpointError, core::Chain};

/// The mistakes of a page, and what is said of each.
#[derive(Default)]
struct Page(String);

impl Page {
    /// Adds what `error` says of `mistake`, with its code, if it has one.
    fn tell(&mut self, mistake: &str, error: &(dyn Error + 'static)) {
        let run = error.downcast_ref::<RunError>().map(RunError::code);
        let store = error.downcast_ref::<CheckpointError>().map(CheckpointError::code);
        let code = run.or(store).map(|code| format!("{code} ")).unwrap_or_default();
        self.say(mistake, &format!("{code}{}", Chain(error)));
    }

    fn say(&mut self, mistake: &str, told: &str) {
        self.0 += &format!("# {mistake}\n{told}\n");
    }
}
