//! Searches for threads.

use std::{cmp::Ordering, collections::BTreeMap};

use axum::{Json, Router, extract::State, response::Response, routing::post};
use hanok_checkpoint::Filter;
use hanok_core::StoredError;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    ids::read_thread,
    known::Known,
    listing::{PageOf, ascends, check_names, holds, paged, select, with},
    picture,
    threads::Parts,
};
use crate::{
    http::{
        auth::{Role, Signed},
        problem::Problem,
        service::{Body, Service},
    },
    rows::{
        keys::public_id,
        thread::{ThreadRow, ThreadStatus},
    },
};

const MEMBERS: &[&str] = &[
    "thread_id",
    "created_at",
    "updated_at",
    "state_updated_at",
    "metadata",
    "config",
    "status",
    "values",
    "interrupts",
    "error",
];
const SORTS: &[&str] = &["thread_id", "status", "created_at", "updated_at", "state_updated_at"];
const ROOTS: &[&str] = &["values", "metadata", "config", "interrupts"];

/// The most paths that are extracted.
const MOST_PATHS: usize = 10;

pub(crate) fn routes() -> Router<Service> {
    Router::new().route("/threads/search", post(search)).route("/threads/count", post(count))
}

/// Which threads are asked for, and what of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked {
    limit: Option<usize>,
    offset: Option<usize>,
    metadata: Option<Map<String, Value>>,
    values: Option<Map<String, Value>>,
    ids: Option<Vec<String>>,
    status: Option<ThreadStatus>,
    sort_by: Option<String>,
    sort_order: Option<String>,
    select: Option<Vec<String>>,
    extract: Option<BTreeMap<String, String>>,
}

async fn search(
    State(server): State<Service>,
    signed: Signed,
    Body(asked): Body<Asked>,
) -> Result<Response, Problem> {
    signed.needs(Role::Read)?;
    let page = PageOf::new(asked.limit, asked.offset, 10)?;
    let (order, paths) = (Order::of(&asked)?, asked.paths()?);
    check_names("select", asked.select.as_deref().unwrap_or_default(), MEMBERS)?;
    // Of those that were found no more are held than the page needs, twice.
    let (mut found, enough) = (Vec::new(), page.enough());
    asked
        .each(&server, &signed, |row| {
            found.push(row);
            if found.len() >= enough.saturating_mul(2) {
                order.cut(&mut found, enough);
            }
        })
        .await?;
    order.cut(&mut found, enough);
    let (found, headers) = page.of(found);
    let mut shown = Vec::new();
    for row in found {
        let known = server.known_of(&signed, row).await?;
        shown.push(asked.shown(&known, &paths).await?);
    }
    Ok(paged(shown, headers))
}

async fn count(
    State(server): State<Service>,
    signed: Signed,
    Body(asked): Body<Asked>,
) -> Result<Json<usize>, Problem> {
    signed.needs(Role::Read)?;
    let mut count = 0;
    asked.each(&server, &signed, |_| count += 1).await?;
    Ok(Json(count))
}

impl Asked {
    /// Tells `found` each thread that fits, page by page.
    async fn each(
        &self,
        server: &Service,
        signed: &Signed,
        mut found: impl FnMut(ThreadRow),
    ) -> Result<(), Problem> {
        let (rows, tenant) = (server.runs.rows(), &signed.tenant);
        if let Some(ids) = &self.ids {
            for id in ids.iter().map(|id| read_thread(id)) {
                let row = rows.thread(tenant, id?).await?.map(|(row, _)| row);
                if let Some(row) = row.filter(|row| self.fits(row)) {
                    self.tell(server, signed, row, &mut found).await?;
                }
            }
            return Ok(());
        }
        let filter = self.filter()?;
        let mut after = None;
        loop {
            let (page, next) = rows.threads(tenant, filter.clone(), after).await?;
            for row in page.into_iter().filter(|row| self.fits(row)) {
                self.tell(server, signed, row, &mut found).await?;
            }
            after = next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Tells of a thread if its state fits. The state is read only if something is asked of it.
    async fn tell(
        &self,
        server: &Service,
        signed: &Signed,
        row: ThreadRow,
        found: &mut impl FnMut(ThreadRow),
    ) -> Result<(), Problem> {
        if let Some(part) = self.values.as_ref().filter(|part| !part.is_empty()) {
            let known = server.known_of(signed, row.clone()).await?;
            let Some(of) = known.graph.as_ref().filter(|of| of.head.is_some()) else {
                return Ok(());
            };
            let values = picture::values(of).await?;
            if !values.as_object().is_some_and(|values| holds(values, part)) {
                return Ok(());
            }
        }
        found(row);
        Ok(())
    }

    /// True if what the row says fits.
    fn fits(&self, row: &ThreadRow) -> bool {
        self.status.is_none_or(|status| row.status == status)
            && self.metadata.as_ref().is_none_or(|part| holds(&row.metadata, part))
    }

    /// The part of the question that the store answers.
    fn filter(&self) -> Result<Filter, StoredError> {
        let mut all = Vec::new();
        if let Some(status) = self.status {
            all.push(Filter::eq(["status"], status.as_str())?);
        }
        for (key, part) in self.metadata.iter().flatten() {
            leaves(&mut vec!["metadata", key], part, &mut all)?;
        }
        Ok(Filter::And(all))
    }

    /// The paths that are extracted, by their names.
    fn paths(&self) -> Result<Vec<(String, Vec<Key>)>, Problem> {
        let extract = self.extract.iter().flatten();
        if extract.clone().count() > MOST_PATHS {
            return Err(Problem::unprocessable(format!(
                "`extract` has at most {MOST_PATHS} paths"
            )));
        }
        extract.map(|(name, path)| Ok((name.clone(), read_keys(path)?))).collect()
    }

    /// A thread with what is selected of it.
    async fn shown(&self, known: &Known, paths: &[(String, Vec<Key>)]) -> Result<Value, Problem> {
        let select_names = self.select.as_ref();
        let starts = |name: &str| {
            paths
                .iter()
                .any(|(_, keys)| matches!(keys.first(), Some(Key::Name(root)) if root == name))
        };
        let has = |name: &str| {
            select_names.is_none_or(|names| names.iter().any(|one| one == name)) || starts(name)
        };
        let parts = Parts { values: has("values"), interrupts: has("interrupts") };
        let mut shown = known.shown(parts).await?;
        let extracted = paths.iter().map(|(name, keys)| (name.clone(), extract(&shown, keys)));
        let extracted: Map<_, _> = extracted.collect();
        if let Some(names) = select_names {
            select(&mut shown, names);
        }
        Ok(match extracted.is_empty() {
            true => shown,
            false => with(shown, "extracted", Value::Object(extracted)),
        })
    }
}

/// Collects the leaves of `part` as equalities. A list and `null` are left to [`holds`].
fn leaves<'a>(
    path: &mut Vec<&'a str>,
    part: &'a Value,
    all: &mut Vec<Filter>,
) -> Result<(), StoredError> {
    match part {
        Value::Object(members) => {
            for (key, part) in members {
                path.push(key);
                leaves(path, part, all)?;
                path.pop();
            }
        }
        Value::Null | Value::Array(_) => {}
        leaf => all.push(Filter::eq(path.iter().copied(), leaf)?),
    }
    Ok(())
}

/// A step of a path into a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Key {
    Name(String),
    /// An index; a negative one counts from the end.
    Index(i64),
}

/// Reads a path such as `values.log[-1]`.
fn read_keys(path: &str) -> Result<Vec<Key>, Problem> {
    let wrong = || {
        let roots = ROOTS.join(", ");
        Problem::unprocessable(format!(
            "`{path}` is no path to extract: it begins with one of {roots}, such as `values.log[-1]`"
        ))
    };
    let mut keys = Vec::new();
    for part in path.split('.') {
        let mut pieces = part.split('[');
        keys.extend(
            pieces.next().filter(|name| !name.is_empty()).map(|name| Key::Name(name.to_owned())),
        );
        for piece in pieces {
            let index = piece.strip_suffix(']').and_then(|index| index.parse().ok());
            keys.push(Key::Index(index.ok_or_else(wrong)?));
        }
    }
    match keys.first() {
        Some(Key::Name(root)) if ROOTS.contains(&root.as_str()) => Ok(keys),
        _ => Err(wrong()),
    }
}

/// What stands at the end of a path; `null` if nothing does.
fn extract(thread: &Value, keys: &[Key]) -> Value {
    let end = keys.iter().try_fold(thread, |value, key| match key {
        Key::Name(name) => value.get(name),
        Key::Index(index) => {
            let items = value.as_array()?;
            let from_end = items.len().checked_add_signed(isize::try_from(*index).ok()?);
            let at = if *index < 0 { from_end } else { usize::try_from(*index).ok() };
            items.get(at?)
        }
    });
    end.cloned().unwrap_or_default()
}

/// The order in which threads are listed.
#[derive(Debug, Clone)]
struct Order {
    by: String,
    ascends: bool,
}

impl Order {
    fn of(asked: &Asked) -> Result<Self, Problem> {
        let by = asked.sort_by.clone().unwrap_or_else(|| "created_at".to_owned());
        check_names("sort_by", std::slice::from_ref(&by), SORTS)?;
        Ok(Self { by, ascends: ascends(asked.sort_order.as_deref())? })
    }

    /// Keeps the first `most`, in order.
    fn cut(&self, rows: &mut Vec<ThreadRow>, most: usize) {
        rows.sort_by(|a, b| self.compare(a, b));
        rows.truncate(most);
    }

    fn compare(&self, a: &ThreadRow, b: &ThreadRow) -> Ordering {
        let by_id = || public_id(&a.name).cmp(&public_id(&b.name));
        let order = match self.by.as_str() {
            "thread_id" => by_id(),
            "status" => a.status.as_str().cmp(b.status.as_str()),
            "created_at" => a.created.cmp(&b.created),
            _ => a.updated.cmp(&b.updated),
        };
        let order = order.then_with(by_id);
        if self.ascends { order } else { order.reverse() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_leads_into_a_thread() {
        let thread = json!({"values": {"log": ["a", {"b": 1}]}, "metadata": {}});
        for (path, end) in [
            ("values.log[0]", json!("a")),
            ("values.log[-1].b", json!(1)),
            ("values.log[-3]", Value::Null),
            ("values.log[9]", Value::Null),
            ("metadata.owner", Value::Null),
        ] {
            assert_eq!(extract(&thread, &read_keys(path).unwrap()), end, "{path}");
        }
        for path in ["", "status", "values[x]", "[0]", "values.log[0"] {
            assert!(read_keys(path).is_err(), "{path}");
        }
    }
}
