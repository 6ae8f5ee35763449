//! How dangerous a lease is to whoever signs it.
//!
//! Level and score come from rules alone. A model may word a review, and changes neither.

use hanok_figures::Number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::findings::{
    Finding, FindingKind, Risk, Sentence, by_rules, deep_deposit, months_between, short,
};
use super::rules::ContractRules;
use super::terms::LeaseTerms;
use crate::data::limits::Limits;
use crate::money::rent::{Terms, Verdict, change, change_of_both};
use crate::money::{MoneyError, percent_shown, share, units};

/// The most points.
const MOST: u32 = 100;

/// From here a review is [`Level::Medium`].
const MEDIUM: u32 = 15;

/// From here it is [`Level::High`].
const HIGH: u32 = 50;

/// How dangerous a lease is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing stands out.
    Low,
    /// Something is to be asked about.
    Medium,
    /// Not to be signed as it is.
    High,
}

impl Level {
    /// The name in Korean.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "낮음",
            Self::Medium => "중간",
            Self::High => "높음",
        }
    }
}

/// Something that makes a lease more dangerous, with its points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Factor {
    /// Its points: 5, 15 or 50 by its risk.
    pub points: u32,
    /// What it is.
    #[serde(flatten)]
    pub finding: Finding,
}

/// A review. Its level and score are fixed when it is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Review {
    level: Level,
    score: u32,
    factors: Vec<Factor>,
    text: String,
}

impl Review {
    fn of(factors: Vec<Factor>) -> Self {
        let score = factors.iter().map(|factor| factor.points).sum::<u32>().min(MOST);
        let level = match score {
            HIGH.. => Level::High,
            MEDIUM.. => Level::Medium,
            _ => Level::Low,
        };
        let mut text = format!("위험도: {}({score}점).", level.name());
        for factor in &factors {
            let cited = factor.finding.source.cited();
            text.push_str(&format!("\n- {} 근거: {cited}.", factor.finding.finding));
        }
        text.push_str("\n이 검토는 일반적인 안내이며 법률 자문이 아닙니다.");
        Self { level, score, factors, text }
    }

    /// How dangerous the lease is.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// The points, 0 to 100.
    #[must_use]
    pub fn score(&self) -> u32 {
        self.score
    }

    /// What makes it so, the worst first.
    #[must_use]
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The review in words.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same review in the words of `text`. Level, score and factors stay, whatever it says.
    ///
    /// Words that are blank are left out.
    #[must_use]
    pub fn worded(self, text: &str) -> Self {
        match text.trim() {
            "" => self,
            text => Self { text: text.to_owned(), ..self },
        }
    }
}

/// The reasons for which a person should look at the lease before it is signed: clauses of its own, unusual amounts, terms that the
/// law replaces. Empty when there is none.
///
/// # Errors
///
/// [`MoneyError`] for amounts that no lease has.
pub fn review_needed(
    terms: &LeaseTerms,
    rules: &ContractRules,
    limits: &Limits,
) -> Result<Vec<Finding>, MoneyError> {
    let mut findings = Vec::new();
    let clauses: Vec<Sentence> =
        terms.special.iter().map(|text| Sentence::new(Some("특약사항".to_owned()), text)).collect();
    findings.extend(by_rules(&clauses, rules, false));
    findings.extend(period(terms, limits));
    findings.extend(increase(terms, limits)?);
    if let (Some(price), Some(deposit)) = (terms.price, terms.deposit) {
        findings.extend(deep_deposit(price, deposit, terms.senior_debt.unwrap_or(0), limits)?);
    }
    findings.extend(down_payment(terms, limits)?);
    findings.extend(unprotected(terms, limits));
    if !clauses.is_empty() {
        findings.push(own_clauses(clauses.len(), limits));
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.risk));
    Ok(findings)
}

/// The review of a lease.
///
/// # Errors
///
/// As of [`review_needed`].
pub fn review(
    terms: &LeaseTerms,
    rules: &ContractRules,
    limits: &Limits,
) -> Result<Review, MoneyError> {
    let findings = review_needed(terms, rules, limits)?;
    let factors = findings.into_iter().map(|finding| {
        let points = match finding.risk {
            Risk::Low => 5,
            Risk::Medium => 15,
            Risk::High => 50,
        };
        Factor { points, finding }
    });
    Ok(Review::of(factors.collect()))
}

fn period(terms: &LeaseTerms, limits: &Limits) -> Option<Finding> {
    let months = months_between(terms.from?, terms.until?)?;
    let least = limits.lease_term.value.to_i128()?;
    (i128::from(months) < least).then(|| short(months, limits, None, None))
}

/// An increase above the cap against the lease before.
fn increase(terms: &LeaseTerms, limits: &Limits) -> Result<Option<Finding>, MoneyError> {
    let (Some(before), Some(after)) = (terms.previous_deposit, terms.deposit) else {
        return Ok(None);
    };
    let rents = (terms.previous_rent.unwrap_or(0), terms.monthly_rent.unwrap_or(0));
    let change = match rents {
        (0, 0) => change(before, after, limits)?,
        rents => change_of_both(
            Terms { deposit: before, rent: rents.0 },
            Terms { deposit: after, rent: rents.1 },
            limits,
        )?,
    };
    if change.verdict != Verdict::AboveCap {
        return Ok(None);
    }
    Ok(Some(Finding {
        id: "increase_above_cap".to_owned(),
        kind: FindingKind::Replaced,
        risk: Risk::High,
        finding: format!(
            "지난 계약보다 {}% 올라 갱신의 상한 {}%를 넘습니다.",
            change.rate_percent.as_deref().unwrap_or_default(),
            change.cap_percent
        ),
        advice: "갱신이면 상한 안으로 낮추십시오. 새로 맺는 계약이면 상한이 적용되지 않습니다."
            .to_owned(),
        place: None,
        quote: None,
        source: change.source,
    }))
}

fn down_payment(terms: &LeaseTerms, limits: &Limits) -> Result<Option<Finding>, MoneyError> {
    let (Some(part), Some(deposit)) = (terms.down_payment, terms.deposit) else { return Ok(None) };
    if deposit <= 0 {
        return Ok(None);
    }
    let percent = share(&Number::from(part), &Number::from(deposit))?;
    let usual = &limits.down_payment;
    if !percent.compare(&usual.value).is_gt() {
        return Ok(None);
    }
    Ok(Some(Finding {
        id: "high_down_payment".to_owned(),
        kind: FindingKind::Unusual,
        risk: Risk::Medium,
        finding: format!(
            "계약금 {}이 보증금의 {}%로, 흔히 내는 {}%보다 많습니다.",
            units(part),
            percent_shown(&percent, 1)?,
            usual.value
        ),
        advice: "계약금을 낮추고, 등기부를 확인한 뒤에 지급하십시오.".to_owned(),
        place: None,
        quote: None,
        source: usual.source.clone(),
    }))
}

/// Debts that are paid before the deposit.
fn unprotected(terms: &LeaseTerms, limits: &Limits) -> Option<Finding> {
    let senior = terms.senior_debt.filter(|debt| *debt > 0)?;
    Some(Finding {
        id: "senior_debt".to_owned(),
        kind: FindingKind::Missing,
        risk: Risk::Medium,
        finding: format!("보증금보다 먼저 갚아야 하는 채권이 {} 있습니다.", units(senior)),
        advice: "잔금을 치를 때 그 채권을 갚고 말소한다는 특약을 넣거나 보증보험에 드십시오."
            .to_owned(),
        place: None,
        quote: None,
        source: limits.senior_debt.clone(),
    })
}

fn own_clauses(count: usize, limits: &Limits) -> Finding {
    Finding {
        id: "own_clauses".to_owned(),
        kind: FindingKind::Unusual,
        risk: Risk::Low,
        finding: format!("표준 조항에 없는 특약이 {count}개 있습니다."),
        advice: "특약이 임차인에게 불리하면 효력이 없을 수 있으므로 하나씩 살피십시오.".to_owned(),
        place: Some("특약사항".to_owned()),
        quote: None,
        source: limits.own_clauses.clone(),
    }
}
