//! The errors of states that are read from JSON and written as JSON.

use std::fmt;

use thiserror::Error;

/// The most characters of the reason of a fault. The words of serde hold the whole of a text that has the wrong type.
const LONGEST: usize = 300;

/// The faults of JSON that is no update of a state. They are all there at once.
///
/// ```
/// use hanok_state::{State, StateUpdate};
/// use serde_json::json;
///
/// #[derive(State, Clone, Default)]
/// struct Notes {
///     total: u32,
///     #[reduce(append)]
///     lines: Vec<String>,
/// }
///
/// let invalid = NotesUpdate::from_json(json!({"total": -1, "lines": ["a", 2], "totl": 3})).unwrap_err();
/// let pointers: Vec<_> = invalid.faults.iter().map(|fault| fault.pointer.as_str()).collect();
/// assert_eq!(pointers, ["/total", "/lines/1", "/totl"]);
/// assert_eq!(
///     invalid.faults[2].to_string(),
///     "`/totl`: the state has no field `totl`; did you mean `total`?"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", .faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
#[non_exhaustive]
pub struct InvalidJson {
    /// The faults, in the order of the fields of the state. Those of unknown fields are last, sorted.
    pub faults: Vec<JsonFault>,
}

/// One fault of JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonFault {
    /// The JSON pointer of the faulty value (RFC 6901). The empty pointer is the whole.
    pub pointer: String,
    /// What is wrong with it.
    pub reason: String,
}

impl InvalidJson {
    /// The error of these faults.
    pub fn new(faults: Vec<JsonFault>) -> Self {
        Self { faults }
    }

    /// One fault of the whole.
    pub fn of(reason: impl fmt::Display) -> Self {
        let mut reason = reason.to_string();
        if let Some((end, _)) = reason.char_indices().nth(LONGEST) {
            reason.truncate(end);
            reason.push('…');
        }
        Self { faults: vec![JsonFault { pointer: String::new(), reason }] }
    }

    /// Adds the faults of `others`.
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.faults.extend(others.faults);
        self
    }

    /// Moves the faults to the member of this name, or to the item of this index.
    ///
    /// ```
    /// use hanok_state::InvalidJson;
    ///
    /// let invalid = InvalidJson::of("not a number").within("0").within("a/b");
    /// assert_eq!(invalid.to_string(), "`/a~1b/0`: not a number");
    /// ```
    #[must_use]
    pub fn within(mut self, member: &str) -> Self {
        let step = format!("/{}", member.replace('~', "~0").replace('/', "~1"));
        self.faults.iter_mut().for_each(|fault| fault.pointer.insert_str(0, &step));
        self
    }
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "`{}`: ", self.pointer)?;
        }
        f.write_str(&self.reason)
    }
}

/// A field whose value has no JSON, such as a map whose keys are no texts.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use hanok_state::State;
///
/// #[derive(State, Clone, Default)]
/// struct Board {
///     stones: BTreeMap<(u8, u8), bool>,
/// }
///
/// let board = Board { stones: [((3, 3), true)].into() };
/// assert_eq!(board.to_json().unwrap_err().field, "stones");
/// ```
#[derive(Debug, Error)]
#[error("field `{field}` has no JSON")]
#[non_exhaustive]
pub struct NoJson {
    /// The field, with the fields around it: `child.plan`.
    pub field: String,
    /// The cause.
    #[source]
    pub reason: serde_json::Error,
}

impl NoJson {
    /// The error of a value, which [`within`](NoJson::within) moves to its field.
    pub fn of(reason: serde_json::Error) -> Self {
        Self { field: String::new(), reason }
    }

    /// Moves the error to the field within `outer`.
    #[must_use]
    pub fn within(self, outer: &str) -> Self {
        let field = if self.field.is_empty() {
            outer.to_owned()
        } else {
            format!("{outer}.{}", self.field)
        };
        Self { field, ..self }
    }
}
