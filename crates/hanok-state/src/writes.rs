//! The writes of the nodes of one super-step to one field.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::error::Refused;

/// The writes to one field, each with its node, in task order. They are never empty where a rule gets them. One write takes
/// no allocation.
///
/// ```
/// use std::sync::Arc;
///
/// use hanok_state::NodeWrites;
///
/// let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
/// let one: NodeWrites<'_, u8> = [(&a, 1)].into_iter().collect();
/// assert!(one.one_writer().is_ok());
///
/// let two: NodeWrites<'_, u8> = [(&a, 1), (&b, 2)].into_iter().collect();
/// let error = two.one_writer().unwrap_err().to_string();
/// assert!(error.starts_with("written by `a` and `b` in one super-step"));
/// ```
#[derive(Debug, Clone)]
pub struct NodeWrites<'a, W>(SmallVec<[(&'a Arc<str>, W); 1]>);

impl<W> Default for NodeWrites<'_, W> {
    fn default() -> Self {
        Self(SmallVec::new())
    }
}

impl<'a, W> NodeWrites<'a, W> {
    /// The write of one node.
    pub fn of(node: &'a Arc<str>, write: W) -> Self {
        Self(SmallVec::from_buf([(node, write)]))
    }

    /// Adds a write of `node`.
    pub fn push(&mut self, node: &'a Arc<str>, write: W) {
        self.0.push((node, write));
    }

    /// The writes, in task order.
    pub fn iter(&self) -> std::slice::Iter<'_, (&'a Arc<str>, W)> {
        self.0.iter()
    }

    /// Tells that there is no write.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks that there is at most one write.
    ///
    /// # Errors
    ///
    /// [`Refused::TwoWriters`] with the first two.
    pub fn one_writer(&self) -> Result<(), Refused> {
        match self.0.as_slice() {
            [(first, _), (second, _), ..] => {
                Err(Refused::TwoWriters { first: Arc::clone(first), second: Arc::clone(second) })
            }
            _ => Ok(()),
        }
    }
}

impl<'a, W: Clone> NodeWrites<'a, &W> {
    /// Clones the writes.
    #[must_use]
    pub fn cloned(&self) -> NodeWrites<'a, W> {
        NodeWrites(self.0.iter().map(|(node, write)| (*node, W::clone(write))).collect())
    }
}

impl<'a, W> FromIterator<(&'a Arc<str>, W)> for NodeWrites<'a, W> {
    fn from_iter<I: IntoIterator<Item = (&'a Arc<str>, W)>>(writes: I) -> Self {
        Self(writes.into_iter().collect())
    }
}

impl<'a, W> IntoIterator for NodeWrites<'a, W> {
    type Item = (&'a Arc<str>, W);
    type IntoIter = smallvec::IntoIter<[(&'a Arc<str>, W); 1]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, 'w, W> IntoIterator for &'w NodeWrites<'a, W> {
    type Item = &'w (&'a Arc<str>, W);
    type IntoIter = std::slice::Iter<'w, (&'a Arc<str>, W)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
