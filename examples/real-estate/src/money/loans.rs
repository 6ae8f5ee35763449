//! Loans: what is paid each month, by method, with months of grace.
//!
//! An interest is the balance times the yearly rate over twelve, cut to the won. What is paid each month is cut to the won, and
//! the last instalment settles the rest, so the principal parts add up to the loan exactly.
//!
//! The annuity needs (1 + r)ⁿ. It is calculated with forty significant digits by squaring: less than 2n roundings of at most
//! 10⁻³⁹ each, so for 600 months it is right to a share of 1.2 × 10⁻³⁶. An instalment of a loan of 10¹⁵ won is then wrong by less
//! than 10⁻¹⁸ won, and whole won are cut only from the digits that are certain.

mod schedule;

use hanok_figures::Number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::amount::MOST_WON;
use super::exact::MoneyError;

pub use schedule::{Instalment, Schedule};

/// The longest loan, in months.
pub const MOST_MONTHS: u32 = 600;

/// The highest rate, in per cent a year.
pub const MOST_RATE: i64 = 100;

/// The most decimals of a rate.
const RATE_PLACES: i64 = 6;

/// How a loan is paid back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// 원리금균등: 매달 같은 금액을 냅니다.
    Annuity,
    /// 원금균등: 매달 같은 원금과 줄어드는 이자를 냅니다.
    EqualPrincipal,
    /// 만기일시: 이자만 내다가 만기에 원금을 한꺼번에 갚습니다.
    Bullet,
}

impl Method {
    /// The name in Korean.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Annuity => "원리금균등상환",
            Self::EqualPrincipal => "원금균등상환",
            Self::Bullet => "만기일시상환",
        }
    }
}

/// A loan that can be calculated. Made by [`Loan::new`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loan {
    amount: i64,
    percent: Number,
    months: u32,
    grace: u32,
    method: Method,
}

/// A loan that there is not.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LoanError {
    /// The amount is none that is lent.
    #[error("대출금은 1원부터 1,000조원까지여야 합니다. 받은 값: {amount}원")]
    Amount {
        /// The amount in won.
        amount: i64,
    },
    /// The rate is none that is lent at.
    #[error(
        "연 이율은 0%부터 100%까지이고 소수점 아래 여섯 자리까지여야 합니다. 받은 값: {percent}%"
    )]
    Rate {
        /// The rate in per cent.
        percent: String,
    },
    /// The term is too short or too long.
    #[error("기간은 1개월부터 600개월(50년)까지여야 합니다. 받은 값: {months}개월")]
    Months {
        /// The term in months.
        months: u32,
    },
    /// No month is left to pay back in.
    #[error("거치 기간({grace}개월)은 전체 기간({months}개월)보다 짧아야 합니다")]
    Grace {
        /// The months of grace.
        grace: u32,
        /// The term in months.
        months: u32,
    },
    /// A calculation has no result.
    #[error(transparent)]
    Money(#[from] MoneyError),
}

impl Loan {
    /// A loan of `amount` won at `percent` a year for `months`, paid back by `method`. No grace.
    ///
    /// ```
    /// use hanok_figures::Number;
    /// use real_estate::money::loans::{Loan, Method};
    ///
    /// let loan = Loan::new(300_000_000, Number::from(4), 360, Method::Annuity)?;
    /// assert_eq!(loan.schedule()?.first().payment, 1_432_245);
    /// # Ok::<(), real_estate::money::loans::LoanError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LoanError`] with what is out of its range.
    pub fn new(
        amount: i64,
        percent: Number,
        months: u32,
        method: Method,
    ) -> Result<Self, LoanError> {
        if !(1..=MOST_WON).contains(&amount) {
            return Err(LoanError::Amount { amount });
        }
        let in_range = !percent.compare(&Number::from(0)).is_lt()
            && !percent.compare(&Number::from(MOST_RATE)).is_gt();
        let cut =
            percent.round(RATE_PLACES, hanok_figures::Rounding::Floor).map_err(MoneyError::from)?;
        if !in_range || percent.is_rounded() || cut.compare(&percent).is_ne() {
            let percent = percent.to_string().chars().take(40).collect();
            return Err(LoanError::Rate { percent });
        }
        if !(1..=MOST_MONTHS).contains(&months) {
            return Err(LoanError::Months { months });
        }
        Ok(Self { amount, percent, months, grace: 0, method })
    }

    /// The same with `grace` months in which only interest is paid. Default: none.
    ///
    /// # Errors
    ///
    /// [`LoanError::Grace`] when no month is left after them.
    pub fn grace(self, grace: u32) -> Result<Self, LoanError> {
        if grace >= self.months {
            return Err(LoanError::Grace { grace, months: self.months });
        }
        Ok(Self { grace, ..self })
    }

    /// The amount in won.
    #[must_use]
    pub fn amount(&self) -> i64 {
        self.amount
    }

    /// The rate in per cent a year.
    #[must_use]
    pub fn percent(&self) -> &Number {
        &self.percent
    }

    /// The term in months, with the grace.
    #[must_use]
    pub fn months(&self) -> u32 {
        self.months
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// The interest of the whole loan at another rate in per cent a year, before anything is cut to the won.
    ///
    /// # Errors
    ///
    /// [`MoneyError`] for a rate that no loan has.
    pub fn interest_at(&self, percent: Number) -> Result<Number, MoneyError> {
        Ok(schedule::unrounded(&Self { percent, ..self.clone() }, self.months - self.grace)?)
    }

    /// All instalments.
    ///
    /// # Errors
    ///
    /// [`LoanError::Money`] when a sum is greater than any amount, which no loan within the ranges reaches.
    pub fn schedule(&self) -> Result<Schedule, LoanError> {
        Ok(Schedule::of(self)?)
    }
}
