//! The loans of banks.

use hanok_core::BoxError;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Answer;
use crate::{
    data::{Data, Deal, Product},
    money::Won,
    person::{Condition, Person},
};

/// What the tool takes. The comments are for models.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Asked {
    /// 빌리는 까닭: 전세자금이면 전세, 주택구입이면 매매, 월세보증금이면 월세.
    purpose: Option<Deal>,
    /// 빌리려는 금액(원).
    amount: Option<Won>,
    #[serde(flatten)]
    person: Person,
}

/// How many loans are shown.
const SHOWN: usize = 5;

pub(super) fn answer(asked: Asked, data: &Data) -> Result<Answer, BoxError> {
    let (mut offers, mut excluded) = (Vec::new(), Vec::new());
    let is_for = |product: &&Product| asked.purpose.is_none_or(|deal| deal == product.purpose);
    for product in data.loans.rows.iter().filter(is_for) {
        let Product { bank, name, rate_from, rate_to, most, conditions, .. } = product;
        let (unmet, open) = asked.person.open(conditions);
        let words = |all: &[&Condition]| all.iter().map(|it| it.in_korean()).collect::<Vec<_>>();
        let mut reasons = Vec::new();
        if let Some(amount) = asked.amount.filter(|amount| amount.0 > *most) {
            let (most, amount) = (Won(*most).in_units(), amount.in_units());
            reasons.push(format!("한도 {most}이 {amount}보다 적음"));
        }
        reasons.extend(words(&unmet).iter().map(|it| format!("조건에 맞지 않음: {it}")));
        if !reasons.is_empty() {
            excluded.push(format!("{bank} {name}({})", reasons.join("; ")));
            continue;
        }
        let open = match open.is_empty() {
            true => String::new(),
            false => format!(" 확인할 조건: {}.", words(&open).join(", ")),
        };
        let most = Won(*most).in_units();
        let line = format!("- {bank} {name}: 연 {rate_from}~{rate_to}%, 한도 {most}.{open}");
        offers.push((rate_from, line));
    }
    // The rates of the file have the same number of places.
    offers.sort();
    let shown = offers.len().min(SHOWN);
    let mut lines = vec![match shown {
        0 => "조건에 맞는 대출 상품이 없습니다.".to_owned(),
        _ => format!(
            "받을 수 있거나 조건을 확인해 볼 대출 상품은 {}개이며, 금리가 낮은 것부터 {shown}개입니다.",
            offers.len()
        ),
    }];
    lines.extend(offers.into_iter().take(SHOWN).map(|offer| offer.1));
    if !excluded.is_empty() {
        excluded.truncate(SHOWN);
        lines.push(format!("맞지 않는 상품: {}.", excluded.join(", ")));
    }
    Ok(Answer { source: Some(data.loans.origin.clone()), ..Answer::of(lines) })
}
