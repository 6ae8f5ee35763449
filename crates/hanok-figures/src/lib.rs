#![doc = include_str!("../README.md")]

mod amounts;
mod arithmetic;
mod calculator;
mod loan;

pub use amounts::{
    Amount, AmountUnit, Article, Count, Date, Figure, Figures, Won, counts, figures, grouped,
};
pub use arithmetic::Arithmetic;
pub use calculator::{CalculatorError, Number, Rounding, evaluate};
pub use loan::{Instalment, Loan, LoanSchedule, Repayment};
