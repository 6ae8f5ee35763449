//! What is forgotten leaves a store as if it had never been taught.

use hanok_checkpoint::{Search, SharedStore, Store};
use hanok_core::{Stored, Tenant, Timestamp};
use hanok_learning::{
    Episode, Forget, Learned, Learner, LearningError, Memories, MemoryKind, Preference,
};
use hanok_testkit::block_on;
use proptest::prelude::*;

use crate::support::*;

fn kim(store: &SharedStore) -> hanok_learning::UserMemories {
    memories(store).of(Tenant::default(), "kim")
}

/// The store of one who was never taught what `gone` says.
async fn without(gone: impl Fn(&Taught) -> bool) -> SharedStore {
    let store = memory();
    learn_all(&store, dozen().iter().filter(|taught| !gone(taught))).await;
    store
}

/// B131
#[tokio::test]
async fn a_forgotten_thread_was_never_there() {
    let want = contents(&without(|taught| taught.source().thread == "thread-1").await).await;
    for (threads, store) in all_backends().await {
        let learner = Learner::new(consumer(&threads), memories(&store));
        learner.register().await.unwrap();
        run_turns(&threads, &dozen()).await;
        learner.drain(NOW).await.unwrap();
        assert_eq!(
            memories(&store).forget_thread(&key("thread-1"), NOW).await.unwrap().evidence,
            6
        );
        assert_eq!(contents(&store).await, want);
        assert_eq!(
            memories(&store).forget_thread(&key("thread-1"), NOW).await.unwrap().evidence,
            0
        );
        // An outbox that delivers it again teaches nothing.
        for taught in dozen().iter().filter(|taught| taught.source().thread == "thread-1") {
            let again = memories(&store).learn(&key("thread-1"), &taught.lesson(), NOW).await;
            assert_eq!(again.unwrap(), Learned::Forgotten);
        }
        assert_eq!(contents(&store).await, want);
    }
}

/// B131
#[tokio::test]
async fn each_part_can_be_forgotten() {
    type Gone = fn(&Taught) -> bool;
    let turn =
        |message: &str| Forget::Turn { thread: "thread-1".to_owned(), message: message.to_owned() };
    let cases: [(Forget, usize, Gone); 6] = [
        (Forget::kind::<Preference>(), 8, |taught| matches!(taught, Taught::Preference(_))),
        (Forget::record::<Preference>("drink"), 4, |taught| match taught {
            Taught::Preference(evidence) => evidence.body.key() == "drink",
            Taught::Episode(_) => false,
        }),
        (Forget::Everything, 12, |_| true),
        (Forget::Thread("thread-0".to_owned()), 6, |taught| taught.source().thread == "thread-0"),
        (turn("m7"), 2, |taught| {
            taught.source().thread == "thread-1" && taught.source().message == "m7"
        }),
        (Forget::record::<Episode>("no such record"), 0, |_| false),
    ];
    for (what, count, gone) in cases {
        let want = contents(&without(gone).await).await;
        for (_, store) in all_backends().await {
            learn_all(&store, &dozen()).await;
            assert_eq!(kim(&store).forget(&what, NOW).await.unwrap().evidence, count, "{what:?}");
            assert_eq!(contents(&store).await, want, "{what:?}");
        }
    }
    let store = memory();
    learn_all(&store, &dozen()).await;
    let (thread, message) = (key("thread-1"), "m7");
    assert_eq!(memories(&store).forget_turn(&thread, message, NOW).await.unwrap().evidence, 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_undone_in_any_order_was_never_there(
        gone in prop::sample::subsequence((0..12usize).collect::<Vec<_>>(), 0..12).prop_shuffle()
    ) {
        block_on(async {
            let (store, all) = (memory(), dozen());
            learn_all(&store, &all).await;
            for at in &gone {
                let (kim, id) = (kim(&store), format!("e{at}"));
                let undone = match &all[*at] {
                    Taught::Preference(_) => kim.undo::<Preference>(&id, NOW).await,
                    Taught::Episode(_) => kim.undo::<Episode>(&id, NOW).await,
                };
                assert!(undone.unwrap());
                assert!(!kim.undo::<Preference>(&id, NOW).await.unwrap());
            }
            let never = memory();
            let rest = all.iter().enumerate().filter(|(at, _)| !gone.contains(at));
            learn_all(&never, rest.map(|(_, taught)| taught)).await;
            assert_eq!(contents(&store).await, contents(&never).await);
        });
    }
}

/// Evidence that comes while a thread is forgotten is neither lost nor does it bring anything back.
#[tokio::test]
async fn forgetting_while_others_learn_loses_nothing() {
    let want = contents(&without(|taught| taught.source().thread == "thread-1").await).await;
    let (all, mut conflicts) = (dozen(), 0);
    let gone = |taught: &&Taught| taught.source().thread == "thread-1";
    // However many steps one is ahead of the other.
    for (ahead, behind) in (0..24).map(|steps| (steps, 0)).chain((1..24).map(|steps| (0, steps))) {
        let store = memory();
        learn_all(&store, all.iter().filter(gone)).await;
        let busy = Busy::new(&store, usize::MAX);
        let shared = SharedStore::new(busy.clone());
        let learning = async {
            for _ in 0..behind {
                tokio::task::yield_now().await;
            }
            learn_all(&shared, all.iter().filter(|taught| !gone(taught))).await;
        };
        let (memories, thread) = (memories(&shared), key("thread-1"));
        let forgetting = async {
            for _ in 0..ahead {
                tokio::task::yield_now().await;
            }
            memories.forget_thread(&thread, NOW).await
        };
        let (forgotten, ()) = futures::join!(forgetting, learning);
        assert_eq!(forgotten.unwrap().evidence, 6);
        assert_eq!(contents(&store).await, want, "{ahead} ahead, {behind} behind");
        conflicts += busy.conflicts.load(std::sync::atomic::Ordering::SeqCst);
    }
    assert!(conflicts > 0, "they never met");
}

#[tokio::test]
async fn an_export_is_imported_as_it_was() {
    for (_, store) in all_backends().await {
        learn_all(&store, &dozen()).await;
        let before = contents(&store).await;
        let lines = kim(&store).export(NOW).await.unwrap();
        assert_eq!(lines.lines().count(), 12);
        assert_eq!(kim(&store).import(&lines, NOW).await.unwrap(), 0);

        let other = memory();
        assert_eq!(kim(&other).import(&lines, NOW).await.unwrap(), 12);
        assert_eq!(contents(&other).await, before);

        // What was forgotten is learned again by whoever imports it.
        kim(&store).forget(&Forget::Everything, NOW).await.unwrap();
        assert!(contents(&store).await.is_empty());
        assert_eq!(kim(&store).import(&lines, NOW).await.unwrap(), 12);
        assert_eq!(contents(&store).await, before);
    }
}

#[tokio::test]
async fn an_import_that_is_no_export_stores_nothing() {
    let store = memory();
    learn_all(&store, &dozen()).await;
    let lines = kim(&store).export(NOW).await.unwrap();
    let unknown = lines.replace("\"kind\":\"preference\"", "\"kind\":\"other\"");
    let by_model = lines.replace("\"actor\":\"user\"", "\"actor\":\"model\"");
    for (text, what) in [
        (format!("{lines}\n\n{{\"kind\""), "line 15 is no evidence"),
        (unknown, "no kind of memory is named `other`"),
        (by_model, "the evidence `e1` is refused"),
    ] {
        let empty = memory();
        let error = kim(&empty).import(&text, NOW).await.unwrap_err();
        assert_eq!(error.to_string(), what);
        assert!(contents(&empty).await.is_empty(), "{what}");
    }
}

/// B131: what waits in the outbox is forgotten with what was learned, and the threads that still hold the words are named.
#[tokio::test]
async fn what_waits_in_the_outbox_is_forgotten_too() {
    let want = contents(&without(|taught| taught.source().thread == "thread-1").await).await;
    for (threads, store) in all_backends().await {
        consumer(&threads).register().await.unwrap();
        run_turns(&threads, &dozen()).await;
        let learner = Learner::new(consumer(&threads), memories(&store));
        let gone = learner.forget_thread(&key("thread-1"), NOW).await.unwrap();
        assert_eq!((gone.evidence, gone.threads.len()), (6, 1));
        assert!(gone.threads.contains("thread-1"));
        assert_eq!(contents(&store).await, want);
        assert_eq!(learner.drain(NOW).await.unwrap().new, 0);
        assert_eq!(contents(&store).await, want);

        let all = learner.forget(&kim(&store), &Forget::Everything, NOW).await.unwrap();
        assert_eq!(all.threads.into_iter().collect::<Vec<_>>(), ["thread-0"]);
        let none = learner.forget(&kim(&store), &Forget::Everything, NOW).await.unwrap();
        assert_eq!((none.evidence, none.threads.len()), (0, 0));
    }
}

/// A program that does not know a kind can forget all of it, and does not fold what it cannot.
#[tokio::test]
async fn a_kind_that_is_not_known_can_be_forgotten_whole() {
    let store = memory();
    learn_all(&store, &dozen()).await;
    let before = contents(&store).await;
    let kim = Memories::new(store.clone()).kind::<Preference>().of(Tenant::default(), "kim");
    let episodes = kim
        .forget(&Forget::Turn { thread: "thread-0".to_owned(), message: "m3".to_owned() }, NOW)
        .await;
    let joined = dozen().iter().filter(|taught| matches!(taught, Taught::Episode(_))).count();
    assert_eq!(joined, 4);
    assert!(matches!(&episodes, Ok(gone) if gone.evidence == 1), "{episodes:?}");
    assert_ne!(contents(&store).await, before);
    assert!(kim.forget(&Forget::kind::<Episode>(), NOW).await.unwrap().evidence > 0);
    assert!(matches!(kim.export(NOW).await, Ok(lines) if lines.lines().count() == 8));
    learn_all(
        &store,
        [&answered("kim", "x", 40, "t", "One."), &answered("kim", "y", 41, "t", "Two.")],
    )
    .await;
    let half = Forget::Evidence { kind: Episode::NAME.to_owned(), id: "x".to_owned() };
    let error = kim.forget(&half, NOW).await.unwrap_err();
    assert!(matches!(error, LearningError::UnknownKind { .. }));
}

/// One user's record that this build cannot fold keeps nothing of another's.
#[tokio::test]
async fn a_record_that_cannot_be_folded_holds_up_no_other_forgetting() {
    let store = memory();
    let kept = states("ann", "a", 1, "kept", "drink=tea");
    let (gone, episode) =
        (states("ann", "b", 2, "t", "drink=milk"), answered("kim", "c", 3, "t", "Yes."));
    learn_all(&store, [&kept, &gone, &episode]).await;
    let old = Memories::new(store.clone()).kind::<Episode>();
    let error = old.forget_thread(&key("t"), NOW).await.unwrap_err();
    assert!(matches!(error, LearningError::UnknownKind { kind } if kind == "preference"));
    let kim = memories(&store).of(Tenant::default(), "kim");
    assert_eq!(kim.all::<Episode>(NOW).await.unwrap().len(), 0);
    assert_eq!(memories(&store).forget_thread(&key("t"), NOW).await.unwrap().evidence, 1);
}

/// The thread is the one in which evidence was committed, whatever the evidence says.
#[tokio::test]
async fn evidence_that_names_another_thread_goes_with_its_own() {
    for (_, store) in all_backends().await {
        let Taught::Preference(mut forged) = states("kim", "a", 1, "own", "drink=tea") else {
            panic!("it is a preference");
        };
        forged.source.thread = "another".to_owned();
        let lesson = Taught::Preference(forged).lesson();
        memories(&store).learn(&key("own"), &lesson, NOW).await.unwrap();
        assert_eq!(memories(&store).forget_thread(&key("another"), NOW).await.unwrap().evidence, 0);
        assert_eq!(memories(&store).forget_thread(&key("own"), NOW).await.unwrap().evidence, 1);
        assert!(contents(&store).await.is_empty());
    }
}

/// The id of what was forgotten is known for 30 days, and nothing else of it is kept.
#[tokio::test]
async fn forgotten_evidence_is_known_by_its_id_for_thirty_days() {
    const DAY: u64 = 24 * 60 * 60 * 1_000;
    for (_, store) in all_backends().await {
        let tea = states("kim", "a", 1, "t", "drink=tea");
        learn_all(&store, [&tea]).await;
        assert!(kim(&store).undo::<Preference>("a", NOW).await.unwrap());
        let search = Search::all(Tenant::default());
        let hits = store.search(&search, NOW).await.unwrap().hits;
        let values: Vec<_> = hits.into_iter().map(|hit| hit.item.value).collect();
        assert_eq!(values, [Stored::nil()]);
        for (days, want) in [(29, Learned::Forgotten), (31, Learned::New)] {
            let later = Timestamp(NOW.0 + days * DAY);
            let learned = memories(&store).learn(&key("t"), &tea.lesson(), later).await;
            assert_eq!(learned.unwrap(), want, "after {days} days");
        }
    }
}

/// B131
///
/// However much else a user has, what folds one record again reads the evidence of that record.
#[tokio::test]
async fn a_record_is_folded_again_from_its_own_evidence_alone() {
    let all: Vec<_> = (0..60)
        .map(|i| {
            states("kim", &format!("e{i}"), i, &format!("t{}", i % 6), &format!("k{}=v{i}", i % 20))
        })
        .chain((0..60).map(|i| answered("kim", &format!("a{i}"), 100 + i, "talk", "Yes.")))
        .collect();
    type Act = (&'static str, usize, fn(&Memories) -> Forget);
    let acts: [Act; 3] = [
        ("a record", 3, |_| Forget::record::<Preference>("k7")),
        ("a piece", 3, |_| Forget::Evidence { kind: "preference".to_owned(), id: "e7".to_owned() }),
        // Its one turn says what it taught: one record of three pieces.
        ("a turn", 1 + 3, |_| Forget::Turn { thread: "t1".to_owned(), message: "m7".to_owned() }),
    ];
    for (what, most, forget) in acts {
        for (_, store) in all_backends().await {
            learn_all(&store, &all).await;
            let busy = Busy::new(&store, usize::MAX);
            let memories = memories(&SharedStore::new(busy.clone()));
            let kim = memories.of(Tenant::default(), "kim");
            assert!(kim.forget(&forget(&memories), NOW).await.unwrap().evidence > 0, "{what}");
            let returned = busy.returned.load(std::sync::atomic::Ordering::SeqCst);
            assert!(returned <= most, "{what}: {returned} items are read");
        }
    }
}

/// B131
///
/// When the ids of what was forgotten have expired too, nothing at all is left.
#[tokio::test]
async fn a_forgotten_thread_leaves_not_even_its_ids_after_thirty_days() {
    let later = Timestamp(NOW.0 + 31 * 24 * 60 * 60 * 1_000);
    let everything = async |store: &SharedStore| {
        let search = Search::all(Tenant::default()).limit(10_000);
        let hits = store.search(&search, later).await.unwrap().hits;
        hits.into_iter().map(|hit| (hit.item.key.to_string(), hit.item.value)).collect::<Vec<_>>()
    };
    let never = without(|taught| taught.source().thread == "thread-1").await;
    for (_, store) in all_backends().await {
        learn_all(&store, &dozen()).await;
        memories(&store).forget_thread(&key("thread-1"), NOW).await.unwrap();
        assert_eq!(store.sweep(later, 1_000).await.unwrap(), 6);
        assert_eq!(everything(&store).await, everything(&never).await);
    }
}

/// The dozen, where two servers taught some of it: one piece rests on both.
fn of_servers() -> Vec<Taught> {
    let of = |(at, taught): (usize, Taught)| match taught {
        Taught::Episode(evidence) if at % 2 == 0 => Taught::Episode(evidence.of_server("weather")),
        Taught::Preference(evidence) if at == 1 => {
            Taught::Preference(evidence.of_server("weather").of_server("maps"))
        }
        Taught::Preference(evidence) if at == 2 => Taught::Preference(evidence.of_server("maps")),
        taught => taught,
    };
    dozen().into_iter().enumerate().map(of).collect()
}

/// B131: what a server taught goes, what others taught of the same turns and records stays.
#[tokio::test]
async fn a_forgotten_server_was_never_heard_of() {
    let heard = |taught: &&Taught| !taught.source().servers.contains("weather");
    let want = {
        let store = memory();
        learn_all(&store, of_servers().iter().filter(heard)).await;
        contents(&store).await
    };
    for (_, store) in all_backends().await {
        learn_all(&store, &of_servers()).await;
        let (memories, tenant) = (memories(&store), Tenant::default());
        let other = Tenant::new("other").unwrap();
        assert_eq!(memories.forget_server(&other, "weather", NOW).await.unwrap().evidence, 0);
        assert_eq!(memories.forget_server(&tenant, "weather", NOW).await.unwrap().evidence, 3);
        assert_eq!(contents(&store).await, want);
        assert_eq!(memories.forget_server(&tenant, "weather", NOW).await.unwrap().evidence, 0);
        // Of one user alone.
        let maps = Forget::Server("maps".to_owned());
        assert_eq!(kim(&store).forget(&maps, NOW).await.unwrap().evidence, 1);
        // An outbox that delivers it again teaches nothing.
        let again = of_servers().remove(0);
        let learned = memories.learn(&key(&again.source().thread), &again.lesson(), NOW).await;
        assert_eq!(learned.unwrap(), Learned::Forgotten);
    }
}
