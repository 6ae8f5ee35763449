//! Money: amounts as people write them, rent, loans and yields.
//!
//! Every calculation is exact on [`hanok_figures::Number`]; no amount is ever a binary fraction. What is lost by a quotient
//! without an end is lost behind the fortieth digit, and a result is rounded once, as its documentation says.

mod amount;
mod exact;
pub mod loans;
mod pair;
pub mod rent;
pub mod returns;

pub use amount::{AmountError, MOST_WON, StatedRate, StatedWon, percent, won};
pub use exact::{MoneyError, percent_shown, share, units, whole_won};
pub use pair::{pair, stated_pair};
