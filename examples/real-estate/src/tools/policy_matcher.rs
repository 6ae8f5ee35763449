//! The tool `policy_matcher`: which policies a person may use.

use std::{sync::Arc, time::Duration};

use hanok_core::{Call, Effect};
use hanok_model::{FnTool, InvalidSpec, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::conditions::{Condition, Fact, Verdict};
use crate::data::deal::Deal;
use crate::data::policies::Policy;
use crate::data::{Origin, Policies};
use crate::person::Person;

const DESCRIPTION: &str = "정부와 지자체의 주거 지원 정책 가운데 그 사람이 받을 수 있는 것을 찾습니다: 청년, 신혼부부, 생애최초, 다자녀, 출산 가구의 \
전세자금·주택구입 지원, 버팀목 같은 정책 대출, 월세 지원, 세액공제, 취득세 감면. 나이, 소득, 혼인, 자녀, 무주택 여부로 자격과 혜택을 \
가리고, 맞지 않으면 어느 조건인지, 알 수 없으면 무엇을 더 알려야 하는지 답합니다. 은행의 대출 상품과 금리를 견주거나(loan_data), \
법 조문을 찾는 데에는(legal_search) 쓰지 않습니다. \
이런 말에 씁니다: 지원, 정책, 자격, 청년, 신혼부부, 다자녀, 혜택.";

/// What the tool takes. The comments are for models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyQuestion {
    /// 어떤 거래에 대한 정책인지. 비우면 모든 정책.
    pub topic: Option<Deal>,
    /// 그 사람과 집에 대하여 아는 것. 모르는 것은 비웁니다.
    pub person: Person,
}

/// What the tool answers, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PoliciesMatched {
    /// The policies whose conditions are all met.
    pub fits: Vec<Match>,
    /// The policies of which nobody can tell: facts are missing, and no condition is unmet.
    pub cannot_tell: Vec<Match>,
    /// The policies of which a condition is unmet.
    pub does_not_fit: Vec<Match>,
    /// Where the policies come from.
    pub origin: Origin,
}

/// A policy, and how a person stands to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Match {
    /// The policy.
    pub policy: Policy,
    /// The conditions that are not met, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<String>,
    /// The facts that are missing, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Fact>,
}

/// The tool, with the policies of the program.
///
/// Effect: pure. Time-out: 5 s.
///
/// # Errors
///
/// None that a caller could cause: its name and arguments are fixed.
pub fn policy_matcher(policies: Arc<Policies>) -> Result<FnTool, InvalidSpec> {
    let run = move |question: PolicyQuestion, _call: Call| {
        let answer = match_policies(&question, &policies).and_then(|matched| output(&matched));
        std::future::ready(answer)
    };
    let tool = FnTool::new("policy_matcher", DESCRIPTION, run)?;
    Ok(tool.effect(Effect::Pure).timeout(Duration::from_secs(5)))
}

/// How a person stands to each policy.
///
/// # Errors
///
/// [`ToolError::Arguments`] with a fact that is not understood.
pub fn match_policies(
    question: &PolicyQuestion,
    policies: &Policies,
) -> Result<PoliciesMatched, ToolError> {
    let facts = question.person.facts()?;
    let mut matched = PoliciesMatched {
        fits: Vec::new(),
        cannot_tell: Vec::new(),
        does_not_fit: Vec::new(),
        origin: policies.origin.clone(),
    };
    let is_meant = |policy: &&Policy| question.topic.is_none_or(|topic| policy.topic == topic);
    for policy in policies.policies().iter().filter(is_meant) {
        let verdict = Verdict::of(&policy.conditions, &facts);
        let unmet: Vec<String> = verdict.unmet.iter().map(Condition::said_in_korean).collect();
        let mut missing: Vec<Fact> = Vec::new();
        for condition in &verdict.open {
            if !missing.contains(&condition.fact) {
                missing.push(condition.fact);
            }
        }
        let list = match (unmet.is_empty(), missing.is_empty()) {
            (true, true) => &mut matched.fits,
            (true, false) => &mut matched.cannot_tell,
            (false, _) => &mut matched.does_not_fit,
        };
        list.push(Match { policy: policy.clone(), unmet, missing });
    }
    Ok(matched)
}

fn output(matched: &PoliciesMatched) -> Result<ToolOutput, ToolError> {
    let mut lines = Vec::new();
    if !matched.fits.is_empty() {
        lines.push("받을 수 있는 정책:".to_owned());
        let fits = matched.fits.iter();
        lines.extend(fits.map(|one| format!("- {}: {}.", one.policy.name, one.policy.benefit)));
    }
    if !matched.cannot_tell.is_empty() {
        lines.push("더 알아야 가릴 수 있는 정책:".to_owned());
        for one in &matched.cannot_tell {
            let missing: Vec<&str> = one.missing.iter().map(|fact| fact.name()).collect();
            lines.push(format!("- {}: 알려 주실 것은 {}.", one.policy.name, missing.join(", ")));
        }
    }
    if !matched.does_not_fit.is_empty() {
        lines.push("받을 수 없는 정책:".to_owned());
        for one in &matched.does_not_fit {
            lines.push(format!(
                "- {}: 맞지 않는 조건은 {}.",
                one.policy.name,
                one.unmet.join(", ")
            ));
        }
    }
    if lines.is_empty() {
        lines.push("이 거래에 대한 정책이 없습니다.".to_owned());
    }
    lines.push(matched.origin.said_in_korean());
    let data = serde_json::to_value(matched).map_err(ToolError::failed)?;
    Ok(ToolOutput::new(lines.join("\n")).data(data))
}
