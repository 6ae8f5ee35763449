//! What is risky in a lease: in one that is to be written, and in the text of one that a person was given.

use hanok_core::BoxError;
use hanok_documents::Contract;
use hanok_figures::{AmountUnit, Figure, Number, counts, figures};
use jiff::Unit;
use serde::{Deserialize, Serialize};

use super::Lease;
use crate::{
    data::{ClauseRule, Data, Rule},
    money::{Change, Terms, Won, percent},
};

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// 낮음, 중간 or 높음.
    pub risk: String,
    /// What was found.
    pub finding: String,
    /// The article that says why.
    pub cited: String,
}

/// What is risky in a lease, from 0 to 100 points.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// 낮음, 중간 or 높음.
    pub level: String,
    /// The points.
    pub score: u32,
    /// What was found, the worst first.
    pub findings: Vec<Finding>,
}

impl Finding {
    fn of(risk: &str, rule: &Rule, finding: String) -> Self {
        Self { risk: risk.to_owned(), finding, cited: rule.cited() }
    }

    /// The finding in words.
    #[must_use]
    pub fn in_korean(&self) -> String {
        format!("{} 근거: {}.", self.finding, self.cited)
    }

    fn points(&self) -> u32 {
        match self.risk.as_str() {
            "높음" => 50,
            "중간" => 15,
            _ => 5,
        }
    }
}

impl Review {
    fn of(mut findings: Vec<Finding>) -> Self {
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.points()));
        let score = findings.iter().map(Finding::points).sum::<u32>().min(100);
        let level = match score {
            50.. => "높음",
            15.. => "중간",
            _ => "낮음",
        };
        Self { level: level.to_owned(), score, findings }
    }

    /// The review in words.
    #[must_use]
    pub fn in_korean(&self) -> String {
        let findings = self.findings.iter().map(|it| format!("\n- {}", it.in_korean()));
        format!("위험도: {}({}점).{}", self.level, self.score, findings.collect::<String>())
    }
}

/// What is risky in a lease that is to be written.
///
/// # Errors
///
/// [`BoxError`] when the data lacks a rule.
pub fn of_lease(lease: &Lease, data: &Data) -> Result<Review, BoxError> {
    let special = lease.special.iter().map(String::as_str).collect::<Vec<_>>();
    let mut findings = by_rules(&special, data, false);
    if let Some((from, until)) = lease.from.zip(lease.until) {
        let months = from.until((Unit::Month, until.tomorrow()?))?.get_months();
        findings.extend(short_term(i128::from(months), data)?);
    }
    if let Some((before, after)) = lease.previous_deposit.zip(lease.deposit) {
        let (cap, terms) =
            (data.rule("rent_increase")?, |won: Won| Terms { deposit: won.0, rent: 0 });
        let change = Change::of(terms(before), terms(after), &cap.value(), &cap.value())?;
        if let (true, Some(percent)) = (change.is_above, &change.percent) {
            let most = cap.value();
            let words = format!("지난 계약보다 {percent}% 올라 갱신의 상한 {most}%를 넘습니다.");
            findings.push(Finding::of("높음", cap, words));
        }
    }
    let senior = lease.senior_debt.filter(|debt| debt.0 > 0);
    findings.extend(deep_deposit(lease.price, lease.deposit, senior, data)?);
    if let Some((part, deposit)) = lease.down_payment.zip(lease.deposit).filter(|it| it.1.0 > 0) {
        let usual = data.rule("down_payment")?;
        let share = percent(&part.0.into(), &deposit.0.into(), 1)?;
        if share.parse::<Number>()?.compare(&usual.value()).is_gt() {
            let (part, most) = (part.in_units(), usual.value());
            let words =
                format!("계약금 {part}이 보증금의 {share}%로, 흔히 내는 {most}%보다 많습니다.");
            findings.push(Finding::of("중간", usual, words));
        }
    }
    if let Some(debt) = senior {
        let words = format!("보증금보다 먼저 갚아야 하는 채권이 {} 있습니다.", debt.in_units());
        findings.push(Finding::of("중간", data.rule("senior_debt")?, words));
    }
    if lease.special.is_some() {
        let words =
            "표준 조항에 없는 특약이 있습니다. 임차인에게 불리하면 효력이 없을 수 있습니다.";
        findings.push(Finding::of("낮음", data.rule("own_clauses")?, words.to_owned()));
    }
    Ok(Review::of(findings))
}

/// What is risky or missing in the text of a lease, the worst first.
///
/// # Errors
///
/// [`BoxError`] when the data lacks a rule.
pub fn of_contract(
    contract: &Contract,
    price: Option<Won>,
    data: &Data,
) -> Result<Vec<Finding>, BoxError> {
    let bodies = contract.articles.iter().map(|article| contract.text(&article.body));
    let parts = bodies.chain(contract.appendices.iter().map(|part| contract.text(&part.span)));
    let sentences: Vec<&str> =
        parts.flat_map(str::lines).flat_map(|line| line.split_inclusive("다.")).collect();
    let mut findings = by_rules(&sentences, data, true);
    let cap = data.rule("rent_increase")?;
    let amounts = |text: &str| figures(text).filter_map(Figure::into_amount).collect::<Vec<_>>();
    let rises = ["증액", "인상", "올릴", "올려", "올린"];
    for sentence in sentences.iter().filter(|text| rises.iter().any(|it| text.contains(it))) {
        let above = amounts(sentence).into_iter().find(|amount| {
            amount.unit == AmountUnit::Percent && amount.value.compare(&cap.value()).is_gt()
        });
        if let Some(rate) = above {
            let words =
                format!("{}% 올린다는 약정은 상한 {}%를 넘습니다.", rate.value, cap.value());
            findings.push(Finding::of("높음", cap, words));
        }
    }
    let term = sentences.iter().filter(|sentence| sentence.contains("기간")).find_map(|sentence| {
        counts(sentence).find_map(|count| match count.unit {
            "월" => count.number.to_i128(),
            "년" => count.number.to_i128().map(|years| years * 12),
            _ => None,
        })
    });
    findings.extend(short_term(term.unwrap_or(i128::MAX), data)?);
    let deposit = sentences.iter().filter(|it| it.contains("보증금")).find_map(|sentence| {
        let won = amounts(sentence).into_iter().find(|amount| amount.unit == AmountUnit::Won)?;
        i64::try_from(won.value.to_i128()?).ok().map(Won)
    });
    findings.extend(deep_deposit(price, deposit, None, data)?);
    Ok(Review::of(findings).findings)
}

/// What the rules on clauses find; what is missing only in the whole of a contract.
fn by_rules(sentences: &[&str], data: &Data, is_whole: bool) -> Vec<Finding> {
    let bare = |text: &&str| text.split_whitespace().collect::<String>();
    let sentences: Vec<String> = sentences.iter().map(bare).collect();
    let is_found = |rule: &&ClauseRule| {
        let matches = sentences.iter().any(|sentence| {
            let has = |word: &String| sentence.contains(word.as_str());
            rule.all.iter().all(|group| group.iter().any(has)) && !rule.none.iter().any(has)
        });
        if rule.kind == "missing" { is_whole && !matches } else { matches }
    };
    let finding = |rule: &ClauseRule| Finding {
        risk: rule.risk.clone(),
        finding: rule.finding.clone(),
        cited: format!("{} {}({} 기준)", rule.law, rule.article, rule.as_of),
    };
    data.clauses.iter().filter(is_found).map(finding).collect()
}

fn short_term(months: i128, data: &Data) -> Result<Option<Finding>, BoxError> {
    let rule = data.rule("lease_term")?;
    let least = rule.value();
    let is_short = least.to_i128().is_some_and(|least| months < least);
    let words = format!(
        "임대차 기간이 {months}개월입니다. {least}개월보다 짧게 정한 기간은 {least}개월로 봅니다."
    );
    Ok(is_short.then(|| Finding::of("높음", rule, words)))
}

/// A deposit that is too large for the price.
fn deep_deposit(
    price: Option<Won>,
    deposit: Option<Won>,
    senior: Option<Won>,
    data: &Data,
) -> Result<Option<Finding>, BoxError> {
    let Some((price, deposit)) = price.filter(|price| price.0 > 0).zip(deposit) else {
        return Ok(None);
    };
    let rule = data.rule("deposit_to_price")?;
    let all = deposit.0.saturating_add(senior.map_or(0, |debt| debt.0));
    let share = percent(&all.into(), &price.0.into(), 1)?;
    let is_deep = share.parse::<Number>()?.compare(&rule.value()).is_gt();
    let (deposit, price, most) = (Won(all).in_units(), price.in_units(), rule.value());
    let words = format!(
        "보증금과 선순위 채권 {deposit}이 집값 {price}의 {share}%입니다. {most}%를 넘으면 돌려받지 못할 위험이 큽니다."
    );
    Ok(is_deep.then(|| Finding::of("높음", rule, words)))
}
