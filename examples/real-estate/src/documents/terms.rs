//! What a lease is to say.

use hanok_tools::{Figure, figures};
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use thiserror::Error;

use super::fields::Field;
use crate::money::{MOST_WON, StatedWon};

/// The longest name, address or other value, in characters.
const LONGEST: usize = 200;

/// The longest clause of one's own, in characters.
const LONGEST_CLAUSE: usize = 1_000;

/// The most clauses of one's own.
const MOST_CLAUSES: usize = 30;

/// The years that a lease lasts at most: beyond, a year is a slip of the pen.
const MOST_YEARS: i16 = 100;

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

/// Terms that no lease has. The message says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TermsError {
    /// A value has nothing in it.
    #[error("{name}: 비어 있습니다")]
    Empty {
        /// What it is.
        name: &'static str,
    },
    /// A value is too long.
    #[error("{name}: {most}자보다 깁니다. 줄여 적어 주십시오")]
    TooLong {
        /// What it is.
        name: &'static str,
        /// The most characters.
        most: usize,
    },
    /// There are too many clauses of one's own.
    #[error("특약이 {most}개보다 많습니다. 줄이거나 합쳐 주십시오")]
    TooMany {
        /// The most.
        most: usize,
    },
    /// A value has a character that no text of one line has.
    #[error("{name}: 쓸 수 없는 글자(U+{code:04X})가 있습니다. 한 줄의 보통 글자로 적어 주십시오")]
    Character {
        /// What it is.
        name: &'static str,
        /// The character.
        code: u32,
    },
    /// A value has the number of a resident, which no draft keeps.
    #[error(
        "{name}: 주민등록번호로 보이는 숫자가 있습니다. 초안에는 적지 않고 서명할 때 손으로 적습니다"
    )]
    ResidentNumber {
        /// What it is.
        name: &'static str,
    },
    /// An amount is none.
    #[error("{name}: 0원부터 1,000조원까지여야 합니다. 받은 값: {amount}원")]
    Amount {
        /// What it is.
        name: &'static str,
        /// The value in won.
        amount: i64,
    },
    /// What is paid before the rest of the deposit is more than the deposit.
    #[error("계약금과 중도금({paid}원)이 보증금({deposit}원)보다 많습니다")]
    Parts {
        /// The down payment and the interim payment in won.
        paid: i64,
        /// The deposit in won.
        deposit: i64,
    },
    /// A month has no such day.
    #[error("월세를 내는 날은 1일부터 31일까지여야 합니다. 받은 값: {day}")]
    RentDay {
        /// The value.
        day: u8,
    },
    /// The first day is not before the last one, or a century before.
    #[error("임대차 기간이 맞지 않습니다: {from}부터 {until}까지")]
    Period {
        /// The first day.
        from: Date,
        /// The last day.
        until: Date,
    },
    /// What was filled in is no terms.
    #[error("적어 주신 내용을 읽지 못했습니다: {reason}")]
    Form {
        /// Why.
        reason: String,
    },
}

impl LeaseTerms {
    /// Whether every term that is stated is one that a lease may have.
    ///
    /// # Errors
    ///
    /// The first [`TermsError`] in the order of the fields.
    pub fn check(&self) -> Result<(), TermsError> {
        for (name, value) in [
            ("임대인의 이름", &self.landlord),
            ("임대인의 주소", &self.landlord_address),
            ("임차인의 이름", &self.tenant),
            ("임차인의 주소", &self.tenant_address),
            ("소재지", &self.address),
            ("면적", &self.area),
            ("중개사", &self.broker),
        ] {
            if let Some(value) = value {
                line(name, value, LONGEST)?;
            }
        }
        if self.special.len() > MOST_CLAUSES {
            return Err(TermsError::TooMany { most: MOST_CLAUSES });
        }
        for clause in &self.special {
            line("특약", clause, LONGEST_CLAUSE)?;
        }
        for (name, amount) in [
            ("보증금", self.deposit),
            ("월세", self.monthly_rent),
            ("계약금", self.down_payment),
            ("중도금", self.interim_payment),
            ("관리비", self.maintenance_fee),
            ("집값", self.price),
            ("선순위 채권", self.senior_debt),
            ("지난 보증금", self.previous_deposit),
            ("지난 월세", self.previous_rent),
        ] {
            if let Some(amount) = amount.filter(|amount| !(0..=MOST_WON).contains(amount)) {
                return Err(TermsError::Amount { name, amount });
            }
        }
        let parts = [self.down_payment, self.interim_payment].into_iter().flatten();
        let paid = parts.fold(0, i64::saturating_add);
        if let Some(deposit) = self.deposit.filter(|deposit| paid > *deposit) {
            return Err(TermsError::Parts { paid, deposit });
        }
        if let Some(day) = self.rent_day.filter(|day| !(1..=31).contains(day)) {
            return Err(TermsError::RentDay { day });
        }
        if let (Some(from), Some(until)) = (self.from, self.until)
            && (from >= until || until.year().saturating_sub(from.year()) > MOST_YEARS)
        {
            return Err(TermsError::Period { from, until });
        }
        Ok(())
    }

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

/// Checks a value of one line.
pub(super) fn line(name: &'static str, value: &str, most: usize) -> Result<(), TermsError> {
    // Bytes first: a megabyte is not walked over.
    if value.len() > most * 4 || value.chars().count() > most {
        return Err(TermsError::TooLong { name, most });
    }
    if let Some(wrong) = value.chars().find(|c| is_refused(*c)) {
        return Err(TermsError::Character { name, code: u32::from(wrong) });
    }
    if has_resident_number(value) {
        return Err(TermsError::ResidentNumber { name });
    }
    // `( )` would be a blank.
    match value.chars().any(char::is_alphanumeric) {
        true => Ok(()),
        false => Err(TermsError::Empty { name }),
    }
}

/// Whether thirteen digits stand together, but for a hyphen or a space behind the sixth, that may be a resident's number: a month, a
/// day and a first digit of 1 to 8 behind the birthday.
fn has_resident_number(value: &str) -> bool {
    let chars: Vec<char> = value.chars().collect();
    let digit = |at: usize| chars.get(at).and_then(|c| c.to_digit(10));
    (0..chars.len()).any(|start| {
        let gap = usize::from(matches!(chars.get(start + 6), Some('-' | ' ' | '–')));
        let at = |place: usize| digit(start + place + if place < 6 { 0 } else { gap });
        let digits: Option<Vec<u32>> = (0..13).map(at).collect();
        let is_apart = start.checked_sub(1).is_none_or(|before| digit(before).is_none())
            && digit(start + 13 + gap).is_none();
        digits.is_some_and(|digits| match digits.as_slice() {
            [_, _, m1, m2, d1, d2, kind, ..] => {
                let (month, day) = (m1 * 10 + m2, d1 * 10 + d2);
                is_apart
                    && (1..=12).contains(&month)
                    && (1..=31).contains(&day)
                    && (1..=8).contains(kind)
            }
            _ => false,
        })
    })
}

/// Controls, line ends, signs that turn the direction of text or are not seen, and what XML has not.
fn is_refused(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{e000}'..='\u{f8ff}'
                | '\u{e0000}'..='\u{e0fff}'
        )
        || u32::from(c) & 0xfffe == 0xfffe
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
