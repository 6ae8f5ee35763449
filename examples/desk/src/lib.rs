//! A sample MCP server: notes, a calendar, units, meeting rooms that ask back, and a report that takes a while.
//!
//! It stands for anybody's server: its tools have schemas, and read no sentences. The protocol is `rmcp`'s; nothing is shared with the
//! client but the file of the data, which several servers may have in common.

mod data;
mod moment;
mod server;
mod units;

use std::{io, path::PathBuf};

use jiff::Timestamp;
use rmcp::{ServiceExt as _, transport::stdio};

use self::{data::Store, server::Desk};

/// The argument by which a program that has this server in it is the server.
pub const ARGUMENT: &str = "--sample-server";

/// The variable with the folder of the data. Without it nothing outlives the server.
pub const FOLDER: &str = "DESK_FOLDER";

/// The variable with the time that it is, for tests. Without it, that of the machine.
pub const NOW: &str = "DESK_NOW";

/// The variable with the milliseconds that a report takes. Without it, two seconds.
pub const REPORT_MILLIS: &str = "DESK_REPORT_MILLIS";

/// The variable that, where it is set, makes the server speak the protocol of 2025-11-25, which has no questions after a call.
pub const OLD: &str = "DESK_OLD";

/// The words by which people ask for each tool, a line for each. They are for what looks a tool up, and stand in no description.
pub const CUES: &str = include_str!("../cues.txt");

/// Serves on the standard input and output until the input ends.
///
/// # Errors
///
/// What the input, the output or the file of the data says.
pub fn serve() -> io::Result<()> {
    let variable = |name| std::env::var(name).ok();
    let now = variable(NOW).and_then(|now| now.parse::<Timestamp>().ok());
    let millis = variable(REPORT_MILLIS).and_then(|millis| millis.parse().ok());
    let store = Store::open(std::env::var_os(FOLDER).map(PathBuf::from))?;
    let desk = Desk::new(store, now, millis.unwrap_or(2_000), variable(OLD).is_some());
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let serving = desk.serve(stdio()).await.map_err(io::Error::other)?;
        let served = serving.waiting().await.map(drop).map_err(io::Error::other);
        // What came with the last line before the end is still done.
        tokio::task::yield_now().await;
        served
    })
}
