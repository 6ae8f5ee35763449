//! Words in their morphemes, by a dictionary.

use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

/// What words are made of, for [`Terms::Morphemes`](crate::Terms::Morphemes). `hanok-encoder` has one by MeCab's dictionaries.
///
/// Its `Debug` text is its name: two of one name find the same morphemes, and a store that was filled by another name is refused.
pub trait Morphemes: fmt::Debug + Send + Sync + 'static {
    /// The morphemes of `word` that mean something, in their order: without particles and endings.
    fn morphemes(&self, word: &str) -> Vec<String>;
}

/// Any [`Morphemes`]. Clones share the dictionary.
#[derive(Clone)]
pub struct SharedMorphemes(Arc<dyn Morphemes>);

impl SharedMorphemes {
    /// Shares `morphemes`.
    #[must_use]
    pub fn new(morphemes: impl Morphemes) -> Self {
        Self(Arc::new(morphemes))
    }

    pub(crate) fn morphemes(&self, word: &str) -> Vec<String> {
        self.0.morphemes(word)
    }

    fn name(&self) -> String {
        format!("{:?}", self.0)
    }
}

impl fmt::Debug for SharedMorphemes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for SharedMorphemes {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.name() == other.name()
    }
}

impl Eq for SharedMorphemes {}

impl Hash for SharedMorphemes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}
