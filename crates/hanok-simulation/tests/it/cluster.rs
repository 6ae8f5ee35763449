//! What befalls the processes of a cluster, whatever they do.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use hanok_core::{BoxFuture, Spawned};
use hanok_graph::Runtime;
use hanok_simulation::{Cast, Cluster, Fault, Faults, World};

/// A process that ticks every second, and is counted while it lives.
struct Clockwork {
    number: u32,
    runtime: Runtime,
    lives: Arc<AtomicUsize>,
    _ticks: Spawned,
}

impl Drop for Clockwork {
    fn drop(&mut self) {
        self.lives.fetch_sub(1, Ordering::SeqCst);
    }
}

fn clockworks(lives: &Arc<AtomicUsize>) -> Cluster<Clockwork> {
    let lives = Arc::clone(lives);
    let cluster = Cluster::new(move |world: &World| {
        lives.fetch_add(1, Ordering::SeqCst);
        let (runtime, effects) = (world.runtime(), world.effects());
        let clock = Arc::clone(&runtime.clock);
        let _ticks = runtime.spawner.spawn(Box::pin(async move {
            loop {
                clock.sleep(Duration::from_secs(1)).await;
                effects.note("tick");
            }
        }));
        Ok(Clockwork { number: world.process(), runtime, lives: Arc::clone(&lives), _ticks })
    });
    cluster.seeds(100)
}

/// The number of the process that is asked, after a minute.
fn slowly(process: &Clockwork) -> BoxFuture<'static, u32> {
    let (number, clock) = (process.number, Arc::clone(&process.runtime.clock));
    Box::pin(async move {
        clock.sleep(Duration::from_secs(60)).await;
        number
    })
}

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn a_process_that_dies_is_replaced_and_leaves_nothing() {
    let lives = Arc::new(AtomicUsize::new(0));
    let faults = Faults::none().with(Fault::Crash).with(Fault::MachineCrash).most(3);
    let (mut lost, mut numbers) = (0, BTreeSet::new());
    let report = clockworks(&lives).processes(3).faults(faults).run(|cast| {
        let replies = cast.calls([slowly; 8])?;
        lost += usize::from(replies.contains(&None));
        // Dead processes are replaced within a minute.
        cast.calm();
        cast.wait(MINUTE)?;
        assert_eq!(lives.load(Ordering::SeqCst), 3);
        numbers.extend(cast.calls([slowly; 8])?.into_iter().map(Option::unwrap));
        Ok(())
    });
    let report = report.unwrap();
    assert!(report.faults[&Fault::Crash] > 10 && report.faults[&Fault::MachineCrash] > 10);
    assert_eq!(lives.load(Ordering::SeqCst), 0);
    assert!(lost > 10 && numbers.len() > 3, "{lost}: {numbers:?}");
}

#[test]
fn a_process_that_stands_still_does_nothing_until_it_wakes() {
    let faults = Faults::none().with(Fault::Freeze).most(1);
    let (mut few, mut many) = (BTreeSet::new(), BTreeSet::new());
    let report = clockworks(&Arc::default()).processes(1).faults(faults).run(|cast| {
        cast.wait(MINUTE * 3)?;
        let ticks = cast.effects().count("tick");
        if ticks > 174 {
            many.insert(ticks)
        } else {
            few.insert(ticks)
        };
        Ok(())
    });
    assert!(report.unwrap().faults[&Fault::Freeze] > 10);
    // It stands still for ten seconds at least, and half a minute at most.
    assert!(few.iter().all(|ticks| (145..=171).contains(ticks)) && !few.is_empty(), "{few:?}");
    assert!(!many.is_empty());
}

#[test]
fn a_caller_who_leaves_takes_the_call_along_and_not_the_process() {
    let faults = Faults::none().with(Fault::Drop).most(1);
    let mut lost = 0;
    let report = clockworks(&Arc::default()).processes(1).faults(faults).run(|cast| {
        if cast.call(slowly)?.is_none() {
            lost += 1;
        }
        assert_eq!(cast.call(|process| Box::pin(std::future::ready(process.number)))?, Some(0));
        Ok(())
    });
    let dropped = report.unwrap().faults[&Fault::Drop];
    assert!(lost > 10 && lost <= dropped, "{lost} of {dropped}");
}

#[test]
fn nothing_befalls_a_cluster_that_is_calm() {
    let report = clockworks(&Arc::default()).run(|cast| {
        cast.calm();
        cast.wait(MINUTE)?;
        assert!(cast.calls([slowly; 8])?.iter().all(Option::is_some));
        assert!(!cast.is_quiet());
        Ok(())
    });
    assert!(report.unwrap().faults.is_empty());
}

#[test]
fn a_failure_names_its_seed_and_a_trace_tells_it() {
    let odd = |cast: &mut Cast<Clockwork>| match cast.below(10) {
        0 => Err(format!("seed {} is unlucky", cast.seed())),
        _ => Ok(()),
    };
    let cluster = clockworks(&Arc::default()).from(7);
    let failure = cluster.run(odd).unwrap_err();
    assert!(failure.seed >= 7);
    assert_eq!(failure.why, format!("seed {} is unlucky", failure.seed));
    let trace = cluster.trace(failure.seed, odd);
    assert_eq!(trace.last(), Some(&format!("WRONG: {}", failure.why)));
}

#[test]
fn a_process_that_cannot_start_is_told() {
    let cluster = Cluster::<()>::new(|world| Err(format!("no {}", world.process()).into()));
    let failure = cluster.run(|cast| cast.wait(MINUTE)).unwrap_err();
    assert_eq!((failure.seed, failure.why.as_str()), (0, "no 0"));
}
