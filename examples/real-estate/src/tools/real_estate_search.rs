//! Homes that are offered.

use hanok_core::BoxError;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Answer;
use crate::{
    data::{Data, Deal, HomeKind, Listing},
    money::{Area, Won},
};

/// What the tool takes. The comments are for models.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Asked {
    /// 서울의 구(구).
    districts: Vec<String>,
    /// 거래.
    deal: Option<Deal>,
    /// 집의 종류.
    kind: Option<HomeKind>,
    /// 매매가의 하한(원).
    price_from: Option<Won>,
    /// 매매가의 상한(원).
    price_to: Option<Won>,
    /// 보증금이나 전세금의 하한(원).
    deposit_from: Option<Won>,
    /// 보증금이나 전세금의 상한(원).
    deposit_to: Option<Won>,
    /// 월세의 하한(원).
    rent_from: Option<Won>,
    /// 월세의 상한(원).
    rent_to: Option<Won>,
    /// 전용면적의 하한(㎡).
    area_from: Option<Area>,
    /// 전용면적의 상한(㎡).
    area_to: Option<Area>,
    /// 방 개수의 하한(개).
    rooms_from: Option<u32>,
}

/// How many homes are shown.
const SHOWN: usize = 5;

/// A condition, by its name.
type Filter<'a> = (&'static str, Box<dyn Fn(&Listing) -> bool + 'a>);

pub(super) fn answer(asked: Asked, data: &Data) -> Result<Answer, BoxError> {
    let filters = filters(&asked);
    if filters.is_empty() {
        return Ok(Answer::lacking("지역, 거래, 금액 가운데 하나"));
    }
    let all = &data.listings.rows;
    let fit = |skipped: Option<&str>| {
        let holds = |home: &&Listing| filters.iter().all(|it| Some(it.0) == skipped || it.1(home));
        all.iter().filter(holds).collect::<Vec<_>>()
    };
    let mut homes = fit(None);
    homes.sort_by_key(|home| (home.deal, home.price.or(home.deposit), home.monthly_rent));
    let mut lines = Vec::new();
    if homes.is_empty() {
        let without = filters.iter().map(|filter| (fit(Some(filter.0)).len(), filter.0));
        let (count, name) = without.max_by_key(|it| it.0).unwrap_or_default();
        let hint = match count {
            0 => "조건 하나만 빼서는 맞는 매물이 없습니다.".to_owned(),
            _ => format!("{name} 조건을 빼면 {count}건이 맞습니다."),
        };
        lines.push(format!("조건에 맞는 매물이 없습니다. {hint}"));
    } else {
        let (all, shown) = (homes.len(), homes.len().min(SHOWN));
        lines.push(format!("조건에 맞는 매물은 모두 {all}건이며, 싼 것부터 {shown}건입니다."));
        lines.extend(homes.into_iter().take(SHOWN).map(line));
    }
    Ok(Answer { source: Some(data.listings.origin.clone()), ..Answer::of(lines) })
}

fn filters(asked: &Asked) -> Vec<Filter<'_>> {
    let within = |from: Option<Won>, to: Option<Won>, of: fn(&Listing) -> Option<i64>| {
        move |home: &Listing| {
            of(home).is_some_and(|value| {
                from.is_none_or(|from| value >= from.0) && to.is_none_or(|to| value <= to.0)
            })
        }
    };
    let fits_area = |home: &Listing| {
        let Ok(area) = Area::read(&home.area) else { return false };
        let compare =
            |bound: &Option<Area>| bound.as_ref().map(|it| area.metres.compare(&it.metres));
        compare(&asked.area_from).is_none_or(|order| order.is_ge())
            && compare(&asked.area_to).is_none_or(|order| order.is_le())
    };
    let Asked { price_from, price_to, deposit_from, deposit_to, rent_from, rent_to, .. } = *asked;
    let all: [(bool, Filter<'_>); 8] = [
        (
            !asked.districts.is_empty(),
            ("지역", Box::new(|home| asked.districts.contains(&home.district))),
        ),
        (asked.deal.is_some(), ("거래 종류", Box::new(|home| Some(home.deal) == asked.deal))),
        (asked.kind.is_some(), ("집의 종류", Box::new(|home| Some(home.kind) == asked.kind))),
        (
            price_from.or(price_to).is_some(),
            ("매매가", Box::new(within(price_from, price_to, |home| home.price))),
        ),
        (
            deposit_from.or(deposit_to).is_some(),
            ("보증금", Box::new(within(deposit_from, deposit_to, |home| home.deposit))),
        ),
        (
            rent_from.or(rent_to).is_some(),
            ("월세", Box::new(within(rent_from, rent_to, |home| home.monthly_rent))),
        ),
        (asked.area_from.is_some() || asked.area_to.is_some(), ("면적", Box::new(fits_area))),
        (
            asked.rooms_from.is_some(),
            ("방 개수", Box::new(|home| Some(home.rooms) >= asked.rooms_from)),
        ),
    ];
    all.into_iter().filter(|filter| filter.0).map(|filter| filter.1).collect()
}

fn line(home: &Listing) -> String {
    let units = |won: Option<i64>| Won(won.unwrap_or_default()).in_units();
    let money = match home.monthly_rent {
        Some(_) => format!("{}/{}", units(home.deposit), units(home.monthly_rent)),
        None => units(home.price.or(home.deposit)),
    };
    let Listing { id, district, neighbourhood, name, deal, area, rooms, floor, .. } = home;
    format!(
        "- {id} {district} {neighbourhood} {name}: {deal:?} {money}, {area}㎡, 방 {rooms}개, {floor}층"
    )
}
