//! Amounts are read as people write them, and figures are exact.

mod amounts;
mod calculator;
mod number;
