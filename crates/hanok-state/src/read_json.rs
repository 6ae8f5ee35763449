//! The reading of an object of fields, and what the rules have in common in reading theirs.

use std::collections::BTreeMap;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};

use crate::{
    error::listed,
    json_error::{InvalidJson, JsonFault, NoJson},
};

/// The number of levels to which a value may be nested: half of those to which JSON and the log are read, so that a stored value
/// can be read.
pub(crate) const DEEPEST: usize = 64;

/// The most names that the fault of an unknown one suggests.
const SUGGESTED: usize = 3;

/// The fields of an object that are not read yet, and the faults of those that are.
#[derive(Debug)]
pub struct JsonFields {
    unread: Map<String, Value>,
    faults: Vec<JsonFault>,
}

impl JsonFields {
    /// The fields of `json`.
    ///
    /// # Errors
    ///
    /// [`InvalidJson`] when it is no object.
    pub fn new(json: Value) -> Result<Self, InvalidJson> {
        match json {
            Value::Object(unread) => Ok(Self { unread, faults: Vec::new() }),
            other => {
                dismantle(other);
                Err(InvalidJson::of("not an object with the names of fields"))
            }
        }
    }

    /// Takes `field` out, if it is there, and reads it. Its faults are kept.
    pub(crate) fn read<W>(
        &mut self,
        field: &str,
        read: impl FnOnce(Value) -> Result<W, InvalidJson>,
    ) -> Option<W> {
        let json = self.unread.remove(field)?;
        match shallow(json).ok_or_else(too_deep).and_then(read) {
            Ok(write) => Some(write),
            Err(invalid) => {
                self.faults.extend(invalid.within(field).faults);
                None
            }
        }
    }

    /// The fields that are not read.
    pub(crate) fn into_unread(self) -> Map<String, Value> {
        self.unread
    }

    /// Checks that every field was one of these, and that none had a fault.
    ///
    /// # Errors
    ///
    /// [`InvalidJson`] with all faults.
    pub fn finish(self, known: &[&str]) -> Result<(), InvalidJson> {
        let Self { unread, mut faults } = self;
        // The same order, whatever features serde_json was built with.
        for (field, json) in BTreeMap::from_iter(unread) {
            dismantle(json);
            faults.extend(InvalidJson::of(unknown(&field, known)).within(&field).faults);
        }
        if faults.is_empty() { Ok(()) } else { Err(InvalidJson { faults }) }
    }
}

#[cold]
fn unknown(field: &str, known: &[&str]) -> String {
    let known: Vec<_> = known.iter().map(ToString::to_string).collect();
    let near = hanok_core::near(&field.to_lowercase(), &known, SUGGESTED);
    match near.as_slice() {
        [] => format!("the state has no field `{field}`; there are {}", listed(&known)),
        near => format!("the state has no field `{field}`; did you mean {}?", listed(near)),
    }
}

/// Reads a value by its `Deserialize`.
pub(crate) fn value<T: DeserializeOwned>(json: Value) -> Result<T, InvalidJson> {
    serde_path_to_error::deserialize(json).map_err(|error| at(error.path(), error.inner()))
}

/// The fault at `path`, as far as that is known.
fn at(path: &Path, error: &serde_json::Error) -> InvalidJson {
    let step = |step: &Segment| match step {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        Segment::Enum { variant } => Some(variant.clone()),
        Segment::Unknown => None,
    };
    let steps: Vec<_> = path.iter().map_while(step).collect();
    steps.iter().rev().fold(InvalidJson::of(error), |fault, step| fault.within(step))
}

/// Reads each of `members`, of which one is its name or index and its JSON.
pub(crate) fn each<N: ToString, J, T>(
    members: impl IntoIterator<Item = (N, J)>,
    read: impl Fn(&N, J) -> Result<T, InvalidJson>,
) -> Result<Vec<T>, InvalidJson> {
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    for (name, json) in members {
        match read(&name, json) {
            Ok(one) => all.push(one),
            Err(invalid) => faults.extend(invalid.within(&name.to_string()).faults),
        }
    }
    if faults.is_empty() { Ok(all) } else { Err(InvalidJson { faults }) }
}

/// Writes a value by its `Serialize`.
pub(crate) fn json_of<T: Serialize + ?Sized>(value: &T) -> Result<Value, NoJson> {
    serde_json::to_value(value).map_err(NoJson::of)
}

/// The value, unless it is nested deeper than a value may be.
pub(crate) fn shallow(json: Value) -> Option<Value> {
    if !is_deeper(&json, DEEPEST) {
        return Some(json);
    }
    dismantle(json);
    None
}

pub(crate) fn too_deep() -> InvalidJson {
    InvalidJson::of(format_args!("nested deeper than {DEEPEST} levels"))
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    let deeper = |part: &Value| levels == 0 || is_deeper(part, levels - 1);
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(deeper),
        Value::Object(entries) => levels == 0 || entries.values().any(deeper),
        _ => false,
    }
}

/// Drops a value level by level: dropped as a whole, one that is deep enough overflows the stack.
fn dismantle(json: Value) {
    let mut parts = vec![json];
    while let Some(part) = parts.pop() {
        match part {
            Value::Array(items) => parts.extend(items),
            Value::Object(entries) => parts.extend(entries.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}
