//! What a change of a rent comes to, and what a lease lacks.

use hanok_core::BoxError;
use hanok_documents::Contract;
use hanok_figures::{Number, evaluate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Answer;
use crate::{
    data::Data,
    documents::review,
    money::{Change, Rate, Terms, Won, floor},
};

/// What the tool takes. The comments are for models.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Asked {
    /// 바꾸기 전(지금)의 보증금이나 전세금(원).
    before: Option<Won>,
    /// 바꾼 뒤의 보증금이나 전세금(원).
    after: Option<Won>,
    /// 바꾸기 전(지금)의 월세(원).
    rent_before: Option<Won>,
    /// 바꾼 뒤의 월세(원).
    rent_after: Option<Won>,
    /// 뒤의 금액 대신 말한 인상률(%).
    rise: Option<Rate>,
    /// 전세를 월세로, 또는 그 반대로 바꾸는 물음인지.
    convert: Option<bool>,
    /// 집값(원).
    price: Option<Won>,
    /// 사용자의 글. 프로그램이 채웁니다.
    question: Option<String>,
}

pub(super) fn answer(asked: Asked, data: &Data) -> Result<Answer, BoxError> {
    let (mut lines, mut details) = (Vec::new(), json!(null));
    let rate = conversion_rate(data)?;
    if asked.convert == Some(true) {
        lines.push(converted(&asked, &rate, data)?);
    } else if let Some((before, after)) = terms(&asked)? {
        let cap = data.rule("rent_increase")?;
        let change = Change::of(before, after, &cap.value(), &rate)?;
        if before.deposit > 0 && before.rent > 0 {
            lines.push("월세를 보증금으로 환산하여 함께 견주었습니다.".to_owned());
        }
        lines.push(said(&change, &cap.value(), &cap.cited()));
        if change.after > change.before {
            lines.push("다만 기간이 끝난 뒤 새로 맺는 계약(다른 임차인과의 계약이나, 갱신요구권을 쓰지 않고 조건을 다시 합의한 계약)에는 이 상한이 적용되지 않습니다.".to_owned());
        }
        details = json!(change);
    }
    let contract = asked.question.as_deref().map(Contract::parse);
    if let Some(contract) = contract.filter(|contract| contract.articles.len() > 1) {
        let findings = review::of_contract(&contract, asked.price, data)?;
        let (articles, count) = (contract.articles.len(), findings.len());
        lines.push(format!("조항 {articles}개에서 살펴볼 점 {count}가지를 찾았습니다."));
        lines.extend(findings.iter().map(|it| format!("- [{}] {}", it.risk, it.in_korean())));
    }
    if lines.is_empty() {
        return Ok(Answer::lacking("바꾸기 전과 뒤의 금액, 또는 계약서의 본문"));
    }
    lines.push("이 분석은 일반적인 안내이며 법률 자문이 아닙니다.".to_owned());
    Ok(Answer { data: details, ..Answer::of(lines) })
}

/// The terms before and after, if a change was stated.
fn terms(asked: &Asked) -> Result<Option<(Terms, Terms)>, BoxError> {
    let won = |won: Option<Won>| won.map_or(0, |won| won.0);
    let raised = |before: i64| match &asked.rise {
        Some(Rate(rate)) => floor(&evaluate(&format!("{before} * (100 + {rate}) / 100"))?),
        None => Ok(before),
    };
    let before = Terms { deposit: won(asked.before), rent: won(asked.rent_before) };
    let is_stated = asked.before.or(asked.rent_before).is_some();
    if !is_stated || asked.after.or(asked.rent_after).is_none() && asked.rise.is_none() {
        return Ok(None);
    }
    // What is not said to change stays, but for a rate, which raises both.
    let after = |before: i64, after: Option<Won>| match after {
        Some(after) => Ok(after.0),
        None if asked.after.or(asked.rent_after).is_some() => Ok(before),
        None => raised(before),
    };
    let deposit = after(before.deposit, asked.after)?;
    Ok(Some((before, Terms { deposit, rent: after(before.rent, asked.rent_after)? })))
}

/// The change in words.
fn said(change: &Change, cap: &Number, cited: &str) -> String {
    let [before, after, most] =
        [change.before, change.after, change.most].map(|it| Won(it).in_units());
    let Some(percent) = &change.percent else {
        return format!("이전 금액이 0원이어서 증가율을 정할 수 없습니다. 근거: {cited}.");
    };
    let begin = format!("{before}에서 {after}으로 {}%", percent.trim_start_matches('-'));
    match change.after.cmp(&change.before) {
        std::cmp::Ordering::Equal => format!("{before} 그대로이며 오르지 않습니다."),
        std::cmp::Ordering::Less => {
            format!("{begin} 내립니다. 내리는 데에는 상한이 없습니다. 근거: {cited}.")
        }
        _ if change.is_above => format!(
            "{begin} 오릅니다. 상한 {cap}%를 넘으며, 상한까지 올리면 {most}입니다. 근거: {cited}."
        ),
        _ => format!("{begin} 오릅니다. 상한 {cap}%({most}) 안입니다. 근거: {cited}."),
    }
}

/// The rate at which a deposit becomes rent, in per cent a year: the lower of two.
fn conversion_rate(data: &Data) -> Result<Number, BoxError> {
    let with_margin =
        data.rule("base_rate")?.value().add(&data.rule("conversion_margin")?.value())?;
    let ceiling = data.rule("conversion_ceiling")?.value();
    Ok(if with_margin.compare(&ceiling).is_gt() { ceiling } else { with_margin })
}

/// The rent that a deposit becomes, or the deposit that a rent becomes.
fn converted(asked: &Asked, rate: &Number, data: &Data) -> Result<String, BoxError> {
    let cited = data.rule("conversion_margin")?.cited();
    let words = |left: String, right: String| {
        format!("{left}은 전월세 전환율 상한 연 {rate}%로 {right}입니다. 근거: {cited}.")
    };
    match (asked.before, asked.after, asked.rent_before) {
        (Some(before), after, None) if after.is_none_or(|after| after < before) => {
            let moved = before.0 - after.map_or(0, |after| after.0);
            let rent = floor(&evaluate(&format!("{moved} * {rate} / 1200"))?)?;
            let left = format!("월세로 바꾸는 보증금 {}", Won(moved).in_units());
            Ok(words(left, format!("월세 {}까지", Won(rent).in_units())))
        }
        (_, None, Some(rent)) => {
            let deposit = floor(&evaluate(&format!("{} * 1200 / {rate}", rent.0))?)?;
            let left = format!("월세 {}", rent.in_units());
            Ok(words(left, format!("보증금 {}", Won(deposit).in_units())))
        }
        _ => Ok("다음을 알려 주시면 답할 수 있습니다: 바꾸기 전과 뒤의 보증금.".to_owned()),
    }
}
