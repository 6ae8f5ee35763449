//! Threads taken into another SQLite file, with keys of its own: the way from a plain store to an encrypted one, and back.

use std::path::Path;

use hanok_checkpoint::{
    Checkpointer, Head, Life, Log, SharedCheckpointer, SharedStore, ThreadItems,
};
use hanok_sqlite::Sqlite;

use crate::{
    change::{done, unused},
    failure::Failure,
    output::Output,
    store::{Place, id, now},
};

/// Takes one thread, or all of the tenant, into the store in `file`. A thread that is there already stays as it is there, so
/// that a transfer that broke off is begun again.
pub(crate) async fn transfer(
    place: &Place,
    file: &Path,
    keys: Option<&Path>,
    thread: Option<String>,
    output: &mut Output,
) -> Result<(), Failure> {
    let sqlite = Sqlite::open(file).await?;
    let (target, memory) = (SharedCheckpointer::new(sqlite.clone()), SharedStore::new(sqlite));
    let target = match keys {
        Some(keys) => with_keys(target, keys)?,
        None => target,
    };
    let mut failed = None;
    for log in place.logs(thread).await? {
        let into = Log::new(target.clone(), log.thread().clone());
        let said = match one(place, &log, &into, &memory).await {
            Ok(said) => said,
            // The others need not wait for it.
            Err(error) => {
                let said = format!("was not taken: {}", hanok_core::Chain(&error));
                failed = Some(error);
                said
            }
        };
        done(output, log.thread(), &said)?;
    }
    failed.map_or(Ok(()), Err)
}

/// Takes one thread, and its items into `memory`.
async fn one(
    place: &Place,
    log: &Log,
    into: &Log,
    memory: &SharedStore,
) -> Result<String, Failure> {
    let position = |head: Option<Head>| head.map(|head| head.position);
    if into.store().head(into.thread()).await?.is_some() {
        return Ok("is there already".to_owned());
    }
    let before = unused(log).await?;
    let lines = log.export().await?;
    // A thread that is there has all that belongs to it.
    let id = id();
    let codec = into.store().codec().clone();
    let items = ThreadItems::new(memory.clone(), codec, into.thread().clone(), Life::new(id.0));
    let import = into.import(lines.iter().map(String::as_str), id, now());
    match &before {
        Some(head) => {
            let own = place.items(log.thread(), head.life);
            own.copy_to_new(&items, &|_| true, now(), import).await?;
        }
        None => import.await?,
    }
    let (before, after) = (position(before), position(log.store().head(log.thread()).await?));
    if before != after {
        // What was taken is an older state: nobody is to go on from it.
        let taken = into.store().head(into.thread()).await?;
        into.store().delete(into.thread(), taken.as_ref()).await?;
        items.retain(&|_, _| false, now()).await?;
        return Err(Failure::Moved(log.thread().to_string()));
    }
    Ok("was taken".to_owned())
}

#[cfg(feature = "encryption")]
fn with_keys(store: SharedCheckpointer, keys: &Path) -> Result<SharedCheckpointer, Failure> {
    Ok(store.with_codec(crate::keys::codec(keys)?))
}

#[cfg(not(feature = "encryption"))]
fn with_keys(store: SharedCheckpointer, _: &Path) -> Result<SharedCheckpointer, Failure> {
    Ok(store)
}
