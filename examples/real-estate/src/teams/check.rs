//! The rules that check what a model wrote: values have to stand in what the user wrote, and what is missing is asked for.

use hanok_grounding::{Stated, StatedKind};
use hanok_state::{Json, Role};
use hanok_team::ToolOption;
use serde_json::{Map, Value, json};

use super::{Work, select::PlannedCall};

/// The argument that holds the user's own words; the program fills it in.
pub const OWN_WORDS: &str = "question";

/// What the user wrote, and what the teams before found.
#[derive(Debug)]
pub struct Said {
    question: String,
    stated: Stated,
    /// The district that was named last, for a question that names none.
    district: Option<String>,
}

impl Said {
    /// What is said in `work`, where districts are these. The task is a model's, and so it states nothing.
    #[must_use]
    pub fn of(work: &Work, districts: &[String]) -> Self {
        let of_user = work.conversation.iter().filter(|message| message.role() == Role::User);
        // What is remembered of the user has a mark of its own.
        let (spoken, remembered): (Vec<_>, Vec<_>) =
            of_user.partition(|message| message.metadata().is_empty());
        let found = work.given.iter().map(|(_, data)| data.0.to_string());
        let before = remembered.into_iter().chain(spoken).map(|it| it.text().into_owned());
        let texts: Vec<String> = found.chain(before).chain([work.question.clone()]).collect();
        let named = |text: &String| {
            let places =
                districts.iter().filter_map(|name| Some((text.find(name.as_str())?, name)));
            places.min().map(|place| place.1)
        };
        let district = texts.iter().rev().find_map(named).cloned();
        Self { question: work.question.clone(), stated: Stated::new(texts), district }
    }

    /// Whether a district is meant that has only the name of one of ours: `부산 강서구`.
    fn is_elsewhere(&self, value: &Value) -> bool {
        const OTHERS: [&str; 8] = ["부산", "대구", "인천", "광주", "대전", "울산", "세종", "경기"];
        let mut names = value.as_array().into_iter().flatten().chain([value]);
        let before = |name: &str| self.question.split_once(name).map(|it| it.0.trim_end());
        names.any(|name| {
            let place = name.as_str().and_then(before).and_then(|it| it.rsplit(' ').next());
            place.is_some_and(|place| OTHERS.iter().any(|other| place.starts_with(other)))
        })
    }
}

/// What a value is of, as its description says it.
fn kind(description: &str) -> Option<StatedKind> {
    let kinds = [
        ("(원)", StatedKind::Won),
        ("(%)", StatedKind::Percent),
        ("(㎡)", StatedKind::Area),
        ("(날짜)", StatedKind::Day),
        ("(개월)", StatedKind::Months),
        ("이름", StatedKind::Words),
        ("주소", StatedKind::Words),
        ("특약", StatedKind::Words),
    ];
    kinds.into_iter().find(|kind| description.contains(kind.0)).map(|kind| kind.1)
}

/// What a description says that the value is.
pub(super) fn title(description: &str) -> &str {
    description.split(['(', '.', ':']).next().unwrap_or_default().trim()
}

/// A call of `option` with those of `arguments` that stand in what was said.
pub(super) fn planned(
    option: &ToolOption,
    arguments: &Map<String, Value>,
    said: &Said,
) -> PlannedCall {
    let properties = option.schema.get("properties").and_then(Value::as_object);
    let described = |it: &Value| it.get("description").and_then(Value::as_str).map(str::to_owned);
    let (mut held, mut unsure) = (Map::new(), Vec::new());
    for (name, property) in properties.into_iter().flatten() {
        let description = described(property).unwrap_or_default();
        let is_district = description.contains("(구)");
        let given = arguments.get(name).filter(|value| !value.is_null() && **value != json!([]));
        let value = match given.cloned() {
            _ if name == OWN_WORDS => Some(json!(said.question)),
            None if name == "query" => Some(json!(said.question)),
            None if is_district => said.district.as_ref().map(|name| match property.get("items") {
                Some(_) => json!([name]),
                None => json!(name),
            }),
            given => given,
        };
        let Some(value) = value else { continue };
        let is_said = kind(&description).is_none_or(|kind| said.stated.has(&value, kind));
        if is_said && !(is_district && said.is_elsewhere(&value)) {
            held.insert(name.clone(), value);
        } else {
            unsure.push(title(&description).to_owned());
        }
    }
    let required = option.schema.get("required").and_then(Value::as_array);
    let missing = required.into_iter().flatten().filter_map(Value::as_str);
    let missing = missing.filter(|name| !held.contains_key(*name)).map(|name| {
        let description = properties.and_then(|all| described(all.get(name)?));
        title(description.as_deref().unwrap_or(name)).to_owned()
    });
    let missing: Vec<String> = missing.collect();
    let lacking = (!missing.is_empty())
        .then(|| format!("다음을 알려 주시면 답할 수 있습니다: {}.", missing.join(", ")));
    PlannedCall { tool: option.name.clone(), arguments: Json(held.into()), lacking, unsure }
}
