//! What a rented home yields.

use hanok_figures::{CalculatorError, Number, Rounding};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::amount::MOST_WON;
use super::exact::{MoneyError, percent_shown, share, whole_won};

/// A home that is bought and rented out. Amounts are whole won.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purchase {
    /// The price.
    pub price: i64,
    /// What the purchase costs beside it: tax, broker, repairs.
    pub buying_costs: i64,
    /// The tenant's deposit.
    pub deposit: i64,
    /// The rent of a month.
    pub rent: i64,
    /// What the home costs in a year: repairs, insurance, taxes.
    pub yearly_costs: i64,
    /// The months of a year in which nobody rents it, 0 to 12.
    pub empty_months: u32,
    /// What is borrowed.
    pub loan: i64,
    /// The rate of that loan, in per cent a year.
    pub loan_percent: Number,
}

/// A purchase that cannot be calculated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReturnsError {
    /// An amount is out of its range.
    #[error("{name}: {least}원부터 1,000조원까지여야 합니다. 받은 값: {amount}원")]
    Amount {
        /// What it is.
        name: &'static str,
        /// The least that it may be.
        least: i64,
        /// The value.
        amount: i64,
    },
    /// A year has no such months.
    #[error("공실은 1년에 0개월부터 12개월까지여야 합니다. 받은 값: {months}개월")]
    Empty {
        /// The value.
        months: u32,
    },
    /// The rate is none that is lent at.
    #[error("대출 이율은 0%부터 100%까지여야 합니다. 받은 값: {percent}%")]
    Rate {
        /// The value.
        percent: String,
    },
    /// A calculation has no result.
    #[error(transparent)]
    Money(#[from] MoneyError),
}

impl From<CalculatorError> for ReturnsError {
    fn from(error: CalculatorError) -> Self {
        Self::Money(error.into())
    }
}

/// The yields of a purchase. Rates are per cent of a year to two decimals, a half away from zero, out of exact ratios.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Returns {
    /// The rent of a full year, in won.
    pub yearly_rent: i64,
    /// The rent without the empty months and the costs, in won, cut to the won.
    pub net_income: i64,
    /// The interest of a year, in won, cut to the won.
    pub yearly_interest: i64,
    /// What is left after interest, in won, cut to the won; negative for a loss.
    pub cash_flow: i64,
    /// The buyer's own money: price and costs without deposit and loan, in won.
    pub own_money: i64,
    /// The full rent over the price.
    pub gross_percent: String,
    /// The net income over price and costs.
    pub net_percent: String,
    /// The cash flow over the own money. `None` where no own money is in it: there is no such rate.
    pub cash_on_cash_percent: Option<String>,
    /// The deposit over the price.
    pub deposit_to_price_percent: String,
}

impl Purchase {
    /// The yields.
    ///
    /// # Errors
    ///
    /// [`ReturnsError`] with what is out of its range.
    pub fn returns(&self) -> Result<Returns, ReturnsError> {
        self.check()?;
        let [price, costs, deposit, rent, yearly, loan] =
            [self.price, self.buying_costs, self.deposit, self.rent, self.yearly_costs, self.loan]
                .map(Number::from);
        let year = rent.multiply(&Number::from(12))?;
        let rented = rent.multiply(&Number::from(i64::from(12 - self.empty_months.min(12))))?;
        let net = rented.subtract(&yearly)?;
        let interest = loan.multiply(&self.loan_percent)?.divide(&Number::from(100))?;
        let cash = net.subtract(&interest)?;
        let whole = price.add(&costs)?;
        let own = whole.subtract(&deposit)?.subtract(&loan)?;
        let shown = |part: &Number, of: &Number| percent_shown(&share(part, of)?, 2);
        let has_own = own.compare(&Number::from(0)).is_gt();
        Ok(Returns {
            yearly_rent: whole_won(&year, Rounding::Floor)?,
            net_income: whole_won(&net, Rounding::Floor)?,
            yearly_interest: whole_won(&interest, Rounding::Floor)?,
            cash_flow: whole_won(&cash, Rounding::Floor)?,
            own_money: whole_won(&own, Rounding::Floor)?,
            gross_percent: shown(&year, &price)?,
            net_percent: shown(&net, &whole)?,
            cash_on_cash_percent: has_own.then(|| shown(&cash, &own)).transpose()?,
            deposit_to_price_percent: shown(&deposit, &price)?,
        })
    }

    fn check(&self) -> Result<(), ReturnsError> {
        for (name, least, amount) in [
            ("매매가", 1, self.price),
            ("취득 비용", 0, self.buying_costs),
            ("보증금", 0, self.deposit),
            ("월세", 0, self.rent),
            ("연간 비용", 0, self.yearly_costs),
            ("대출금", 0, self.loan),
        ] {
            if !(least..=MOST_WON).contains(&amount) {
                return Err(ReturnsError::Amount { name, least, amount });
            }
        }
        if self.empty_months > 12 {
            return Err(ReturnsError::Empty { months: self.empty_months });
        }
        let rate = &self.loan_percent;
        let in_range =
            rate.compare(&Number::from(0)).is_ge() && rate.compare(&Number::from(100)).is_le();
        if !in_range {
            let percent = rate.to_string().chars().take(40).collect();
            return Err(ReturnsError::Rate { percent });
        }
        Ok(())
    }
}
