//! Evidence counts once, in any order.

use std::collections::BTreeSet;

use hanok_checkpoint::{Consumer, Put, SharedStore, Store};
use hanok_core::{Cancellation, Stored, Tenant, Timestamp};
use hanok_graph::{BoxError, Context, END, Graph, NodeExt, Retry, Runtime, START, Snapshot};
use hanok_learning::{
    Actor, Episode, EpisodeReport, Evidence, Forget, Learned, Learner, LearningError, Memories,
    MemoryKind, Preference, PreferenceStatement, Refusal, teach,
};
use hanok_state::{Message, State};
use hanok_testkit::block_on;
use proptest::prelude::*;

use crate::support::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// B130
    #[test]
    fn evidence_in_any_order_and_any_number_of_times_gives_the_same_bytes(
        order in Just((0..12usize).chain(0..12)).prop_map(|all| all.collect::<Vec<_>>()).prop_shuffle()
    ) {
        let taught = dozen();
        block_on(async {
            let (once, often) = (memory(), memory());
            learn_all(&once, &taught).await;
            learn_all(&often, order.iter().map(|at| &taught[*at])).await;
            assert_eq!(contents(&often).await, contents(&once).await);
        });
    }

    #[test]
    fn a_record_is_what_is_folded_anew(order in Just((0..12usize).collect::<Vec<_>>()).prop_shuffle()) {
        let taught = dozen();
        block_on(async {
            let store = memory();
            learn_all(&store, order.iter().map(|at| &taught[*at])).await;
            let before = contents(&store).await;
            let kim = memories(&store).of(Tenant::default(), "kim");
            assert!(kim.rebuild(NOW).await.unwrap() > 2);
            assert_eq!(contents(&store).await, before);
        });
    }
}

/// The evidence of a kind among the dozen, with pieces of one time.
fn of_kind<E>(read: impl Fn(Taught) -> Option<E>) -> Vec<E> {
    dozen().into_iter().filter_map(read).collect()
}

mod preferences {
    use super::*;

    hanok_testkit::memory_kind_conforms!(
        Preference,
        of_kind(|taught| match taught {
            Taught::Preference(evidence) => Some(evidence),
            Taught::Episode(_) => None,
        })
    );
}

mod episodes {
    use super::*;

    // Two reports of one turn, two of another at one time, and one by itself.
    hanok_testkit::memory_kind_conforms!(
        Episode,
        [("a", 2, "One."), ("b", 3, "Two."), ("c", 4, "Three."), ("d", 4, "Four."), ("e", 9, "")]
            .into_iter()
            .map(|(id, at, answer)| match answered("kim", id, at, "t", answer) {
                Taught::Episode(evidence) => evidence,
                Taught::Preference(_) => panic!("it is an episode"),
            })
            .collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn what_turns_taught_is_learned_after_them_and_found() {
    for (threads, store) in backends().await {
        let learner = Learner::new(consumer(&threads), memories(&store));
        learner.register().await.unwrap();
        let taught = [
            states("kim", "a", 10, "monday", "language=English"),
            states("kim", "b", 20, "tuesday", "language=한국어"),
            answered("kim", "c", 21, "tuesday", "연차휴가는 15일 남았습니다. 끝."),
        ];
        run_turns(&threads, &taught).await;
        let kim = memories(&store).of(Tenant::default(), "kim");
        assert_eq!(kim.get::<Preference>("language", NOW).await.unwrap(), None);
        let drained = learner.drain(NOW).await.unwrap();
        assert_eq!((drained.new, drained.again, drained.refused.len()), (3, 0, 0));
        assert_eq!(learner.drain(NOW).await.unwrap().new, 0);

        let language = kim.get::<Preference>("language", NOW).await.unwrap().unwrap();
        let values: Vec<_> = language
            .values
            .iter()
            .map(|value| (value.value.as_str(), value.since.0, value.until.map(|until| until.0)))
            .collect();
        assert_eq!(values, [("English", 10, Some(20)), ("한국어", 20, None)]);
        assert_eq!(language.as_of(Timestamp(19)).unwrap().quote, "language=English");
        let episodes = kim.search::<Episode>("휴가", 5, NOW).await.unwrap();
        assert_eq!(episodes.len(), 1);
        assert_eq!(episodes[0].record.answer, "연차휴가는 15일 남았습니다. 끝.");
        assert_eq!(kim.search::<Preference>("휴가", 5, NOW).await.unwrap(), []);
        // The thread is the one that it was committed in.
        let why = kim.evidence::<Preference>("language", NOW).await.unwrap();
        let from: Vec<_> = why.iter().map(|evidence| evidence.source.thread.as_str()).collect();
        assert_eq!(from, ["monday", "tuesday"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_tried_again_teaches_once_and_one_that_fails_nothing() {
    for (attempts, new) in [(2, 1), (1, 0)] {
        let (threads, store) = backends().await.remove(0);
        let learner = Learner::new(consumer(&threads), memories(&store));
        learner.register().await.unwrap();
        let node = async |_: Snapshot<Turn>, context: Context| {
            let report = EpisodeReport::new("?", "Yes.");
            let evidence = Evidence::new(&context, "answer", "kim", Actor::Model, "m", report);
            teach::<Episode, _>(&context, TOPIC, &evidence)?;
            match context.attempt() {
                1 => Err(BoxError::from("once more")),
                _ => Ok(Turn::update().done([1])),
            }
        };
        let node = move |state: Snapshot<Turn>, context: Context| node(state, context);
        let graph =
            Graph::<Turn>::builder("turn").node("teach", node.retry(Retry::attempts(attempts)));
        let graph = graph.edge(START, "teach").edge("teach", END).build().unwrap();
        let outcome = graph.checkpointer(threads).thread(key("t")).invoke(Turn::update(), ()).await;
        assert_eq!(outcome.is_ok(), new == 1);
        assert_eq!(learner.drain(NOW).await.unwrap().new, new);
    }
}

#[tokio::test]
async fn a_preference_that_the_user_did_not_state_never_counts() {
    let (threads, store) = backends().await.remove(0);
    let learner = Learner::new(consumer(&threads), memories(&store));
    learner.register().await.unwrap();
    let Taught::Preference(mut forged) = states("kim", "a", 10, "t", "language=English") else {
        panic!("it is a preference");
    };
    forged.actor = Actor::Model;
    let context = Context::for_test(()).build().unwrap();
    let error = teach::<Preference, _>(&context, TOPIC, &forged).unwrap_err();
    let refused = Refusal::NotTheUser { actor: Actor::Model };
    assert!(matches!(error, LearningError::Refused { why, .. } if why == refused));

    // A program that hands it out by itself is refused by the learner, which goes on.
    let node = move |_: Snapshot<Turn>, context: Context| {
        let handed = [lesson("preference", &forged), Stored::encode("no lesson").unwrap()]
            .iter()
            .try_for_each(|lesson| context.hand_out(TOPIC, lesson));
        async move { handed.map(|()| Turn::update().done([1])) }
    };
    let graph = Graph::<Turn>::builder("turn").node("teach", node);
    let graph = graph.edge(START, "teach").edge("teach", END).build().unwrap();
    let thread = graph.checkpointer(threads.clone()).thread(key("t"));
    thread.invoke(Turn::update(), ()).await.unwrap().done().unwrap();
    run_turns(&threads, &[states("kim", "b", 20, "t", "drink=tea")]).await;
    let drained = learner.drain(NOW).await.unwrap();
    assert_eq!((drained.new, drained.refused.len()), (1, 2));
    assert!(drained.refused.iter().all(|refused| refused.thread == key("t")));
    let kim = memories(&store).of(Tenant::default(), "kim");
    let keys: Vec<_> =
        kim.all::<Preference>(NOW).await.unwrap().into_iter().map(|r| r.text).collect();
    assert_eq!(keys, ["drink: tea"]);
    assert!(PreferenceStatement::new("a", "b", "b", &Message::assistant("b")).is_err());
}

/// Evidence of a kind that only another build knows holds up nobody. It can be forgotten, and is learned when the kind is known.
#[tokio::test]
async fn evidence_of_an_unknown_kind_is_set_aside_until_the_kind_is_known() {
    for (threads, store) in backends().await {
        let before = Memories::new(store.clone()).kind::<Preference>();
        let of = |user: &str| before.of(Tenant::default(), user);
        let old = Learner::new(consumer(&threads), before.clone());
        old.register().await.unwrap();
        for taught in [
            answered("kim", "a", 1, "t", "Yes."),
            answered("kim", "b", 2, "t", "No."),
            answered("lee", "c", 3, "t", "Perhaps."),
            answered("choi", "d", 4, "gone", "Never."),
            states("kim", "e", 5, "t", "drink=tea"),
        ] {
            run_turns(&threads, &[taught]).await;
        }
        let drained = old.drain(NOW).await.unwrap();
        assert_eq!((drained.new, drained.refused.len()), (1, 0));
        let aside = drained.set_aside.iter().map(|aside| &aside.why);
        let kinds: Vec<_> = aside.map(|why| why.to_string()).collect();
        assert_eq!(kinds, ["no kind of memory is named `episode`"; 4]);

        assert_eq!(old.forget(&of("lee"), &Forget::Everything, NOW).await.unwrap().evidence, 1);
        let what = Forget::Evidence { kind: Episode::NAME.to_owned(), id: "b".to_owned() };
        assert_eq!(old.forget(&of("kim"), &what, NOW).await.unwrap().evidence, 1);
        assert_eq!(old.forget_thread(&key("gone"), NOW).await.unwrap().evidence, 1);

        let new = Learner::new(consumer(&threads), memories(&store));
        for count in [1, 0] {
            let drained = new.drain(NOW).await.unwrap();
            assert_eq!((drained.new, drained.again), (count, 0));
            assert!(drained.refused.is_empty() && drained.set_aside.is_empty());
        }
        for (user, count) in [("kim", 1), ("lee", 0), ("choi", 0)] {
            let user = memories(&store).of(Tenant::default(), user);
            assert_eq!(user.all::<Episode>(NOW).await.unwrap().len(), count);
        }
    }
}

/// A record that another build wrote in another shape is folded anew, and no evidence is lost meanwhile.
#[tokio::test]
async fn a_record_of_another_shape_is_rebuilt() {
    for (_, store) in backends().await {
        let taught = dozen();
        learn_all(&store, &taught).await;
        let before = contents(&store).await;
        let search = hanok_checkpoint::Search::all(Tenant::default()).text("drink");
        let item = store.search(&search, NOW).await.unwrap().hits.remove(0).item;
        store.put(&item.key, Put::new(Stored::encode("drink").unwrap()), NOW).await.unwrap();
        let kim = memories(&store).of(Tenant::default(), "kim");
        let error = kim.get::<Preference>("drink", NOW).await.unwrap_err();
        assert!(matches!(error, LearningError::Record { kind: "preference", .. }));
        let late = states("kim", "late", 99, "t", "drink=water");
        let error = memories(&store).learn(&key("t"), &late.lesson(), NOW).await.unwrap_err();
        assert!(!error.is_of_the_evidence(), "{error}");
        kim.rebuild(NOW).await.unwrap();
        assert_eq!(contents(&store).await, before);
        let learned = memories(&store).learn(&key("t"), &late.lesson(), NOW).await.unwrap();
        assert_eq!(learned, Learned::New);
    }
}

/// One user's record that another build wrote in another shape, or evidence on which a kind panics, holds up nobody's learning and
/// nobody's forgetting.
#[tokio::test]
async fn what_cannot_be_folded_holds_up_nobody() {
    struct Odd;
    impl MemoryKind for Odd {
        const NAME: &'static str = "odd";
        type Body = String;
        type Record = BTreeSet<String>;

        fn key(_: &Evidence<String>) -> String {
            "odd".to_owned()
        }

        fn fold(mut record: BTreeSet<String>, evidence: &Evidence<String>) -> BTreeSet<String> {
            assert!(evidence.body != "boom", "a mistake of the kind");
            record.insert(evidence.body.clone());
            record
        }

        fn text(record: &BTreeSet<String>) -> String {
            record.iter().cloned().collect::<Vec<_>>().join(", ")
        }
    }
    for (threads, store) in backends().await {
        let memories = memories(&store).kind::<Odd>();
        let learner = Learner::new(consumer(&threads), memories.clone());
        learner.register().await.unwrap();
        run_turns(&threads, &[states("kim", "a", 1, "t", "drink=tea")]).await;
        assert_eq!(learner.drain(NOW).await.unwrap().new, 1);
        // The build before kept its records in another shape.
        let search = hanok_checkpoint::Search::all(Tenant::default()).text("drink");
        let item = store.search(&search, NOW).await.unwrap().hits.remove(0).item;
        store.put(&item.key, Put::new(Stored::encode("drink").unwrap()), NOW).await.unwrap();

        let node = move |_: Snapshot<Turn>, context: Context| async move {
            for (user, body) in [("kim", "boom"), ("kim", "calm"), ("lee", "calm")] {
                let name = format!("{user}-{body}");
                let said =
                    Evidence::new(&context, &name, user, Actor::User, &name, body.to_owned());
                teach::<Odd, _>(&context, TOPIC, &said)?;
            }
            Ok::<_, BoxError>(Turn::update().done([1]))
        };
        let graph = Graph::<Turn>::builder("odd").node("teach", node);
        let graph = graph.edge(START, "teach").edge("teach", END).build().unwrap();
        let thread = graph.checkpointer(threads.clone()).thread(key("odd"));
        thread.invoke(Turn::update(), ()).await.unwrap().done().unwrap();
        run_turns(&threads, &[states("kim", "b", 2, "t2", "drink=water")]).await;
        run_turns(&threads, &[states("lee", "c", 3, "t3", "drink=milk")]).await;

        let drained = learner.drain(NOW).await.unwrap();
        assert_eq!((drained.new, drained.refused.len()), (4, 1));
        let LearningError::Panicked { kind, what } = &drained.refused[0].why else { panic!() };
        assert_eq!((*kind, what.as_str()), ("odd", "a mistake of the kind"));
        let of = |user: &str| memories.of(Tenant::default(), user);
        for user in ["kim", "lee"] {
            let odd = of(user).get::<Odd>("odd", NOW).await.unwrap().unwrap();
            assert_eq!(odd, BTreeSet::from(["calm".to_owned()]), "{user}");
        }
        let drink = of("kim").get::<Preference>("drink", NOW).await.unwrap().unwrap();
        assert_eq!(drink.current().unwrap().value, "water");
        let forgotten = learner.forget(&of("lee"), &Forget::Everything, NOW).await.unwrap();
        assert_eq!(forgotten.evidence, 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_learner_that_runs_drains_first_and_then_again() {
    let (threads, store) = backends().await.remove(0);
    let learner = Learner::new(consumer(&threads), memories(&store));
    learner.register().await.unwrap();
    run_turns(&threads, &[states("kim", "a", 1, "t", "drink=tea")]).await;
    let (stop, clock) = (Cancellation::default(), Runtime::default().clock);
    let running = {
        let stop = stop.clone();
        let pause = std::time::Duration::from_secs(5);
        tokio::spawn(async move { learner.run(&*clock, pause, &stop).await })
    };
    let drinks = async |store: &SharedStore| {
        let kim = memories(store).of(Tenant::default(), "kim");
        let drink = kim.get::<Preference>("drink", NOW).await.unwrap();
        drink.and_then(|drink| drink.current().map(|now| now.value.clone()))
    };
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(drinks(&store).await.as_deref(), Some("tea"));
    run_turns(&threads, &[states("kim", "b", 2, "t", "drink=water")]).await;
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    assert_eq!(drinks(&store).await.as_deref(), Some("water"));
    stop.cancel();
    running.await.unwrap();
    assert_eq!(Consumer::new(threads, "learner", TOPIC).next(9).await.unwrap().len(), 0);
}
