//! Many writers of the same records.

use hanok_checkpoint::SharedStore;
use hanok_sqlite::Sqlite;

use super::reports::*;
use crate::support::{contents, memory, postgres};

const WRITERS: usize = 24;
const DELIVERIES: usize = 25;
const PIECES: usize = 150;

/// The pieces that each writer delivers: all of them, four times over, mixed by a step that has no factor with their number.
fn deliveries() -> Vec<Vec<usize>> {
    let all: Vec<_> = (0..WRITERS * DELIVERIES).map(|at| at * 67 % PIECES).collect();
    all.chunks(DELIVERIES).map(<[usize]>::to_vec).collect()
}

/// B137: 24 writers at once, each piece delivered four times.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn twenty_four_writers_of_five_kinds_are_exact() {
    let all: Vec<_> = (0..PIECES as u64).map(any_piece).collect();
    let want = {
        let store = memory();
        assert_eq!(learn(&store, all.iter()).await, PIECES);
        contents(&store).await
    };
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Sqlite::open(folder.path().join("records.db")).await.unwrap();
    let mut stores = vec![("memory", memory()), ("SQLite", SharedStore::new(sqlite))];
    stores.extend(postgres().await.map(|store| ("PostgreSQL", store)));
    for (name, store) in stores {
        let writers = deliveries().into_iter().map(|delivered| {
            let store = store.clone();
            let delivered: Vec<_> = delivered.into_iter().map(|at| all[at].clone()).collect();
            tokio::spawn(async move { learn(&store, &delivered).await })
        });
        let writers: Vec<_> = writers.collect();
        assert_eq!(writers.len(), WRITERS);
        let mut new = 0;
        for writer in writers {
            new += writer.await.unwrap();
        }
        assert_eq!(new, PIECES, "{name}");
        assert!(contents(&store).await == want, "{name}");
    }
}
