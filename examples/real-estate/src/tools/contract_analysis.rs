//! The tool `contract_analysis`: what is wrong with a lease, and how much its rent may rise.

use std::{sync::Arc, time::Duration};

use hanok_core::{Call, Effect};
use hanok_documents::Contract;
use hanok_model::{FnTool, InvalidSpec, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::Limits;
use crate::documents::{ContractRules, Facts, Finding, Risk, examine};
use crate::money::rent::{RentChange, Terms, Verdict, change, change_of_both};
use crate::money::{AmountError, StatedWon, pair, stated_pair};

/// The longest contract, in bytes.
const LONGEST: usize = 200_000;

/// How many findings the text names; the data have all.
const NAMED: usize = 8;

const DESCRIPTION: &str = "주택 임대차계약서의 본문에서 빠진 보호 조항, 법이 대신하는 조항(강행규정), 이상한 금액을 찾고, \
전세금·보증금·월세의 증액률과 상한(주택임대차보호법 제7조)을 정확히 계산합니다. \
매매계약이나 상가 임대차에는 쓰지 않으며, 법 조문을 찾거나 시세를 알아보는 데에도 쓰지 않습니다. \
이런 말에 씁니다: 올려 달, 올려달, 올리, 올린, 올려도, 인상, 내리, 증액, 계약서 검토, 위험한 조항, 독소 조항.";

/// What the tool takes. The comments are for models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContractQuestion {
    /// 살펴볼 계약서의 본문 전체.
    #[serde(default)]
    pub contract: Option<String>,
    /// 증액에 관한 말 그대로: "전세금을 3에서 3.3억으로 올려 달래요".
    #[serde(default)]
    pub change: Option<String>,
    /// 바뀌기 전의 보증금. `change`를 쓰면 비웁니다.
    #[serde(default)]
    pub before: Option<StatedWon>,
    /// 바뀐 뒤의 보증금.
    #[serde(default)]
    pub after: Option<StatedWon>,
    /// 바뀌기 전의 월세.
    #[serde(default)]
    pub rent_before: Option<StatedWon>,
    /// 바뀐 뒤의 월세.
    #[serde(default)]
    pub rent_after: Option<StatedWon>,
    /// 집값.
    #[serde(default)]
    pub price: Option<StatedWon>,
    /// 보증금보다 먼저 갚아야 하는 채권(근저당 등).
    #[serde(default)]
    pub senior_debt: Option<StatedWon>,
}

/// What the tool answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Analysis {
    /// What the contract says, if one was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<ContractFindings>,
    /// What a change comes to, if one was asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rent: Option<RentAnswer>,
}

/// The findings of a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContractFindings {
    /// How many articles it has.
    pub articles: usize,
    /// What was found, the worst first.
    pub findings: Vec<Finding>,
}

/// The answer about a change of deposit or rent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum RentAnswer {
    /// It was calculated. Of a deposit and a rent together, the amounts are deposits with the rent converted.
    Calculated {
        /// The change.
        change: Box<RentChange>,
        /// Whether the rent was converted into a deposit.
        converted: bool,
    },
    /// An amount was not understood; nothing was calculated.
    Unclear {
        /// What to ask the person.
        question: String,
    },
}

/// The tool, with the limits and rules of the program.
///
/// Effect: pure. Time-out: 10 s.
///
/// # Errors
///
/// None that a caller could cause: its name and arguments are fixed.
pub fn contract_analysis(
    limits: Arc<Limits>,
    rules: Arc<ContractRules>,
) -> Result<FnTool, InvalidSpec> {
    let run = move |question: ContractQuestion, _call: Call| {
        analyse(&question, &limits, &rules).and_then(|analysis| output(&analysis))
    };
    let tool = FnTool::blocking("contract_analysis", DESCRIPTION, run)?;
    Ok(tool.effect(Effect::Pure).timeout(Duration::from_secs(10)))
}

/// The analysis of what was asked.
///
/// # Errors
///
/// [`ToolError::Arguments`] when there is nothing to analyse, or too much.
pub fn analyse(
    question: &ContractQuestion,
    limits: &Limits,
    rules: &ContractRules,
) -> Result<Analysis, ToolError> {
    let contract = match question.contract.as_deref().filter(|text| !text.trim().is_empty()) {
        Some(text) => Some(findings(text, question, limits, rules)?),
        None => None,
    };
    let rent = match rent(question, limits) {
        Ok(answer) => answer,
        Err(RentFault::Amount(error)) => Some(RentAnswer::Unclear { question: error.to_string() }),
        Err(RentFault::Tool(error)) => return Err(error),
    };
    if contract.is_none() && rent.is_none() {
        return Err(ToolError::arguments(
            "살펴볼 것이 없습니다: `contract`에 계약서의 본문을 주거나, `change`에 증액에 관한 말을 주십시오",
        ));
    }
    Ok(Analysis { contract, rent })
}

fn findings(
    text: &str,
    question: &ContractQuestion,
    limits: &Limits,
    rules: &ContractRules,
) -> Result<ContractFindings, ToolError> {
    if text.len() > LONGEST {
        return Err(ToolError::arguments(format!(
            "계약서가 {LONGEST}바이트보다 깁니다. 나누어서 보내 주십시오"
        )));
    }
    let amount = |stated: &Option<StatedWon>| stated.as_ref().map(StatedWon::won).transpose();
    let price = amount(&question.price).map_err(ToolError::arguments)?;
    let senior_debt = amount(&question.senior_debt).map_err(ToolError::arguments)?;
    let contract = Contract::parse(text);
    let facts = Facts { price, senior_debt, deposit: None };
    let mut findings = examine(&contract, facts, rules, limits).map_err(ToolError::arguments)?;
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.risk));
    Ok(ContractFindings { articles: contract.articles.len(), findings })
}

enum RentFault {
    Amount(AmountError),
    Tool(ToolError),
}

fn rent(question: &ContractQuestion, limits: &Limits) -> Result<Option<RentAnswer>, RentFault> {
    let broken = |error| RentFault::Tool(ToolError::arguments(error));
    let one = |before, after| {
        let change = change(before, after, limits).map_err(broken)?;
        Ok(Some(RentAnswer::Calculated { change: Box::new(change), converted: false }))
    };
    if let Some(words) = question.change.as_deref().filter(|words| !words.trim().is_empty()) {
        let (before, after) = pair(words).map_err(RentFault::Amount)?;
        return one(before, after);
    }
    let both = |before: &Option<StatedWon>, after: &Option<StatedWon>| match (before, after) {
        (Some(before), Some(after)) => {
            stated_pair(before, after).map(Some).map_err(RentFault::Amount)
        }
        (None, None) => Ok(None),
        _ => Err(RentFault::Tool(ToolError::arguments(
            "바뀌기 전의 금액과 바뀐 뒤의 금액을 함께 주십시오",
        ))),
    };
    let deposits = both(&question.before, &question.after)?;
    let rents = both(&question.rent_before, &question.rent_after)?;
    match (deposits, rents) {
        (None, None) => Ok(None),
        (Some(pair), None) | (None, Some(pair)) => one(pair.0, pair.1),
        (Some(deposits), Some(rents)) => {
            let before = Terms { deposit: deposits.0, rent: rents.0 };
            let after = Terms { deposit: deposits.1, rent: rents.1 };
            let change = change_of_both(before, after, limits).map_err(broken)?;
            Ok(Some(RentAnswer::Calculated { change: Box::new(change), converted: true }))
        }
    }
}

fn output(analysis: &Analysis) -> Result<ToolOutput, ToolError> {
    let mut lines = Vec::new();
    match &analysis.rent {
        Some(RentAnswer::Calculated { change, converted }) => {
            if *converted {
                lines.push("월세를 보증금으로 환산하여 함께 견주었습니다.".to_owned());
            }
            lines.push(change.said_in_korean());
            if matches!(change.verdict, Verdict::WithinCap | Verdict::AboveCap) {
                let first = change.not_covered.first();
                lines.extend(first.map(|line| format!("다만 {line}.")));
            }
        }
        Some(RentAnswer::Unclear { question }) => lines.push(question.clone()),
        None => {}
    }
    if let Some(contract) = &analysis.contract {
        let (all, articles) = (contract.findings.len(), contract.articles);
        lines.push(format!("조항 {articles}개에서 살펴볼 점 {all}가지를 찾았습니다."));
        for finding in contract.findings.iter().take(NAMED) {
            let place =
                finding.place.as_deref().map(|place| format!("{place}: ")).unwrap_or_default();
            let cited = finding.source.cited();
            lines.push(format!(
                "- [{}] {place}{} 근거: {cited}.",
                risk(finding.risk),
                finding.finding
            ));
        }
        if all > NAMED {
            lines.push(format!("- 그 밖에 {}가지가 더 있습니다.", all - NAMED));
        }
    }
    if lines.len() == 1 && matches!(analysis.rent, Some(RentAnswer::Unclear { .. })) {
        return text(&lines, analysis);
    }
    lines.push("이 분석은 일반적인 안내이며 법률 자문이 아닙니다.".to_owned());
    text(&lines, analysis)
}

fn text(lines: &[String], analysis: &Analysis) -> Result<ToolOutput, ToolError> {
    let data = serde_json::to_value(analysis).map_err(ToolError::failed)?;
    Ok(ToolOutput::new(lines.join("\n")).data(data))
}

fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "낮음",
        Risk::Medium => "중간",
        Risk::High => "높음",
    }
}
