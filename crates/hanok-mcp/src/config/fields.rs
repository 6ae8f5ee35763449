//! Fields of a JSON object, read with all their faults.

use std::{cell::RefCell, collections::BTreeMap, time::Duration};

use serde_json::{Map, Value};

use super::error::ConfigFault;

/// The longest time that may be set, a day.
const LONGEST: f64 = 86_400.0;

/// The faults that were found so far.
#[derive(Debug, Default)]
pub(super) struct Faults(RefCell<Vec<ConfigFault>>);

impl Faults {
    pub(super) fn add(&self, place: impl Into<String>, what: impl Into<String>) {
        let (place, what) = (place.into(), what.into());
        self.0.borrow_mut().push(ConfigFault { place, what });
    }

    pub(super) fn into_all(self) -> Vec<ConfigFault> {
        self.0.into_inner()
    }
}

/// An object of the configuration, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    pub(super) place: String,
    fields: &'a Map<String, Value>,
    faults: &'a Faults,
}

impl<'a> Fields<'a> {
    /// The object `value`, or a fault.
    pub(super) fn of(place: String, value: &'a Value, faults: &'a Faults) -> Option<Self> {
        match value.as_object() {
            Some(fields) => Some(Self { place, fields, faults }),
            None => {
                faults.add(place, format!("{} stands where an object should", kind(value)));
                None
            }
        }
    }

    /// The place of the field `name`, or of the object itself where that is empty.
    pub(super) fn at(&self, name: &str) -> String {
        match name.is_empty() {
            true => self.place.clone(),
            false => format!("{}.{name}", self.place),
        }
    }

    pub(super) fn fault(&self, name: &str, what: impl Into<String>) {
        self.faults.add(self.at(name), what);
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.fields.keys().map(String::as_str)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    fn value(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        let value = self.value(name)?;
        let text = value.as_str();
        if text.is_none() {
            self.fault(name, format!("{} stands where a text should", kind(value)));
        }
        text
    }

    /// True where true or false stands.
    #[cfg(feature = "oauth")]
    pub(super) fn is_flag(&self, name: &str) -> bool {
        self.value(name).is_some_and(Value::is_boolean)
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        let Some(value) = self.value(name) else { return false };
        value.as_bool().unwrap_or_else(|| {
            self.fault(name, format!("{} stands where true or false should", kind(value)));
            false
        })
    }

    /// Seconds.
    pub(super) fn seconds(&self, name: &str) -> Option<Duration> {
        let value = self.value(name)?;
        let seconds = value.as_f64().filter(|seconds| *seconds > 0.0 && *seconds <= LONGEST);
        if seconds.is_none() {
            let what =
                format!("{value} is no time: write seconds, more than 0 and at most {LONGEST}");
            self.fault(name, what);
        }
        seconds.map(Duration::from_secs_f64)
    }

    /// A list of texts, each with its place.
    pub(super) fn texts(&self, name: &str) -> Option<Vec<(String, &'a str)>> {
        let value = self.value(name)?;
        let Some(list) = value.as_array() else {
            self.fault(name, format!("{} stands where a list of texts should", kind(value)));
            return None;
        };
        let texts = list.iter().enumerate().filter_map(|(at, value)| {
            let name = format!("{name}[{at}]");
            let text = value.as_str();
            if text.is_none() {
                self.fault(&name, format!("{} stands where a text should", kind(value)));
            }
            Some((self.at(&name), text?))
        });
        Some(texts.collect())
    }

    /// An object of texts, each with its place.
    pub(super) fn named_texts(&self, name: &str) -> BTreeMap<&'a str, (String, &'a str)> {
        let Some(fields) = self.object(name) else { return BTreeMap::new() };
        let names = fields.names();
        names.filter_map(|name| Some((name, (fields.at(name), fields.text(name)?)))).collect()
    }

    pub(super) fn object(&self, name: &str) -> Option<Self> {
        Self::of(self.at(name), self.value(name)?, self.faults)
    }

    /// One of `choices`.
    pub(super) fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text(name)?;
        let chosen = choices.iter().find(|choice| choice.0 == text).map(|choice| choice.1);
        if chosen.is_none() {
            let names: Vec<_> = choices.iter().map(|choice| format!("`{}`", choice.0)).collect();
            self.fault(name, format!("`{}` is none of {}", text.escape_debug(), names.join(", ")));
        }
        chosen
    }

    /// Faults of fields that there are not.
    pub(super) fn only(&self, known: &[&str]) {
        for name in self.names().filter(|name| !known.contains(name)) {
            let known =
                known.iter().map(|known| format!("`{known}`")).collect::<Vec<_>>().join(", ");
            self.fault(
                &name.escape_debug().to_string(),
                format!("there is no such field; there are {known}"),
            );
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
