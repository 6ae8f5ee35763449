//! Which items a search is for.

use std::{cmp::Ordering, fmt, sync::Arc};

use hanok_core::Stored;

use super::value::Value;

/// A way into a value: the keys to follow, the outermost first. Without a key it is the value itself.
///
/// A key is any text and means itself: `FieldPath::new(["a.b"])` is one key with a dot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath(Arc<[String]>);

impl FieldPath {
    /// The way along `keys`.
    pub fn new<K: Into<String>>(keys: impl IntoIterator<Item = K>) -> Self {
        Self(keys.into_iter().map(Into::into).collect())
    }

    /// The keys.
    pub fn keys(&self) -> &[String] {
        &self.0
    }

    /// The value at its end in `value`; `None` where a key is missing, or what should have it is no map.
    pub fn find(&self, value: &Stored) -> Option<Stored> {
        self.0.iter().try_fold(value.clone(), |at, key| {
            let entries = at.to_entries().ok()?;
            let is_it = |name: &Stored| name.as_str().is_ok_and(|name| name == key);
            entries.into_iter().find_map(|(name, value)| is_it(&name).then_some(value))
        })
    }

    /// Every text at its end in `value` and below, in the order of the keys.
    pub fn texts(&self, value: &Stored) -> Vec<String> {
        let mut texts = Vec::new();
        if let Some(stored) = self.find(value).as_ref().and_then(Value::of) {
            stored.texts(&mut texts);
        }
        texts
    }

    pub(super) fn child(&self, key: &str) -> Self {
        Self(self.0.iter().cloned().chain([key.to_owned()]).collect())
    }
}

impl From<&str> for FieldPath {
    /// The way of one key.
    fn from(key: &str) -> Self {
        Self::new([key])
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, key) in self.0.iter().enumerate() {
            write!(f, "{}{}", if i > 0 { "/" } else { "" }, key.escape_debug())?;
        }
        Ok(())
    }
}

/// Which items a search is for, by what stands in their values. Everything in it is data and means itself.
///
/// - Numbers compare by what they amount to, whole or not, without rounding: 1 equals 1.0.
/// - Values of different types are not equal, and neither is greater: only numbers, and texts by their bytes, have an
///   order.
/// - A field that is missing fits no comparison, `Ne` neither. One that holds nil is there.
/// - [`Filter::Not`] turns the answer of the whole of what it holds: `Not(Eq)` fits where the field is missing, `Ne` does
///   not.
///
/// ```
/// use hanok_checkpoint::Filter;
/// use hanok_core::Stored;
///
/// let kim = Stored::encode(&std::collections::BTreeMap::from([("age", 31)]))?;
/// let adult = Filter::gte(["age"], &18)?;
/// assert!(adult.fits(&kim));
/// assert!(!Filter::ne(["name"], &"Kim")?.fits(&kim));
/// # Ok::<(), hanok_core::StoredError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Filter {
    /// The value equals this.
    Eq(FieldPath, Stored),
    /// The value does not equal this.
    Ne(FieldPath, Stored),
    /// The value is greater than this.
    Gt(FieldPath, Stored),
    /// The value is greater than this, or equals it.
    Gte(FieldPath, Stored),
    /// The value is less than this.
    Lt(FieldPath, Stored),
    /// The value is less than this, or equals it.
    Lte(FieldPath, Stored),
    /// Something is there.
    Exists(FieldPath),
    /// All of these fit. Of none, everything does.
    And(Vec<Filter>),
    /// One of these fits. Of none, nothing does.
    Or(Vec<Filter>),
    /// This does not fit.
    Not(Box<Filter>),
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident => $variant:ident;)*) => {
        $($(#[$doc])*
        ///
        /// # Errors
        ///
        /// [`StoredError::Encode`](hanok_core::StoredError::Encode) when the value's `Serialize` fails.
        pub fn $name<K: Into<String>, T: serde::Serialize + ?Sized>(
            path: impl IntoIterator<Item = K>,
            value: &T,
        ) -> Result<Self, hanok_core::StoredError> {
            Ok(Self::$variant(FieldPath::new(path), Stored::encode(value)?))
        })*
    };
}

impl Filter {
    comparisons! {
        /// Fits where what stands at `path` equals `value`.
        eq => Eq;
        /// Fits where what stands at `path` does not equal `value`.
        ne => Ne;
        /// Fits where what stands at `path` is greater than `value`.
        gt => Gt;
        /// Fits where what stands at `path` is not less than `value`, and can be compared with it.
        gte => Gte;
        /// Fits where what stands at `path` is less than `value`.
        lt => Lt;
        /// Fits where what stands at `path` is not greater than `value`, and can be compared with it.
        lte => Lte;
    }

    /// Checks whether it is sure to fit everything.
    pub fn is_all(&self) -> bool {
        matches!(self, Self::And(filters) if filters.iter().all(Self::is_all))
    }

    /// Checks whether `value` is one to be found.
    pub fn fits(&self, value: &Stored) -> bool {
        match self {
            Self::Eq(path, with) => compare(value, path, with, Value::equals),
            Self::Ne(path, with) => compare(value, path, with, |a, b| !a.equals(b)),
            Self::Gt(path, with) => compare(value, path, with, ordered(Ordering::is_gt)),
            Self::Gte(path, with) => compare(value, path, with, ordered(Ordering::is_ge)),
            Self::Lt(path, with) => compare(value, path, with, ordered(Ordering::is_lt)),
            Self::Lte(path, with) => compare(value, path, with, ordered(Ordering::is_le)),
            Self::Exists(path) => path.find(value).is_some(),
            Self::And(filters) => filters.iter().all(|filter| filter.fits(value)),
            Self::Or(filters) => filters.iter().any(|filter| filter.fits(value)),
            Self::Not(filter) => !filter.fits(value),
        }
    }
}

/// Fits everything.
impl Default for Filter {
    fn default() -> Self {
        Self::And(Vec::new())
    }
}

fn compare(
    value: &Stored,
    path: &FieldPath,
    with: &Stored,
    fits: impl Fn(&Value, &Value) -> bool,
) -> bool {
    let stored = path.find(value).as_ref().and_then(Value::of);
    stored.zip(Value::of(with)).is_some_and(|(stored, with)| fits(&stored, &with))
}

fn ordered(fits: fn(Ordering) -> bool) -> impl Fn(&Value, &Value) -> bool {
    move |a, b| a.order(b).is_some_and(fits)
}
