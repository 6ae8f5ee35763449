//! The rules on lending: LTV, DTI, DSR, and the most for a price.

use hanok_figures::{CalculatorError, Number};
use hanok_model::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LoanQuestion;
use crate::data::Limits;
use crate::data::limits::Source;
use crate::money::loans::{Loan, Method};
use crate::money::{MOST_WON, MoneyError, StatedWon, percent_shown, share, units};

/// The years over which the principal of a loan that is paid back at its end counts.
const BULLET_MONTHS: u32 = 120;

/// What is compared with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The loan over the price.
    Ltv,
    /// A year of this loan and the interest of the others over the income.
    Dti,
    /// A year of all loans over the income, at a stressed rate.
    Dsr,
    /// The loan itself, in won.
    Ceiling,
}

/// A rule on lending, and how the loan stands to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// What is compared.
    pub measure: Measure,
    /// The loan's value: per cent to two decimals, or won.
    pub value: String,
    /// The limit: per cent, or won.
    pub limit: String,
    /// Whether the loan is within it, by exact values.
    pub within: bool,
    /// The points that were added to the rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stress_points: Option<String>,
    /// Where the limit stands.
    pub source: Source,
}

impl Check {
    /// A sentence for a reader.
    #[must_use]
    pub fn said_in_korean(&self) -> String {
        let is = if self.within { "안입니다" } else { "넘습니다" };
        let particle = if self.within { " " } else { "를 " };
        let (value, limit, cited) = (&self.value, &self.limit, self.source.cited());
        let name = match self.measure {
            Measure::Ltv => "LTV",
            Measure::Dti => "DTI",
            Measure::Dsr => "DSR",
            Measure::Ceiling => {
                let shown = |text: &str| text.parse().map_or_else(|_cause| text.to_owned(), units);
                let particle = if self.within { " " } else { "을 " };
                return format!(
                    "대출금 {}은 이 집값에서의 한도 {}{particle}{is}. 근거: {cited}.",
                    shown(value),
                    shown(limit)
                );
            }
        };
        let stress = self.stress_points.as_deref();
        let stress = stress.map(|points| format!("(이율에 {points}%p를 더해)")).unwrap_or_default();
        format!("{name}{stress} {value}%는 한도 {limit}%{particle}{is}. 근거: {cited}.")
    }
}

/// The checks for which enough is known, and what is not known for others.
pub(super) fn checks(
    loan: &Loan,
    question: &LoanQuestion,
    limits: &Limits,
) -> Result<(Vec<Check>, Vec<String>), ToolError> {
    let won = |stated: &Option<StatedWon>| stated.as_ref().map(StatedWon::won).transpose();
    let read = |stated| won(stated).map_err(ToolError::arguments);
    let (mut checks, mut notes) = (Vec::new(), Vec::new());
    let price = positive("집값", read(&question.price)?)?;
    let income = positive("연소득", read(&question.income)?)?;
    if let Some(price) = price {
        checks.extend(of_price(loan, price, question, limits).map_err(ToolError::failed)?);
    }
    if let Some(income) = income {
        let others = Others {
            payments: read(&question.other_payments)?.unwrap_or(0),
            interest: read(&question.other_interest)?.unwrap_or(0),
            balance: read(&question.other_loans)?.unwrap_or(0),
        };
        checks.extend(of_income(loan, income, others, question, limits)?);
    }
    let is_asked = price.is_some() || income.is_some();
    if is_asked && question.area.is_none() {
        notes.push(
            "집이 있는 지역을 몰라 LTV, DTI와 대출 한도를 견주지 않았고, DSR에는 스트레스 금리를 더하지 않았습니다."
                .to_owned(),
        );
    } else if price.is_some() && question.buyer.is_none() {
        notes.push("집을 이미 가지고 있는지 몰라 LTV를 견주지 않았습니다.".to_owned());
    }
    Ok((checks, notes))
}

fn positive(name: &str, amount: Option<i64>) -> Result<Option<i64>, ToolError> {
    match amount {
        Some(..1) => Err(ToolError::arguments(format!("{name}: 1원 이상의 금액이어야 합니다"))),
        amount => Ok(amount),
    }
}

/// The other loans, in won.
struct Others {
    /// What is paid in a year.
    payments: i64,
    /// The interest of that.
    interest: i64,
    /// What is owed.
    balance: i64,
}

fn of_price(
    loan: &Loan,
    price: i64,
    question: &LoanQuestion,
    limits: &Limits,
) -> Result<Vec<Check>, MoneyError> {
    let Some(area) = question.area else { return Ok(Vec::new()) };
    let amount = Number::from(loan.amount());
    let mut checks = Vec::new();
    if let Some(limit) = question.buyer.and_then(|buyer| limits.ltv(area, buyer)) {
        let percent = share(&amount, &Number::from(price))?;
        checks.push(check(Measure::Ltv, &percent, &limit.value, limit.source.clone())?);
    }
    if let Some(row) = limits.ceiling(area, price) {
        checks.push(Check {
            measure: Measure::Ceiling,
            value: loan.amount().to_string(),
            limit: row.most.to_string(),
            within: loan.amount() <= row.most,
            stress_points: None,
            source: row.source.clone(),
        });
    }
    Ok(checks)
}

fn of_income(
    loan: &Loan,
    income: i64,
    others: Others,
    question: &LoanQuestion,
    limits: &Limits,
) -> Result<Vec<Check>, ToolError> {
    let income = Number::from(income);
    let mut checks = Vec::new();
    if let Some(limit) = question.area.and_then(|area| limits.dti(area)) {
        let year = yearly(loan, None).map_err(ToolError::failed)?;
        let percent =
            year.add(&Number::from(others.interest)).and_then(|year| share(&year, &income));
        let percent = percent.map_err(ToolError::failed)?;
        let check = check(Measure::Dti, &percent, &limit.value, limit.source.clone());
        checks.push(check.map_err(ToolError::failed)?);
    }
    let all = Number::from(loan.amount()).add(&Number::from(others.balance));
    let is_large = all.map_err(ToolError::failed)?.compare(&limits.dsr_from.value).is_gt();
    if let Some(limit) = limits.dsr(question.lender).filter(|_| is_large) {
        let stress = question.area.and_then(|area| limits.stress(area));
        let points = stress.map(|stress| &stress.value);
        let year = yearly(loan, points).map_err(ToolError::failed)?;
        let percent =
            year.add(&Number::from(others.payments)).and_then(|year| share(&year, &income));
        let percent = percent.map_err(ToolError::failed)?;
        let check = check(Measure::Dsr, &percent, &limit.value, limit.source.clone());
        let check = check.map_err(ToolError::failed)?;
        checks.push(Check { stress_points: points.map(Number::to_string), ..check });
    }
    Ok(checks)
}

fn check(
    measure: Measure,
    percent: &Number,
    limit: &Number,
    source: Source,
) -> Result<Check, CalculatorError> {
    Ok(Check {
        measure,
        value: percent_shown(percent, 2)?,
        limit: limit.to_string(),
        within: !percent.compare(limit).is_gt(),
        stress_points: None,
        source,
    })
}

/// What the loan costs in an average year: its principal and interest over its years. The principal of a loan that is paid back
/// at its end counts over ten years at most.
fn yearly(loan: &Loan, stress: Option<&Number>) -> Result<Number, MoneyError> {
    let percent = match stress {
        Some(points) => loan.percent().add(points)?,
        None => loan.percent().clone(),
    };
    let interest = loan.interest_at(percent)?;
    let year = |amount: &Number, months: u32| {
        let months = Number::from(i64::from(months.max(1)));
        amount.multiply(&Number::from(12))?.divide(&months)
    };
    let months = match loan.method() {
        Method::Bullet => loan.months().min(BULLET_MONTHS),
        Method::Annuity | Method::EqualPrincipal => loan.months(),
    };
    let principal = Number::from(loan.amount().min(MOST_WON));
    Ok(year(&principal, months)?.add(&year(&interest, loan.months())?)?)
}
