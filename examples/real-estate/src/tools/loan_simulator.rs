//! What a loan costs, to the won.

use hanok_core::BoxError;
use hanok_figures::{Loan, Number, Repayment};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Answer;
use crate::{
    data::Data,
    money::{Rate, Won, shown},
};

/// What the tool takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Asked {
    /// 대출금(원).
    amount: Won,
    /// 연 이율(%).
    rate: Rate,
    /// 전체 기간(개월). 30년이면 360.
    months: u32,
    /// 이자만 내는 거치 기간. 없으면 null.
    grace_months: Option<u32>,
    /// 상환 방법.
    method: Option<Method>,
}

/// How a loan is paid back.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[schemars(inline)]
enum Method {
    #[default]
    원리금균등,
    원금균등,
    만기일시,
}

/// The longest term.
const MOST_MONTHS: u32 = 600;

pub(super) fn answer(asked: Asked, _: &Data) -> Result<Answer, BoxError> {
    let (months, grace) = (asked.months, asked.grace_months.unwrap_or_default());
    if asked.amount.0 == 0 || !(1..=MOST_MONTHS).contains(&months) || grace >= months {
        return Ok(Answer::lacking("대출금, 1개월부터 600개월까지의 기간, 그보다 짧은 거치 기간"));
    }
    let name = asked.method.unwrap_or_default();
    let method = match name {
        Method::원리금균등 => Repayment::Annuity,
        Method::원금균등 => Repayment::EqualPrincipal,
        Method::만기일시 => Repayment::Bullet,
    };
    let loan = Loan { amount: asked.amount.0, percent: asked.rate.0, months, grace, method };
    let schedule = loan.schedule()?;
    let term = match (months / 12, months % 12) {
        (0, months) => format!("{months}개월"),
        (years, 0) => format!("{years}년"),
        (years, months) => format!("{years}년 {months}개월"),
    };
    let units = |won: i64| Won(won).in_units();
    let first = schedule.first;
    let mut lines = vec![format!(
        "{} 대출, 연 {}%, {term}, {name:?}상환: 첫 달에 {}(원금 {}, 이자 {})을 냅니다.",
        asked.amount.in_units(),
        loan.percent,
        units(first.payment),
        units(first.principal),
        units(first.interest),
    )];
    if grace > 0 && method != Repayment::Bullet {
        let payment = units(schedule.first_repayment.payment);
        lines.push(format!("거치 {grace}개월이 지나면 한 달에 {payment}부터 냅니다."));
    }
    let exact: Number = shown(&schedule.exact_interest, 2)?.parse()?;
    lines.push(format!(
        "마지막 달에는 {}을 내며, 이자는 모두 {}(원 미만을 버리지 않고 계산하면 {}), 갚는 돈은 모두 {}입니다.",
        units(schedule.last.payment),
        units(schedule.interest),
        hanok_figures::Won(exact).in_units(),
        units(loan.amount.saturating_add(schedule.interest)),
    ));
    lines.push("실제 한도와 금리는 금융회사의 심사로 정해집니다.".to_owned());
    let data = json!({"payment": first.payment, "interest": schedule.interest});
    Ok(Answer { data, ..Answer::of(lines) })
}
