//! The tool `loan_data`: the loans that banks offer, and why others are no choice.

use std::{sync::Arc, time::Duration};

use hanok_core::{Call, Effect};
use hanok_model::{FnTool, InvalidSpec, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::conditions::{Condition, Verdict};
use crate::data::loans::{LoanProduct, Purpose};
use crate::data::{LoanProducts, Origin};
use crate::money::{StatedWon, units};
use crate::person::Person;

/// How many products the text names; the data have all.
const NAMED: usize = 5;

const DESCRIPTION: &str = "은행의 대출 상품을 찾아 금리가 낮은 것부터 보여줍니다: 전세자금대출, 주택담보·주택구입대출, 월세보증금대출의 금리, \
한도, 조건. 필요한 금액, 소득, 나이, 생애최초 여부로 고르고, 맞지 않는 상품은 그 까닭을 알려줍니다. 어떤 대출을 받을 수 있는지, \
어느 은행의 이자가 싼지 물을 때 씁니다. 매달 얼마를 갚는지나 LTV, DSR을 계산하거나(loan_simulator), \
정부의 지원 정책을 찾는 데에는(policy_matcher) 쓰지 않습니다. \
이런 말에 씁니다: 대출 상품, 대출 추천, 어떤 대출, 대출 비교.";

/// What the tool takes. The comments are for models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LoanSearch {
    /// 대출의 쓰임새. 비우면 모든 대출.
    pub purpose: Option<Purpose>,
    /// 빌리려는 금액.
    pub amount: Option<StatedWon>,
    /// 빌리는 사람과 집에 대하여 아는 것.
    pub person: Person,
}

/// What the tool answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoansFound {
    /// The products that are a choice, the lowest rate first. Some may depend on facts that are missing.
    pub offers: Vec<Offer>,
    /// The products that are none, and why, in the order of the file.
    pub excluded: Vec<ExcludedLoan>,
    /// Where the products come from.
    pub origin: Origin,
}

/// A product that is a choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// The product.
    pub product: LoanProduct,
    /// The conditions that nobody could test yet, in words.
    pub open: Vec<String>,
}

/// A product that is no choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExcludedLoan {
    /// The product's name that no other has.
    pub id: String,
    /// The bank.
    pub bank: String,
    /// The product.
    pub name: String,
    /// Why, in words: one reason at least.
    pub reasons: Vec<String>,
}

/// The tool, with the products of the program.
///
/// Effect: pure. Time-out: 5 s.
///
/// # Errors
///
/// None that a caller could cause: its name and arguments are fixed.
pub fn loan_data(loans: Arc<LoanProducts>) -> Result<FnTool, InvalidSpec> {
    let run = move |question: LoanSearch, _call: Call| {
        let answer = search_loans(&question, &loans).and_then(|loans| output(&loans));
        std::future::ready(answer)
    };
    let tool = FnTool::new("loan_data", DESCRIPTION, run)?;
    Ok(tool.effect(Effect::Pure).timeout(Duration::from_secs(5)))
}

/// The loans for what was asked.
///
/// # Errors
///
/// [`ToolError::Arguments`] with an amount that is not understood.
pub fn search_loans(question: &LoanSearch, loans: &LoanProducts) -> Result<LoansFound, ToolError> {
    let amount = question.amount.as_ref().map(StatedWon::won).transpose();
    let amount = amount.map_err(ToolError::arguments)?;
    let facts = question.person.facts()?;
    let (mut offers, mut excluded) = (Vec::new(), Vec::new());
    for product in loans.products() {
        let verdict = Verdict::of(&product.conditions, &facts);
        let mut reasons = Vec::new();
        if let Some(purpose) = question.purpose.filter(|purpose| *purpose != product.purpose) {
            let (own, other) = (product.purpose.name(), purpose.name());
            reasons.push(format!("{own} 대출이며 {other} 대출이 아님"));
        }
        if let Some(amount) = amount.filter(|amount| *amount > product.most) {
            reasons.push(format!("한도 {}이 {}보다 적음", units(product.most), units(amount)));
        }
        let unmet = verdict.unmet.iter().map(Condition::said_in_korean);
        reasons.extend(unmet.map(|condition| format!("조건에 맞지 않음: {condition}")));
        if reasons.is_empty() {
            let open = verdict.open.iter().map(Condition::said_in_korean).collect();
            offers.push(Offer { product: product.clone(), open });
        } else {
            excluded.push(ExcludedLoan {
                id: product.id.clone(),
                bank: product.bank.clone(),
                name: product.name.clone(),
                reasons,
            });
        }
    }
    offers.sort_by(|one: &Offer, other: &Offer| {
        let rates = one.product.lowest().compare(&other.product.lowest());
        rates.then_with(|| one.product.id.cmp(&other.product.id))
    });
    Ok(LoansFound { offers, excluded, origin: loans.origin.clone() })
}

fn output(found: &LoansFound) -> Result<ToolOutput, ToolError> {
    let mut lines = Vec::new();
    if found.offers.is_empty() {
        lines.push("조건에 맞는 대출 상품이 없습니다.".to_owned());
    } else {
        lines.push(format!(
            "받을 수 있거나 조건을 확인해 볼 대출 상품은 {}개이며, 금리가 낮은 것부터 {}개입니다.",
            found.offers.len(),
            found.offers.len().min(NAMED)
        ));
    }
    for offer in found.offers.iter().take(NAMED) {
        let LoanProduct { bank, name, rate_from, rate_to, most, .. } = &offer.product;
        let open = if offer.open.is_empty() {
            String::new()
        } else {
            format!(" 확인할 조건: {}.", offer.open.join(", "))
        };
        lines.push(format!(
            "- {bank} {name}: 연 {rate_from}~{rate_to}%, 한도 {}.{open}",
            units(*most)
        ));
    }
    if !found.excluded.is_empty() {
        let of_conditions = |loan: &&ExcludedLoan| {
            loan.reasons.iter().all(|reason| !reason.ends_with("대출이 아님"))
        };
        let near: Vec<String> = found
            .excluded
            .iter()
            .filter(of_conditions)
            .take(NAMED)
            .map(|loan| format!("{} {}({})", loan.bank, loan.name, loan.reasons.join("; ")))
            .collect();
        if !near.is_empty() {
            lines.push(format!("맞지 않는 상품: {}.", near.join(", ")));
        }
    }
    lines.push(found.origin.said_in_korean());
    let data = serde_json::to_value(found).map_err(ToolError::failed)?;
    Ok(ToolOutput::new(lines.join("\n")).data(data))
}
