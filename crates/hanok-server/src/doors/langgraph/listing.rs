//! What all lists of LangGraph's API have: filters by containment, pages, and the members that are selected.

use axum::{
    Json,
    http::{HeaderMap, HeaderValue},
    response::{IntoResponse, Response},
};
use serde_json::{Map, Value};

use crate::http::{problem::Problem, result::put};

/// The most items of a page.
const MOST: usize = 1_000;

/// A page of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageOf {
    pub(crate) limit: usize,
    pub(crate) offset: usize,
}

impl PageOf {
    /// The page that is asked for, or the first with `default` items.
    pub(crate) fn new(
        limit: Option<usize>,
        offset: Option<usize>,
        default: usize,
    ) -> Result<Self, Problem> {
        let (limit, offset) = (limit.unwrap_or(default), offset.unwrap_or_default());
        match limit {
            1..=MOST => Ok(Self { limit, offset }),
            _ => Err(Problem::unprocessable(format!("`limit` is a number from 1 to {MOST}"))),
        }
    }

    /// The number of items up to the page's end, and one more, which says that there are more.
    pub(crate) fn enough(self) -> usize {
        self.offset.saturating_add(self.limit).saturating_add(1)
    }

    /// The page of `all`, the items up to its end and maybe one more.
    pub(crate) fn of<T>(self, all: Vec<T>) -> (Vec<T>, HeaderMap) {
        let has_more = all.len() >= self.enough();
        let page: Vec<_> = all.into_iter().skip(self.offset).take(self.limit).collect();
        let mut headers = HeaderMap::new();
        let total = self.offset + page.len() + usize::from(has_more);
        headers.insert("x-pagination-total", HeaderValue::from(total));
        if has_more {
            headers.insert("x-pagination-next", HeaderValue::from(self.offset + self.limit));
        }
        (page, headers)
    }
}

/// An answer that is a page.
pub(crate) fn paged(items: Vec<Value>, headers: HeaderMap) -> Response {
    (headers, Json(items)).into_response()
}

/// True if `sort_order` asks for ascending order. Default: descending.
pub(crate) fn ascends(order: Option<&str>) -> Result<bool, Problem> {
    match order.map(str::to_ascii_lowercase).as_deref() {
        None | Some("desc") => Ok(false),
        Some("asc") => Ok(true),
        Some(_) => Err(Problem::unprocessable("`sort_order` is `asc` or `desc`")),
    }
}

/// True if `value` contains `part`: of an object the members, of an array each item.
pub(crate) fn contains(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::Object(value), Value::Object(part)) => holds(value, part),
        (Value::Array(items), Value::Array(parts)) => {
            parts.iter().all(|part| items.iter().any(|item| contains(item, part)))
        }
        (value, part) => value == part,
    }
}

/// As [`contains`], for objects.
pub(crate) fn holds(value: &Map<String, Value>, part: &Map<String, Value>) -> bool {
    part.iter().all(|(key, part)| value.get(key).is_some_and(|value| contains(value, part)))
}

/// Checks that all names are of `known`.
pub(crate) fn check_names(what: &str, names: &[String], known: &[&str]) -> Result<(), Problem> {
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(Problem::unprocessable(format!(
            "`{what}` knows no `{name}`: it takes {}",
            known.join(", ")
        ))),
    }
}

/// The object with one more member.
pub(crate) fn with(mut object: Value, name: &str, member: Value) -> Value {
    put(&mut object, name, member);
    object
}

/// Leaves out the members that are not selected.
pub(crate) fn select(value: &mut Value, names: &[String]) {
    if let Value::Object(members) = value {
        members.retain(|key, _| names.iter().any(|name| name == key));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_contains_its_parts() {
        let value = json!({"a": 1, "b": {"c": [1, {"d": 2, "e": 3}]}, "n": null});
        for (part, is_in) in [
            (json!({}), true),
            (json!({"a": 1}), true),
            (json!({"b": {"c": [{"e": 3}]}}), true),
            (json!({"n": null}), true),
            (json!({"a": "1"}), false),
            (json!({"b": {"c": [2]}}), false),
            (json!({"z": null}), false),
        ] {
            assert_eq!(contains(&value, &part), is_in, "{part}");
        }
    }

    #[test]
    fn a_page_says_whether_there_is_another() {
        let page = PageOf::new(Some(2), Some(1), 10).unwrap();
        let (items, headers) = page.of(vec![0, 1, 2, 3]);
        assert_eq!(items, [1, 2]);
        assert_eq!(
            (&headers["x-pagination-total"], &headers["x-pagination-next"]),
            (&4.into(), &3.into())
        );
        let (items, headers) = page.of(vec![0, 1]);
        assert_eq!((items, headers.get("x-pagination-next")), (vec![1], None));
        assert!(
            PageOf::new(Some(0), None, 10).is_err() && PageOf::new(Some(1_001), None, 10).is_err()
        );
    }
}
