//! Searches by meaning.

use hanok_checkpoint::{Expect, FieldPath, Filter, SharedStore, Store};

use super::fixture::*;
use crate::block_on;

pub(crate) fn a_search_by_meaning_ranks_by_similarity_within_prefix_and_filter(store: SharedStore) {
    let at = At(&store, NOW);
    for (path, name, kind, numbers) in [
        ("a", "same", 1, [5.0, 0.0]),
        ("a", "near", 2, [3.0, 4.0]),
        ("a/b", "across", 1, [0.0, 1.0]),
        ("a/b", "against", 1, [-2.0, 0.0]),
        ("b", "elsewhere", 1, [1.0, 0.0]),
    ] {
        let value = map([("kind", kind.into())]);
        at.put(&key(path, name), put(value).vector(vector(&numbers))).unwrap();
    }
    let search = |path| within(path).vector(vector(&[1.0, 0.0]));
    let kind = |n: i64| Filter::Eq("kind".into(), stored(n));
    for (search, want) in [
        (search("a"), vec![("same", 1.0), ("near", 0.6), ("across", 0.0), ("against", -1.0)]),
        (search("a/b"), vec![("across", 0.0), ("against", -1.0)]),
        (search("a").filter(kind(1)), vec![("same", 1.0), ("across", 0.0), ("against", -1.0)]),
        (search("a").filter(kind(2)), vec![("near", 0.6)]),
        (search("a").filter(kind(3)), vec![]),
        (search("a").limit(2), vec![("same", 1.0), ("near", 0.6)]),
        (search("c"), vec![]),
    ] {
        let hits = at.hits(&search);
        let names: Vec<_> = hits.iter().map(|hit| hit.item.key.key()).collect();
        assert_eq!(names, want.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        for (hit, (name, want)) in hits.iter().zip(want) {
            let similarity = hit.similarity.unwrap();
            assert!((similarity - want).abs() < 1e-6, "{name} {similarity}");
            assert_eq!((hit.score, hit.text), (Some(f64::from(similarity)), None), "{name}");
        }
    }
}

pub(crate) fn what_has_no_vector_is_listed_and_never_found_by_meaning(store: SharedStore) {
    let at = At(&store, NOW);
    at.put(&key("a", "with"), put("글").vector(vector(&[0.0, 1.0]))).unwrap();
    at.put(&key("a", "without"), put("글")).unwrap();
    let by_meaning = || within("a").vector(vector(&[1.0, 0.0]));
    assert_eq!(at.keys(&within("a")), ["with", "without"]);
    assert_eq!(at.keys(&by_meaning()), ["with"]);
    assert_eq!(at.keys(&by_meaning().text("글").weight(1.0)), ["with"]);
    // It may have the words all the same.
    assert_eq!(at.keys(&by_meaning().text("글")), ["with", "without"]);
    // Written again without its vector, it has none any more.
    at.put(&key("a", "with"), put("글")).unwrap();
    assert_eq!(at.keys(&within("a").vector(vector(&[1.0, 0.0]))), [""; 0]);
}

pub(crate) fn an_item_is_as_similar_as_its_most_similar_vector(store: SharedStore) {
    let at = At(&store, NOW);
    let two = put("v").vector(vector(&[-1.0, 0.0])).vector(vector(&[0.0, 1.0]));
    at.put(&key("a", "two"), two).unwrap();
    at.put(&key("a", "one"), put("v").vector(vector(&[3.0, 4.0]))).unwrap();
    for (numbers, want) in
        [([1.0, 0.0], [("one", 0.6), ("two", 0.0)]), ([0.0, 1.0], [("two", 1.0), ("one", 0.8)])]
    {
        let hits = at.hits(&within("a").vector(vector(&numbers)));
        assert_eq!(hits.len(), 2);
        for (hit, (name, similarity)) in hits.iter().zip(want) {
            assert_eq!(hit.item.key.key(), name, "{numbers:?}");
            assert!((hit.similarity.unwrap() - similarity).abs() < 1e-6, "{hit:?}");
        }
    }
}

pub(crate) fn vectors_of_one_tenant_have_one_length(store: SharedStore) {
    let at = At(&store, NOW);
    let wrong = || Err("dimensions 2 3".to_owned());
    let of = |numbers: &[f32]| put("v").vector(vector(numbers));
    let search = |numbers: &[f32]| {
        let found = block_on(store.search(&everywhere().vector(vector(numbers)), NOW));
        found.map(|page| page.hits.len()).map_err(in_words)
    };
    assert_eq!(search(&[1.0, 2.0, 3.0]), Ok(0));
    // Within one put already.
    assert_eq!(
        at.put(&key("a", "x"), of(&[1.0, 2.0]).vector(vector(&[1.0, 2.0, 3.0]))).map(drop),
        wrong()
    );
    at.put(&key("a", "x"), of(&[1.0, 2.0])).unwrap();
    assert_eq!(at.put(&key("b", "y"), of(&[1.0, 2.0, 3.0])).map(drop), wrong());
    assert_eq!(at.keys(&everywhere()), ["x"]);
    assert_eq!(search(&[1.0, 2.0, 3.0]), wrong().map(|()| 0));
    assert_eq!(search(&[1.0, 2.0]), Ok(1));
    // The only one there is may be replaced, and when none is left the next one says.
    at.put(&key("a", "x"), of(&[1.0, 2.0, 3.0])).unwrap();
    block_on(store.remove(&key("a", "x"), Expect::Any, NOW)).unwrap();
    at.put(&key("b", "y"), of(&[1.0])).unwrap();
    assert_eq!(search(&[2.0]), Ok(1));
}

pub(crate) fn vectors_of_one_tenant_are_of_one_model(store: SharedStore) {
    let at = At(&store, NOW);
    let of = |model| vector(&[1.0, 0.0]).made_by(model);
    let search = |vector| {
        let found = block_on(store.search(&everywhere().vector(vector), NOW));
        found.map(|page| page.hits.len()).map_err(in_words)
    };
    let wrong = || "model small large".to_owned();
    at.put(&key("a", "x"), put("v").vector(of("small"))).unwrap();
    assert_eq!(at.put(&key("a", "y"), put("v").vector(of("large"))), Err(wrong()));
    let both = put("v").vector(of("small")).vector(of("large"));
    assert_eq!(at.put(&key("a", "x"), both), Err(wrong()));
    assert_eq!(at.put(&key("a", "y"), put("v").vector(of(""))), Err("model small ".to_owned()));
    assert_eq!(search(of("large")), Err(wrong()));
    assert_eq!(search(of("small")), Ok(1));
    // When all are made anew, the model may be another.
    at.put(&key("a", "x"), put("v").vector(of("large"))).unwrap();
    assert_eq!(search(of("large")), Ok(1));
}

pub(crate) fn text_and_meaning_are_joined_by_weight(store: SharedStore) {
    let at = At(&store, NOW);
    for (name, text, numbers) in [
        ("both", "휴가 규정과 그 밖의 말", Some([0.8, 0.6])),
        ("meaning", "쉬는 날", Some([1.0, 0.0])),
        ("neither", "점심", Some([-1.0, 0.0])),
        ("text", "휴가 휴가", None),
    ] {
        let it = put(map([("text", text.into())]));
        let it = match numbers {
            Some(numbers) => it.vector(vector(&numbers)),
            None => it,
        };
        at.put(&key("a", name), it).unwrap();
    }
    let search = |weight| within("a").text("휴가").vector(vector(&[1.0, 0.0])).weight(weight);
    for (weight, want) in [
        (0.0, "text both"),
        (0.5, "both meaning text neither"),
        (0.9, "both meaning neither text"),
        (1.0, "meaning both neither"),
    ] {
        assert_eq!(at.keys(&search(weight)).join(" "), want, "weight {weight}");
    }
    // Places count from 1: second in both lists, first in one, third in one.
    let hits = at.hits(&search(0.5));
    let scores: Vec<_> = hits.iter().map(|hit| hit.score.unwrap()).collect();
    let want = [0.5 / 62.0 + 0.5 / 62.0, 0.5 / 61.0, 0.5 / 61.0, 0.5 / 63.0];
    assert!(
        scores.iter().zip(want).all(|(score, want)| (score - want).abs() < 1e-12),
        "{scores:?}"
    );
    let told = hits.iter().map(|hit| (hit.text.is_some(), hit.similarity.is_some()));
    let both = [(true, true), (false, true), (true, false), (false, true)];
    assert_eq!(told.collect::<Vec<_>>(), both);
    let only = Filter::Eq(FieldPath::new(["text"]), stored("점심"));
    assert_eq!(at.keys(&search(0.5).filter(only)), ["neither"]);
}
