//! The tool `market_data`: the prices of a district by month.

use std::{sync::Arc, time::Duration};

use hanok_core::{Call, Effect};
use hanok_figures::{CalculatorError, Number};
use hanok_model::{FnTool, InvalidSpec, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::short;
use crate::data::deal::{Deal, Sum};
use crate::data::market::District;
use crate::data::{Market, Origin};
use crate::money::{percent_shown, share, units};

/// The months of a series when nobody says how many.
const USUAL: u32 = 12;

/// The most months of a series.
const MOST: u32 = 120;

/// The exclusive area of the homes in the data, in square metres.
pub(super) const AREA: u32 = 84;

const DESCRIPTION: &str = "서울의 한 구에서 84㎡ 아파트의 평균 시세를 알려줍니다: 매매가(집값), 전세금, 월세와 그 보증금의 달별 가격, \
최근 시세, 한 달 전과 1년 전에 견준 변동률. 동네의 평균 가격, 가격 추이, 얼마나 올랐는지 물을 때 씁니다. \
팔거나 빌려주는 매물 하나하나를 찾거나(real_estate_search), 어떤 금액이 비싼지 위험한지 견주거나(market_analysis), \
앞으로의 가격을 내다보는 데에는 쓰지 않습니다. \
이런 말에 씁니다: 시세, 집값, 평균 가격, 가격 추이.";

/// What the tool takes. The comments are for models.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarketQuestion {
    /// 서울의 구: "강남구".
    pub district: String,
    /// 거래 종류. 비우면 매매, 전세, 월세를 모두 알려줍니다.
    #[serde(default)]
    pub deal: Option<Deal>,
    /// 최근 몇 달의 가격을 볼지: 1부터. 비우면 12.
    #[serde(default)]
    pub months: Option<u32>,
}

/// What the tool answers. Amounts are whole won.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum MarketPrices {
    /// There are prices.
    Priced {
        /// The district.
        district: String,
        /// The exclusive area of the home that the prices are of, in square metres.
        area_m2: u32,
        /// The prices, a series for each sum of the deals.
        series: Vec<Series>,
        /// Where the prices come from.
        origin: Origin,
    },
    /// There are no prices of this district.
    UnknownDistrict {
        /// The district that was meant.
        district: String,
        /// The districts that there are.
        districts: Vec<String>,
        /// Where the prices come from.
        origin: Origin,
    },
}

/// The prices of one sum by month.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// The sum.
    pub sum: Sum,
    /// The newest price.
    pub newest: i64,
    /// The prices, the newest last.
    pub months: Vec<MonthPrice>,
    /// The change over a month.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_1: Option<Change>,
    /// The change over twelve months.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_12: Option<Change>,
}

/// The price of a month.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MonthPrice {
    /// The month: `2026-06`.
    pub month: String,
    /// The price.
    pub amount: i64,
}

/// How a price changed. The exact ratio is `(after - before) / before`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The month before: `2025-06`.
    pub since: String,
    /// The price then.
    pub before: i64,
    /// The newest price.
    pub after: i64,
    /// The ratio in per cent, rounded once to one decimal.
    pub percent: String,
}

impl Change {
    /// The exact ratio in per cent.
    ///
    /// # Errors
    ///
    /// [`CalculatorError`] when the price before is zero, which no market of this crate has.
    pub fn ratio(&self) -> Result<Number, CalculatorError> {
        share(
            &Number::from(self.after).subtract(&Number::from(self.before))?,
            &Number::from(self.before),
        )
    }
}

/// The tool, with the prices of the program.
///
/// Effect: pure. Time-out: 5 s.
///
/// # Errors
///
/// None that a caller could cause: its name and arguments are fixed.
pub fn market_data(market: Arc<Market>) -> Result<FnTool, InvalidSpec> {
    let run = move |question: MarketQuestion, _call: Call| {
        let answer = prices(&question, &market).and_then(|prices| output(&prices));
        std::future::ready(answer)
    };
    let tool = FnTool::new("market_data", DESCRIPTION, run)?;
    Ok(tool.effect(Effect::Pure).timeout(Duration::from_secs(5)))
}

/// The prices that were asked about.
///
/// # Errors
///
/// [`ToolError::Arguments`] for a number of months that is none.
pub fn prices(question: &MarketQuestion, market: &Market) -> Result<MarketPrices, ToolError> {
    let months = question.months.unwrap_or(USUAL);
    if !(1..=MOST).contains(&months) {
        return Err(ToolError::arguments(format!(
            "`months`는 1부터 {MOST}까지입니다. 받은 값: {months}"
        )));
    }
    let origin = market.origin.clone();
    let Some(district) = market.district(&question.district) else {
        let (district, districts) = (short(&question.district), market.names());
        return Ok(MarketPrices::UnknownDistrict { district, districts, origin });
    };
    let deals = match &question.deal {
        Some(deal) => std::slice::from_ref(deal),
        None => Deal::ALL.as_slice(),
    };
    let sums = deals.iter().flat_map(|deal| deal.sums());
    let series: Result<Vec<Series>, CalculatorError> =
        sums.filter_map(|sum| series(district, *sum, months).transpose()).collect();
    let series = series.map_err(ToolError::failed)?;
    let district = district.name.clone();
    Ok(MarketPrices::Priced { district, area_m2: AREA, series, origin })
}

/// The series of one sum. `None` for a district without a month, which no market has.
fn series(district: &District, sum: Sum, count: u32) -> Result<Option<Series>, CalculatorError> {
    let Some(newest) = district.newest() else { return Ok(None) };
    let all = district.months();
    let skipped = all.len().saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
    let months = all.iter().skip(skipped);
    let months =
        months.map(|month| MonthPrice { month: month.written(), amount: month.amount(sum) });
    Ok(Some(Series {
        sum,
        newest: newest.amount(sum),
        months: months.collect(),
        change_1: change(district, sum, 1)?,
        change_12: change(district, sum, 12)?,
    }))
}

/// The change of a sum over so many months. `None` where the prices do not go back as far.
pub(super) fn change(
    district: &District,
    sum: Sum,
    months: usize,
) -> Result<Option<Change>, CalculatorError> {
    let (Some(newest), Some(before)) = (district.newest(), district.before(months)) else {
        return Ok(None);
    };
    let mut change = Change {
        since: before.written(),
        before: before.amount(sum),
        after: newest.amount(sum),
        percent: String::new(),
    };
    change.percent = percent_shown(&change.ratio()?, 1)?;
    Ok(Some(change))
}

fn output(prices: &MarketPrices) -> Result<ToolOutput, ToolError> {
    let text = match prices {
        MarketPrices::Priced { district, area_m2, series, origin } => {
            let mut lines = vec![format!("서울 {district}의 {area_m2}㎡ 아파트 평균 시세입니다.")];
            for one in series {
                let change = |months: &str, change: &Option<Change>| match change {
                    Some(change) => format!(", {months} 전보다 {}", signed(&change.percent)),
                    None => String::new(),
                };
                lines.push(format!(
                    "- {}: {}({}){}{}",
                    one.sum.name(),
                    units(one.newest),
                    one.months.last().map(|month| month.month.as_str()).unwrap_or_default(),
                    change("한 달", &one.change_1),
                    change("1년", &one.change_12),
                ));
            }
            lines.push(origin.said_in_korean());
            lines.join("\n")
        }
        MarketPrices::UnknownDistrict { district, districts, .. } => {
            unknown_district(district, districts)
        }
    };
    let data = serde_json::to_value(prices).map_err(ToolError::failed)?;
    Ok(ToolOutput::new(text).data(data))
}

/// What a reader is told of a district without prices.
pub(super) fn unknown_district(district: &str, districts: &[String]) -> String {
    format!("\"{district}\"의 시세는 없습니다. 시세가 있는 서울의 구: {}.", districts.join(", "))
}

/// `+1.5%`, `-0.3%`, `0.0%`.
pub(super) fn signed(percent: &str) -> String {
    let is_up = !percent.starts_with('-') && percent.contains(|c: char| ('1'..='9').contains(&c));
    format!("{}{percent}%", if is_up { "+" } else { "" })
}
