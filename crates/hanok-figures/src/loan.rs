//! What a loan costs, month by month, in whole won.

use crate::calculator::{CalculatorError, Number, Rounding, evaluate};

/// How a loan is paid back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Repayment {
    /// Equal payments of principal and interest (원리금균등).
    #[default]
    Annuity,
    /// Equal parts of the principal, with the interest on what is left (원금균등).
    EqualPrincipal,
    /// All of the principal at the end (만기일시).
    Bullet,
}

/// A loan whose rate is a decimal of at most six places. Amounts are whole won; what a month's interest has behind them is cut off, as
/// banks do, and the last month settles the rest.
///
/// ```
/// use hanok_figures::{Loan, Repayment};
///
/// let loan = Loan {
///     amount: 150_000_000,
///     percent: "3.6".parse()?,
///     months: 300,
///     grace: 0,
///     method: Repayment::Annuity,
/// };
/// assert_eq!(loan.schedule()?.first.payment, 759_004);
/// # Ok::<(), hanok_figures::CalculatorError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Loan {
    /// The amount, in won.
    pub amount: i64,
    /// The rate of a year, in per cent.
    pub percent: Number,
    /// The term in months, with the grace.
    pub months: u32,
    /// The months in which only interest is paid.
    pub grace: u32,
    /// How it is paid back.
    pub method: Repayment,
}

/// What is paid in one month, in won.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Instalment {
    /// All that is paid.
    pub payment: i64,
    /// The part that pays the loan back.
    pub principal: i64,
    /// The part that is interest.
    pub interest: i64,
}

/// What a loan costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoanSchedule {
    /// The first instalment.
    pub first: Instalment,
    /// The first instalment that pays back.
    pub first_repayment: Instalment,
    /// The last instalment, which settles the rest.
    pub last: Instalment,
    /// The interest of all months, each cut to the won.
    pub interest: i64,
    /// The same before anything is cut.
    pub exact_interest: Number,
}

impl Loan {
    /// What is paid, month by month: interest is cut to the won, and the last month settles the rest.
    ///
    /// # Errors
    ///
    /// [`CalculatorError`] when an amount is too large.
    pub fn schedule(&self) -> Result<LoanSchedule, CalculatorError> {
        let paying = self.months.saturating_sub(self.grace).max(1);
        let share = match self.method {
            Repayment::Annuity => whole(&self.annuity(paying)?)?,
            Repayment::EqualPrincipal => self.amount / i64::from(paying),
            Repayment::Bullet => 0,
        };
        // The rate of a month, in hundred-millionths of a twelfth.
        let millionths = self.percent.multiply(&1_000_000.into())?.to_i128().unwrap_or_default();
        let (mut all, mut balance, mut total) = (Vec::new(), self.amount, 0_i64);
        for month in 1..=self.months {
            let interest = i128::from(balance) * millionths / 1_200_000_000;
            let interest = i64::try_from(interest).unwrap_or(i64::MAX);
            let due = match self.method {
                _ if month <= self.grace => 0,
                Repayment::Annuity => share.saturating_sub(interest).max(0),
                _ => share,
            };
            let principal = if month == self.months { balance } else { due.min(balance) };
            balance -= principal;
            total = total.saturating_add(interest);
            let payment = principal.saturating_add(interest);
            all.push(Instalment { payment, principal, interest });
        }
        let at = |month: usize| all.get(month).copied().unwrap_or_default();
        Ok(LoanSchedule {
            first: at(0),
            first_repayment: at(usize::try_from(self.grace).unwrap_or_default()),
            last: all.last().copied().unwrap_or_default(),
            interest: total,
            exact_interest: self.interest_at(&self.percent)?,
        })
    }

    /// The interest of all months at another rate, before anything is cut.
    ///
    /// # Errors
    ///
    /// [`CalculatorError`] when an amount is too large.
    pub fn interest_at(&self, percent: &Number) -> Result<Number, CalculatorError> {
        let loan = Self { percent: percent.clone(), ..self.clone() };
        let Self { amount, months, grace, .. } = self;
        let paying = months.saturating_sub(*grace).max(1);
        let month = format!("({amount} * {percent} / 1200)");
        let waiting = evaluate(&format!("{month} * {grace}"))?;
        waiting.add(&match self.method {
            Repayment::Annuity => loan
                .annuity(paying)?
                .multiply(&i64::from(paying).into())?
                .subtract(&(*amount).into())?,
            Repayment::EqualPrincipal => evaluate(&format!("{month} * ({paying} + 1) / 2"))?,
            Repayment::Bullet => evaluate(&format!("{month} * {paying}"))?,
        })
    }

    /// The equal payment of a month.
    fn annuity(&self, months: u32) -> Result<Number, CalculatorError> {
        let amount = Number::from(self.amount);
        let rate = self.percent.divide(&1_200.into())?;
        if rate.compare(&0.into()).is_eq() {
            return amount.divide(&i64::from(months).into());
        }
        let (base, one) = (Number::from(1).add(&rate)?, Number::from(1));
        let mut growth = one.clone();
        for _ in 0..months {
            growth = growth.multiply(&base)?;
        }
        amount.multiply(&rate)?.multiply(&growth)?.divide(&growth.subtract(&one)?)
    }
}

/// The whole won of an amount.
fn whole(number: &Number) -> Result<i64, CalculatorError> {
    let whole = number.round(0, Rounding::Floor)?.to_i128();
    Ok(whole.map_or(i64::MAX, |whole| i64::try_from(whole).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::{Loan, Repayment};

    #[test]
    fn loans_cost_what_banks_say() {
        use Repayment::{Annuity, Bullet, EqualPrincipal};
        for (amount, percent, months, grace, method, want) in [
            (300_000_000, "4", 360, 0, Annuity, (1_432_245, 1_432_528, 215_608_483)),
            (300_000_000, "4", 360, 0, EqualPrincipal, (1_833_333, 836_231, 180_499_894)),
            (300_000_000, "4", 360, 0, Bullet, (1_000_000, 301_000_000, 360_000_000)),
            (300_000_000, "4", 360, 60, Annuity, (1_000_000, 1_583_516, 235_053_006)),
            (500_000_000, "3.75", 480, 12, EqualPrincipal, (1_562_500, 1_071_746, 385_156_044)),
            (123_456_789, "5.123456", 37, 0, Annuity, (3_614_261, 3_614_261, 10_270_868)),
            (1, "4.5", 1, 0, Annuity, (1, 1, 0)),
            (10_000_000, "0", 7, 0, Annuity, (1_428_571, 1_428_574, 0)),
        ] {
            let loan = Loan { amount, percent: percent.parse().unwrap(), months, grace, method };
            let schedule = loan.schedule().unwrap();
            let shown = (schedule.first.payment, schedule.last.payment, schedule.interest);
            assert_eq!(shown, want, "{loan:?}");
        }
    }
}
