//! A field's type, in a list too, has no serde.

use hanok::{List, State};

#[derive(Clone, Debug, Default)]
struct Item {
    price: u32,
}

#[derive(State, Clone, Debug, Default)]
struct Order {
    first: Item,
    #[reduce(append)]
    others: List<Item>,
}

fn main() {
    let _ = Order::update();
}
