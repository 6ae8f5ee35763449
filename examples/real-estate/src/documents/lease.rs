//! A lease out of its terms, and drafts of other documents.

use std::collections::BTreeMap;

use hanok_figures::{Number, Won};
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::checks::{TermsError, line};
use super::fields::{Field, missing};
use super::page::Page;
use super::template::{Template, Values};
use super::terms::LeaseTerms;
use crate::data::DataError;

const LEASE: &str = include_str!("../../templates/lease.md");
const SALES: &str = include_str!("../../templates/sales.md");
const LOAN_APPLICATION: &str = include_str!("../../templates/loan_application.md");

/// The names of the values of a lease.
const LEASE_NAMES: [&str; 26] = [
    "landlord",
    "landlord_address",
    "tenant",
    "tenant_address",
    "address",
    "area",
    "deposit",
    "deposit_units",
    "down_payment",
    "interim_payment",
    "interim_date",
    "no_interim",
    "balance",
    "balance_date",
    "jeonse",
    "rent",
    "rent_units",
    "rent_day",
    "maintenance_fee",
    "no_maintenance_fee",
    "from",
    "until",
    "broker",
    "no_broker",
    "special",
    "no_special",
];

const SALES_NAMES: [&str; 10] = [
    "seller",
    "buyer",
    "address",
    "area",
    "price",
    "down_payment",
    "interim_payment",
    "interim_date",
    "balance",
    "balance_date",
];

const LOAN_NAMES: [&str; 10] = [
    "applicant",
    "income",
    "homes",
    "other_debts",
    "address",
    "price",
    "amount",
    "months",
    "method",
    "purpose",
];

/// The longest value of a draft, in characters.
const LONGEST: usize = 200;

/// A document that is drafted with blanks where nothing is stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// 매매계약서.
    Sales,
    /// 대출 상담 신청서.
    LoanApplication,
}

/// A document that is not made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// Fields are missing. A [`form`](super::form) asks for them.
    #[error("계약서를 만들기에 빠진 내용이 있습니다: {}", titles(fields))]
    Missing {
        /// The fields.
        fields: Vec<Field>,
    },
    /// A term is none that a lease has.
    #[error(transparent)]
    Terms(#[from] TermsError),
    /// The document has no value of this name.
    #[error("이 문서에는 `{name}` 칸이 없습니다. 있는 칸: {names}")]
    UnknownName {
        /// The name, cut.
        name: String,
        /// The names that there are.
        names: String,
    },
    /// The template is broken.
    #[error(transparent)]
    Template(#[from] DataError),
}

fn titles(fields: &[Field]) -> String {
    fields.iter().map(|field| field.title()).collect::<Vec<_>>().join(", ")
}

/// The lease of these terms, out of the template that ships with the program.
///
/// # Errors
///
/// [`LeaseError::Missing`] when a field is missing: nothing is invented. [`LeaseError::Terms`] when one has no possible value.
pub fn lease(terms: &LeaseTerms) -> Result<Page, LeaseError> {
    terms.check()?;
    let fields = missing(terms);
    if !fields.is_empty() {
        return Err(LeaseError::Missing { fields });
    }
    let template = Template::parse("templates/lease.md", LEASE, &LEASE_NAMES)?;
    Ok(template.fill(&values(terms)))
}

/// A draft with `stated` filled in and blanks elsewhere. For Markdown.
///
/// # Errors
///
/// [`LeaseError::UnknownName`] for a name that the document has not, [`LeaseError::Terms`] for a value that is no line of text.
pub fn draft(kind: DocumentKind, stated: &BTreeMap<String, String>) -> Result<Page, LeaseError> {
    let (file, text, names) = match kind {
        DocumentKind::Sales => ("templates/sales.md", SALES, SALES_NAMES),
        DocumentKind::LoanApplication => {
            ("templates/loan_application.md", LOAN_APPLICATION, LOAN_NAMES)
        }
    };
    let mut values = Values::new();
    for (name, value) in stated {
        let Some(known) = names.iter().find(|known| *known == name) else {
            let name = name.chars().filter(|c| !c.is_control()).take(40).collect();
            return Err(LeaseError::UnknownName { name, names: names.join(", ") });
        };
        line(known, value, LONGEST)?;
        values.insert(name.clone(), vec![value.clone()]);
    }
    Ok(Template::parse(file, text, &names)?.fill(&values))
}

fn values(terms: &LeaseTerms) -> Values {
    let mut values = Values::new();
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            values.insert(name.to_owned(), vec![value]);
        }
    };
    put("landlord", terms.landlord.clone());
    put("landlord_address", terms.landlord_address.clone());
    put("tenant", terms.tenant.clone());
    put("tenant_address", terms.tenant_address.clone());
    put("address", terms.address.clone());
    put("area", terms.area.clone());
    put("deposit", terms.deposit.map(won));
    put("deposit_units", terms.deposit.map(in_units));
    put("down_payment", terms.down_payment.map(won));
    let interim = terms.interim_payment.filter(|part| *part > 0);
    put("interim_payment", interim.map(won));
    put("interim_date", terms.interim_date.map(day));
    put("no_interim", interim.is_none().then(String::new));
    let rest = |paid: i64| move |deposit: i64| deposit.saturating_sub(paid);
    let balance = terms.deposit.map(rest(terms.down_payment.unwrap_or(0)));
    put("balance", balance.map(rest(interim.unwrap_or(0))).map(won));
    put("balance_date", terms.balance_date.map(day));
    let rent = terms.monthly_rent.filter(|rent| *rent > 0);
    put("jeonse", rent.is_none().then(String::new));
    put("rent", rent.map(won));
    put("rent_units", rent.map(in_units));
    put("rent_day", terms.rent_day.map(day_of_month));
    let fee = terms.maintenance_fee.filter(|fee| *fee > 0);
    put("maintenance_fee", fee.map(won));
    put("no_maintenance_fee", fee.is_none().then(String::new));
    put("from", terms.from.map(day));
    put("until", terms.until.map(day));
    put("broker", terms.broker.clone());
    put("no_broker", terms.broker.is_none().then(String::new));
    put("no_special", terms.special.is_empty().then(String::new));
    values.insert("special".to_owned(), terms.special.clone());
    values
}

fn won(amount: i64) -> String {
    Won(Number::from(amount)).to_string()
}

fn in_units(amount: i64) -> String {
    Won(Number::from(amount)).in_units()
}

fn day(date: Date) -> String {
    format!("{}년 {}월 {}일", date.year(), date.month(), date.day())
}

fn day_of_month(day: u8) -> String {
    if day == 31 { "매월 말일".to_owned() } else { format!("매월 {day}일") }
}
