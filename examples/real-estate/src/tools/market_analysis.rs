//! The tool `market_analysis`: how a district stands, and how an amount stands to it.

use std::{sync::Arc, time::Duration};

use hanok_core::{Call, Effect};
use hanok_figures::{CalculatorError, Number};
use hanok_model::{FnTool, InvalidSpec, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::market_data::{AREA, Change, change, signed, unknown_district};
use super::words::short;
use crate::data::deal::Sum;
use crate::data::market::{District, MonthPrices};
use crate::data::risk::{Band, Bands, Danger};
use crate::data::{Market, Origin, RiskTable};
use crate::money::{StatedWon, percent_shown, share, units};

const DESCRIPTION: &str = "서울의 한 구에서 시장을 분석하고 금액을 견줍니다: 전세가율(전세금이 집값의 몇 %인지), 깡통전세 위험, 최근 12개월의 추세, \
받은 매매가·전세금·보증금·월세가 그 구의 평균보다 비싼지 싼지, 적정한지 몇 %나 벗어났는지. \
달별 시세만 알아보거나(market_data), 매물을 찾거나(real_estate_search), 계약서의 조항을 살피거나(contract_analysis), \
투자 수익률을 계산하는 데에는(roi_calculator) 쓰지 않습니다. \
이런 말에 씁니다: 전세가율, 깡통전세, 시장 분석, 비싼 편, 싼 편, 적정.";

/// What the tool takes. The comments are for models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalysisQuestion {
    /// 서울의 구: "강남구".
    pub district: String,
    /// 견줄 매매가(집값).
    #[serde(default)]
    pub price: Option<StatedWon>,
    /// 견줄 전세금. 월세이면 그 보증금.
    #[serde(default)]
    pub deposit: Option<StatedWon>,
    /// 견줄 월세. 적으면 `deposit`을 월세의 보증금으로 봅니다.
    #[serde(default)]
    pub monthly_rent: Option<StatedWon>,
}

/// What the tool answers. Amounts are whole won, ratios are per cent to one decimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum MarketAnalysis {
    /// The district was analysed.
    Analysed {
        /// The district.
        district: String,
        /// The month of the prices: `2026-06`.
        month: String,
        /// The exclusive area of the home that the prices are of, in square metres.
        area_m2: u32,
        /// The average 전세금 as a share of the average price.
        jeonse_ratio: Box<Ratio>,
        /// The deposit that was stated as a share of the price that was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stated_ratio: Option<Box<Ratio>>,
        /// How the averages changed over twelve months.
        trends: Vec<Trend>,
        /// How the amounts that were stated stand to the averages.
        comparisons: Vec<Comparison>,
        /// Where the prices come from.
        origin: Origin,
        /// Where the words come from.
        words_origin: Origin,
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

/// A deposit as a share of a price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// The deposit.
    pub deposit: i64,
    /// The price.
    pub price: i64,
    /// The share in per cent.
    pub percent: String,
    /// How dangerous it is, by the exact share.
    pub level: Danger,
    /// What it says, for a reader.
    pub words: String,
}

/// How an average changed over twelve months.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// The sum.
    pub sum: Sum,
    /// The change.
    pub change: Change,
    /// What it says, for a reader.
    pub words: String,
}

/// How an amount stands to the average of its district.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The sum.
    pub sum: Sum,
    /// The amount that was stated.
    pub stated: i64,
    /// The average.
    pub average: i64,
    /// The amount less the average.
    pub difference: i64,
    /// The difference in per cent of the average.
    pub percent: String,
    /// How dangerous it is, by the exact difference.
    pub level: Danger,
    /// What it says, for a reader.
    pub words: String,
}

/// The tool, with the prices and words of the program.
///
/// Effect: pure. Time-out: 5 s.
///
/// # Errors
///
/// None that a caller could cause: its name and arguments are fixed.
pub fn market_analysis(market: Arc<Market>, risk: Arc<RiskTable>) -> Result<FnTool, InvalidSpec> {
    let run = move |question: AnalysisQuestion, _call: Call| {
        let answer =
            analyse_market(&question, &market, &risk).and_then(|analysis| output(&analysis));
        std::future::ready(answer)
    };
    let tool = FnTool::new("market_analysis", DESCRIPTION, run)?;
    Ok(tool.effect(Effect::Pure).timeout(Duration::from_secs(5)))
}

/// The analysis of what was asked.
///
/// # Errors
///
/// [`ToolError::Arguments`] with an amount that is not understood, or a price of zero.
pub fn analyse_market(
    question: &AnalysisQuestion,
    market: &Market,
    risk: &RiskTable,
) -> Result<MarketAnalysis, ToolError> {
    let amount = |stated: &Option<StatedWon>| {
        stated.as_ref().map(StatedWon::won).transpose().map_err(ToolError::arguments)
    };
    let (price, deposit) = (amount(&question.price)?, amount(&question.deposit)?);
    let rent = amount(&question.monthly_rent)?;
    if price == Some(0) {
        return Err(ToolError::arguments("집값은 1원 이상이어야 합니다"));
    }
    let origin = market.origin.clone();
    let found = market.district(&question.district);
    let Some((district, newest)) = found.and_then(|one| Some((one, one.newest()?))) else {
        let (district, districts) = (short(&question.district), market.names());
        return Ok(MarketAnalysis::UnknownDistrict { district, districts, origin });
    };
    // A 월세 of 0 is a 전세.
    let is_rent = rent.is_some_and(|rent| rent > 0);
    let stated = [
        (Sum::Price, price),
        (if is_rent { Sum::RentDeposit } else { Sum::Jeonse }, deposit),
        (Sum::MonthlyRent, rent.filter(|_| is_rent)),
    ];
    let both = price.zip(deposit.filter(|_| !is_rent));
    let stated_ratio = both.map(|pair| ratio(pair.1, pair.0, risk)).transpose();
    let comparisons: Result<Vec<Comparison>, CalculatorError> = stated
        .into_iter()
        .filter_map(|pair| Some(comparison(pair.0, pair.1?, newest, &risk.deviation)))
        .collect();
    Ok(MarketAnalysis::Analysed {
        district: district.name.clone(),
        month: newest.written(),
        area_m2: AREA,
        jeonse_ratio: Box::new(ratio(newest.jeonse, newest.sale, risk).map_err(ToolError::failed)?),
        stated_ratio: stated_ratio.map_err(ToolError::failed)?.map(Box::new),
        trends: trends(district, &risk.trend).map_err(ToolError::failed)?,
        comparisons: comparisons.map_err(ToolError::failed)?,
        origin,
        words_origin: risk.origin.clone(),
    })
}

fn ratio(deposit: i64, price: i64, risk: &RiskTable) -> Result<Ratio, CalculatorError> {
    let exact = share(&Number::from(deposit), &Number::from(price))?;
    let Band { level, words, .. } = risk.jeonse_ratio.of(&exact).clone();
    Ok(Ratio { deposit, price, percent: percent_shown(&exact, 1)?, level, words })
}

fn trends(district: &District, bands: &Bands) -> Result<Vec<Trend>, CalculatorError> {
    let mut trends = Vec::new();
    for sum in [Sum::Price, Sum::Jeonse, Sum::MonthlyRent] {
        if let Some(change) = change(district, sum, 12)? {
            let words = bands.of(&change.ratio()?).words.clone();
            trends.push(Trend { sum, change, words });
        }
    }
    Ok(trends)
}

fn comparison(
    sum: Sum,
    stated: i64,
    newest: &MonthPrices,
    bands: &Bands,
) -> Result<Comparison, CalculatorError> {
    let average = newest.amount(sum);
    let difference = stated.saturating_sub(average);
    let exact = share(&Number::from(difference), &Number::from(average))?;
    let Band { level, words, .. } = bands.of(&exact).clone();
    let percent = percent_shown(&exact, 1)?;
    Ok(Comparison { sum, stated, average, difference, percent, level, words })
}

fn output(analysis: &MarketAnalysis) -> Result<ToolOutput, ToolError> {
    let text = match analysis {
        MarketAnalysis::Analysed {
            district,
            month,
            area_m2,
            jeonse_ratio,
            stated_ratio,
            trends,
            comparisons,
            origin,
            ..
        } => {
            let mut lines = vec![format!(
                "서울 {district}({month}, {area_m2}㎡ 아파트): 평균 매매가 {}, 평균 전세금 {}, 전세가율 {}%(위험 {}). {}.",
                units(jeonse_ratio.price),
                units(jeonse_ratio.deposit),
                jeonse_ratio.percent,
                jeonse_ratio.level.name(),
                jeonse_ratio.words
            )];
            for trend in trends {
                let (name, percent) = (trend.sum.name(), signed(&trend.change.percent));
                lines.push(format!("- {name}: 1년 동안 {percent}, {}.", trend.words));
            }
            for one in comparisons {
                lines.push(format!(
                    "- 물어보신 {} {}: 평균 {}보다 {}. {}.",
                    one.sum.name(),
                    units(one.stated),
                    units(one.average),
                    signed(&one.percent),
                    one.words
                ));
            }
            if let Some(ratio) = stated_ratio {
                lines.push(format!(
                    "- 물어보신 집의 전세가율: {}%(위험 {}). {}.",
                    ratio.percent,
                    ratio.level.name(),
                    ratio.words
                ));
            }
            lines.push(origin.said_in_korean());
            lines.join("\n")
        }
        MarketAnalysis::UnknownDistrict { district, districts, .. } => {
            unknown_district(district, districts)
        }
    };
    let data = serde_json::to_value(analysis).map_err(ToolError::failed)?;
    Ok(ToolOutput::new(text).data(data))
}
