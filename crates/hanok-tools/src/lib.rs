#![doc = include_str!("../README.md")]

mod calculator;
mod clock;
mod near;

pub use calculator::{CalculatorError, Number, evaluate};
pub use clock::{ClockError, DEFAULT_ZONE, DateTimeReport, datetime_in};
