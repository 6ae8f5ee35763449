//! What a market is like, and whether an amount is high for it.

use hanok_core::BoxError;
use hanok_figures::Number;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Answer,
    market_data::{SUMS, change, signed, unknown},
};
use crate::{
    data::{Band, Data, Deal},
    money::{Won, percent},
};

/// What the tool takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Asked {
    /// 서울의 구(구).
    district: String,
    /// 견줄 매매가(원).
    price: Option<Won>,
    /// 견줄 전세금이나 월세의 보증금(원).
    deposit: Option<Won>,
    /// 견줄 월세(원).
    monthly_rent: Option<Won>,
}

pub(super) fn answer(asked: Asked, data: &Data) -> Result<Answer, BoxError> {
    let months = data.months(&asked.district);
    let Some(newest) = months.last() else {
        return Ok(Answer::of(vec![unknown(&asked.district, data)]));
    };
    let risk = &data.risk;
    let ratio = |deposit: i64, price: i64| -> Result<String, BoxError> {
        let exact = percent(&deposit.into(), &price.into(), 1)?;
        let band = band(&risk.jeonse_ratio, &exact);
        let (level, words) = band.map_or(("", ""), |band| (&*band.level, &*band.words));
        Ok(format!("전세가율 {exact}%(위험 {level}). {words}."))
    };
    let mut lines = vec![format!(
        "서울 {}({}, 84㎡ 아파트): 평균 매매가 {}, 평균 전세금 {}, {}",
        asked.district,
        newest.month,
        Won(newest.sale).in_units(),
        Won(newest.jeonse).in_units(),
        ratio(newest.jeonse, newest.sale)?
    )];
    for (name, _, sum) in SUMS.iter().filter(|sum| sum.0 != "월세의 보증금") {
        if let Some(change) = change(&months, *sum, 12)? {
            let words = band(&risk.trend, &change).map_or("", |band| &*band.words);
            lines.push(format!("- {name}: 1년 동안 {}, {words}.", signed(&change)));
        }
    }
    // A 월세 of nothing is a 전세.
    let rent = asked.monthly_rent.filter(|rent| rent.0 > 0);
    for (name, deal, sum) in SUMS {
        let stated = match (name, deal) {
            ("매매가", _) => asked.price,
            ("월세", _) => rent,
            (_, Deal::전세) => asked.deposit.filter(|_| rent.is_none()),
            _ => asked.deposit.filter(|_| rent.is_some()),
        };
        let Some(stated) = stated else { continue };
        let average = sum(newest);
        let off = percent(&stated.0.saturating_sub(average).into(), &average.into(), 1)?;
        let words = band(&risk.deviation, &off).map_or("", |band| &*band.words);
        lines.push(format!(
            "- 물어보신 {name} {}: 평균 {}보다 {}. {words}.",
            stated.in_units(),
            Won(average).in_units(),
            signed(&off)
        ));
    }
    if let (Some(price), Some(deposit), None) = (asked.price, asked.deposit, rent) {
        lines.push(format!("- 물어보신 집의 {}", ratio(deposit.0, price.0)?));
    }
    Ok(Answer { source: Some(data.market.origin.clone()), ..Answer::of(lines) })
}

/// The step of a scale on which a percentage is.
fn band<'b>(scale: &'b [Band], percent: &str) -> Option<&'b Band> {
    let value: Number = percent.parse().ok()?;
    let holds = |band: &&Band| match band.up_to.as_deref().map(str::parse::<Number>) {
        Some(Ok(up_to)) => value.compare(&up_to).is_le(),
        _ => true,
    };
    scale.iter().find(holds)
}
