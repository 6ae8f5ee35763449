//! The sample MCP server: notes, a calendar, units, a room that asks back, and a report that takes a while.
//!
//! It is this very program, started again as a child. It speaks the protocol of 2026-07-28 over its standard input and output, a
//! message a line: tools, questions (`input_required`) and tasks. Nothing of it is shared with the client but the file of its data,
//! which such servers alone read and write, one call after the other.

mod calendar;
mod data;
mod desk;
mod notes;
mod protocol;
mod report;
mod rooms;
mod units;
mod when;

use std::{io, path::PathBuf};

use jiff::{Timestamp, Zoned, tz::TimeZone};

use self::{data::Store, desk::Desk};

/// The argument by which the program is the server.
pub const ARGUMENT: &str = "--sample-server";

/// The variable with the folder of the data. Without it nothing outlives the server.
pub const FOLDER: &str = "DESK_FOLDER";

/// The variable with the time that it is, for tests. Without it, that of the machine.
pub const NOW: &str = "DESK_NOW";

/// The variable with the milliseconds that a report takes. Without it, two seconds.
pub const REPORT_MILLIS: &str = "DESK_REPORT_MILLIS";

/// The variable that, where it is set, makes the server speak the protocol of 2025-11-25, which has no questions after a call.
pub const OLD: &str = "DESK_OLD";

/// The hours that clocks in Korea are ahead of UTC.
const KOREA: i8 = 9;

/// Serves until the input ends.
///
/// # Errors
///
/// What the input, the output or the file of the data says.
pub fn serve() -> io::Result<()> {
    let store = Store::open(std::env::var_os(FOLDER).map(PathBuf::from))?;
    let millis = std::env::var(REPORT_MILLIS).ok().and_then(|millis| millis.parse().ok());
    let now = std::env::var(NOW).ok().and_then(|now| now.parse::<Timestamp>().ok());
    let clock = move || {
        let zone = TimeZone::fixed(jiff::tz::offset(KOREA));
        Zoned::new(now.unwrap_or_else(Timestamp::now), zone)
    };
    let is_old = std::env::var_os(OLD).is_some();
    protocol::run(&mut Desk::new(store, Box::new(clock), millis.unwrap_or(2_000)), is_old)
}
