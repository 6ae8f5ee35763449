//! Runs that were accepted end: in order, once, and whatever else is asked for meanwhile.

use std::time::Duration;

use hanok_core::ThreadKey;
use hanok_server::{Multitask, Post, Request, RunRow, RunStatus, Runs, ServeError, Stop};
use serde_json::json;

use crate::support::{Office, task, thread};

async fn post(runs: &Runs, post: Post) -> RunRow {
    runs.post(post).await.unwrap().row
}

async fn ended(runs: &Runs, row: &RunRow) -> RunRow {
    runs.ended(&row.thread, row.run).await.unwrap()
}

/// Waits until a run is under way.
async fn under_way(runs: &Runs, row: &RunRow) {
    while runs.run(&row.thread, row.run).await.unwrap().status != RunStatus::Running {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until the desk of a thread holds a note.
async fn noted(office: &Office, thread: &str) {
    while office.notes(thread).await.is_null() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_run_is_accepted_and_ends() {
    let office = Office::new();
    let runs = office.open();
    let row = post(&runs, task("t1", "print")).await;
    assert_eq!((row.status, row.end), (RunStatus::Pending, None));

    let row = runs.ended(&row.thread, row.run).await.unwrap();
    assert_eq!((row.status, row.status.as_str()), (RunStatus::Success, "success"));
    assert_eq!(office.notes("t1").await, json!(["print", "filed print"]));
}

#[tokio::test]
async fn runs_of_one_thread_wait_their_turn_and_the_newest_is_listed_first() {
    let office = Office::new();
    let runs = office.open();
    let mut rows = Vec::new();
    for name in ["slow one", "two", "three"] {
        rows.push(post(&runs, task("t1", name)).await);
    }
    under_way(&runs, &rows[0]).await;
    let other = post(&runs, task("t2", "meanwhile")).await;
    assert_eq!(ended(&runs, &other).await.status, RunStatus::Success);
    assert_eq!(runs.run(&rows[1].thread, rows[1].run).await.unwrap().status, RunStatus::Pending);

    office.gate.add_permits(1);
    for row in &rows {
        assert_eq!(ended(&runs, row).await.status, RunStatus::Success);
    }
    let notes = ["slow one", "filed slow one", "two", "filed two", "three", "filed three"];
    assert_eq!(office.notes("t1").await, json!(notes));
    let (page, next) = runs.list(&thread("t1"), None, 2).await.unwrap();
    let (rest, none) = runs.list(&thread("t1"), next, 2).await.unwrap();
    let listed: Vec<_> = page.iter().chain(&rest).map(|row| row.run).collect();
    assert_eq!(listed, [rows[2].run, rows[1].run, rows[0].run]);
    assert!(none.is_none());
}

#[tokio::test]
async fn a_second_run_is_refused_if_it_wants_to_be_alone() {
    let office = Office::new();
    let runs = office.open();
    let alone = |name: &str| Post { multitask: Multitask::Reject, ..task("t1", name) };
    let first = post(&runs, alone("slow one")).await;
    let refused = runs.post(alone("two")).await.unwrap_err();
    assert_eq!((refused.code(), refused.status()), ("HNK-403", 409));

    office.gate.add_permits(1);
    ended(&runs, &first).await;
    let third = post(&runs, alone("three")).await;
    assert_eq!(ended(&runs, &third).await.status, RunStatus::Success);
}

#[tokio::test]
async fn a_run_that_interrupts_stops_the_others_and_keeps_what_they_have_stored() {
    let office = Office::new();
    let runs = office.open();
    let before = post(&runs, task("t1", "before")).await;
    ended(&runs, &before).await;
    let slow = post(&runs, task("t1", "slow")).await;
    under_way(&runs, &slow).await;
    let waits = post(&runs, task("t1", "waits")).await;
    let last = Post { multitask: Multitask::Interrupt, ..task("t1", "last") };
    let last = post(&runs, last).await;

    assert_eq!(ended(&runs, &last).await.status, RunStatus::Success);
    assert_eq!(ended(&runs, &slow).await.status, RunStatus::Interrupted);
    assert_eq!(ended(&runs, &waits).await.status, RunStatus::Interrupted);
    assert_eq!(office.notes("t1").await, json!(["before", "filed before", "last", "filed last"]));
}

#[tokio::test]
async fn a_run_that_rolls_back_begins_where_the_other_began() {
    for before in [true, false] {
        let office = Office::new();
        let runs = office.open();
        let mut notes = Vec::new();
        if before {
            let row = post(&runs, task("t1", "before")).await;
            ended(&runs, &row).await;
            notes.extend(["before", "filed before"]);
        }
        let slow = post(&runs, task("t1", "slow")).await;
        under_way(&runs, &slow).await;
        noted(&office, "t1").await;
        let last = Post { multitask: Multitask::Rollback, ..task("t1", "last") };
        let last = post(&runs, last).await;
        assert_eq!(ended(&runs, &last).await.status, RunStatus::Success);
        assert_eq!(ended(&runs, &slow).await.status, RunStatus::Interrupted);
        notes.extend(["last", "filed last"]);
        assert_eq!(office.notes("t1").await, json!(notes));
        let turns = office.app().thread(&Default::default(), "t1").unwrap();
        let tasks = turns.state(None).await.unwrap().unwrap().to_json().unwrap()["task"].clone();
        assert_eq!(tasks, "last");
    }
}

/// P53
#[tokio::test]
async fn a_request_that_is_made_again_is_the_same_run() {
    let office = Office::new();
    let runs = office.open();
    let keyed = |name: &str| Post { idempotency_key: Some("k1".into()), ..task("t1", name) };
    let first = runs.post(keyed("print")).await.unwrap();
    let again = runs.post(keyed("print")).await.unwrap();
    assert_eq!((first.again, again.again, again.row.run), (false, true, first.row.run));
    let other = runs.post(keyed("burn")).await.unwrap_err();
    assert_eq!((other.code(), other.status()), ("HNK-406", 422));

    ended(&runs, &first.row).await;
    let late = runs.post(keyed("print")).await.unwrap();
    assert_eq!((late.again, late.row.status), (true, RunStatus::Success));
    assert_eq!(office.notes("t1").await, json!(["print", "filed print"]));
}

#[tokio::test]
async fn a_run_that_waits_is_stopped_before_it_begins_and_one_under_way_soon() {
    let office = Office::new();
    let runs = office.open();
    let slow = post(&runs, task("t1", "slow")).await;
    under_way(&runs, &slow).await;
    let waits = post(&runs, task("t1", "waits")).await;
    let stopped = runs.stop(&waits.thread, waits.run, Stop::Interrupt).await.unwrap();
    assert_eq!(stopped.status, RunStatus::Interrupted);
    runs.stop(&slow.thread, slow.run, Stop::Interrupt).await.unwrap();
    assert_eq!(ended(&runs, &slow).await.status, RunStatus::Interrupted);
    // What has ended stays as it is.
    let again = runs.stop(&slow.thread, slow.run, Stop::Rollback).await.unwrap();
    assert_eq!(again.status, RunStatus::Interrupted);
    let unknown = runs.stop(&slow.thread, hanok_core::RunId(7), Stop::Interrupt).await.unwrap_err();
    assert!(matches!(unknown, ServeError::NoSuchRun(_)), "{unknown}");
}

#[tokio::test]
async fn a_question_ends_a_run_and_an_answer_is_the_next() {
    let office = Office::new();
    let runs = office.open();
    let asks = post(&runs, task("t1", "ask")).await;
    let asks = ended(&runs, &asks).await;
    assert_eq!(asks.status, RunStatus::Success);
    assert!(asks.end.unwrap().asks());

    let refused = post(&runs, task("t1", "print")).await;
    let refused = ended(&runs, &refused).await;
    assert_eq!(refused.status, RunStatus::Error);
    assert_eq!(refused.end.unwrap().code.as_deref(), Some("HNK-210"));

    let answer = Post::new(thread("t1"), Request::new("desk", json!({"reply": true})));
    let answer = post(&runs, answer).await;
    assert_eq!(ended(&runs, &answer).await.status, RunStatus::Success);
    assert_eq!(office.notes("t1").await, json!(["asked: true", "filed ask"]));
}

#[tokio::test]
async fn a_run_fails_with_what_went_wrong() {
    let office = Office::new();
    let runs = office.open();
    let fails = post(&runs, task("t1", "fail")).await;
    let fails = ended(&runs, &fails).await;
    assert_eq!(fails.status, RunStatus::Error);
    let end = fails.end.unwrap();
    assert_eq!(end.code.as_deref(), Some("HNK-201"));
    assert!(end.detail.contains("the printer burns"), "{}", end.detail);

    let wrong = Post::new(thread("t2"), Request::new("desk", json!({"new": {"task": 7}})));
    let wrong = post(&runs, wrong).await;
    let wrong = ended(&runs, &wrong).await.end.unwrap();
    assert_eq!(wrong.code.as_deref(), Some("HNK-230"));
    let unknown = Post::new(thread("t2"), Request::new("stove", json!("resume")));
    let unknown = runs.post(unknown).await.unwrap_err();
    assert_eq!(unknown.to_string(), "there is no graph `stove`; served are desk");
}

#[tokio::test]
async fn a_hundred_runs_wait_and_no_more() {
    let office = Office::new();
    let runs = office.open();
    let slow = post(&runs, task("t1", "slow")).await;
    under_way(&runs, &slow).await;
    for number in 0..100 {
        post(&runs, task("t1", &format!("task {number}"))).await;
    }
    let full = runs.post(task("t1", "one more")).await.unwrap_err();
    assert_eq!((full.code(), full.status()), ("HNK-404", 429));
    let last = Post { multitask: Multitask::Interrupt, ..task("t1", "last") };
    let last = post(&runs, last).await;
    assert_eq!(ended(&runs, &last).await.status, RunStatus::Success);
    assert_eq!(office.notes("t1").await, json!(["last", "filed last"]));
}

/// Time passes when nothing else can happen: how fast the machine is decides nothing.
#[tokio::test(start_paused = true)]
async fn a_process_that_is_shut_down_gives_its_runs_to_another() {
    let office = Office::new();
    let first = office.open();
    let slow = post(&first, task("t1", "slow")).await;
    let waits = post(&first, task("t1", "waits")).await;
    under_way(&first, &slow).await;
    noted(&office, "t1").await;

    let second = office.open();
    assert_eq!(first.shutdown(Duration::from_millis(50)).await, 0);
    office.gate.add_permits(1);
    assert_eq!(ended(&second, &slow).await.status, RunStatus::Success);
    assert_eq!(ended(&second, &waits).await.status, RunStatus::Success);
    assert_eq!(office.notes("t1").await, json!(["slow", "filed slow", "waits", "filed waits"]));
}

#[tokio::test]
async fn tenants_have_threads_of_their_own() {
    let office = Office::new();
    let runs = office.open();
    let acme = hanok_core::Tenant::new("acme").unwrap();
    let theirs = ThreadKey::new(acme, "t1").unwrap();
    let request = Request::new("desk", json!({"new": {"task": "print"}}));
    let row = post(&runs, Post::new(theirs.clone(), request)).await;
    ended(&runs, &row).await;
    assert!(office.notes("t1").await.is_null());
    assert!(runs.list(&thread("t1"), None, 10).await.unwrap().0.is_empty());
    assert_eq!(runs.list(&theirs, None, 10).await.unwrap().0.len(), 1);
    let hidden = runs.run(&thread("t1"), row.run).await.unwrap_err();
    assert_eq!(hidden.status(), 404);
}
