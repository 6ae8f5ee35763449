//! The limits of law and of lending, read from `data/limits.toml`.
//!
//! No limit stands in the code: each has its value, the day from which it holds and the place where it stands.

mod raw;
mod read;

use hanok_figures::Number;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DataError;

/// The file that ships with the program.
const SHIPPED: &str = include_str!("../../data/limits.toml");

/// The place where a rule stands, and since when it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// The law or regulation.
    pub law: String,
    /// The article in it.
    pub article: String,
    /// The day from which the rule holds in this form.
    #[schemars(with = "String")]
    pub as_of: Date,
    /// What else to know of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Source {
    /// `주택임대차보호법 제7조제2항(2020-07-31 기준)`.
    #[must_use]
    pub fn cited(&self) -> String {
        format!("{} {}({} 기준)", self.law, self.article, self.as_of)
    }
}

/// A number with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The number, in the unit of the field that holds it.
    pub value: Number,
    /// Where it stands.
    pub source: Source,
}

/// Where a home is, as rules on lending see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// 규제지역(투기과열지구, 조정대상지역).
    Regulated,
    /// 수도권 가운데 규제지역이 아닌 곳.
    Capital,
    /// 그 밖의 지역.
    Other,
}

/// What a buyer owns already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Buyer {
    /// 무주택자.
    NoHome,
    /// 생애 최초로 사는 사람.
    FirstHome,
    /// 살던 집을 파는 조건의 1주택자.
    OneHome,
    /// 2주택 이상을 가진 사람.
    MoreHomes,
}

/// The lender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lender {
    /// 은행.
    Bank,
    /// 은행이 아닌 금융회사.
    Other,
}

/// Where a home is, as the protection of small deposits sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DepositRegion {
    /// 서울특별시.
    Seoul,
    /// 서울을 뺀 과밀억제권역, 세종, 용인, 화성, 김포.
    Overcrowded,
    /// 과밀억제권역과 군지역을 뺀 광역시, 안산, 광주, 파주, 이천, 평택.
    Metropolitan,
    /// 그 밖의 지역.
    Other,
}

/// The deposits of a region that are protected before mortgages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallDeposit {
    /// The region.
    pub region: DepositRegion,
    /// The greatest deposit that is protected, in won.
    pub deposit: i64,
    /// The part of it that is paid first, in won.
    pub protected: i64,
    /// Where it stands.
    pub source: Source,
}

/// The most that is lent on a home of a price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceiling {
    /// Where the home is.
    pub area: Area,
    /// The greatest price of the row, in won. `None` for all that are higher.
    pub price_up_to: Option<i64>,
    /// The most that is lent, in won.
    pub most: i64,
    /// Where it stands.
    pub source: Source,
}

/// All limits. Made by [`Limits::parse`], complete and in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The most by which rent rises, in per cent.
    pub rent_increase: Limit,
    /// The months after a contract or an increase in which rent does not rise.
    pub increase_pause: Limit,
    /// The most that a deposit bears as rent, in per cent a year.
    pub conversion_ceiling: Limit,
    /// The points above the base rate that it bears at most.
    pub conversion_margin: Limit,
    /// The base rate of the Bank of Korea, in per cent a year.
    pub base_rate: Limit,
    /// The shortest lease that binds a tenant, in months.
    pub lease_term: Limit,
    /// The months before the end from which a tenant may renew.
    pub renewal_from: Limit,
    /// The months before the end until which a tenant may renew.
    pub renewal_until: Limit,
    /// The share of a price above which a deposit is in danger, in per cent.
    pub deposit_to_price: Limit,
    /// The usual down payment, in per cent of the deposit.
    pub down_payment: Limit,
    /// The sum of loans above which the DSR counts, in won.
    pub dsr_from: Limit,
    /// Where the law speaks of clauses of one's own.
    pub own_clauses: Source,
    /// Where it speaks of what is paid before a deposit.
    pub senior_debt: Source,
    /// The protected deposits by region.
    pub small_deposits: Vec<SmallDeposit>,
    ltv: Vec<((Area, Buyer), Limit)>,
    dti: Vec<(Area, Limit)>,
    dsr: Vec<(Lender, Limit)>,
    stress: Vec<(Area, Limit)>,
    ceilings: Vec<Ceiling>,
}

impl Limits {
    /// The limits in `text`, which is TOML as `data/limits.toml`.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line of a row that is wrong, or without one for a row that is missing.
    pub fn parse(file: &str, text: &str) -> Result<Self, DataError> {
        read::limits(file, text)
    }

    /// The limits that ship with the program.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: the file is part of the program, and its tests read it.
    pub fn shipped() -> Result<Self, DataError> {
        Self::parse("data/limits.toml", SHIPPED)
    }

    /// The most that is lent for a price, in per cent of it.
    #[must_use]
    pub fn ltv(&self, area: Area, buyer: Buyer) -> Option<&Limit> {
        find(&self.ltv, &(area, buyer))
    }

    /// The most that a home loan costs a year, in per cent of the income. `None` where no rule limits it.
    #[must_use]
    pub fn dti(&self, area: Area) -> Option<&Limit> {
        find(&self.dti, &area)
    }

    /// The most that all loans cost a year, in per cent of the income.
    #[must_use]
    pub fn dsr(&self, lender: Lender) -> Option<&Limit> {
        find(&self.dsr, &lender)
    }

    /// The points that are added to a rate before the DSR is calculated.
    #[must_use]
    pub fn stress(&self, area: Area) -> Option<&Limit> {
        find(&self.stress, &area)
    }

    /// The most that is lent on a home of this `price` in won. `None` where no rule limits it.
    #[must_use]
    pub fn ceiling(&self, area: Area, price: i64) -> Option<&Ceiling> {
        let mut rows = self.ceilings.iter().filter(|row| row.area == area);
        rows.find(|row| row.price_up_to.is_none_or(|most| price <= most))
    }

    /// The protected deposit of a region.
    #[must_use]
    pub fn small_deposit(&self, region: DepositRegion) -> Option<&SmallDeposit> {
        self.small_deposits.iter().find(|row| row.region == region)
    }
}

fn find<'a, K: PartialEq>(rows: &'a [(K, Limit)], key: &K) -> Option<&'a Limit> {
    rows.iter().find(|row| row.0 == *key).map(|row| &row.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(from: &str, to: &str) -> String {
        assert_eq!(SHIPPED.matches(from).count(), 1, "{from}");
        Limits::parse("limits.toml", &SHIPPED.replacen(from, to, 1)).unwrap_err().to_string()
    }

    #[test]
    fn the_shipped_file_has_every_limit_with_its_source() {
        let limits = Limits::shipped().unwrap();
        assert_eq!(limits.rent_increase.value.to_string(), "5");
        assert_eq!(
            limits.rent_increase.source.cited(),
            "주택임대차보호법 제7조제2항(2020-07-31 기준)"
        );
        assert_eq!(limits.base_rate.value.to_string(), "2.5");
        for area in [Area::Regulated, Area::Capital, Area::Other] {
            for buyer in [Buyer::NoHome, Buyer::FirstHome, Buyer::OneHome, Buyer::MoreHomes] {
                assert!(limits.ltv(area, buyer).is_some(), "{area:?} {buyer:?}");
            }
        }
        assert!(limits.dti(Area::Other).is_none());
        assert_eq!(limits.dsr(Lender::Bank).unwrap().value.to_string(), "40");
        let seoul = limits.small_deposit(DepositRegion::Seoul).unwrap();
        assert_eq!((seoul.deposit, seoul.protected), (165_000_000, 55_000_000));
    }

    #[test]
    fn the_ceiling_of_a_loan_goes_by_the_price() {
        let limits = Limits::shipped().unwrap();
        let most = |area, price| limits.ceiling(area, price).map(|row| row.most);
        assert_eq!(most(Area::Regulated, 1_500_000_000), Some(600_000_000));
        assert_eq!(most(Area::Regulated, 1_500_000_001), Some(400_000_000));
        assert_eq!(most(Area::Capital, 9_900_000_000), Some(200_000_000));
        assert_eq!(most(Area::Other, 1), None);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let rows = [
            (
                "value = \"2.50\"",
                "value = \"이점오\"",
                "limits.toml:41: `이점오` is no decimal number; write it as \"3.5\"",
            ),
            ("value = \"2.50\"", "value = \"-2.50\"", "limits.toml:41: `-2.50` is below zero"),
            (
                "key = \"base_rate\"",
                "key = \"base\"",
                "limits.toml:40: there is no limit `base`; there are",
            ),
            (
                "key = \"base_rate\"",
                "key = \"conversion_margin\"",
                "limits.toml:40: `conversion_margin` stands twice",
            ),
            (
                "as_of = \"2025-05-29\"",
                "as_of = \"2025-02-30\"",
                "limits.toml:43: `2025-02-30` is no day; write it as \"2025-05-29\"",
            ),
            ("law = \"한국은행 기준금리\"", "law = \" \"", "limits.toml:44: the law is empty"),
            (
                "key = \"dsr_from\"\nvalue = \"100000000\"\nunit = \"won\"",
                "key = \"dsr_from\"\nvalue = \"100000000\"\nunit = \"months\"",
                "limits.toml:96: `dsr_from` is in won",
            ),
            ("deposit = 165000000", "deposit = -1", "limits.toml:104: -1 is no amount of won"),
            ("lender = \"other\"", "lender = \"bank\"", "limits.toml:255: this row stands twice"),
            (
                "protected = 55000000",
                "protect = 55000000",
                "limits.toml:105: unknown field `protect`",
            ),
        ];
        for (from, to, want) in rows {
            let error = changed(from, to);
            assert!(error.starts_with(want), "{error}\n{want}");
        }
    }

    #[test]
    fn a_row_that_is_missing_is_named() {
        let error = Limits::parse("limits.toml", "").unwrap_err();
        assert_eq!(error.to_string(), "limits.toml: the limit `rent_increase` is missing");
        let rows: Vec<&str> =
            SHIPPED.split("[[").filter(|row| !row.contains("\"seoul\"")).collect();
        let error = Limits::parse("limits.toml", &rows.join("[[")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "limits.toml: the rows `small_deposit` for `seoul` are missing"
        );
    }
}
