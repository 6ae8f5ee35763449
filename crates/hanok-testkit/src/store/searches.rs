//! Lists, pages and texts.

use hanok_checkpoint::{
    Expect, FieldPath, Filter, Hit, Index, Place, Search, SharedStore, Store, StoreError,
};
use hanok_core::ItemKey;

use super::fixture::*;
use crate::block_on;

fn names(hits: &[Hit]) -> Vec<String> {
    hits.iter().map(|hit| hit.item.key.key().to_owned()).collect()
}

/// All that `search` finds, page by page, with `between` done after each.
fn paged(store: &SharedStore, search: &Search, mut between: impl FnMut(usize)) -> Vec<Hit> {
    let (mut hits, mut after, mut page) = (Vec::new(), None, 0);
    loop {
        let found = block_on(store.search(&search.clone().after(after), NOW)).unwrap();
        assert!(found.hits.len() <= search.limit);
        hits.extend(found.hits);
        let Some(next) = found.next else { return hits };
        // A place goes to a client and comes back.
        after = Some(Place::from_bytes(&next.to_bytes()).unwrap());
        between(page);
        page += 1;
        assert!(page < 1_000, "no end of pages");
    }
}

pub(crate) fn pages_hold_every_item_once_while_others_write(store: SharedStore) {
    let at = At(&store, NOW);
    let name = |n: usize| format!("{n:02}");
    for n in 0..30 {
        let path = ["a", "a/b", "a b"][n % 3];
        at.put(&key(path, &name(n)), put(n as i64)).unwrap();
    }
    for (limit, filter) in [(1, Filter::default()), (4, Filter::default()), (4, odd())] {
        let search = everywhere().filter(filter).limit(limit);
        let want = names(&at.hits(&search.clone().limit(ALL)));
        let found = paged(&store, &search, |page| {
            // Before and after where the pages are, new ones come and go, and those that stay are written again.
            for path in ["a", "a/b", "z"] {
                let extra = key(path, &format!("00 extra {page}"));
                at.put(&extra, put(-1)).unwrap();
                block_on(store.remove(&extra, Expect::Any, NOW)).unwrap();
            }
            let n = page % 30;
            at.put(&key(["a", "a/b", "a b"][n % 3], &name(n)), put(n as i64)).unwrap();
        });
        assert_eq!(names(&found), want, "by {limit}");
    }
    // One that is removed while its page is read no longer is; one that comes behind it still is found.
    let first = block_on(store.search(&everywhere().limit(2), NOW)).unwrap();
    let last = first.hits[1].item.key.clone();
    block_on(store.remove(&last, Expect::Any, NOW)).unwrap();
    at.put(&key("a", &format!("{} behind", last.key())), put(1)).unwrap();
    let next = block_on(store.search(&everywhere().limit(1).after(first.next), NOW)).unwrap();
    assert_eq!(names(&next.hits), [format!("{} behind", last.key())]);
}

/// A filter that 1, 3, 5, … fit.
fn odd() -> Filter {
    Filter::Or(
        (0..30)
            .filter(|n| n % 2 == 1)
            .map(|n| Filter::Eq(FieldPath::default(), stored(n)))
            .collect(),
    )
}

pub(crate) fn pages_of_a_ranked_search_hold_every_item_once(store: SharedStore) {
    let at = At(&store, NOW);
    for n in 0..24i64 {
        // Many ranks are equal: then the order is that of the keys.
        let text = "휴가 ".repeat(1 + (n % 3) as usize) + "규정";
        let it = put(&*text).vector(vector(&[1.0, (n % 4) as f32]));
        at.put(&key(["a", "b"][(n % 2) as usize], &format!("{n:02}")), it).unwrap();
    }
    let text = || everywhere().text("휴가");
    let meaning = || everywhere().vector(vector(&[1.0, 1.0]));
    for search in [text(), meaning(), text().vector(vector(&[1.0, 1.0]))] {
        let whole = at.hits(&search);
        assert_eq!(whole.len(), 24);
        let order = |n: usize| (whole[n].score.map(|score| -score), &whole[n].item.key);
        assert!((1..whole.len()).all(|n| order(n - 1) < order(n)), "{whole:#?}");
        for limit in [1, 5, 24, 25] {
            assert_eq!(paged(&store, &search.clone().limit(limit), |_| {}), whole, "by {limit}");
        }
    }
    // Ranks by meaning do not depend on what else is there.
    let whole = at.hits(&meaning());
    let found = paged(&store, &meaning().limit(5), |page| {
        let best = put("").vector(vector(&[1.0, 1.0]));
        at.put(&key("a", &format!("! {page}")), best).unwrap();
    });
    assert_eq!(names(&found), names(&whole));
}

pub(crate) fn a_page_and_the_next_are_the_page_of_twice_its_size(store: SharedStore) {
    let at = At(&store, NOW);
    for n in 0..7 {
        at.put(&key("a", &n.to_string()), put(n)).unwrap();
    }
    for (limit, pages) in [(1, 7), (2, 4), (3, 3), (7, 1), (8, 1)] {
        let mut seen = 1;
        let found = paged(&store, &within("a").limit(limit), |_| seen += 1);
        assert_eq!((found.len(), seen), (7, pages), "by {limit}");
    }
    // A page that is full and the last one says so.
    let page = block_on(store.search(&within("a").limit(7), NOW)).unwrap();
    assert_eq!(page.next, None);
    let page = block_on(store.search(&within("a").limit(0), NOW)).unwrap();
    assert_eq!(page.hits, []);
}

pub(crate) fn a_text_is_found_within_korean_words(store: SharedStore) {
    let at = At(&store, NOW);
    for (name, text) in [
        ("leave", "연차휴가는 매년 15일입니다"),
        ("lunch", "점심시간은 12시부터"),
        ("wiki", "사내 Wiki 는 VPN2 로 접속"),
        ("won", "출장비 1,250,000원, 3.5%"),
        ("decomposed", "\u{1112}\u{1172}\u{1100}\u{1161}"),
        ("한자", "有給休暇の申請"),
    ] {
        at.put(&key("a", name), put(map([("text", text.into()), ("n", 1.into())]))).unwrap();
    }
    for (text, want) in [
        ("휴가", "decomposed leave"),
        ("연차휴가", "leave decomposed"),
        ("wiki", "wiki"),
        ("WIKI vpn", "wiki"),
        ("1250000", "won"),
        ("3.5", "won"),
        ("休暇", "한자"),
        ("점심", "lunch"),
        ("없는말", ""),
        ("", ""),
        ("!?", ""),
    ] {
        assert_eq!(at.keys(&within("a").text(text)).join(" "), want, "{text}");
    }
}

pub(crate) fn texts_rank_by_how_well_they_hold_the_words(store: SharedStore) {
    let at = At(&store, NOW);
    for (name, text) in [
        ("both", "alpha beta gamma delta"),
        ("common twice", "beta beta gamma delta"),
        ("common", "beta gamma delta epsilon"),
        ("long", "beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi"),
        ("none", "gamma delta epsilon zeta"),
        ("rare", "alpha gamma delta epsilon"),
    ] {
        at.put(&key("a", name), put(text)).unwrap();
    }
    let found = at.hits(&within("a").text("alpha beta"));
    let order = ["both", "rare", "common twice", "common", "long"];
    assert_eq!(names(&found), order);
    assert!(found.iter().all(|hit| hit.score == hit.text && hit.score > Some(0.0)), "{found:?}");
    // By the formula: 6 texts of 33 terms, the rare word in 2 of them, the other in 4; this one has 4 terms.
    let saturated = 2.2 / (1.0 + 1.2 * (0.25 + 0.75 * 4.0 / (33.0 / 6.0)));
    let want = ((1.0 + 4.5 / 2.5f64).ln() + (1.0 + 2.5 / 4.5f64).ln()) * saturated;
    assert!((found[0].score.unwrap() - want).abs() < 1e-9, "{:?} {want}", found[0].score);

    // The filter narrows what is found, and changes no rank.
    let not_both = Filter::Ne(FieldPath::default(), stored("alpha beta gamma delta"));
    let narrowed = at.hits(&within("a").text("alpha beta").filter(not_both));
    assert_eq!(narrowed, found[1..]);
}

pub(crate) fn only_what_is_indexed_is_found_by_text(store: SharedStore) {
    let at = At(&store, NOW);
    let value =
        || map([("title", "제목 하나".into()), ("body", map([("text", "본문 둘".into())]))]);
    for (name, index) in [
        ("all", Index::All),
        ("body", Index::Fields(vec![FieldPath::new(["body", "text"]), "missing".into()])),
        ("off", Index::Off),
        ("title", Index::Fields(vec!["title".into()])),
        ("under", Index::Fields(vec!["body".into()])),
    ] {
        at.put(&key("a", name), put(value()).index(index)).unwrap();
    }
    let sorted = |text: &str| {
        let mut found = at.keys(&within("a").text(text));
        found.sort();
        found.join(" ")
    };
    assert_eq!(sorted("제목"), "all title");
    assert_eq!(sorted("본문"), "all body under");
    assert_eq!(sorted("제목 본문"), "all body title under");
    assert_eq!(at.keys(&within("a")).join(" "), "all body off title under");
    // Written again, what counts is what is said now.
    at.put(&key("a", "title"), put(value()).index(Index::Off)).unwrap();
    at.put(&key("a", "off"), put(value())).unwrap();
    assert_eq!(sorted("제목"), "all off");
    // A document is no search.
    let long = within("a").text("제목 ".repeat(20_000));
    let refused = block_on(store.search(&long, NOW));
    assert!(matches!(refused, Err(StoreError::LongText { .. })), "{refused:?}");
}

pub(crate) fn every_sign_in_a_text_that_is_looked_for_means_itself(store: SharedStore) {
    let at = At(&store, NOW);
    at.put(&key("a", "leave"), put("휴가 규정")).unwrap();
    at.put(&key("a", "near"), put("near or and not")).unwrap();
    at.put(&key("a", "one"), put("1 wiki")).unwrap();
    for (text, want) in [
        ("휴가\" OR 1", "leave near one"),
        ("휴가\"", "leave"),
        ("\"휴가", "leave"),
        ("NEAR(", "near"),
        ("NEAR(휴가 규정, 2)", "leave near"),
        ("NOT 휴가", "leave near"),
        ("휴가 AND xyz", "leave near"),
        ("wik*", ""),
        ("wik%", ""),
        ("^wiki", "one"),
        ("terms : wiki", "one"),
        ("{terms} : x", ""),
        ("-휴가", "leave"),
        ("+휴가", "leave"),
        ("(휴가", "leave"),
        ("휴가'; DROP TABLE items; --", "leave"),
        ("휴가\0규정", "leave"),
        ("\\휴가 & 규정 | !x <-> y:*", "leave"),
        ("?1 :a $1", "one"),
    ] {
        let mut found = at.keys(&within("a").text(text));
        found.sort();
        assert_eq!(found.join(" "), want, "{text:?}");
    }
    // A text has any length; the first words of a very long one count.
    let letters = |n: usize| n.to_string().bytes().map(|b| char::from(b + 49)).collect::<String>();
    let many: String = (1..5_000).map(|n| format!("w{} ", letters(n))).collect();
    assert_eq!(at.keys(&within("a").text(format!("휴가 {many}"))), ["leave"]);
}

pub(crate) fn ranks_tell_nothing_of_what_is_elsewhere(store: SharedStore) {
    let at = At(&store, NOW);
    at.put(&key("a", "x"), put("alpha beta")).unwrap();
    at.put(&key("a", "y"), put("beta beta")).unwrap();
    let scores = || {
        let hits = at.hits(&within("a").text("alpha beta"));
        hits.into_iter().map(|hit| (hit.item.key.key().to_owned(), hit.score)).collect::<Vec<_>>()
    };
    let alone = scores();
    for n in 0..5 {
        let other = ItemKey::new(tenant("other"), labels(&["a"]), &n.to_string()).unwrap();
        at.put(&other, put("alpha alpha alpha")).unwrap();
        at.put(&key("b", &n.to_string()), put("alpha alpha alpha gamma")).unwrap();
    }
    assert_eq!(scores(), alone);
}
