//! The names of items of the store across threads.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize, Serializer};

use crate::name::{InvalidName, LONGEST_LABELS, MOST_LABELS, Tenant, checked};

/// Ends a label. No label holds it, and no byte is lower: so one list of labels never begins like another by accident, and
/// the joined lists are in the order of their labels.
const END: char = '\0';

/// The namespace of an item: one to 32 labels, compared whole and by their bytes.
///
/// A label has 1 to 256 bytes, all together have at most 2,048, and none has a control character or a dot; every other sign
/// means itself. As JSON it is the array of its labels.
///
/// ```
/// use hanok_core::Labels;
///
/// let acme = Labels::new(["acme"])?;
/// assert!(Labels::new(["acme", "users"])?.is_within(&acme));
/// assert!(!Labels::new(["acme-corp"])?.is_within(&acme));
/// assert!(Labels::new(["acme.users"]).is_err());
/// # Ok::<(), hanok_core::InvalidName>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Labels(Arc<str>);

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl TryFrom<Vec<String>> for Labels {
    type Error = InvalidName;

    fn try_from(labels: Vec<String>) -> Result<Self, InvalidName> {
        Self::new(labels)
    }
}

impl Labels {
    /// The namespace of these labels, the outermost first.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] when there is no label or more than 32, they have more than 2,048 bytes, or one is empty, dotted,
    /// longer than 256 bytes or holds a control character.
    pub fn new<L: AsRef<str>>(labels: impl IntoIterator<Item = L>) -> Result<Self, InvalidName> {
        const WHAT: &str = "label";
        let (mut joined, mut count) = (String::new(), 0);
        for label in labels {
            let label = checked(WHAT, label.as_ref())?;
            if let Some(at) = label.find('.') {
                return Err(InvalidName::Dotted { what: WHAT, at });
            }
            joined.push_str(&label);
            joined.push(END);
            count += 1;
            if count > MOST_LABELS {
                return Err(InvalidName::TooMany { what: WHAT, count });
            }
        }
        let bytes = joined.len() - count;
        match count {
            _ if bytes > LONGEST_LABELS => Err(InvalidName::LabelsTooLong { bytes }),
            0 => Err(InvalidName::Empty { what: "list of labels" }),
            _ => Ok(Self(joined.into())),
        }
    }

    /// The namespace one label below this one.
    ///
    /// # Errors
    ///
    /// As of [`Labels::new`].
    pub fn child(&self, label: &str) -> Result<Self, InvalidName> {
        Self::new(self.iter().chain([label]))
    }

    /// The labels, the outermost first.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split_terminator(END)
    }

    /// The number of labels.
    pub fn depth(&self) -> usize {
        self.iter().count()
    }

    /// The first `depth` labels, at least one; all when there are fewer.
    #[must_use]
    pub fn cut(&self, depth: usize) -> Self {
        let len: usize = self.0.split_inclusive(END).take(depth.max(1)).map(str::len).sum();
        Self(self.0.get(..len).unwrap_or_default().into())
    }

    /// True when this is `other` or lies below it, label by label.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.starts_with(&*other.0)
    }

    /// The labels, each followed by a zero byte: how a store keeps them. What begins with these bytes is within, and
    /// comparing the bytes compares the labels one by one.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Reads what [`Labels::as_bytes`] gave; `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let joined = std::str::from_utf8(bytes).ok()?.strip_suffix(END)?;
        Self::new(joined.split(END)).ok()
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, label) in self.iter().enumerate() {
            if i > 0 {
                f.write_str("/")?;
            }
            write!(f, "{}", label.escape_debug())?;
        }
        Ok(())
    }
}

/// Names one item of the store across threads: whose it is, its namespace and its key in there. As JSON it is an object of these.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "ItemParts")]
pub struct ItemKey {
    tenant: Tenant,
    labels: Labels,
    key: Arc<str>,
}

/// The names of an item, before they are checked.
#[derive(Deserialize)]
struct ItemParts {
    tenant: Tenant,
    labels: Labels,
    key: String,
}

impl TryFrom<ItemParts> for ItemKey {
    type Error = InvalidName;

    fn try_from(parts: ItemParts) -> Result<Self, InvalidName> {
        Self::new(parts.tenant, parts.labels, &parts.key)
    }
}

impl ItemKey {
    /// The item `key` in the namespace `labels` of `tenant`.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] when `key` is empty, longer than 256 bytes or holds a control character.
    pub fn new(tenant: Tenant, labels: Labels, key: &str) -> Result<Self, InvalidName> {
        Ok(Self { tenant, labels, key: checked("key", key)? })
    }

    /// Whose item it is.
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// The namespace it stands in.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Its own name.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Display for ItemKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tenant, key) = (self.tenant.as_str().escape_debug(), self.key.escape_debug());
        write!(f, "{tenant}/{}/{key}", self.labels)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn label() -> impl Strategy<Value = String> {
        "[ab!한:/%_' \u{a0}-]{1,3}"
    }

    fn list() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec(label(), 1..4)
    }

    /// P26
    #[test]
    fn a_namespace_is_labels_that_are_neither_empty_nor_dotted_nor_endless() {
        let what = "label";
        for (labels, want) in [
            (vec![], InvalidName::Empty { what: "list of labels" }),
            (vec![""], InvalidName::Empty { what }),
            (vec!["a", ""], InvalidName::Empty { what }),
            (vec!["a", "b.c"], InvalidName::Dotted { what, at: 1 }),
            (vec!["."], InvalidName::Dotted { what, at: 0 }),
            (vec!["a\0b"], InvalidName::Control { what, code: 0, at: 1 }),
            (vec!["a"; 33], InvalidName::TooMany { what, count: 33 }),
        ] {
            assert_eq!(Labels::new(&labels).unwrap_err(), want, "{labels:?}");
        }
        let long = "x".repeat(257);
        assert_eq!(Labels::new([&long]), Err(InvalidName::TooLong { what, bytes: 257 }));
        let whole = "x".repeat(256);
        assert!(Labels::new([&*whole; 8]).is_ok());
        let one_more = Labels::new([[&*whole; 8].as_slice(), &["x"]].concat());
        assert_eq!(one_more, Err(InvalidName::LabelsTooLong { bytes: 2_049 }));
        assert_eq!(Labels::new(["a"; 32]).unwrap().depth(), 32);
        assert_eq!(Labels::new(["a", "한옥"]).unwrap().to_string(), "a/한옥");
        for (depth, want) in [(0, "a"), (1, "a"), (2, "a/b"), (9, "a/b/c")] {
            assert_eq!(Labels::new(["a", "b", "c"]).unwrap().cut(depth).to_string(), want);
        }
    }

    #[test]
    fn what_is_no_namespace_is_not_read_as_one() {
        for bytes in [&b""[..], b"a", b"\0", b"a\0\0", b"a.b\0", b"\xff\0", b"a\0b"] {
            assert_eq!(Labels::from_bytes(bytes), None, "{bytes:?}");
        }
    }

    proptest! {
        /// P28, P29
        #[test]
        fn joined_labels_are_compared_as_lists_of_labels(a in list(), b in list()) {
            let (x, y) = (Labels::new(&a).unwrap(), Labels::new(&b).unwrap());
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(x.is_within(&y), a.starts_with(&b));
            prop_assert_eq!(x.iter().collect::<Vec<_>>(), a);
            prop_assert_eq!(Labels::from_bytes(x.as_bytes()), Some(x));
        }
    }
}
