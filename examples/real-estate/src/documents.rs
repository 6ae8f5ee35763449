//! Contracts and forms, out of the templates of `templates/`, as Markdown and as documents of Word.

mod docx;
pub mod review;

use std::{fs, io::Write as _, path::Path};

use hanok_core::BoxError;
use jiff::{ToSpan, civil::Date};
use minijinja::{
    Environment, Value,
    value::{Serde, ValueKind},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::docx::docx_from_markdown;
use crate::money::{Area, Won};

/// Which document is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// A lease of a home, by the tool of this name.
    #[default]
    #[serde(rename = "lease_contract_generator")]
    Lease,
    /// A contract of sale.
    SalesContract,
    /// An application for a loan.
    LoanApplication,
}

/// A lease. What is not said is `None`; the comments are for models and forms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lease {
    /// 임대인의 이름.
    pub landlord: Option<String>,
    /// 임차인의 이름.
    pub tenant: Option<String>,
    /// 빌리는 집의 주소. 동과 호수까지 적습니다.
    pub address: Option<String>,
    /// 빌리는 부분의 면적(㎡). 예: 84.97㎡.
    pub area: Option<Area>,
    /// 보증금이나 전세금(원).
    pub deposit: Option<Won>,
    /// 월세(원). 전세이면 0.
    pub monthly_rent: Option<Won>,
    /// 월세를 내는 날: 1부터 31까지(일).
    pub rent_day: Option<u8>,
    /// 계약금(원).
    pub down_payment: Option<Won>,
    /// 중도금(원). 없으면 null.
    pub interim_payment: Option<Won>,
    /// 중도금을 내는 날(날짜).
    pub interim_date: Option<Date>,
    /// 잔금을 치르는 날(날짜).
    pub balance_date: Option<Date>,
    /// 관리비(원).
    pub maintenance_fee: Option<Won>,
    /// 임대차의 첫날(날짜).
    pub from: Option<Date>,
    /// 임대차의 마지막 날(날짜).
    pub until: Option<Date>,
    /// 마지막 날 대신 말한 기간(개월).
    pub months: Option<u32>,
    /// 특약.
    pub special: Option<String>,
    /// 중개사의 이름.
    pub broker: Option<String>,
    /// 집값(원).
    pub price: Option<Won>,
    /// 보증금보다 먼저 갚아야 하는 채권(원).
    pub senior_debt: Option<Won>,
    /// 지난 계약의 보증금(원).
    pub previous_deposit: Option<Won>,
}

/// A contract of sale, as far as it is known.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SalesContract {
    /// 매도인의 이름.
    pub seller: Option<String>,
    /// 매수인의 이름.
    pub buyer: Option<String>,
    /// 파는 집의 주소.
    pub address: Option<String>,
    /// 면적(㎡).
    pub area: Option<Area>,
    /// 매매대금(원).
    pub price: Option<Won>,
    /// 계약금(원).
    pub down_payment: Option<Won>,
    /// 중도금(원).
    pub interim_payment: Option<Won>,
    /// 중도금을 내는 날(날짜).
    pub interim_date: Option<Date>,
    /// 잔금을 치르는 날(날짜).
    pub balance_date: Option<Date>,
}

/// An application for a loan, as far as it is known.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LoanApplication {
    /// 신청인의 이름.
    pub applicant: Option<String>,
    /// 연소득(원).
    pub income: Option<Won>,
    /// 담보로 하는 집의 주소.
    pub address: Option<String>,
    /// 집값(원).
    pub price: Option<Won>,
    /// 신청하는 대출 금액(원).
    pub amount: Option<Won>,
    /// 기간(개월).
    pub months: Option<u32>,
    /// 연 이율(%).
    pub rate: Option<crate::money::Rate>,
}

/// The most characters of a line that somebody writes into a document.
const LONGEST: usize = 1_000;

impl Lease {
    /// The fields that a lease cannot be without and that are missing.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let is_paid = |won: Option<Won>| won.is_some_and(|won| won.0 > 0);
        let needs = [
            ("landlord", self.landlord.is_none()),
            ("tenant", self.tenant.is_none()),
            ("address", self.address.is_none()),
            ("area", self.area.is_none()),
            ("deposit", self.deposit.is_none()),
            ("monthly_rent", self.monthly_rent.is_none()),
            ("rent_day", is_paid(self.monthly_rent) && self.rent_day.is_none()),
            ("down_payment", self.down_payment.is_none()),
            ("interim_date", is_paid(self.interim_payment) && self.interim_date.is_none()),
            ("balance_date", self.balance_date.is_none()),
            ("from", self.from.is_none()),
            ("until", self.until.is_none() && self.last_day().is_none()),
        ];
        needs.into_iter().filter(|it| it.1).map(|it| it.0).collect()
    }

    /// The last day by the term that was said.
    fn last_day(&self) -> Option<Date> {
        let months = i64::from(self.months?);
        self.from?.checked_add(months.months()).and_then(|day| day.yesterday()).ok()
    }

    /// The lease with its last day, if it holds together.
    ///
    /// # Errors
    ///
    /// A sentence that says what does not.
    pub fn checked(mut self) -> Result<Self, BoxError> {
        self.until = self.until.or(self.last_day());
        let texts = [&self.landlord, &self.tenant, &self.address, &self.special, &self.broker];
        for text in texts.into_iter().flatten() {
            line(text)?;
        }
        let won = |won: Option<Won>| won.map_or(0, |won| won.0);
        let paid = won(self.down_payment).saturating_add(won(self.interim_payment));
        if self.deposit.is_some_and(|deposit| paid > deposit.0) {
            return Err("계약금과 중도금이 보증금보다 많습니다".into());
        }
        if self.rent_day.is_some_and(|day| !(1..=31).contains(&day)) {
            return Err("월세를 내는 날은 1일부터 31일까지입니다".into());
        }
        if self.from.zip(self.until).is_some_and(|(from, until)| from >= until) {
            return Err("임대차의 마지막 날은 첫날보다 뒤여야 합니다".into());
        }
        Ok(self)
    }
}

/// Refuses a text that is no line of a document.
fn line(text: &str) -> Result<(), BoxError> {
    let shown = crate::money::short(text);
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let has_letters = text.chars().any(char::is_alphanumeric);
    if text.chars().count() > LONGEST || text.contains(is_hidden) || !has_letters {
        return Err(format!("`{shown}`: 한 줄의 보통 글자로 적어 주십시오").into());
    }
    if digits >= 13
        && text.replace('-', "").split(|c: char| !c.is_ascii_digit()).any(|it| it.len() == 13)
    {
        return Err("주민등록번호는 초안에 적지 않고 서명할 때 손으로 적습니다".into());
    }
    Ok(())
}

/// True for what is not seen, or turns what is seen around.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The values of a document of this kind, as its template takes them: `3억` is a number of won.
///
/// # Errors
///
/// A sentence that says which value is none.
pub fn typed(
    kind: DocumentKind,
    values: serde_json::Value,
) -> Result<serde_json::Value, serde_json::Error> {
    use serde_json::{from_value, to_value};
    match kind {
        DocumentKind::Lease => to_value(from_value::<Lease>(values)?),
        DocumentKind::SalesContract => to_value(from_value::<SalesContract>(values)?),
        DocumentKind::LoanApplication => to_value(from_value::<LoanApplication>(values)?),
    }
}

/// The Markdown of a document. A value that is not known is a blank, and no value is markup.
///
/// # Errors
///
/// What the template says.
pub fn markdown(kind: DocumentKind, values: &serde_json::Value) -> Result<String, BoxError> {
    let template = match kind {
        DocumentKind::Lease => include_str!("../templates/lease.md"),
        DocumentKind::SalesContract => include_str!("../templates/sales.md"),
        DocumentKind::LoanApplication => include_str!("../templates/loan_application.md"),
    };
    let mut engine = Environment::new();
    engine.add_filter("won", |value: Value| match value.as_i64() {
        Some(won) => hanok_figures::Won(won.into()).to_string().into(),
        None => value,
    });
    engine.add_filter("units", |value: Value| match value.as_i64() {
        Some(won) => Won(won).in_units().into(),
        None => value,
    });
    engine.add_filter("day", |value: Value| match value.as_str().map(str::parse::<Date>) {
        Some(Ok(day)) => format!("{}년 {}월 {}일", day.year(), day.month(), day.day()).into(),
        _ => value,
    });
    engine.set_formatter(|out, _, value| {
        let text = match value.kind() {
            ValueKind::Undefined | ValueKind::None => "(…………)".to_owned(),
            _ => escaped(&value.to_string()),
        };
        Ok(out.write_str(&text)?)
    });
    let mut text = engine.render_str(template, Serde(values))?;
    // What a condition left out leaves a blank line.
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    Ok(text)
}

/// A text in which nothing is markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '|' | '#' | '~' => {
                escaped.extend(['\\', c])
            }
            '&' => escaped.push_str("&amp;"),
            c if c.is_whitespace() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Writes a document into the folder `out`, as Markdown and for Word, and returns the names of the files, which are the same for the
/// same `key`.
///
/// # Errors
///
/// What the template, or the file system, says.
pub fn write(
    out: &Path,
    key: &str,
    kind: DocumentKind,
    values: &serde_json::Value,
) -> Result<(String, String), BoxError> {
    let markdown = markdown(kind, values)?;
    let docx = docx_from_markdown(&markdown)?;
    let stem =
        format!("call.{}", blake3::hash(key.as_bytes()).to_hex().get(..32).unwrap_or_default());
    let put = |name: &str, bytes: &[u8]| -> Result<(), BoxError> {
        fs::create_dir_all(out)?;
        let mut part = tempfile::NamedTempFile::new_in(out)?;
        part.write_all(bytes)?;
        part.as_file().sync_all()?;
        part.persist(out.join(name))?;
        Ok(())
    };
    let names = (format!("{stem}.md"), format!("{stem}.docx"));
    put(&names.0, markdown.as_bytes())?;
    put(&names.1, &docx)?;
    Ok(names)
}
