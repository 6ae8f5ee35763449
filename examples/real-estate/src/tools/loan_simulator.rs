//! The tool `loan_simulator`: what a loan costs each month, and whether the rules on lending permit it.

mod limits;

use std::{sync::Arc, time::Duration};

use hanok_core::{Call, Effect};
use hanok_figures::Won;
use hanok_model::{FnTool, InvalidSpec, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::Limits;
use crate::data::limits::{Area, Buyer, Lender};
use crate::money::loans::{Instalment, Loan, Method};
use crate::money::{StatedRate, StatedWon, units};

pub use limits::{Check, Measure};

const DESCRIPTION: &str = "대출금, 이율, 기간, 상환 방법으로 매달 내는 돈과 전체 이자를 원 단위까지 계산하고, 집값·소득·다른 대출을 알면 \
LTV, DTI, DSR과 대출 한도를 규정의 표와 견줍니다. 은행의 실제 금리를 알아보거나 대출을 신청하는 데에는 쓰지 않습니다. \
이런 말에 씁니다: 빌리면, 갚, 상환, 이자, 만기일시, 원금균등, 원리금균등, LTV, DSR.";

/// What the tool takes. The comments are for models.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoanQuestion {
    /// 대출금.
    pub amount: StatedWon,
    /// 연 이율.
    pub rate: StatedRate,
    /// 전체 기간(개월): 30년이면 360.
    pub months: u32,
    /// 이자만 내는 거치 기간(개월).
    #[serde(default)]
    pub grace_months: u32,
    /// 상환 방법.
    #[serde(default = "annuity")]
    pub method: Method,
    /// 집값. 알면 LTV와 대출 한도를 견줍니다.
    #[serde(default)]
    pub price: Option<StatedWon>,
    /// 연소득. 알면 DTI와 DSR을 견줍니다.
    #[serde(default)]
    pub income: Option<StatedWon>,
    /// 다른 대출에 1년 동안 갚는 원금과 이자.
    #[serde(default)]
    pub other_payments: Option<StatedWon>,
    /// 그 가운데 이자.
    #[serde(default)]
    pub other_interest: Option<StatedWon>,
    /// 다른 대출의 남은 원금.
    #[serde(default)]
    pub other_loans: Option<StatedWon>,
    /// 집이 있는 지역. 모르면 비웁니다.
    #[serde(default)]
    pub area: Option<Area>,
    /// 집을 가진 형편. 모르면 비웁니다.
    #[serde(default)]
    pub buyer: Option<Buyer>,
    /// 빌려주는 곳.
    #[serde(default = "bank")]
    pub lender: Lender,
}

fn annuity() -> Method {
    Method::Annuity
}

fn bank() -> Lender {
    Lender::Bank
}

/// What the tool answers. Amounts are whole won.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoanSummary {
    /// The loan.
    pub amount: i64,
    /// The rate in per cent a year.
    pub percent: String,
    /// The term in months, with the grace.
    pub months: u32,
    /// The months in which only interest is paid.
    pub grace_months: u32,
    /// How it is paid back.
    pub method: Method,
    /// The first instalment.
    pub first: Instalment,
    /// The first instalment that pays back.
    pub first_repayment: Instalment,
    /// The last instalment, which settles the rest.
    pub last: Instalment,
    /// The interest of all months, as it is paid.
    pub interest: i64,
    /// The same before anything is cut to the won, to two decimals.
    pub interest_before_rounding: String,
    /// All that is paid.
    pub total: i64,
    /// The rules on lending that could be checked.
    pub checks: Vec<Check>,
    /// What could not be checked, and why, for a reader.
    pub notes: Vec<String>,
}

/// The tool, with the limits of the program.
///
/// Effect: pure. Time-out: 10 s.
///
/// # Errors
///
/// None that a caller could cause: its name and arguments are fixed.
pub fn loan_simulator(limits: Arc<Limits>) -> Result<FnTool, InvalidSpec> {
    let run = move |question: LoanQuestion, _call: Call| {
        let answer = simulate(&question, &limits).and_then(|summary| output(&summary));
        std::future::ready(answer)
    };
    let tool = FnTool::new("loan_simulator", DESCRIPTION, run)?;
    Ok(tool.effect(Effect::Pure).timeout(Duration::from_secs(10)))
}

/// The summary of a loan.
///
/// # Errors
///
/// [`ToolError::Arguments`] with what is out of its range or not understood.
pub fn simulate(question: &LoanQuestion, limits: &Limits) -> Result<LoanSummary, ToolError> {
    let amount = question.amount.won().map_err(ToolError::arguments)?;
    let percent = question.rate.percent().map_err(ToolError::arguments)?;
    let loan = Loan::new(amount, percent, question.months, question.method)
        .and_then(|loan| loan.grace(question.grace_months))
        .map_err(ToolError::arguments)?;
    let schedule = loan.schedule().map_err(ToolError::arguments)?;
    let mut repaying =
        schedule.instalments().iter().filter(|one| one.month > question.grace_months);
    let interest = schedule.interest();
    let (checks, notes) = limits::checks(&loan, question, limits)?;
    let shown = schedule.interest_before_rounding_shown().map_err(ToolError::failed)?;
    Ok(LoanSummary {
        amount,
        percent: loan.percent().to_string(),
        months: loan.months(),
        grace_months: question.grace_months,
        method: loan.method(),
        first: schedule.first(),
        first_repayment: repaying.next().copied().unwrap_or(schedule.last()),
        last: schedule.last(),
        interest,
        interest_before_rounding: shown,
        total: amount.saturating_add(interest),
        checks,
        notes,
    })
}

fn output(summary: &LoanSummary) -> Result<ToolOutput, ToolError> {
    let (years, rest) = (summary.months / 12, summary.months % 12);
    let term = match (years, rest) {
        (0, months) => format!("{months}개월"),
        (years, 0) => format!("{years}년"),
        (years, months) => format!("{years}년 {months}개월"),
    };
    let mut lines = vec![format!(
        "{} 대출, 연 {}%, {term}, {}: 첫 달에 {}(원금 {}, 이자 {})을 냅니다.",
        units(summary.amount),
        summary.percent,
        summary.method.name(),
        units(summary.first.payment),
        units(summary.first.principal),
        units(summary.first.interest),
    )];
    if summary.grace_months > 0 && summary.method != Method::Bullet {
        lines.push(format!(
            "거치 {}개월이 지나면 한 달에 {}부터 냅니다.",
            summary.grace_months,
            units(summary.first_repayment.payment)
        ));
    }
    lines.push(format!(
        "마지막 달에는 {}을 내며, 이자는 모두 {}(원 미만을 버리지 않고 계산하면 {}), 갚는 돈은 모두 {}입니다.",
        units(summary.last.payment),
        units(summary.interest),
        in_units(&summary.interest_before_rounding),
        units(summary.total)
    ));
    lines.extend(summary.checks.iter().map(Check::said_in_korean));
    lines.extend(summary.notes.iter().cloned());
    lines.push("실제 한도와 금리는 금융회사의 심사로 정해집니다.".to_owned());
    let data = serde_json::to_value(summary).map_err(ToolError::failed)?;
    Ok(ToolOutput::new(lines.join("\n")).data(data))
}

/// A number of won with decimals in 억 and 만.
fn in_units(won: &str) -> String {
    won.parse().map_or_else(|_cause| format!("{won}원"), |number| Won(number).in_units())
}
