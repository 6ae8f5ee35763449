//! What a contract says and should not, and what it does not say and should.

use hanok_documents::{AppendixKind, Contract};
use hanok_figures::{Amount, AmountUnit, Date, Figure, Number, figures};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::ContractRules;
use crate::data::limits::{Limits, Source};
use crate::money::{MoneyError, percent_shown, share, units};

/// The most characters of a sentence that a finding repeats.
const QUOTED: usize = 120;

/// What is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// A protection that is missing.
    Missing,
    /// A term that the law replaces (강행규정).
    Replaced,
    /// An amount or a term that is unusual.
    Unusual,
}

/// How bad it is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// To be known.
    Low,
    /// To be asked about.
    Medium,
    /// Not to be signed.
    High,
}

/// Something about a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The name of its rule.
    pub id: String,
    /// What is found.
    pub kind: FindingKind,
    /// How bad it is.
    pub risk: Risk,
    /// What is wrong, for a reader.
    pub finding: String,
    /// What to do about it, for a reader.
    pub advice: String,
    /// The article of the contract, if one says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Its sentence, cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// Where the law says so.
    pub source: Source,
}

/// What is known of a home beside its contract, in won.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Facts {
    /// The price of the home.
    pub price: Option<i64>,
    /// What is paid before the deposit: mortgages, earlier leases.
    pub senior_debt: Option<i64>,
    /// The deposit. Default: the one that the contract says.
    pub deposit: Option<i64>,
}

/// A sentence of a contract with its place.
#[derive(Debug)]
pub(super) struct Sentence {
    pub(super) place: Option<String>,
    pub(super) text: String,
    bare: String,
}

impl Sentence {
    pub(super) fn new(place: Option<String>, text: &str) -> Self {
        let bare = text.split_whitespace().collect();
        Self { place, text: text.trim().to_owned(), bare }
    }
}

/// The findings of a contract, the rules' in their order and then those on its numbers.
///
/// # Errors
///
/// [`MoneyError`] for amounts that no contract has.
pub fn examine(
    contract: &Contract,
    facts: Facts,
    rules: &ContractRules,
    limits: &Limits,
) -> Result<Vec<Finding>, MoneyError> {
    let sentences = sentences(contract);
    let mut findings = by_rules(&sentences, rules, true);
    findings.extend(short_term(contract, limits));
    findings.extend(sentences.iter().filter_map(|sentence| high_increase(sentence, limits)));
    let deposit = facts.deposit.or_else(|| deposit(&sentences));
    if let (Some(price), Some(deposit)) = (facts.price, deposit) {
        findings.extend(deep_deposit(price, deposit, facts.senior_debt.unwrap_or(0), limits)?);
    }
    Ok(findings)
}

/// What the rules find in sentences; what is missing in them only where they are a whole contract.
pub(super) fn by_rules(
    sentences: &[Sentence],
    rules: &ContractRules,
    is_whole: bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in rules.rules() {
        let sentence = sentences.iter().find(|sentence| rule.matches(&sentence.bare));
        let is_finding = match rule.kind {
            FindingKind::Missing => is_whole && sentence.is_none(),
            FindingKind::Replaced | FindingKind::Unusual => sentence.is_some(),
        };
        if is_finding {
            findings.push(Finding {
                id: rule.id.clone(),
                kind: rule.kind,
                risk: rule.risk,
                finding: rule.finding.clone(),
                advice: rule.advice.clone(),
                place: sentence.and_then(|sentence| sentence.place.clone()),
                quote: sentence.map(|sentence| quoted(&sentence.text)),
                source: rule.source.clone(),
            });
        }
    }
    findings
}

fn sentences(contract: &Contract) -> Vec<Sentence> {
    let mut parts: Vec<(Option<String>, &str)> = vec![(None, contract.text(&contract.preamble))];
    for article in &contract.articles {
        parts.push((Some(article.label()), contract.text(&article.body)));
    }
    for appendix in &contract.appendices {
        let is_agreed = !matches!(appendix.kind, AppendixKind::Closing);
        let place = is_agreed.then(|| appendix.label.clone());
        parts.push((place, contract.text(&appendix.span)));
    }
    let mut sentences = Vec::new();
    for part in parts {
        for line in part.1.lines() {
            for text in line.split_inclusive("다.") {
                sentences.push(Sentence::new(part.0.clone(), text));
            }
        }
    }
    sentences.retain(|sentence| !sentence.bare.is_empty());
    sentences
}

/// A term that is shorter than the law's.
fn short_term(contract: &Contract, limits: &Limits) -> Option<Finding> {
    let article = contract.articles.iter().find(|article| {
        let title: String =
            article.title.iter().flat_map(|title| title.split_whitespace()).collect();
        title.contains("기간")
    })?;
    let body = contract.text(&article.body);
    let months = months(body)?;
    let least = limits.lease_term.value.to_i128()?;
    (i128::from(months) < least)
        .then(|| short(months, limits, Some(article.label()), Some(quoted(body))))
}

/// The finding that a lease of so many months is short.
pub(super) fn short(
    months: i32,
    limits: &Limits,
    place: Option<String>,
    quote: Option<String>,
) -> Finding {
    let least = &limits.lease_term.value;
    Finding {
        id: "short_term".to_owned(),
        kind: FindingKind::Replaced,
        risk: Risk::High,
        finding: format!(
            "임대차 기간이 {months}개월입니다. {least}개월보다 짧게 정한 기간은 {least}개월로 봅니다."
        ),
        advice:
            "기간을 2년 이상으로 적으십시오. 임차인은 더 짧은 기간이 유효하다고 주장할 수 있습니다."
                .to_owned(),
        place,
        quote,
        source: limits.lease_term.source.clone(),
    }
}

/// The months of a term: between two dates, or as they are written.
fn months(text: &str) -> Option<i32> {
    let read: Vec<Figure> = figures(text).take(64).collect();
    let dates: Vec<&Date> = read
        .iter()
        .filter_map(|figure| match figure {
            Figure::Date(date) => Some(date),
            _ => None,
        })
        .collect();
    if let [from, until, ..] = dates.as_slice() {
        return months_between(civil(from)?, civil(until)?);
    }
    read.into_iter().filter_map(Figure::into_amount).find_map(|amount| {
        let behind = text.get(amount.at.end..)?.trim_start();
        let number = i32::try_from(amount.value.to_i128()?)
            .ok()
            .filter(|number| (1..=600).contains(number))?;
        match () {
            () if behind.starts_with("개월") => Some(number),
            () if behind.starts_with('년') => number.checked_mul(12),
            () => None,
        }
    })
}

fn civil(date: &Date) -> Option<jiff::civil::Date> {
    let (month, day) = (i8::try_from(date.month).ok()?, i8::try_from(date.day).ok()?);
    jiff::civil::Date::new(i16::try_from(date.year).ok()?, month, day).ok()
}

/// The whole months from a first to a last day, both of which belong to the term.
pub(super) fn months_between(from: jiff::civil::Date, until: jiff::civil::Date) -> Option<i32> {
    let end = until.tomorrow().ok()?;
    let span = from.until((jiff::Unit::Month, end)).ok()?;
    Some(span.get_months())
}

/// A clause that lets rent rise above the cap.
fn high_increase(sentence: &Sentence, limits: &Limits) -> Option<Finding> {
    let rises =
        ["증액", "인상", "올릴", "올려", "올린"].iter().any(|word| sentence.bare.contains(word));
    let mut rates = figures(&sentence.text)
        .filter_map(Figure::into_amount)
        .filter(|amount: &Amount| amount.unit == AmountUnit::Percent);
    let cap = &limits.rent_increase;
    let rate = rates.find(|rate| rises && rate.value.compare(&cap.value).is_gt())?;
    Some(Finding {
        id: "increase_above_cap".to_owned(),
        kind: FindingKind::Replaced,
        risk: Risk::High,
        finding: format!(
            "{}% 올린다는 약정은 상한 {}%를 넘습니다. 기간 중의 증액과 갱신에서는 넘는 부분이 효력이 없습니다.",
            rate.value, cap.value
        ),
        advice: format!("증액은 {}% 안에서 한다고 고치십시오.", cap.value),
        place: sentence.place.clone(),
        quote: Some(quoted(&sentence.text)),
        source: cap.source.clone(),
    })
}

/// The deposit that a contract says.
fn deposit(sentences: &[Sentence]) -> Option<i64> {
    let sentence = sentences.iter().find(|sentence| {
        sentence.bare.contains("보증금")
            && figures(&sentence.text).filter_map(Figure::into_amount).any(is_money)
    })?;
    let behind = sentence.text.split_once("보증금").map_or(sentence.text.as_str(), |pair| pair.1);
    let amount =
        figures(behind).filter_map(Figure::into_amount).find(|amount| is_money(amount.clone()))?;
    i64::try_from(amount.value.to_i128()?).ok()
}

fn is_money(amount: Amount) -> bool {
    amount.unit == AmountUnit::Won
}

/// A deposit that is much of the price.
pub(super) fn deep_deposit(
    price: i64,
    deposit: i64,
    senior: i64,
    limits: &Limits,
) -> Result<Option<Finding>, MoneyError> {
    if price <= 0 {
        return Ok(None);
    }
    let all = Number::from(deposit).add(&Number::from(senior))?;
    let percent = share(&all, &Number::from(price))?;
    let most = &limits.deposit_to_price;
    if !percent.compare(&most.value).is_gt() {
        return Ok(None);
    }
    let shown = percent_shown(&percent, 1)?;
    let with_senior =
        if senior > 0 { format!("과 선순위 채권 {}", units(senior)) } else { String::new() };
    Ok(Some(Finding {
        id: "deep_deposit".to_owned(),
        kind: FindingKind::Unusual,
        risk: Risk::High,
        finding: format!(
            "보증금 {}{with_senior}이 집값 {}의 {shown}%입니다. {}%를 넘으면 돌려받지 못할 위험이 큽니다.",
            units(deposit),
            units(price),
            most.value
        ),
        advice: "보증금을 낮추거나 전세보증금반환보증에 들 수 있는지 먼저 확인하십시오.".to_owned(),
        place: None,
        quote: None,
        source: most.source.clone(),
    }))
}

/// A sentence in one line, cut.
fn quoted(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    match line.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests;
