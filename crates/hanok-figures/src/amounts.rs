//! Amounts, dates and articles in Korean running text.
//!
//! [`scan`] goes over the text once and asks [`date`], [`article`] and [`amount`] what begins where it stands. An amount is a
//! [`numeral`] and the [`unit`] behind it; [`digits`] and [`words`] are what all of them read. Each looks ahead by a bounded
//! number of pieces, and what none of them understands is skipped whole, so a text takes time by its length.
//! [`figure`] and [`won`] write back what was read.

mod amount;
mod article;
mod count;
mod date;
mod digits;
mod figure;
mod grouped;
mod numeral;
mod scan;
mod section;
mod unit;
mod won;
mod words;

pub use count::{Count, counts};
pub use figure::{Amount, AmountUnit, Article, Date, Figure};
pub use grouped::grouped;
pub use scan::{Figures, figures};
pub use won::Won;
