//! The methods of an update take what a user has at hand: texts, literals, options with and without `Some`.

use std::{collections::BTreeMap, sync::Arc};

use hanok_state::{List, Map, State};

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Order {
    title: String,
    code: Arc<str>,
    note: Option<String>,
    rank: Option<u32>,
    cents: u64,
    #[reduce(append)]
    log: List<String>,
    #[reduce(append)]
    sizes: Vec<u8>,
    #[reduce(merge)]
    prices: Map<String, u32>,
    #[reduce(merge)]
    labels: BTreeMap<u8, String>,
}

#[test]
fn a_method_takes_what_its_user_has() {
    let update = Order::update()
        .title("tea")
        .code("t-1")
        .note("hot")
        .rank(3)
        .cents(250)
        .push_log("begun")
        .push_log(format!("at {}", 9))
        .push_sizes(7)
        .insert_prices("cup", 40)
        .insert_labels(1, "one");
    let mut order = Order::default();
    order.reduce(vec![("take".into(), update)]).unwrap();
    assert_eq!((order.title.as_str(), &*order.code, order.cents), ("tea", "t-1", 250));
    assert_eq!((order.note.as_deref(), order.rank), (Some("hot"), Some(3)));
    assert_eq!((order.log.len(), order.sizes.as_slice()), (2, &[7][..]));
    assert_eq!((order.prices.get("cup"), order.labels[&1].as_str()), (Some(&40), "one"));
}

#[test]
fn an_option_is_taken_as_it_is_too() {
    let mut order = Order::default();
    let update = Order::update().note(Some("hot".to_owned())).rank(Some(3));
    order.reduce(vec![("take".into(), update)]).unwrap();
    let update = Order::update().note(None).rank(None).remove_prices("cup");
    order.reduce(vec![("take".into(), update)]).unwrap();
    assert_eq!((order.note, order.rank), (None, None));
}
