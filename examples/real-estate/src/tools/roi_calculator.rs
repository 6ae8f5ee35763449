//! What a home that is let yields.

use hanok_core::BoxError;
use hanok_figures::{Number, evaluate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Answer;
use crate::{
    data::Data,
    money::{Rate, Won, floor, percent},
};

/// What the tool takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Asked {
    /// 매매가(원).
    price: Won,
    /// 월세(원).
    monthly_rent: Won,
    /// 받을 보증금(원).
    deposit: Option<Won>,
    /// 취득세 같은 취득 비용(원).
    buying_costs: Option<Won>,
    /// 1년 동안 드는 비용(원).
    yearly_costs: Option<Won>,
    /// 1년 가운데 비어 있는 기간(개월).
    empty_months: Option<u32>,
    /// 빌리는 돈(원).
    loan: Option<Won>,
    /// 빌리는 돈의 연 이율(%).
    loan_rate: Option<Rate>,
}

pub(super) fn answer(asked: Asked, _: &Data) -> Result<Answer, BoxError> {
    let won = |won: Option<Won>| won.map_or(0, |won| won.0);
    let (price, rent, loan) = (asked.price.0, asked.monthly_rent.0, won(asked.loan));
    let Some(rate) = asked.loan_rate.map(|rate| rate.0).or((loan == 0).then(|| Number::from(0)))
    else {
        return Ok(Answer::lacking("빌리는 돈의 연 이율"));
    };
    let (costs, deposit) = (won(asked.buying_costs), won(asked.deposit));
    let let_months = 12_u32.saturating_sub(asked.empty_months.unwrap_or_default());
    let year = Number::from(rent.saturating_mul(12));
    let net = evaluate(&format!("{rent} * {let_months} - {}", won(asked.yearly_costs)))?;
    let cash = evaluate(&format!("{net} - {loan} * {rate} / 100"))?;
    let (whole, own) = (price.saturating_add(costs), price + costs - deposit - loan);
    let own_yield = match own > 0 {
        true => format!(
            "자기 돈 {}에 대한 수익률은 연 {}%입니다.",
            Won(own).in_units(),
            percent(&cash, &own.into(), 2)?
        ),
        false => "자기 돈이 들지 않아 자기 돈에 대한 수익률은 정할 수 없습니다.".to_owned(),
    };
    let line = format!(
        "매매가 {}, 1년 월세 {}: 총수익률 연 {}%, 비용을 뺀 순수익률 연 {}%입니다. 이자를 내고 남는 돈은 1년에 {}입니다. {own_yield} \
         보증금은 매매가의 {}%입니다. 집값의 변동과 양도소득세는 넣지 않았습니다.",
        asked.price.in_units(),
        Won(floor(&year)?).in_units(),
        percent(&year, &price.into(), 2)?,
        percent(&net, &whole.into(), 2)?,
        Won(floor(&cash)?).in_units(),
        percent(&deposit.into(), &price.into(), 2)?
    );
    Ok(Answer::of(vec![line]))
}
