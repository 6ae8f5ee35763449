//! The instalments of a loan.

use hanok_figures::{CalculatorError, Number, Rounding};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Loan, Method};
use crate::money::exact::{MoneyError, percent_shown, whole_won};

/// What is paid in one month, in won.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Instalment {
    /// The month, from 1.
    pub month: u32,
    /// All that is paid.
    pub payment: i64,
    /// The part that pays the loan back.
    pub principal: i64,
    /// The part that is interest.
    pub interest: i64,
    /// What is owed behind it.
    pub balance: i64,
}

/// The instalments of a loan, at least one, and what they come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    first: Instalment,
    last: Instalment,
    instalments: Vec<Instalment>,
    interest: i64,
    unrounded: Number,
}

impl Schedule {
    pub(super) fn of(loan: &Loan) -> Result<Self, MoneyError> {
        let paying = loan.months - loan.grace;
        let share = match loan.method {
            Method::Annuity => whole_won(&annuity(loan, paying)?, Rounding::Floor)?,
            Method::EqualPrincipal => loan.amount / i64::from(paying),
            Method::Bullet => 0,
        };
        let (mut instalments, mut balance) = (Vec::new(), loan.amount);
        for month in 1..=loan.months {
            let interest = interest(balance, loan)?;
            let due = match (month <= loan.grace, loan.method) {
                (true, _) | (_, Method::Bullet) => 0,
                (_, Method::Annuity) => (share - interest).max(0),
                (_, Method::EqualPrincipal) => share,
            };
            let principal = if month == loan.months { balance } else { due.min(balance) };
            balance -= principal;
            let payment = principal.checked_add(interest).ok_or(MoneyError::TooLarge)?;
            instalments.push(Instalment { month, payment, principal, interest, balance });
        }
        let mut interest: i64 = 0;
        for instalment in &instalments {
            interest = interest.checked_add(instalment.interest).ok_or(MoneyError::TooLarge)?;
        }
        let none = Instalment { month: 0, payment: 0, principal: 0, interest: 0, balance };
        Ok(Self {
            first: instalments.first().copied().unwrap_or(none),
            last: instalments.last().copied().unwrap_or(none),
            instalments,
            interest,
            unrounded: unrounded(loan, paying)?,
        })
    }

    /// The instalments, in order.
    #[must_use]
    pub fn instalments(&self) -> &[Instalment] {
        &self.instalments
    }

    /// The first instalment.
    #[must_use]
    pub fn first(&self) -> Instalment {
        self.first
    }

    /// The last instalment, which settles the loan.
    #[must_use]
    pub fn last(&self) -> Instalment {
        self.last
    }

    /// The interest of all months, as it is paid, in won.
    #[must_use]
    pub fn interest(&self) -> i64 {
        self.interest
    }

    /// The interest of all months before anything is cut to the won.
    #[must_use]
    pub fn interest_before_rounding(&self) -> &Number {
        &self.unrounded
    }

    /// The same to two decimals.
    ///
    /// # Errors
    ///
    /// None within the ranges of a loan.
    pub fn interest_before_rounding_shown(&self) -> Result<String, CalculatorError> {
        percent_shown(&self.unrounded, 2)
    }
}

/// The interest of a month on `balance`, cut to the won.
fn interest(balance: i64, loan: &Loan) -> Result<i64, MoneyError> {
    let year = Number::from(balance).multiply(&loan.percent)?;
    whole_won(&year.divide(&Number::from(1_200))?, Rounding::Floor)
}

/// The equal instalment of `months`, before it is cut.
fn annuity(loan: &Loan, months: u32) -> Result<Number, CalculatorError> {
    let (amount, count) = (Number::from(loan.amount), Number::from(i64::from(months)));
    let rate = monthly(loan)?;
    if rate.compare(&Number::from(0)).is_eq() {
        return amount.divide(&count);
    }
    let growth = power(&Number::from(1).add(&rate)?, months)?;
    let paid = amount.multiply(&rate)?.multiply(&growth)?;
    paid.divide(&growth.subtract(&Number::from(1))?)
}

/// The interest of the whole loan, before anything is cut.
pub(super) fn unrounded(loan: &Loan, paying: u32) -> Result<Number, CalculatorError> {
    let (amount, count) = (Number::from(loan.amount), Number::from(i64::from(paying)));
    let month = amount.multiply(&loan.percent)?.divide(&Number::from(1_200))?;
    let waiting = month.multiply(&Number::from(i64::from(loan.grace)))?;
    let paid = match loan.method {
        Method::Annuity => annuity(loan, paying)?.multiply(&count)?.subtract(&amount)?,
        Method::EqualPrincipal => {
            month.multiply(&count.add(&Number::from(1))?)?.divide(&Number::from(2))?
        }
        Method::Bullet => month.multiply(&count)?,
    };
    waiting.add(&paid)
}

/// The rate of a month as a share of one.
fn monthly(loan: &Loan) -> Result<Number, CalculatorError> {
    loan.percent.divide(&Number::from(1_200))
}

/// The power by squaring, each product with forty digits.
fn power(base: &Number, mut exponent: u32) -> Result<Number, CalculatorError> {
    let (mut result, mut square) = (Number::from(1), base.clone());
    loop {
        if exponent % 2 == 1 {
            result = result.multiply(&square)?;
        }
        exponent /= 2;
        if exponent == 0 {
            return Ok(result);
        }
        square = square.multiply(&square)?;
    }
}
