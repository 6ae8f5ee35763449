//! A graph to be killed: it pays, and must pay each thing once.

use std::path::Path;

use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{BoxError, Call};
use hanok_graph::{App, Context, Doubt, Durability, END, Graph, NotMade, START, Snapshot};
use hanok_state::{List, State};

use super::{Killed, Kills, Ledger};

/// The number of payments that a run makes.
const PAYMENTS: u32 = 6;

/// An order that is paid in parts.
#[derive(State, Debug, Clone, Default, PartialEq)]
pub struct Order {
    n: u32,
    total: u32,
    #[reduce(append)]
    receipts: List<String>,
}

/// Kills a graph that asks a price, which may be asked twice, and pays it, which may not, six times. With
/// [`Payments::check`] after each round it shows that a store loses nothing and doubles nothing.
#[derive(Debug)]
pub struct Payments {
    quiet: Killed<Order>,
    cut_off: usize,
    doubted: usize,
}

impl Payments {
    /// The graph that the test `child` runs, and that a parent kills.
    pub const fn kills(child: &'static str) -> Kills<Order> {
        Kills { child, app, input: Order::update, once: "paid" }
    }

    /// The rounds of `kills`, whose ledgers are files in `folder`.
    ///
    /// # Panics
    ///
    /// When a run that nobody kills does not pay everything.
    pub fn new(kills: Kills<Order>, folder: &Path) -> Self {
        let quiet = kills.quiet(SharedCheckpointer::new(InMemoryCheckpointer::new()), folder);
        assert_eq!(quiet.ledger.of("paid").len(), PAYMENTS as usize);
        Self { quiet, cut_off: 0, doubted: 0 }
    }

    /// Checks one round.
    ///
    /// # Panics
    ///
    /// When the run ended elsewhere than a quiet one, or a payment was lost, made twice, or in doubt without need.
    pub fn check(&mut self, killed: &Killed<Order>) {
        let round = killed.round;
        assert_eq!(killed.state, self.quiet.state, "round {round}");
        let paid = killed.ledger.of("paid");
        assert_eq!(paid.len(), PAYMENTS as usize, "round {round}");
        for (key, receipts) in paid {
            assert_eq!(receipts.len(), 1, "round {round}: {key} was paid more than once");
        }
        // A price may be asked again only by the step that was cut off.
        let prices = killed.ledger.of("price");
        let asked: usize = prices.values().map(Vec::len).sum();
        assert!(prices.len() == PAYMENTS as usize && asked <= PAYMENTS as usize + 1);
        assert!(killed.doubted.len() <= 1, "round {round}: {:?}", killed.doubted);
        self.cut_off += usize::from(killed.cut_off);
        self.doubted += killed.doubted.len();
    }

    /// The number of runs that were cut off, and of payments that were in doubt.
    pub fn counts(&self) -> (usize, usize) {
        (self.cut_off, self.doubted)
    }
}

fn app(store: SharedCheckpointer, durability: Durability) -> App<Order, Ledger> {
    Graph::<Order, Ledger>::builder("order")
        .node("pay", pay)
        .edge(START, "pay")
        .branch("pay", |order: &Order| if order.n < PAYMENTS { "pay" } else { END }, ["pay", END])
        .build()
        .unwrap()
        .checkpointer(store)
        .durable(durability)
}

async fn pay(order: Snapshot<Order>, cx: Context<Ledger>) -> Result<OrderUpdate, BoxError> {
    let (n, world) = (order.n, cx.services());
    let call = cx.call("step", "price", "{}").key().to_string();
    let price: u32 = cx
        .step("price", || async move { world.note("price", &call, "asked").map(|()| 10 + n) })
        .await?;
    let bank = async |call: Call| -> Result<String, BoxError> {
        let receipt = format!("receipt of {price}");
        world.note("paid", &call.key().to_string(), &receipt).map_err(NotMade)?;
        Ok(receipt)
    };
    let receipt = cx.once("pay", &format!(r#"{{"amount":{price}}}"#), Doubt::Ask, bank).await?;
    Ok(Order::update().n(n + 1).total(order.total + price).push_receipts(receipt))
}
