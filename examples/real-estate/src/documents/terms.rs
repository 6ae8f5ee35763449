//! What a lease is to say.

use hanok_figures::{Figure, figures};
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::checks::TermsError;
use super::fields::Field;
use crate::money::StatedWon;

/// The terms of a lease of a home, as far as somebody stated them. Amounts are whole won; nothing is invented.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LeaseTerms {
    /// 임대인의 이름.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landlord: Option<String>,
    /// 임대인의 주소.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landlord_address: Option<String>,
    /// 임차인의 이름.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// 임차인의 주소.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_address: Option<String>,
    /// 빌리는 집의 소재지.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// 빌리는 부분의 면적: "84.97㎡".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<String>,
    /// 보증금(전세금).
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "stated_won")]
    #[schemars(with = "Option<StatedWon>")]
    pub deposit: Option<i64>,
    /// 월세. 전세이면 0.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "stated_won")]
    #[schemars(with = "Option<StatedWon>")]
    pub monthly_rent: Option<i64>,
    /// 월세를 내는 날: 1부터 31까지.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rent_day: Option<u8>,
    /// 계약금.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "stated_won")]
    #[schemars(with = "Option<StatedWon>")]
    pub down_payment: Option<i64>,
    /// 중도금. 없으면 비웁니다.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "stated_won")]
    #[schemars(with = "Option<StatedWon>")]
    pub interim_payment: Option<i64>,
    /// 중도금을 내는 날: "2026-02-01".
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "stated_date")]
    #[schemars(with = "Option<String>")]
    pub interim_date: Option<Date>,
    /// 잔금을 치르는 날: "2026-03-01".
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "stated_date")]
    #[schemars(with = "Option<String>")]
    pub balance_date: Option<Date>,
    /// 한 달의 관리비.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "stated_won")]
    #[schemars(with = "Option<StatedWon>")]
    pub maintenance_fee: Option<i64>,
    /// 임대차의 첫날: "2026-03-01".
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "stated_date")]
    #[schemars(with = "Option<String>")]
    pub from: Option<Date>,
    /// 임대차의 마지막 날: "2028-02-29".
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "stated_date")]
    #[schemars(with = "Option<String>")]
    pub until: Option<Date>,
    /// 특약.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub special: Vec<String>,
    /// 중개한 개업공인중개사.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broker: Option<String>,
    /// 집값. 위험을 살피는 데에만 씁니다.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "stated_won")]
    #[schemars(with = "Option<StatedWon>")]
    pub price: Option<i64>,
    /// 보증금보다 먼저 갚아야 하는 채권. 위험을 살피는 데에만 씁니다.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "stated_won")]
    #[schemars(with = "Option<StatedWon>")]
    pub senior_debt: Option<i64>,
    /// 갱신이면 지난 계약의 보증금.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "stated_won")]
    #[schemars(with = "Option<StatedWon>")]
    pub previous_deposit: Option<i64>,
    /// 갱신이면 지난 계약의 월세.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "stated_won")]
    #[schemars(with = "Option<StatedWon>")]
    pub previous_rent: Option<i64>,
}

impl LeaseTerms {
    /// These terms with what `later` states in their place; its clauses are added to these.
    #[must_use]
    pub fn merged(self, later: Self) -> Self {
        let mut special = self.special;
        for clause in later.special {
            if !special.contains(&clause) {
                special.push(clause);
            }
        }
        Self {
            landlord: later.landlord.or(self.landlord),
            landlord_address: later.landlord_address.or(self.landlord_address),
            tenant: later.tenant.or(self.tenant),
            tenant_address: later.tenant_address.or(self.tenant_address),
            address: later.address.or(self.address),
            area: later.area.or(self.area),
            deposit: later.deposit.or(self.deposit),
            monthly_rent: later.monthly_rent.or(self.monthly_rent),
            rent_day: later.rent_day.or(self.rent_day),
            down_payment: later.down_payment.or(self.down_payment),
            interim_payment: later.interim_payment.or(self.interim_payment),
            interim_date: later.interim_date.or(self.interim_date),
            balance_date: later.balance_date.or(self.balance_date),
            maintenance_fee: later.maintenance_fee.or(self.maintenance_fee),
            from: later.from.or(self.from),
            until: later.until.or(self.until),
            special,
            broker: later.broker.or(self.broker),
            price: later.price.or(self.price),
            senior_debt: later.senior_debt.or(self.senior_debt),
            previous_deposit: later.previous_deposit.or(self.previous_deposit),
            previous_rent: later.previous_rent.or(self.previous_rent),
        }
    }

    /// These terms with what a person filled into a [`form`](super::form).
    ///
    /// # Errors
    ///
    /// [`TermsError::Form`] when the answer is none to the form, and what [`check`](Self::check) says of its values.
    pub fn filled(self, answer: &serde_json::Value) -> Result<Self, TermsError> {
        let read = Self::deserialize(answer);
        let read = read.map_err(|error| TermsError::Form { reason: error.to_string() })?;
        read.check()?;
        let merged = self.merged(read);
        merged.check()?;
        Ok(merged)
    }

    /// Whether nobody stated `field`.
    pub(super) fn lacks(&self, field: Field) -> bool {
        match field {
            Field::Landlord => self.landlord.is_none(),
            Field::Tenant => self.tenant.is_none(),
            Field::Address => self.address.is_none(),
            Field::Area => self.area.is_none(),
            Field::Deposit => self.deposit.is_none(),
            Field::MonthlyRent => self.monthly_rent.is_none(),
            // Without a rent there is no day to pay it.
            Field::RentDay => {
                self.rent_day.is_none() && self.monthly_rent.is_some_and(|rent| rent > 0)
            }
            Field::DownPayment => self.down_payment.is_none(),
            Field::InterimDate => {
                self.interim_date.is_none() && self.interim_payment.is_some_and(|part| part > 0)
            }
            Field::BalanceDate => self.balance_date.is_none(),
            Field::From => self.from.is_none(),
            Field::Until => self.until.is_none(),
        }
    }
}
fn stated_won<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let stated = Option::<StatedWon>::deserialize(deserializer)?;
    stated.map(|stated| stated.won().map_err(D::Error::custom)).transpose()
}

fn stated_date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Date>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let date = date(&text).ok_or_else(|| {
        let shown: String = text.chars().filter(|c| !c.is_control()).take(40).collect();
        D::Error::custom(format!(
            "\"{shown}\"은(는) 날짜가 아닙니다. \"2026-03-01\"처럼 적어 주십시오"
        ))
    })?;
    Ok(Some(date))
}

/// The one date in a text.
fn date(text: &str) -> Option<Date> {
    let mut dates = figures(text.get(..text.len().min(80)).unwrap_or_default()).filter_map(civil);
    dates.next().filter(|_| dates.next().is_none())
}

/// A figure as a day, if it is one.
pub(super) fn civil(figure: Figure) -> Option<Date> {
    let Figure::Date(date) = figure else { return None };
    let (month, day) = (i8::try_from(date.month).ok()?, i8::try_from(date.day).ok()?);
    Date::new(i16::try_from(date.year).ok()?, month, day).ok()
}
