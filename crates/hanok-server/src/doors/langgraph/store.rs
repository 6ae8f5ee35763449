//! The store: items of the caller's tenant. What the server keeps there itself is neither shown nor written.

use std::{collections::BTreeSet, time::Duration};

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    routing::{get, post},
};
use hanok_checkpoint::{
    Batch, Expect, FieldPath, Filter, Index, Item, Namespaces, Place, Put, Read, Refresh, Search,
    Store as _, Ttl, Within,
};
use hanok_core::{ItemKey, Labels, Stored, StoredError};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    ids::moment,
    listing::{PageOf, with},
    params::Params,
};
use crate::http::{
    auth::{Role, Signed},
    problem::Problem,
    result::json_of,
    service::{Body, Service},
};

/// What the first label of a namespace begins with that is the server's own.
const OWN: &str = "hanok:";

/// The first label that LangGraph's own server keeps for itself.
const RESERVED: &str = "langgraph";

/// The items, and the namespaces, that are read at a time.
const PAGE: usize = 200;

pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .route("/store/items", get(read).put(write).delete(remove))
        .route("/store/items/search", post(search))
        .route("/store/namespaces", post(namespaces))
}

fn refused(detail: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "HNK-431", detail)
}

/// True for a namespace that is the server's own.
fn is_own(labels: &Labels) -> bool {
    labels.iter().next().is_some_and(|label| label.starts_with(OWN))
}

/// The namespace of these labels, if clients may have items there.
fn labels_of(namespace: &[String]) -> Result<Labels, Problem> {
    match namespace.first().map(String::as_str) {
        None => Err(refused("the namespace is empty: give it at least one label")),
        Some(first) if first == RESERVED || first.starts_with(OWN) => {
            Err(refused("the first label of the namespace is reserved: take another"))
        }
        Some(_) => Ok(Labels::new(namespace)?),
    }
}

fn key_of(signed: &Signed, namespace: &[String], key: &str) -> Result<ItemKey, Problem> {
    if key.is_empty() {
        return Err(refused("the key is empty: name the item"));
    }
    Ok(ItemKey::new(signed.tenant.clone(), labels_of(namespace)?, key)?)
}

fn refresh(refreshes: Option<bool>) -> Refresh {
    if refreshes == Some(false) { Refresh::No } else { Refresh::Yes }
}

fn shown(item: &Item) -> Value {
    json!({
        "namespace": item.key.labels(), "key": item.key.key(), "value": json_of(&item.value),
        "created_at": moment(item.created), "updated_at": moment(item.updated),
    })
}

/// An item to be put.
#[derive(Debug, Deserialize)]
struct Written {
    namespace: Vec<String>,
    key: String,
    value: Map<String, Value>,
    #[serde(default)]
    index: Option<Indexed>,
    /// How long it lives, in minutes.
    #[serde(default)]
    ttl: Option<f64>,
}

/// Which texts of an item are found by a search.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Indexed {
    All(bool),
    Paths(Vec<String>),
}

impl Written {
    fn index(&self) -> Index {
        match &self.index {
            None | Some(Indexed::All(true)) => Index::All,
            Some(Indexed::All(false)) => Index::Off,
            Some(Indexed::Paths(paths)) => Index::Fields(paths.iter().map(|it| path(it)).collect()),
        }
    }

    fn ttl(&self) -> Result<Ttl, Problem> {
        let Some(minutes) = self.ttl else { return Ok(Ttl::Default) };
        let time = Duration::try_from_secs_f64(minutes * 60.0).ok().filter(|time| !time.is_zero());
        let wrong = "`ttl` is a number of minutes above zero";
        time.map(Ttl::After).ok_or_else(|| Problem::unprocessable(wrong))
    }
}

/// A path such as `a.b`; `$` is the whole value. Of a list all items are meant.
fn path(text: &str) -> FieldPath {
    let keys = text.split('.').map(|key| key.split('[').next().unwrap_or_default());
    FieldPath::new(keys.filter(|key| !key.is_empty() && *key != "$"))
}

async fn write(
    State(server): State<Service>,
    signed: Signed,
    Body(written): Body<Written>,
) -> Result<StatusCode, Problem> {
    signed.needs(Role::Run)?;
    let rows = server.runs.rows();
    let key = key_of(&signed, &written.namespace, &written.key)?;
    let put = Put::new(Stored::encode(&written.value)?).index(written.index()).ttl(written.ttl()?);
    rows.store().put(&key, put, rows.now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The item; `null` if there is none.
async fn read(
    State(server): State<Service>,
    signed: Signed,
    params: Params,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Read)?;
    let namespace = params.text("namespace").unwrap_or_default().split('.').map(str::to_owned);
    let namespace: Vec<_> = namespace.filter(|label| !label.is_empty()).collect();
    let key = key_of(&signed, &namespace, params.text("key").unwrap_or_default())?;
    let read = Read { key, refresh: refresh(params.flag("refresh_ttl")?) };
    let rows = server.runs.rows();
    let batch = Batch { reads: vec![read], ..Batch::default() };
    let item = rows.store().batch(batch, rows.now()).await?.items.pop().flatten();
    Ok(Json(item.as_ref().map(shown).unwrap_or_default()))
}

/// An item to be deleted.
#[derive(Debug, Deserialize)]
struct Removed {
    namespace: Vec<String>,
    key: String,
}

async fn remove(
    State(server): State<Service>,
    signed: Signed,
    Body(removed): Body<Removed>,
) -> Result<StatusCode, Problem> {
    signed.needs(Role::Run)?;
    let key = key_of(&signed, &removed.namespace, &removed.key)?;
    let rows = server.runs.rows();
    rows.store().remove(&key, Expect::Any, rows.now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Which items are asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked {
    namespace_prefix: Option<Vec<String>>,
    filter: Option<Map<String, Value>>,
    limit: Option<usize>,
    offset: Option<usize>,
    query: Option<String>,
    refresh_ttl: Option<bool>,
}

async fn search(
    State(server): State<Service>,
    signed: Signed,
    Body(asked): Body<Asked>,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Read)?;
    let page = PageOf::new(asked.limit, asked.offset, 10)?;
    let prefix = asked.namespace_prefix.unwrap_or_default();
    let mut search = match prefix.as_slice() {
        [] => Search::all(signed.tenant.clone()),
        prefix => Search::within(signed.tenant.clone(), labels_of(prefix)?),
    };
    search.filter = filter(asked.filter.as_ref())?;
    search.text = asked.query.filter(|text| !text.trim().is_empty());
    search.refresh = refresh(asked.refresh_ttl);
    let (rows, mut items, mut skip) = (server.runs.rows(), Vec::new(), page.offset);
    while items.len() < page.limit {
        // What is skipped is read with the rest, and no more than a page at a time.
        search.limit = page.limit.saturating_add(skip).min(PAGE);
        let found = rows.store().search(&search, rows.now()).await?;
        let mut next = found.next;
        for hit in found.hits {
            if is_own(hit.item.key.labels()) {
                if hit.score.is_none() {
                    next = Some(behind_own()?);
                    break;
                }
            } else if skip > 0 {
                skip -= 1;
            } else {
                items.push(with(shown(&hit.item), "score", json!(hit.score)));
            }
        }
        search.after = next;
        if search.after.is_none() {
            break;
        }
    }
    items.truncate(page.limit);
    Ok(Json(json!({"items": items})))
}

/// The place in a listing behind all that is the server's own.
fn behind_own() -> Result<Place, Problem> {
    Ok(Place { score: None, labels: behind_own_labels()?, key: "\u{10ffff}".to_owned() })
}

fn behind_own_labels() -> Result<Labels, Problem> {
    Ok(Labels::new([format!("{OWN}\u{10ffff}")])?)
}

/// The filter that a client writes: values of keys, or comparisons such as `{"$gt": 1}`.
fn filter(asked: Option<&Map<String, Value>>) -> Result<Filter, Problem> {
    let mut all = Vec::new();
    for (key, value) in asked.into_iter().flatten() {
        let is_comparison = |it: &&Map<String, Value>| it.keys().any(|key| key.starts_with('$'));
        match value.as_object().filter(is_comparison) {
            None => all.push(Filter::eq([key], value)?),
            Some(comparisons) => {
                for (operator, value) in comparisons {
                    all.push(compared(key, operator, value)?);
                }
            }
        }
    }
    Ok(Filter::And(all))
}

fn compared(key: &str, operator: &str, value: &Value) -> Result<Filter, Problem> {
    let made: Result<Filter, StoredError> = match operator {
        "$eq" => Filter::eq([key], value),
        "$ne" => Filter::ne([key], value),
        "$gt" => Filter::gt([key], value),
        "$gte" => Filter::gte([key], value),
        "$lt" => Filter::lt([key], value),
        "$lte" => Filter::lte([key], value),
        _ => {
            let detail = "a filter knows `$eq`, `$ne`, `$gt`, `$gte`, `$lt` and `$lte`";
            return Err(Problem::unprocessable(detail));
        }
    };
    Ok(made?)
}

/// Which namespaces are asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Listed {
    prefix: Option<Vec<String>>,
    suffix: Option<Vec<String>>,
    max_depth: Option<usize>,
    limit: Option<usize>,
    offset: Option<usize>,
}

impl Listed {
    /// True if the labels begin and end as is asked; `*` is any label.
    fn fits(&self, labels: &Labels) -> bool {
        let fits = |(label, asked): (&str, &String)| asked == "*" || asked == label;
        let labels: Vec<&str> = labels.iter().collect();
        let prefix = self.prefix.as_deref().unwrap_or_default();
        let suffix = self.suffix.as_deref().unwrap_or_default();
        labels.len() >= prefix.len().max(suffix.len())
            && labels.iter().copied().zip(prefix).all(fits)
            && labels.iter().rev().copied().zip(suffix.iter().rev()).all(fits)
    }

    /// Where to look: below what the prefix begins with.
    fn within(&self) -> Result<Within, Problem> {
        let prefix = self.prefix.as_deref().unwrap_or_default();
        let known: Vec<_> = prefix.iter().take_while(|label| *label != "*").cloned().collect();
        Ok(if known.is_empty() { Within::All } else { Within::Labels(labels_of(&known)?) })
    }
}

async fn namespaces(
    State(server): State<Service>,
    signed: Signed,
    Body(asked): Body<Listed>,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Read)?;
    let page = PageOf::new(asked.limit, asked.offset, 100)?;
    let mut query = Namespaces::new(signed.tenant.clone(), asked.within()?).limit(PAGE);
    let (rows, mut found) = (server.runs.rows(), BTreeSet::new());
    while found.len() < page.enough() {
        let labels = rows.store().namespaces(&query, rows.now()).await?;
        let Some(mut last) = labels.last().cloned() else { break };
        let is_last = labels.len() < PAGE;
        for labels in labels {
            if is_own(&labels) {
                last = behind_own_labels()?.max(last);
            } else if asked.fits(&labels) {
                found.insert(labels.cut(asked.max_depth.unwrap_or(usize::MAX)));
            }
        }
        if is_last {
            break;
        }
        query.after = Some(last);
    }
    let (found, _) = page.of(found.into_iter().take(page.enough()).collect());
    Ok(Json(json!({"namespaces": found})))
}
