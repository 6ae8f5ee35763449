//! What a machine that dies forgets of logs and items.

use std::collections::BTreeSet;

use futures::FutureExt;
use hanok_checkpoint::{Expect, Put, Store};
use hanok_core::{BoxError, BoxFuture, Stored, ThreadKey};
use hanok_graph::{AnyInput, AnyUpdate, Caller, RunSettings};
use hanok_simulation::{Cast, Cluster, Fault, Faults, World};

use crate::office::{app, key};

/// Runs a thread, then says so in an item.
fn done(number: u32) -> impl FnOnce(&World) -> BoxFuture<'static, Result<(), BoxError>> {
    move |world| {
        let (app, store, clock) = (app(world), world.store(), world.runtime().clock);
        Box::pin(async move {
            let thread = app?.thread(&Caller::default(), &number.to_string())?;
            thread.run(AnyInput::New(AnyUpdate::default()), RunSettings::default()).await?;
            store.put(&key(number), Put::new(Stored::encode("done")?), clock.now()).await?;
            Ok(())
        })
    }
}

/// Removes an item, then its thread.
fn gone(number: u32) -> impl FnOnce(&World) -> BoxFuture<'static, Result<(), BoxError>> {
    move |world| {
        let (app, store, clock) = (app(world), world.store(), world.runtime().clock);
        Box::pin(async move {
            store.remove(&key(number), Expect::Any, clock.now()).await?;
            app?.thread(&Caller::default(), &number.to_string())?.delete().await?;
            Ok(())
        })
    }
}

fn has_item(cast: &Cast<World>, number: u32) -> bool {
    let item = cast.items();
    item.get(&key(number), cast.now()).now_or_never().unwrap().unwrap().is_some()
}

fn has_log(cast: &Cast<World>, number: u32) -> bool {
    cast.log(&ThreadKey::named(&number.to_string()).unwrap()).len() == 4
}

/// Logs and items are in one order of writes: an item that says that a thread is done is not there without it, and what was removed
/// stays away.
#[test]
fn a_machine_that_dies_forgets_what_was_written_last() {
    let faults = Faults::none().with(Fault::MachineCrash).most(4);
    let (mut forgot_items, mut forgot_logs) = (0, 0);
    let report = Cluster::new(|world| Ok(world.clone())).faults(faults).seeds(300).run(|cast| {
        let (mut are_done, mut are_gone) = (BTreeSet::new(), BTreeSet::new());
        for number in 0..8 {
            if matches!(cast.call(done(number))?, Some(Ok(()))) {
                are_done.insert(number);
            }
            if number % 3 == 2 && matches!(cast.call(gone(number - 1))?, Some(Ok(()))) {
                are_gone.insert(number - 1);
            }
            for number in 0..=number {
                let (item, log) = (has_item(cast, number), has_log(cast, number));
                assert!(log || !item, "seed {}: {number} is not done", cast.seed());
                assert!(!are_gone.contains(&number) || !log, "seed {}: {number}", cast.seed());
                let is_due = are_done.contains(&number) && !are_gone.contains(&number);
                forgot_items += usize::from(is_due && log && !item);
                forgot_logs += usize::from(is_due && !log);
            }
        }
        Ok(())
    });
    assert!(report.unwrap().faults[&Fault::MachineCrash] > 100);
    assert!(forgot_items > 0 && forgot_logs > 0, "{forgot_items}, {forgot_logs}");
}
