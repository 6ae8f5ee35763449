//! What an edit changed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One place at which two JSON values differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Difference {
    /// The place, as a JSON pointer (RFC 6901).
    pub at: String,
    /// What stood there; `None` if nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// What stands there; `None` if nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// The places at which `after` differs from `before`: of objects the members, of everything else the whole.
pub(super) fn differences(before: &Value, after: &Value) -> Vec<Difference> {
    let mut all = Vec::new();
    compare("", Some(before), Some(after), &mut all);
    all
}

fn compare(at: &str, before: Option<&Value>, after: Option<&Value>, all: &mut Vec<Difference>) {
    match (before, after) {
        (before, after) if before == after => {}
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            members(at, before, after, all);
        }
        (before, after) => {
            let (before, after) = (before.cloned(), after.cloned());
            all.push(Difference { at: at.to_owned(), before, after });
        }
    }
}

fn members(
    at: &str,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    all: &mut Vec<Difference>,
) {
    let added = after.keys().filter(|name| !before.contains_key(*name));
    for name in before.keys().chain(added) {
        let escaped = name.replace('~', "~0").replace('/', "~1");
        compare(&format!("{at}/{escaped}"), before.get(name), after.get(name), all);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_edit_is_told_by_the_places_that_it_changed() {
        let before = json!({"to": "a", "text": "x", "options": {"cc": [1, 2], "a/b": 1}});
        let after = json!({"to": "b", "options": {"cc": [1], "a/b": 2}, "new": null});
        let all = differences(&before, &after);
        let told: Vec<_> = all
            .iter()
            .map(|it| format!("{} {:?} {:?}", it.at, it.before.is_some(), it.after.is_some()))
            .collect();
        let want = [
            "/options/a~1b true true",
            "/options/cc true true",
            "/text true false",
            "/to true true",
            "/new false true",
        ];
        assert_eq!(told, want);
        assert!(differences(&before, &before).is_empty());
    }
}
