//! Passages that were found, before they are read.

use std::{
    borrow::Borrow,
    hash::{Hash, Hasher},
};

use crate::{
    document::Passage,
    retriever::{Mode, Part},
};

/// A passage that was found. `at` is what the store knows it by: the same in each list that has the passage.
#[derive(Debug, Clone, PartialEq)]
pub struct Found<T> {
    /// Where it is, as its store says it.
    pub at: T,
    /// The higher, the better.
    pub score: f32,
    /// Its rank and score by each way of comparing.
    pub parts: Vec<Part>,
    /// The share of the question that it has, from 0 to 1.
    pub coverage: f32,
    /// The terms of the question that it has.
    pub matched: Vec<String>,
}

impl<T> Found<T> {
    /// What one way of comparing found.
    pub fn by(by: Mode, rank: usize, score: f32, at: T) -> Self {
        let parts = vec![Part { by, rank, score }];
        Self { at, score, parts, coverage: 0.0, matched: Vec::new() }
    }
}

/// A passage that a store gives with what it found.
#[derive(Debug, Clone)]
pub struct Whole<P>(pub P);

impl<P: Borrow<Passage>> Whole<P> {
    fn name(&self) -> (&str, &str) {
        let passage = self.0.borrow();
        (&passage.source, &passage.id)
    }
}

impl<P: Borrow<Passage>> PartialEq for Whole<P> {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl<P: Borrow<Passage>> Eq for Whole<P> {}

impl<P: Borrow<Passage>> Hash for Whole<P> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}
