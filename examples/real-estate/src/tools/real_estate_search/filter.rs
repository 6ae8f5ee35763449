//! The filters of a search, each of which says of a home whether it fits.

use hanok_figures::Number;
use hanok_model::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SearchQuestion;
use crate::area::StatedArea;
use crate::data::Listings;
use crate::data::listings::Home;
use crate::data::market::is_district;
use crate::money::StatedWon;
use crate::tools::words::short;

/// The most districts of one search.
const MOST_DISTRICTS: usize = 30;

/// A filter of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilterName {
    /// 구.
    Districts,
    /// 거래 종류.
    Deal,
    /// 매매가.
    Price,
    /// 보증금.
    Deposit,
    /// 월세.
    Rent,
    /// 면적.
    Area,
    /// 방 개수.
    Rooms,
    /// 집의 종류.
    Kind,
}

impl FilterName {
    const ALL: [Self; 8] = [
        Self::Districts,
        Self::Deal,
        Self::Price,
        Self::Deposit,
        Self::Rent,
        Self::Area,
        Self::Rooms,
        Self::Kind,
    ];

    /// The name in Korean.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Districts => "지역",
            Self::Deal => "거래 종류",
            Self::Price => "매매가",
            Self::Deposit => "보증금",
            Self::Rent => "월세",
            Self::Area => "면적",
            Self::Rooms => "방 개수",
            Self::Kind => "집의 종류",
        }
    }
}

/// A range with both ends in it.
#[derive(Debug, Clone)]
struct Range<T> {
    from: Option<T>,
    to: Option<T>,
}

impl<T> Range<T> {
    fn is_open(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }
}

impl Range<i64> {
    /// Whether the amount is there and in the range; a range without ends fits everything.
    fn fits(&self, amount: Option<i64>) -> bool {
        let within = |amount: i64| {
            self.from.is_none_or(|from| amount >= from) && self.to.is_none_or(|to| amount <= to)
        };
        self.is_open() || amount.is_some_and(within)
    }
}

/// All filters of a search.
#[derive(Debug)]
pub(super) struct Filters<'a> {
    question: &'a SearchQuestion,
    districts: Vec<String>,
    /// The districts that no listing is in.
    pub(super) unknown_districts: Vec<String>,
    price: Range<i64>,
    deposit: Range<i64>,
    rent: Range<i64>,
    area: Range<Number>,
}

impl<'a> Filters<'a> {
    /// The filters of a question.
    pub(super) fn of(question: &'a SearchQuestion, listings: &Listings) -> Result<Self, ToolError> {
        if question.districts.len() > MOST_DISTRICTS {
            return Err(ToolError::arguments(format!(
                "구는 {MOST_DISTRICTS}개까지 적을 수 있습니다. 받은 구: {}개",
                question.districts.len()
            )));
        }
        let names = names(listings);
        let (mut districts, mut unknown_districts) = (Vec::new(), Vec::new());
        for written in &question.districts {
            match names.iter().find(|name| is_district(written, name)) {
                Some(name) => districts.push(name.clone()),
                None => unknown_districts.push(short(written)),
            }
        }
        if question.rooms.zip(question.rooms_to).is_some_and(|pair| pair.0 > pair.1) {
            return Err(empty(FilterName::Rooms));
        }
        let SearchQuestion { price_from, price_to, deposit_from, deposit_to, .. } = question;
        let SearchQuestion { rent_from, rent_to, area_from, area_to, .. } = question;
        Ok(Self {
            question,
            districts,
            unknown_districts,
            price: amounts(FilterName::Price, price_from, price_to)?,
            deposit: amounts(FilterName::Deposit, deposit_from, deposit_to)?,
            rent: amounts(FilterName::Rent, rent_from, rent_to)?,
            area: areas(area_from, area_to)?,
        })
    }

    /// Whether a home fits every filter.
    pub(super) fn fit(&self, home: &Home) -> bool {
        FilterName::ALL.iter().all(|filter| !self.excludes(home, *filter))
    }

    /// Whether a home fits every filter but one.
    pub(super) fn fit_without(&self, home: &Home, without: FilterName) -> bool {
        let mut others = FilterName::ALL.iter().filter(|filter| **filter != without);
        others.all(|filter| !self.excludes(home, *filter))
    }

    /// The filters that are set.
    pub(super) fn names(&self) -> Vec<FilterName> {
        FilterName::ALL.into_iter().filter(|filter| self.is_set(*filter)).collect()
    }

    fn is_set(&self, filter: FilterName) -> bool {
        match filter {
            FilterName::Districts => !self.question.districts.is_empty(),
            FilterName::Deal => self.question.deal.is_some(),
            FilterName::Price => !self.price.is_open(),
            FilterName::Deposit => !self.deposit.is_open(),
            FilterName::Rent => !self.rent.is_open(),
            FilterName::Area => !self.area.is_open(),
            FilterName::Rooms => self.question.rooms.is_some() || self.question.rooms_to.is_some(),
            FilterName::Kind => self.question.kind.is_some(),
        }
    }

    /// Whether a filter excludes a home by itself.
    pub(super) fn excludes(&self, home: &Home, filter: FilterName) -> bool {
        let (listing, question) = (&home.listing, self.question);
        let fits = match filter {
            FilterName::Districts => {
                question.districts.is_empty() || self.districts.contains(&listing.district)
            }
            FilterName::Deal => question.deal.is_none_or(|deal| listing.deal == deal),
            FilterName::Price => self.price.fits(listing.price),
            FilterName::Deposit => self.deposit.fits(listing.deposit),
            FilterName::Rent => self.rent.fits(listing.monthly_rent),
            FilterName::Area => {
                let (from, to) = (self.area.from.as_ref(), self.area.to.as_ref());
                from.is_none_or(|from| !home.area.compare(from).is_lt())
                    && to.is_none_or(|to| !home.area.compare(to).is_gt())
            }
            FilterName::Rooms => {
                question.rooms.is_none_or(|least| listing.rooms >= least)
                    && question.rooms_to.is_none_or(|most| listing.rooms <= most)
            }
            FilterName::Kind => question.kind.is_none_or(|kind| listing.kind == kind),
        };
        !fits
    }
}

/// The districts of the listings, each once, in the order of the file.
pub(super) fn names(listings: &Listings) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for home in listings.homes() {
        if !names.contains(&home.listing.district) {
            names.push(home.listing.district.clone());
        }
    }
    names
}

fn amounts(
    name: FilterName,
    from: &Option<StatedWon>,
    to: &Option<StatedWon>,
) -> Result<Range<i64>, ToolError> {
    let won = |stated: &Option<StatedWon>| {
        stated.as_ref().map(StatedWon::won).transpose().map_err(ToolError::arguments)
    };
    let range = Range { from: won(from)?, to: won(to)? };
    let is_empty = range.from.zip(range.to).is_some_and(|pair| pair.0 > pair.1);
    if is_empty { Err(empty(name)) } else { Ok(range) }
}

fn areas(from: &Option<StatedArea>, to: &Option<StatedArea>) -> Result<Range<Number>, ToolError> {
    let area = |stated: &Option<StatedArea>| {
        stated.as_ref().map(StatedArea::square_metres).transpose().map_err(ToolError::arguments)
    };
    let range = Range { from: area(from)?, to: area(to)? };
    let ends = range.from.as_ref().zip(range.to.as_ref());
    let is_empty = ends.is_some_and(|pair| pair.0.compare(pair.1).is_gt());
    if is_empty { Err(empty(FilterName::Area)) } else { Ok(range) }
}

fn empty(name: FilterName) -> ToolError {
    ToolError::arguments(format!(
        "{}의 하한이 상한보다 큽니다. 둘을 바꾸어 적어 주십시오",
        name.name()
    ))
}
