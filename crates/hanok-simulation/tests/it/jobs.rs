//! Four jobs for two processes, whatever befalls them.

use std::time::Duration;

use hanok_checkpoint::{Body, Write};
use hanok_core::ThreadKey;
use hanok_simulation::{Cast, Cluster, Faults};

use crate::office::{Broken, Office, key, office};

const JOBS: u32 = 4;

fn offices(broken: Broken) -> Cluster<Office> {
    Cluster::new(office(broken)).seeds(200)
}

/// Posts the jobs, each until it is taken in, and waits until all are over.
fn four_jobs(cast: &mut Cast<Office>) -> Result<(), String> {
    let mut open: Vec<_> = (0..JOBS).collect();
    while !open.is_empty() {
        let posts = open.iter().map(|job| {
            let job = *job;
            move |office: &Office| office.post(job)
        });
        let posted = cast.calls(posts)?;
        let mut posted = posted.into_iter();
        open.retain(|_| posted.next().flatten() != Some(true));
        cast.wait(Duration::from_secs(1))?;
    }
    for _ in 0..1_000 {
        if (0..JOBS).all(|job| written(cast, job).last().is_some_and(|words| words == "over")) {
            return (0..JOBS).try_for_each(|job| is_done_once(cast, job));
        }
        cast.wait(Duration::from_secs(1))?;
    }
    Err("the jobs are never over".to_owned())
}

/// What was written to a job, oldest first.
fn written(cast: &Cast<Office>, job: u32) -> Vec<String> {
    let batches = cast.batches();
    let writes = batches.iter().flat_map(|(_, batch)| &batch.writes);
    let words = writes.filter_map(|write| match write {
        Write::Put(of, put) if *of == key(job) => Some(put.value.as_str().unwrap().to_owned()),
        _ => None,
    });
    words.collect()
}

/// A job that is over stays so, and each of its nodes has written once.
fn is_done_once(cast: &Cast<Office>, job: u32) -> Result<(), String> {
    let written = written(cast, job);
    if written.iter().filter(|words| *words == "over" || *words == "posted").count() != 2
        || written.last().is_none_or(|words| words != "over")
    {
        return Err(format!("job {job} is {}", written.join(", ")));
    }
    let log = cast.log(&ThreadKey::named(&job.to_string()).unwrap());
    let nodes = log.iter().filter_map(|entry| match &entry.entry.body {
        Body::Commit(commit) => Some(commit.nodes.iter().map(|node| node.to_string())),
        _ => None,
    });
    let nodes: Vec<_> = nodes.flatten().collect();
    match nodes == ["first", "second"] {
        true => Ok(()),
        false => Err(format!("the nodes of job {job} that wrote are {nodes:?}")),
    }
}

#[test]
fn every_job_is_done_once_whatever_befalls_its_processes() {
    let report = offices(Broken::Nothing).run(four_jobs).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!((report.seeds, report.faults.len()), (200, 11), "{report}");
}

#[test]
fn jobs_that_are_written_whatever_is_there_are_found() {
    let failure = offices(Broken::Expect).run(four_jobs).unwrap_err();
    assert!(failure.why.starts_with("job "), "{failure}");
    let trace = offices(Broken::Expect).trace(failure.seed, four_jobs);
    assert_eq!(trace.last(), Some(&format!("WRONG: {}", failure.why)));
}

#[test]
fn jobs_that_a_machine_forgets_are_found() {
    let failure = offices(Broken::Safety).run(four_jobs).unwrap_err();
    assert!(failure.faults.iter().any(|fault| fault.starts_with("MachineCrash")), "{failure}");
}

#[test]
fn a_seed_replays_one_run() {
    let report = |from| offices(Broken::Nothing).seeds(10).from(from).run(four_jobs).unwrap();
    assert_eq!(report(20), report(20));
    assert_ne!(report(20).digest, report(30).digest);
}

#[test]
fn nothing_befalls_a_quiet_run() {
    let quiet = offices(Broken::Nothing).faults(Faults::none()).seeds(5);
    let report = quiet.run(|cast| {
        assert!(cast.is_quiet());
        four_jobs(cast)
    });
    assert!(report.unwrap().faults.is_empty());
}
