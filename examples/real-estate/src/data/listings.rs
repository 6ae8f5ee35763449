//! The homes that are offered, read from `data/listings.jsonl`.

use std::collections::HashSet;

use hanok_figures::Number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deal::Deal;
use super::{DataError, Origin, lines};
use crate::money::MOST_WON;

/// The file that ships with the program.
pub(super) const SHIPPED: &str = include_str!("../../data/listings.jsonl");

/// The largest home, in square metres.
const MOST_AREA: i64 = 10_000;

/// The kind of a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HomeKind {
    /// 아파트.
    Apartment,
    /// 빌라(연립·다세대).
    Villa,
    /// 오피스텔.
    Officetel,
}

/// A home that is offered. Amounts are whole won.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// The name that no other listing has.
    pub id: String,
    /// The district: `강남구`.
    pub district: String,
    /// The neighbourhood: `가람동`.
    pub neighbourhood: String,
    /// The name of the building.
    pub name: String,
    /// The kind of the home.
    pub kind: HomeKind,
    /// How it is offered.
    pub deal: Deal,
    /// The price of a sale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<i64>,
    /// The deposit of a lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposit: Option<i64>,
    /// The rent of a month.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monthly_rent: Option<i64>,
    /// The exclusive area (전용면적) in square metres, as a decimal.
    pub area: String,
    /// How many rooms it has.
    pub rooms: u32,
    /// The floor; below zero under the ground.
    pub floor: i32,
    /// The year in which it was built.
    pub built: u16,
}

impl Listing {
    /// What it is sorted by: the price of a sale, else the deposit.
    #[must_use]
    pub fn amount(&self) -> i64 {
        self.price.or(self.deposit).unwrap_or(0)
    }

    fn fault(&self) -> Option<String> {
        for (name, text) in [
            ("id", &self.id),
            ("district", &self.district),
            ("neighbourhood", &self.neighbourhood),
            ("name", &self.name),
        ] {
            if text.trim().is_empty() {
                return Some(format!("`{name}` is empty"));
            }
        }
        let amounts = (self.price.is_some(), self.deposit.is_some(), self.monthly_rent.is_some());
        let (want, fields) = match self.deal {
            Deal::Sale => ((true, false, false), "`price` and no other amount"),
            Deal::Jeonse => ((false, true, false), "`deposit` and no other amount"),
            Deal::MonthlyRent => ((false, true, true), "`deposit` and `monthly_rent`"),
        };
        if amounts != want {
            return Some(format!("a listing for {} has {fields}", self.deal.name()));
        }
        for amount in [self.price, self.deposit, self.monthly_rent].into_iter().flatten() {
            if !(0..=MOST_WON).contains(&amount) {
                return Some(format!("{amount} is no amount of won"));
            }
        }
        if self.rooms == 0 {
            return Some("a home has one room at least".to_owned());
        }
        if area(&self.area).is_none() {
            return Some(format!("`{}` is no area in ㎡; write it as \"84.97\"", self.area));
        }
        None
    }
}

/// An area in square metres, if it is one.
fn area(text: &str) -> Option<Number> {
    let area: Number = text.parse().ok()?;
    let fits =
        area.compare(&Number::from(0)).is_gt() && !area.compare(&Number::from(MOST_AREA)).is_gt();
    fits.then_some(area)
}

/// A listing with its area as a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// The listing.
    pub listing: Listing,
    /// Its area in square metres.
    pub area: Number,
}

/// All listings. Made by [`Listings::parse`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listings {
    /// Where the listings come from.
    pub origin: Origin,
    homes: Vec<Home>,
}

impl Listings {
    /// The listings in `text`, which has a JSON object a line as `data/listings.jsonl`.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line of a listing that is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, DataError> {
        let rows = lines::rows::<Listing>(file, text)?;
        let mut ids = HashSet::new();
        let mut homes = Vec::new();
        for (line, listing) in rows.rows {
            if let Some(reason) = listing.fault() {
                return Err(DataError::at(file, line, reason));
            }
            if !ids.insert(listing.id.clone()) {
                let reason = format!("the listing `{}` stands twice", listing.id);
                return Err(DataError::at(file, line, reason));
            }
            homes.extend(area(&listing.area).map(|area| Home { listing, area }));
        }
        Ok(Self { origin: rows.origin, homes })
    }

    /// The listings that ship with the program.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: the file is part of the program, and its tests read it.
    pub fn shipped() -> Result<Self, DataError> {
        Self::parse("data/listings.jsonl", SHIPPED)
    }

    /// The homes, in the order of the file.
    #[must_use]
    pub fn homes(&self) -> &[Home] {
        &self.homes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_hundred_homes_of_every_deal_ship() {
        let listings = Listings::shipped().unwrap();
        assert_eq!(listings.homes().len(), 300);
        for deal in Deal::ALL {
            let count = listings.homes().iter().filter(|home| home.listing.deal == deal).count();
            assert!(count >= 96, "{deal:?}: {count}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (from, to, want) in [
            ("\"as_of\"", "\"asof\"", "l.jsonl:1: unknown field `asof`"),
            (
                "\"source\": \"이",
                "\"source\": 3, \"x\": \"이",
                "l.jsonl:1: invalid type: integer `3`",
            ),
            ("\"L003\"", "\"L002\"", "l.jsonl:4: the listing `L002` stands twice"),
            ("\"L003\"", "\" \"", "l.jsonl:4: `id` is empty"),
            (
                "\"price\": 1205000000",
                "\"deposit\": 1205000000",
                "l.jsonl:2: a listing for 매매 has `price`",
            ),
            ("\"price\": 1205000000", "\"price\": -5", "l.jsonl:2: -5 is no amount of won"),
            (
                "\"price\": 1205000000",
                "\"price\": 1.5",
                "l.jsonl:2: invalid type: floating point `1.5`",
            ),
            ("\"area\": \"59.95\"", "\"area\": \"18평\"", "l.jsonl:2: `18평` is no area in ㎡"),
            ("\"area\": \"59.95\"", "\"area\": \"0\"", "l.jsonl:2: `0` is no area in ㎡"),
            ("\"rooms\": 3", "\"rooms\": 0", "l.jsonl:2: a home has one room at least"),
            ("\"deal\": \"sale\"", "\"deal\": \"auction\"", "l.jsonl:2: unknown variant `auction`"),
            ("{\"id\": \"L001\"", "\"id\": \"L001\"", "l.jsonl:2: invalid type: string \"id\""),
        ] {
            assert!(SHIPPED.contains(from), "{from}");
            let error = Listings::parse("l.jsonl", &SHIPPED.replacen(from, to, 1)).unwrap_err();
            assert!(error.to_string().starts_with(want), "{error}\n{want}");
        }
        for (text, want) in [
            ("", "l.jsonl: the file is empty"),
            ("{\"as_of\": \"2026-06-30\", \"source\": \"a\"}\n", "l.jsonl: there is no row"),
            ("{\"as_of\": \"2026-06-30\", \"source\": \" \"}\n", "l.jsonl:1: the source is empty"),
        ] {
            let error = Listings::parse("l.jsonl", text).unwrap_err();
            assert!(error.to_string().starts_with(want), "{error}");
        }
    }
}
