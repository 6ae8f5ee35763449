//! `hanok`: looks into the threads of a store, answers what they ask, repairs, prunes, erases and moves them. It runs no graph.

mod arguments;
mod change;
mod decisions;
mod failure;
mod history;
#[cfg(feature = "encryption")]
mod keys;
mod look;
mod output;
mod readable;
mod repair;
mod requests;
mod state;
mod store;
mod transfer;
mod verify;

use std::process::ExitCode;

use clap::Parser;

use crate::{
    arguments::{CommandLine, TransferArguments, Verb},
    failure::Failure,
    output::Output,
    store::Place,
};

fn main() -> ExitCode {
    let arguments = match CommandLine::try_parse() {
        Ok(arguments) => arguments,
        // Wrong usage repeats what was written. Help and the version repeat nothing.
        Err(error) if error.use_stderr() => {
            output::misused(&error.render().to_string());
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
        Err(help) => help.exit(),
    };
    let mut output = Output::new(arguments.json);
    match run(arguments, &mut output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output.complain(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(arguments: CommandLine, output: &mut Output) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(Failure::Io)?.block_on(async {
        // What cannot be opened can be repaired.
        if let Verb::Repair { file } = &arguments.verb {
            return repair::repair(&arguments, file, output).await;
        }
        let place =
            Place::open(&arguments).await.map_err(|error| error.of(arguments.db.is_some()))?;
        match arguments.verb {
            Verb::List { forks_of, status } => look::list(&place, forks_of, status, output).await,
            Verb::Expired => look::expired(&place, output).await,
            Verb::Abandoned => look::abandoned(&place, output).await,
            Verb::Show { thread, at } => look::show(&place.log(&thread)?, at, output).await,
            Verb::History(arguments) => history::history(&place, arguments, output).await,
            Verb::Decisions(arguments) => decisions::decisions(&place, arguments, output).await,
            Verb::Inbox { person } => requests::inbox(&place, person, output).await,
            Verb::Requests { thread, secrets } => {
                requests::show(&place, &place.log(&thread)?, secrets, output).await
            }
            Verb::Answer(arguments) => requests::answer(&place, arguments, output).await,
            Verb::Audit(arguments) => requests::audit(&place, arguments, output).await,
            Verb::Diff { thread, positions } => {
                let (before, after) = positions.positions();
                history::diff(&place.log(&thread)?, before, after, output).await
            }
            Verb::Verify { thread, all } => verify::verify(&place, thread, all, output).await,
            Verb::Export { thread, file } => {
                look::export(&place.log(&thread)?, file.as_deref(), output).await
            }
            Verb::Import { thread, file } => {
                change::import(&place.log(&thread)?, &file, output).await
            }
            Verb::Transfer(TransferArguments { file, to_keys, thread, all: _ }) => {
                transfer::transfer(&place, &file, to_keys.as_deref(), thread, output).await
            }
            Verb::Fork { thread, to, at, doubts } => {
                change::fork(&place, &thread, &to.name(), at, doubts, output).await
            }
            Verb::Copy { thread, to } => change::copy(&place, &thread, &to, output).await,
            Verb::Rewind { thread, to, doubts } => {
                change::rewind(&place.log(&thread)?, to.position(), doubts, output).await
            }
            Verb::Release { thread } => change::release(&place, &place.log(&thread)?, output).await,
            // It was done above.
            Verb::Repair { .. } => Ok(()),
            Verb::Backup { file } => change::back_up(&place, &file, output).await,
            Verb::Prune { thread, all, keep, yes } => {
                yes.confirmed()?;
                change::prune(&place, thread, all, keep, output).await
            }
            Verb::Erase { thread, keep_forks, yes } => {
                if !yes.is_confirmed() {
                    return change::would_erase(&place, &thread, keep_forks, output).await;
                }
                change::erase(&place, &thread, keep_forks, output).await
            }
            Verb::Delete { thread, yes } => {
                if !yes.is_confirmed() {
                    return change::would_erase(&place, &thread, true, output).await;
                }
                change::delete(&place, &thread, output).await
            }
        }
    })
}
