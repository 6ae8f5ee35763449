//! A reducer takes writes whose type has no serde.

use hanok::state::ListChange;
use hanok::{List, State};

#[derive(Clone, Debug)]
struct Booking {
    seat: u32,
}

#[derive(State, Clone, Debug, Default)]
struct Hall {
    #[reduce(operations = book, update = Booking)]
    seats: List<u32>,
}

fn book(_: &List<u32>, booking: Booking) -> ListChange<u32> {
    ListChange::Append(vec![booking.seat])
}

fn main() {
    let _ = Hall::update();
}
