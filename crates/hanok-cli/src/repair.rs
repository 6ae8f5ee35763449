//! A way on for a SQLite file whose pages are damaged.

use std::path::Path;

use hanok_core::Position;
use hanok_sqlite::{RepairedThread, Sqlite};
use serde_json::json;

use crate::{arguments::CommandLine, failure::Failure, output::Output};

/// Writes what is whole of the file into a new one, and says what was lost.
pub(crate) async fn repair(
    arguments: &CommandLine,
    file: &Path,
    output: &mut Output,
) -> Result<(), Failure> {
    let from = arguments.db.as_ref().ok_or(Failure::NoBackup)?;
    if !from.exists() {
        return Err(Failure::NoFile(from.display().to_string()));
    }
    let repaired = Sqlite::repair(from, file).await?;
    for thread in &repaired.threads {
        tell(thread, output)?;
    }
    if output.is_json() {
        return output.object(&json!({
            "records_without_a_thread": repaired.unlisted,
            "damaged_tables": repaired.damaged,
        }));
    }
    if repaired.unlisted > 0 {
        let count = repaired.unlisted;
        output.line(&format!("{count} records belong to threads whose names are lost"))?;
    }
    for table in &repaired.damaged {
        output.line(&format!("rows of the table `{table}` were damaged"))?;
    }
    output.line(&format!("{} holds what is whole", file.display()))
}

fn tell(thread: &RepairedThread, output: &mut Output) -> Result<(), Failure> {
    let key = &thread.thread;
    let lost: Vec<_> = thread.lost.iter().map(|(from, to)| [from.0, to.0]).collect();
    if output.is_json() {
        return output.object(&json!({
            "tenant": key.tenant().as_str(),
            "thread": key.thread(),
            "records": thread.records,
            "lost": lost,
        }));
    }
    let records = thread.records;
    let Some((first, _)) = thread.lost.first() else {
        return output.line(&format!("{key}: {records} records, nothing is lost"));
    };
    let lost: Vec<_> = lost
        .iter()
        .map(|[from, to]| if from == to { from.to_string() } else { format!("{from} to {to}") })
        .collect();
    output.line(&format!("{key}: {records} records; lost: {}", lost.join(", ")))?;
    match Position(first.0.saturating_sub(1)) {
        Position::START => output.line("  nothing before them is left"),
        good => output.line(&format!("  `hanok rewind … {good}` lets it go on from there")),
    }
}
