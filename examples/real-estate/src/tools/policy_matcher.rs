//! The policies of the state that fit a person.

use hanok_core::BoxError;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Answer;
use crate::{
    data::{Data, Deal, Policy},
    person::Person,
};

/// What the tool takes. The comments are for models.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Asked {
    /// 어떤 거래에 대한 지원인지.
    topic: Option<Deal>,
    #[serde(flatten)]
    person: Person,
}

pub(super) fn answer(asked: Asked, data: &Data) -> Result<Answer, BoxError> {
    let (mut fit, mut open, mut unfit) = (Vec::new(), Vec::new(), Vec::new());
    let is_meant = |policy: &&Policy| asked.topic.is_none_or(|topic| policy.topic == topic);
    for policy in data.policies.rows.iter().filter(is_meant) {
        let name = &policy.name;
        let (unmet, missing) = asked.person.open(&policy.conditions);
        if !unmet.is_empty() {
            let unmet: Vec<_> = unmet.iter().map(|it| it.in_korean()).collect();
            unfit.push(format!("- {name}: 맞지 않는 조건은 {}.", unmet.join(", ")));
        } else if missing.is_empty() {
            fit.push(format!("- {name}: {}.", policy.benefit));
        } else {
            let mut facts: Vec<_> = missing.iter().map(|it| it.fact()).collect();
            facts.dedup();
            open.push(format!("- {name}: 알려 주실 것은 {}.", facts.join(", ")));
        }
    }
    let mut lines = Vec::new();
    for (heading, policies) in [
        ("받을 수 있는 정책:", fit),
        ("더 알아야 가릴 수 있는 정책:", open),
        ("받을 수 없는 정책:", unfit),
    ] {
        if !policies.is_empty() {
            lines.push(heading.to_owned());
            lines.extend(policies);
        }
    }
    if lines.is_empty() {
        lines.push("이 거래에 대한 정책이 없습니다.".to_owned());
    }
    Ok(Answer { source: Some(data.policies.origin.clone()), ..Answer::of(lines) })
}
