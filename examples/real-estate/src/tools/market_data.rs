//! What homes cost in a district.

use hanok_core::BoxError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Answer;
use crate::{
    data::{Data, Deal, Prices},
    money::{Won, percent},
};

/// What the tool takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Asked {
    /// 서울의 구(구).
    districts: Vec<String>,
    /// 거래.
    deal: Option<Deal>,
}

/// A price of a month.
type Sum = fn(&Prices) -> i64;

/// The prices of a month, each with its name and the deal that it is of.
pub(super) const SUMS: [(&str, Deal, Sum); 4] = [
    ("매매가", Deal::매매, |month| month.sale),
    ("전세금", Deal::전세, |month| month.jeonse),
    ("월세의 보증금", Deal::월세, |month| month.deposit),
    ("월세", Deal::월세, |month| month.rent),
];

pub(super) fn answer(asked: Asked, data: &Data) -> Result<Answer, BoxError> {
    let mut lines = Vec::new();
    for district in &asked.districts {
        let months = data.months(district);
        let Some(newest) = months.last() else {
            lines.push(unknown(district, data));
            continue;
        };
        lines.push(format!("서울 {district}의 84㎡ 아파트 평균 시세입니다."));
        for (name, _, sum) in SUMS.iter().filter(|sum| asked.deal.is_none_or(|deal| deal == sum.1))
        {
            let mut line = format!("- {name}: {}({})", Won(sum(newest)).in_units(), newest.month);
            for (ago, words) in [(1, "한 달"), (12, "1년")] {
                if let Some(change) = change(&months, *sum, ago)? {
                    line.push_str(&format!(", {words} 전보다 {}", signed(&change)));
                }
            }
            lines.push(line);
        }
    }
    let data_of = json!({"district": asked.districts.first()});
    Ok(Answer { lines, source: Some(data.market.origin.clone()), data: data_of })
}

/// The change of a price over so many months, in per cent.
pub(super) fn change(months: &[&Prices], sum: Sum, ago: usize) -> Result<Option<String>, BoxError> {
    let before = months.len().checked_sub(ago + 1).and_then(|at| months.get(at));
    let Some((newest, before)) = months.last().zip(before) else { return Ok(None) };
    let difference = sum(newest).saturating_sub(sum(before));
    Ok(Some(percent(&difference.into(), &sum(before).into(), 1)?))
}

pub(super) fn signed(percent: &str) -> String {
    let is_up = !percent.starts_with('-') && percent.contains(|c: char| ('1'..='9').contains(&c));
    format!("{}{percent}%", if is_up { "+" } else { "" })
}

pub(super) fn unknown(district: &str, data: &Data) -> String {
    let names = data.districts().join(", ");
    format!("{}의 시세는 없습니다. 시세가 있는 서울의 구: {names}.", crate::money::short(district))
}
