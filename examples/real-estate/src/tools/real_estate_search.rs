//! The tool `real_estate_search`: the homes that fit what somebody looks for.

mod filter;

use std::{sync::Arc, time::Duration};

use hanok_core::{Call, Effect};
use hanok_model::{FnTool, InvalidSpec, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::area::StatedArea;
use crate::data::deal::Deal;
use crate::data::listings::{Home, HomeKind, Listing};
use crate::data::{Listings, Origin};
use crate::money::{StatedWon, units};

pub use filter::FilterName;
use filter::Filters;

/// The homes of an answer when nobody says how many.
const USUAL: u32 = 10;

/// The most homes of an answer.
const MOST: u32 = 50;

/// How many homes the text names; the data have all of the answer.
const NAMED: usize = 5;

const DESCRIPTION: &str = "서울의 매물을 찾습니다: 구, 거래 종류(매매, 전세, 월세), 매매가, 보증금, 월세, 전용면적(㎡나 평), 방 개수로 \
아파트, 빌라, 오피스텔 매물을 골라 싼 것부터 보여주고, 맞는 집이 없으면 어느 조건 때문인지 알려줍니다. \
살 집이나 빌릴 집, 방을 구하고 찾고 추천받을 때 씁니다. 동네의 평균 시세를 알아보거나(market_data), \
가격이 적정한지 견주거나(market_analysis), 대출 상품을 찾는 데에는(loan_data) 쓰지 않습니다. \
이런 말에 씁니다: 매물, 집 찾, 방 구.";

/// What the tool takes. The comments are for models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SearchQuestion {
    /// 서울의 구: ["강남구", "서초구"]. 비우면 모든 구.
    pub districts: Vec<String>,
    /// 거래 종류.
    pub deal: Option<Deal>,
    /// 매매가의 하한.
    pub price_from: Option<StatedWon>,
    /// 매매가의 상한.
    pub price_to: Option<StatedWon>,
    /// 보증금(전세금)의 하한.
    pub deposit_from: Option<StatedWon>,
    /// 보증금(전세금)의 상한.
    pub deposit_to: Option<StatedWon>,
    /// 월세의 하한.
    pub rent_from: Option<StatedWon>,
    /// 월세의 상한.
    pub rent_to: Option<StatedWon>,
    /// 전용면적의 하한: "59㎡"나 "18평".
    pub area_from: Option<StatedArea>,
    /// 전용면적의 상한.
    pub area_to: Option<StatedArea>,
    /// 방이 적어도 몇 개인지.
    pub rooms: Option<u32>,
    /// 방이 많아도 몇 개인지: 원룸이면 1.
    pub rooms_to: Option<u32>,
    /// 집의 종류.
    pub kind: Option<HomeKind>,
    /// 몇 채까지 볼지: 1부터 50까지. 비우면 10.
    pub limit: Option<u32>,
}

/// What the tool answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HomesThatFit {
    /// How many homes fit in all.
    pub total: usize,
    /// The cheapest of them, in the order of deal and price (of a lease, the deposit, then the rent).
    pub homes: Vec<Listing>,
    /// Of each filter, when nothing fits: what it excludes, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<Excluded>,
    /// The districts that were meant and that no listing is in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_districts: Vec<String>,
    /// The districts that there are listings in, when one is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub districts: Vec<String>,
    /// Where the listings come from.
    pub origin: Origin,
}

/// What a filter excludes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Excluded {
    /// The filter.
    pub filter: FilterName,
    /// How many homes would fit without it.
    pub fit_without: usize,
    /// How many of all homes it excludes by itself.
    pub excludes: usize,
}

/// The tool, with the listings of the program.
///
/// Effect: pure. Time-out: 5 s.
///
/// # Errors
///
/// None that a caller could cause: its name and arguments are fixed.
pub fn real_estate_search(listings: Arc<Listings>) -> Result<FnTool, InvalidSpec> {
    let run = move |question: SearchQuestion, _call: Call| {
        let answer = search_homes(&question, &listings).and_then(|homes| output(&homes));
        std::future::ready(answer)
    };
    let tool = FnTool::new("real_estate_search", DESCRIPTION, run)?;
    Ok(tool.effect(Effect::Pure).timeout(Duration::from_secs(5)))
}

/// The homes that fit, the cheapest first.
///
/// # Errors
///
/// [`ToolError::Arguments`] with an amount or area that is not understood, or a range that is empty.
pub fn search_homes(
    question: &SearchQuestion,
    listings: &Listings,
) -> Result<HomesThatFit, ToolError> {
    let limit = question.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        return Err(ToolError::arguments(format!(
            "`limit`은 1부터 {MOST}까지입니다. 받은 값: {limit}"
        )));
    }
    let filters = Filters::of(question, listings)?;
    let all = listings.homes();
    let mut fit: Vec<&Listing> =
        all.iter().filter(|home| filters.fit(home)).map(|home| &home.listing).collect();
    fit.sort_by_key(|home| (home.deal, home.amount(), home.monthly_rent, home.id.as_str()));
    let total = fit.len();
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let homes = fit.into_iter().take(most).cloned().collect();
    let excluded = if total == 0 { excluded(&filters, all) } else { Vec::new() };
    let unknown_districts = filters.unknown_districts.clone();
    let districts = if unknown_districts.is_empty() { Vec::new() } else { filter::names(listings) };
    let origin = listings.origin.clone();
    Ok(HomesThatFit { total, homes, excluded, unknown_districts, districts, origin })
}

/// What each filter excludes, the one first without which most homes would fit.
fn excluded(filters: &Filters, homes: &[Home]) -> Vec<Excluded> {
    let names = filters.names();
    let mut excluded: Vec<Excluded> = names
        .into_iter()
        .map(|filter| Excluded {
            filter,
            fit_without: homes.iter().filter(|home| filters.fit_without(home, filter)).count(),
            excludes: homes.iter().filter(|home| filters.excludes(home, filter)).count(),
        })
        .collect();
    excluded.sort_by_key(|one| std::cmp::Reverse((one.fit_without, one.excludes)));
    excluded
}

fn output(answer: &HomesThatFit) -> Result<ToolOutput, ToolError> {
    let mut lines = Vec::new();
    if !answer.unknown_districts.is_empty() {
        lines.push(format!(
            "매물이 없는 구: {}. 매물이 있는 구: {}.",
            answer.unknown_districts.join(", "),
            answer.districts.join(", ")
        ));
    }
    match answer.excluded.first() {
        _ if answer.total > 0 => {
            let shown = answer.homes.len().min(NAMED);
            lines.push(format!(
                "조건에 맞는 매물은 모두 {}건이며, 싼 것부터 {shown}건입니다.",
                answer.total
            ));
            lines.extend(answer.homes.iter().take(NAMED).map(line));
        }
        Some(worst) if worst.fit_without > 0 => lines.push(format!(
            "조건에 맞는 매물이 없습니다. {} 조건을 빼면 {}건이 맞습니다.",
            worst.filter.name(),
            worst.fit_without
        )),
        Some(worst) => lines.push(format!(
            "조건에 맞는 매물이 없습니다. 조건 하나만 빼서는 맞는 매물이 없으며, 가장 많이 거르는 조건은 {}입니다.",
            worst.filter.name()
        )),
        None => lines.push("매물이 없습니다.".to_owned()),
    }
    lines.push(answer.origin.said_in_korean());
    let data = serde_json::to_value(answer).map_err(ToolError::failed)?;
    Ok(ToolOutput::new(lines.join("\n")).data(data))
}

fn line(home: &Listing) -> String {
    let money = match (home.price, home.deposit, home.monthly_rent) {
        (Some(price), ..) => units(price),
        (None, Some(deposit), Some(rent)) => format!("{}/{}", units(deposit), units(rent)),
        (None, deposit, _) => units(deposit.unwrap_or(0)),
    };
    format!(
        "- {} {} {} {}: {} {money}, {}㎡, 방 {}개, {}층",
        home.id,
        home.district,
        home.neighbourhood,
        home.name,
        home.deal.name(),
        home.area,
        home.rooms,
        home.floor
    )
}
