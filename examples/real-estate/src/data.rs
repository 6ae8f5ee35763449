//! The data files: tables of lines of JSON, and rules in TOML. Those that ship with the program are replaced by files of a folder.

#![allow(missing_docs, reason = "fields have the names of the files")]

use std::{fs, io, path::Path};

use hanok_figures::Number;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use thiserror::Error;

use crate::person::Condition;

/// Why a data file cannot be used.
#[derive(Debug, Error)]
pub enum DataError {
    #[error("자료 {file}을(를) 읽을 수 없습니다")]
    Io { file: String, source: io::Error },
    #[error("자료 {file}의 {line}번째 줄이 맞지 않습니다: {reason}")]
    Line { file: String, line: usize, reason: String },
    #[error("자료 limits.toml에 규칙 `{key}`이(가) 없습니다")]
    NoRule { key: String },
}

/// The day and the source of a table.
#[derive(Debug, Clone, Deserialize)]
pub struct Origin {
    /// The day of which the data is.
    pub as_of: Date,
    /// Where it comes from.
    pub source: String,
    /// What laws are called as well, by their names.
    #[serde(default)]
    pub short_names: std::collections::BTreeMap<String, Vec<String>>,
}

/// The rows of a file whose first line is their origin.
#[derive(Debug, Clone)]
pub struct Table<T> {
    pub origin: Origin,
    pub rows: Vec<T>,
}

/// How a home is dealt in.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[schemars(inline)]
pub enum Deal {
    매매,
    전세,
    월세,
}

/// An article of a law, in short.
#[derive(Debug, Clone, Deserialize)]
pub struct Article {
    pub law: String,
    pub article: String,
    pub title: String,
    pub text: String,
    pub effective: Date,
    pub words: Vec<String>,
}

/// The average prices of a district in a month, in won.
#[derive(Debug, Clone, Deserialize)]
pub struct Prices {
    pub district: String,
    pub month: String,
    pub sale: i64,
    pub jeonse: i64,
    pub deposit: i64,
    pub rent: i64,
}

/// A home that is offered. Amounts are won.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Listing {
    pub id: String,
    pub district: String,
    pub neighbourhood: String,
    pub name: String,
    pub kind: HomeKind,
    pub deal: Deal,
    #[serde(default)]
    pub price: Option<i64>,
    #[serde(default)]
    pub deposit: Option<i64>,
    #[serde(default)]
    pub monthly_rent: Option<i64>,
    pub area: String,
    pub rooms: u32,
    pub floor: i32,
}

/// The kind of a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum HomeKind {
    아파트,
    빌라,
    오피스텔,
}

/// A loan of a bank. Rates are per cent a year.
#[derive(Debug, Clone, Deserialize)]
pub struct Product {
    pub bank: String,
    pub name: String,
    pub purpose: Deal,
    pub rate_from: String,
    pub rate_to: String,
    pub most: i64,
    pub conditions: Vec<Condition>,
}

/// A policy of the state.
#[derive(Debug, Clone, Deserialize)]
pub struct Policy {
    pub name: String,
    pub topic: Deal,
    pub benefit: String,
    pub conditions: Vec<Condition>,
}

/// A number of the law, with the place where it stands.
#[derive(Debug, Clone, Deserialize)]
pub struct Rule {
    pub key: String,
    #[serde(default)]
    value: String,
    pub as_of: Date,
    pub law: String,
    pub article: String,
}

impl Rule {
    /// The number.
    #[must_use]
    pub fn value(&self) -> Number {
        self.value.parse().unwrap_or_else(|_no_number| Number::from(0))
    }

    /// The place of the rule, as it is cited.
    #[must_use]
    pub fn cited(&self) -> String {
        format!("{} {}({} 기준)", self.law, self.article, self.as_of)
    }
}

/// A step of a scale: the first counts whose `up_to` a value does not pass.
#[derive(Debug, Clone, Deserialize)]
pub struct Band {
    pub up_to: Option<String>,
    pub level: String,
    pub words: String,
}

/// Words for what a market says.
#[derive(Debug, Clone, Deserialize)]
pub struct Risk {
    pub jeonse_ratio: Vec<Band>,
    pub trend: Vec<Band>,
    pub deviation: Vec<Band>,
}

/// What is looked for in a lease: a sentence matches when each group of `all` has a word in it, and `none` has none.
#[derive(Debug, Clone, Deserialize)]
pub struct ClauseRule {
    pub kind: String,
    pub risk: String,
    pub all: Vec<Vec<String>>,
    pub none: Vec<String>,
    pub finding: String,
    pub law: String,
    pub article: String,
    pub as_of: Date,
}

/// The rows of a file of rules.
#[derive(Debug, Deserialize)]
struct Rules<T> {
    rule: Vec<T>,
}

/// All data of the tools.
#[derive(Debug, Clone)]
pub struct Data {
    pub law: Table<Article>,
    pub market: Table<Prices>,
    pub listings: Table<Listing>,
    pub loans: Table<Product>,
    pub policies: Table<Policy>,
    pub limits: Vec<Rule>,
    pub risk: Risk,
    pub clauses: Vec<ClauseRule>,
}

/// A file that ships with the program.
macro_rules! shipped {
    ($name:literal) => {
        ($name, include_str!(concat!("../data/", $name)))
    };
}

impl Data {
    /// The data that ships with the program, of which each file that is in `folder` takes the place of its own.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the file and the line that cannot be used.
    pub fn open(folder: Option<&Path>) -> Result<Self, DataError> {
        if let Some(folder) = folder {
            let file = folder.display().to_string();
            fs::read_dir(folder).map_err(|source| DataError::Io { file, source })?;
        }
        let limits: Rules<Rule> = toml(folder, shipped!("limits.toml"))?;
        let clauses: Rules<ClauseRule> = toml(folder, shipped!("contract_rules.toml"))?;
        Ok(Self {
            law: table(folder, shipped!("law.jsonl"))?,
            market: table(folder, shipped!("market.jsonl"))?,
            listings: table(folder, shipped!("listings.jsonl"))?,
            loans: table(folder, shipped!("loans.jsonl"))?,
            policies: table(folder, shipped!("policies.jsonl"))?,
            risk: toml(folder, shipped!("market_risk.toml"))?,
            limits: limits.rule,
            clauses: clauses.rule,
        })
    }

    /// The rule of this name.
    ///
    /// # Errors
    ///
    /// [`DataError::NoRule`] when a file of limits lacks it.
    pub fn rule(&self, key: &str) -> Result<&Rule, DataError> {
        let rule = self.limits.iter().find(|rule| rule.key == key);
        rule.ok_or_else(|| DataError::NoRule { key: key.to_owned() })
    }

    /// The districts whose prices are known.
    #[must_use]
    pub fn districts(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.market.rows.iter().map(|row| row.district.as_str()).collect();
        names.dedup();
        names
    }

    /// The months of a district, the oldest first.
    #[must_use]
    pub fn months(&self, district: &str) -> Vec<&Prices> {
        self.market.rows.iter().filter(|row| row.district == district).collect()
    }
}

/// The text of a file: of `folder`, or else the one that ships.
fn text(folder: Option<&Path>, (name, own): (&str, &'static str)) -> Result<String, DataError> {
    match folder.map(|folder| folder.join(name)).filter(|path| path.exists()) {
        None => Ok(own.to_owned()),
        Some(path) => {
            let file = path.display().to_string();
            fs::read_to_string(path).map_err(|source| DataError::Io { file, source })
        }
    }
}

fn table<T: DeserializeOwned>(
    folder: Option<&Path>,
    file: (&str, &'static str),
) -> Result<Table<T>, DataError> {
    let text = text(folder, file)?;
    let mut lines = text.lines().enumerate().filter(|line| !line.1.trim().is_empty());
    let origin = lines.next().unwrap_or((0, ""));
    let origin = parse(file.0, origin)?;
    let rows = lines.map(|line| parse(file.0, line)).collect::<Result<_, _>>()?;
    Ok(Table { origin, rows })
}

fn parse<T: DeserializeOwned>(file: &str, (at, line): (usize, &str)) -> Result<T, DataError> {
    serde_json::from_str(line).map_err(|error| {
        let reason = error.to_string();
        DataError::Line { file: file.to_owned(), line: at + 1, reason }
    })
}

fn toml<T: DeserializeOwned>(
    folder: Option<&Path>,
    file: (&str, &'static str),
) -> Result<T, DataError> {
    let text = text(folder, file)?;
    toml::from_str(&text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let (line, reason) = (before.matches('\n').count() + 1, error.message().to_owned());
        DataError::Line { file: file.0.to_owned(), line, reason }
    })
}
