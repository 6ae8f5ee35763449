#![doc = include_str!("../README.md")]

mod calculate;
mod calculator;
mod clock;
mod current_datetime;
mod near;

pub use calculate::Calculator;
pub use calculator::{CalculatorError, Number, evaluate};
pub use clock::{ClockError, DEFAULT_ZONE, DateTimeReport, datetime_in};
pub use current_datetime::CurrentDatetime;
