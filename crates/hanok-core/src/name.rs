//! Names: typed, bounded, compared by bytes, never interpolated into a path, a query or a log line.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::text_form;

/// The longest name, in bytes.
const LONGEST: usize = 256;

/// The most labels of a namespace of the store.
pub(crate) const MOST_LABELS: usize = 32;

/// The most bytes that they have together: no database indexes a name of any length.
pub(crate) const LONGEST_LABELS: usize = 2_048;

/// Why a text cannot be a name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidName {
    /// A name has at least one character.
    #[error("the {what} is empty")]
    Empty {
        /// Which name it was to be.
        what: &'static str,
    },
    /// A name has at most 256 bytes.
    #[error("the {what} has {bytes} bytes; at most {LONGEST} are allowed")]
    TooLong {
        /// Which name it was to be.
        what: &'static str,
        /// The length of the refused text.
        bytes: usize,
    },
    /// A name holds no control characters.
    #[error("the {what} holds the control character U+{code:04X} at byte {at}")]
    Control {
        /// Which name it was to be.
        what: &'static str,
        /// The character's code point.
        code: u32,
        /// Its offset in bytes.
        at: usize,
    },
    /// A label holds no dot.
    #[error("the {what} holds a dot at byte {at}")]
    Dotted {
        /// Which name it was to be.
        what: &'static str,
        /// Its offset in bytes.
        at: usize,
    },
    /// The labels of a namespace of the store have at most 2,048 bytes together.
    #[error("the labels have {bytes} bytes; at most {LONGEST_LABELS} are allowed")]
    LabelsTooLong {
        /// The number of bytes that they have.
        bytes: usize,
    },
    /// A namespace of the store has at most 32 labels.
    #[error("there are {count} of {what}; at most {MOST_LABELS} are allowed")]
    TooMany {
        /// Which name they were to be.
        what: &'static str,
        /// The number that there are.
        count: usize,
    },
    /// An id is so many hexadecimal digits.
    #[error("the {what} is not {digits} hexadecimal digits")]
    NotHex {
        /// Which id it was to be.
        what: &'static str,
        /// The number of digits that it has.
        digits: usize,
    },
}

/// Reads the hexadecimal digits of an id of `N` bytes.
///
/// ```
/// assert_eq!(hanok_core::from_hex("colour", "00fF7a"), Ok([0, 0xff, 0x7a]));
/// let error = hanok_core::from_hex::<3>("colour", "+0ff7a").unwrap_err();
/// assert_eq!(error.to_string(), "the colour is not 6 hexadecimal digits");
/// ```
///
/// # Errors
///
/// [`InvalidName::NotHex`] when `text` is anything but `2 * N` digits.
pub fn from_hex<const N: usize>(what: &'static str, text: &str) -> Result<[u8; N], InvalidName> {
    let wrong = || InvalidName::NotHex { what, digits: 2 * N };
    if text.len() != 2 * N {
        return Err(wrong());
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        for digit in pair {
            let digit = char::from(*digit).to_digit(16).ok_or_else(wrong)?;
            *byte = *byte << 4 | digit as u8;
        }
    }
    Ok(bytes)
}

pub(crate) fn checked(what: &'static str, text: &str) -> Result<Arc<str>, InvalidName> {
    if text.is_empty() {
        return Err(InvalidName::Empty { what });
    }
    if text.len() > LONGEST {
        return Err(InvalidName::TooLong { what, bytes: text.len() });
    }
    if let Some((at, c)) = text.char_indices().find(|(_, c)| c.is_control()) {
        return Err(InvalidName::Control { what, code: u32::from(c), at });
    }
    Ok(text.into())
}

/// The owner of threads. A tenant is part of every key; one tenant never sees another's. As text and as JSON it is its name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenant(Arc<str>);

impl Tenant {
    /// A tenant of this name.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] when `name` is empty, longer than 256 bytes or holds a control character.
    pub fn new(name: &str) -> Result<Self, InvalidName> {
        checked("tenant's name", name).map(Self)
    }

    /// The tenant's name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name, unescaped. Print a name that somebody else chose through [`Printable`](crate::Printable).
impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The tenant of a program that has only one: `default`.
impl Default for Tenant {
    fn default() -> Self {
        Self("default".into())
    }
}

/// Names one thread (one conversation, one graph through time) of one tenant.
///
/// ```
/// use hanok_core::{Tenant, ThreadKey};
///
/// let key = ThreadKey::new(Tenant::default(), "user-session-123")?;
/// assert_eq!(key.thread(), "user-session-123");
/// assert!(ThreadKey::new(Tenant::default(), "a\nb").is_err());
/// # Ok::<(), hanok_core::InvalidName>(())
/// ```
///
/// As JSON it is an object of both names. It has no `FromStr`: either name may hold a slash, so what `Display` shows is for people.
///
/// ```
/// # use hanok_core::ThreadKey;
/// let json = r#"{"tenant":"acme","thread":"user/17"}"#;
/// assert_eq!(serde_json::from_str::<ThreadKey>(json)?.to_string(), "acme/user/17");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "ThreadParts")]
pub struct ThreadKey {
    tenant: Tenant,
    thread: Arc<str>,
}

/// The names of a thread, before they are checked.
#[derive(Deserialize)]
struct ThreadParts {
    tenant: Tenant,
    thread: String,
}

impl TryFrom<ThreadParts> for ThreadKey {
    type Error = InvalidName;

    fn try_from(parts: ThreadParts) -> Result<Self, InvalidName> {
        Self::new(parts.tenant, &parts.thread)
    }
}

impl ThreadKey {
    /// The thread `thread` of `tenant`.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] when `thread` is empty, longer than 256 bytes or holds a control character.
    pub fn new(tenant: Tenant, thread: &str) -> Result<Self, InvalidName> {
        Ok(Self { tenant, thread: checked("thread's name", thread)? })
    }

    /// The thread `thread` of the default tenant, for programs that have only one.
    ///
    /// ```
    /// # use hanok_core::{Tenant, ThreadKey};
    /// assert_eq!(ThreadKey::named("chat-1")?, ThreadKey::new(Tenant::default(), "chat-1")?);
    /// # Ok::<(), hanok_core::InvalidName>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`new`](ThreadKey::new).
    pub fn named(thread: &str) -> Result<Self, InvalidName> {
        Self::new(Tenant::default(), thread)
    }

    /// The tenant that owns the thread.
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// The thread's own name.
    pub fn thread(&self) -> &str {
        &self.thread
    }
}

impl fmt::Display for ThreadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.tenant.as_str().escape_debug(), self.thread.escape_debug())
    }
}

/// The graph whose entries these are within a thread: the root graph's (no segments) or a subgraph's.
///
/// A child's segments are the parent's, then the node that called it and the key of the call. Segments are whole: the
/// namespaces `["a", "b:c"]` and `["a:b", "c"]` are two. As JSON it is the array of its segments.
///
/// ```
/// use hanok_core::Namespace;
///
/// let root = Namespace::root();
/// let child = root.child("research")?.child("call-1")?;
/// assert!(child.is_within(&root));
/// assert_eq!(child.parent().unwrap().to_string(), "research");
/// # Ok::<(), hanok_core::InvalidName>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Namespace(Arc<[Arc<str>]>);

/// What the segment of a namespace is called in an error.
const SEGMENT: &str = "namespace segment";

impl TryFrom<Vec<String>> for Namespace {
    type Error = InvalidName;

    fn try_from(segments: Vec<String>) -> Result<Self, InvalidName> {
        segments.iter().map(|segment| checked(SEGMENT, segment)).collect::<Result<_, _>>().map(Self)
    }
}

impl Namespace {
    /// The namespace of the thread's own graph.
    pub fn root() -> Self {
        Self::default()
    }

    /// True when this is the thread's own graph.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The namespace one segment below this one.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] when `segment` is empty, longer than 256 bytes or holds a control character.
    pub fn child(&self, segment: &str) -> Result<Self, InvalidName> {
        let segment = checked(SEGMENT, segment)?;
        Ok(Self(self.0.iter().cloned().chain([segment]).collect()))
    }

    /// The namespace of the graph that calls this one's; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (_, outer) = self.0.split_last()?;
        Some(Self(outer.into()))
    }

    /// The segments, outermost first.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// The number of segments.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// True when this is `other` or lies below it, segment by segment.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.segments().enumerate() {
            if i > 0 {
                f.write_str("/")?;
            }
            write!(f, "{}", segment.escape_debug())?;
        }
        Ok(())
    }
}

/// Names one task: a node that is due in one super-step. Retries and resumes of the task keep it. As text and as JSON it is 32
/// hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId([u8; 16]);

impl TaskId {
    /// The task with these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes of the id.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({self})")
    }
}

/// Names one run: from an input to the outcome it led to, in one process. As text and as JSON it is 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub u128);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

text_form! {
    Tenant: Self::new => InvalidName;
    TaskId: |text| from_hex("task's id", text).map(Self) => InvalidName;
    RunId: |text| Ok(Self(u128::from_be_bytes(from_hex("run's id", text)?))) => InvalidName;
}

/// The place of an entry in a thread's log, counted from 1 in the order of the appends.
///
/// `Position(0)` is the place before the first entry.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Position(pub u64);

impl Position {
    /// The place before the first entry.
    pub const START: Self = Self(0);

    /// The next place.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_any_text_without_control_characters_of_at_most_256_bytes() {
        for good in ["a", "계약 검토", "%_'\"$.[]", "🙂", &"x".repeat(256)] {
            assert_eq!(Tenant::new(good).unwrap().as_str(), good);
        }
        assert_eq!(Tenant::new(""), Err(InvalidName::Empty { what: "tenant's name" }));
        assert_eq!(
            Tenant::new(&"x".repeat(257)),
            Err(InvalidName::TooLong { what: "tenant's name", bytes: 257 })
        );
        assert_eq!(
            Tenant::new("a\u{1b}[2J"),
            Err(InvalidName::Control { what: "tenant's name", code: 0x1b, at: 1 })
        );
    }

    #[test]
    fn a_namespace_is_whole_segments() {
        let root = Namespace::root();
        let acme = root.child("acme").unwrap();
        let acme_corp = root.child("acme-corp").unwrap();
        assert!(acme.is_within(&root) && !acme_corp.is_within(&acme));
        let left = root.child("a").unwrap().child("b:c").unwrap();
        let right = root.child("a:b").unwrap().child("c").unwrap();
        assert_ne!(left, right);
    }
}
