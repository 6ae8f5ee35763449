//! Keys of calls over whole histories of threads.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use hanok_checkpoint::{AppendId, SharedCheckpointer};
use hanok_core::{ThreadKey, Timestamp};
use hanok_graph::{BoxError, Context, END, Graph, START, Snapshot, Thread};
use hanok_state::State;
use proptest::prelude::*;

use crate::asking::{S, SUpdate, memory, says};

/// What is known to a run: which turn of which life it is, whether it fails first, and the key of each call that was made.
#[derive(Clone, Default)]
struct Turn {
    of: (u32, u32),
    fails: Arc<Mutex<u32>>,
    keys: Arc<Mutex<BTreeMap<String, (u32, u32)>>>,
}

/// Pays twice in one turn; fails between as often as is said.
async fn pay(_: Snapshot<S>, cx: Context<Turn>) -> Result<SUpdate, BoxError> {
    for amount in ["1", "2"] {
        let key = cx.call("once", "pay", amount).key().to_string();
        let turn = cx.services();
        let before = turn.keys.lock().unwrap().insert(key, turn.of);
        assert!(before.is_none_or(|before| before == turn.of), "{before:?} and {:?}", turn.of);
        let mut fails = turn.fails.lock().unwrap();
        if *fails > 0 {
            *fails -= 1;
            return Err("it fails".into());
        }
    }
    Ok(says("paid"))
}

/// One thing that happens to the threads.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// A turn, which fails so often before.
    Turn(u32),
    Delete,
    Copy,
    Fork,
    /// It is taken into another store under its name, and both go on.
    Import,
}

/// A thread of the history: where it is, and its life and turns so far.
#[derive(Clone)]
struct Alive {
    store: SharedCheckpointer,
    key: ThreadKey,
    life: u32,
    turns: u32,
}

fn thread(graph: &Graph<S, Turn>, alive: &Alive) -> Thread<S, Turn> {
    graph.checkpointer(alive.store.clone()).thread(alive.key.clone())
}

async fn played(steps: Vec<(usize, Step)>) {
    let graph = Graph::<S, Turn>::builder("pay").node("pay", pay).sequence([START, "pay", END]);
    let (graph, keys) = (graph.build().unwrap(), Arc::default());
    let named = |name: &str| ThreadKey::named(name).unwrap();
    let first = Alive { store: memory(), key: named("t"), life: 0, turns: 0 };
    let (mut all, mut lives, mut made) = (vec![first], 1, 0);
    for (n, (at, step)) in steps.into_iter().enumerate() {
        let at = at % all.len();
        let (on, id) = (thread(&graph, &all[at]), AppendId(1_000 + n as u128));
        let is_there = on.state(None).await.unwrap().is_some();
        let other = Alive { life: lives, key: named(&format!("t{n}")), ..all[at].clone() };
        match step {
            Step::Turn(fails) => {
                let (of, keys) = ((all[at].life, all[at].turns), Arc::clone(&keys));
                let turn = Turn { of, fails: Arc::new(Mutex::new(fails)), keys };
                let mut ended = on.invoke(S::update(), turn.clone()).await;
                while ended.is_err() {
                    ended = on.resume(turn.clone()).await;
                }
                all[at].turns += 1;
                made += 2;
            }
            Step::Delete if is_there => {
                on.delete().await.unwrap();
                all[at] = Alive { key: all[at].key.clone(), ..other };
                lives += 1;
            }
            Step::Copy if is_there => {
                on.log().copy(&other.key, id, Timestamp(1)).await.unwrap();
                all.push(other);
                lives += 1;
            }
            Step::Fork if is_there => {
                on.fork(None, &other.key).await.unwrap();
                all.push(other);
                lives += 1;
            }
            Step::Import if is_there => {
                let taken = Alive { store: memory(), key: all[at].key.clone(), ..other };
                let lines = on.log().export().await.unwrap();
                let lines = lines.iter().map(String::as_str);
                thread(&graph, &taken).log().import(lines, id, Timestamp(1)).await.unwrap();
                all.push(taken);
                lives += 1;
            }
            _ => {}
        }
    }
    assert_eq!(
        keys.lock().unwrap().len(),
        made,
        "each call has one key, over its retries and resumes"
    );
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3_u32).prop_map(Step::Turn),
        1 => Just(Step::Delete),
        1 => Just(Step::Copy),
        1 => Just(Step::Fork),
        1 => Just(Step::Import),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// P3: whatever the history, a call keeps its key over retries and resumes, and no two calls share one.
    #[test]
    fn a_key_is_of_one_call_in_every_history(steps in prop::collection::vec((0..8_usize, step()), 1..24)) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(played(steps));
    }
}
