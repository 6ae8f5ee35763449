//! The part of the query language that the store uses, over entries in memory.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// An entry that was found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    pub(crate) id: String,
    pub(crate) score: f64,
    pub(crate) names: Vec<String>,
}

type Entries = BTreeMap<String, Value>;

/// The entries that `query` fits.
pub(crate) fn found(all: &Entries, query: &Value) -> Vec<Found> {
    let fits = |(id, entry): (&String, &Value)| {
        let mut names = Vec::new();
        let score = score(all, entry, query, &mut names)?;
        Some(Found { id: id.clone(), score, names })
    };
    let found: Vec<Found> = all.iter().filter_map(fits).collect();
    let near = query["knn"].as_object().map(only);
    match near {
        None => found,
        Some((_, near)) => {
            let mut found = found;
            found.sort_by(|a, b| b.score.total_cmp(&a.score));
            found.truncate(near["k"].as_u64().unwrap() as usize);
            found
        }
    }
}

fn only(object: &Map<String, Value>) -> (&String, &Value) {
    assert_eq!(object.len(), 1, "{object:?}");
    object.iter().next().unwrap()
}

/// What an entry scores, if the query fits it.
fn score(all: &Entries, entry: &Value, query: &Value, names: &mut Vec<String>) -> Option<f64> {
    let (kind, of) = only(query.as_object().unwrap());
    match kind.as_str() {
        "bool" => {
            let list = |name: &str| of[name].as_array().cloned().unwrap_or_default();
            for filter in list("filter") {
                score(all, entry, &filter, &mut Vec::new())?;
            }
            let should = list("should");
            let scores: Vec<f64> =
                should.iter().filter_map(|it| score(all, entry, it, names)).collect();
            let least = of["minimum_should_match"].as_u64().unwrap_or(0) as usize;
            (scores.len() >= least).then(|| scores.iter().sum())
        }
        "term" => {
            let (field, asked) = only(of.as_object().unwrap());
            let value = asked.get("value").unwrap_or(asked).as_str().unwrap();
            let count = occurs(&entry[field], field, value);
            if count == 0 {
                return None;
            }
            names.extend(asked.get("_name").and_then(Value::as_str).map(str::to_owned));
            Some(if field == "terms" { bm25(all, entry, value, count) } else { 1.0 })
        }
        "constant_score" => {
            score(all, entry, &of["filter"], names)?;
            Some(of["boost"].as_f64().unwrap())
        }
        "exists" => entry.get(of["field"].as_str().unwrap()).map(|_| 1.0),
        "range" => {
            let (field, bounds) = only(of.as_object().unwrap());
            let at = entry[field].as_i64()?;
            let within =
                at >= bounds["gte"].as_i64().unwrap() && at < bounds["lt"].as_i64().unwrap();
            within.then_some(1.0)
        }
        "knn" => {
            let (field, near) = only(of.as_object().unwrap());
            score(all, entry, &near["filter"], &mut Vec::new())?;
            let (a, b) = (numbers(&near["vector"])?, numbers(&entry[field])?);
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let cosine = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
            Some((1.0 + cosine) / 2.0)
        }
        other => panic!("{other}"),
    }
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}

/// How often `value` is in a field: as a word of a text, or as one of the keywords.
fn occurs(entry: &Value, field: &str, value: &str) -> usize {
    match entry {
        Value::String(text) if field == "terms" => {
            text.split_whitespace().filter(|word| *word == value).count()
        }
        Value::String(text) => usize::from(text == value),
        Value::Array(all) => all.iter().filter(|it| it.as_str() == Some(value)).count(),
        _ => 0,
    }
}

fn length(entry: &Value) -> Option<usize> {
    Some(entry["terms"].as_str()?.split_whitespace().count())
}

/// As Lucene does it, with lengths that are not rounded.
fn bm25(all: &Entries, entry: &Value, term: &str, count: usize) -> f64 {
    let lengths: Vec<usize> = all.values().filter_map(length).collect();
    let mean = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
    let found = all.values().filter(|it| occurs(&it["terms"], "terms", term) > 0).count() as f64;
    let idf = (1.0 + (lengths.len() as f64 - found + 0.5) / (found + 0.5)).ln();
    let (count, length) = (count as f64, length(entry).unwrap() as f64);
    idf * count / (count + 1.2 * (0.25 + 0.75 * length / mean))
}

/// What is counted of the entries that were found.
pub(crate) fn aggregations(all: &Entries, found: &[Found], asked: &Value) -> Value {
    let Some(asked) = asked.as_object() else { return json!({}) };
    let each = asked.iter().map(|(name, asked)| {
        let (kind, of) = only(asked.as_object().unwrap());
        let buckets = match kind.as_str() {
            "filters" => {
                let filters = of["filters"].as_object().unwrap().iter();
                let count = |query: &Value| {
                    let fits =
                        |hit: &&Found| score(all, &all[&hit.id], query, &mut Vec::new()).is_some();
                    json!({ "doc_count": found.iter().filter(fits).count() })
                };
                Value::Object(filters.map(|(name, query)| (name.clone(), count(query))).collect())
            }
            "terms" => {
                let field = of["field"].as_str().unwrap();
                let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
                for value in found.iter().filter_map(|hit| all[&hit.id][field].as_str()) {
                    *counts.entry(value).or_default() += 1;
                }
                counts
                    .into_iter()
                    .map(|(key, count)| json!({ "key": key, "doc_count": count }))
                    .collect()
            }
            other => panic!("{other}"),
        };
        (name.clone(), json!({ "buckets": buckets }))
    });
    Value::Object(each.collect())
}
