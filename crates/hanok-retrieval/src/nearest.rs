//! The nearest vectors, by looking at every one.

use std::{cmp::Ordering, collections::BinaryHeap};

use hanok_checkpoint::{Space, Vector};

use crate::error::RetrievalError;

/// Something with its similarity. The least one is the least similar, and of equal ones the one with the highest key.
#[derive(Debug, PartialEq)]
struct Near<K> {
    similarity: f32,
    key: K,
}

impl<K: Ord> Eq for Near<K> {}

impl<K: Ord> Ord for Near<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        // Turned around: a heap gives the highest, and that is to be the one that goes first.
        other.similarity.total_cmp(&self.similarity).then_with(|| self.key.cmp(&other.key))
    }
}

impl<K: Ord> PartialOrd for Near<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The nearest of what is offered.
#[derive(Debug)]
pub struct Nearest<K> {
    count: usize,
    lowest: f32,
    heap: BinaryHeap<Near<K>>,
}

impl<K: Ord> Nearest<K> {
    /// None yet; of `count` at most, and none below `lowest`.
    pub fn new(count: usize, lowest: f32) -> Self {
        Self { count, lowest, heap: BinaryHeap::with_capacity(count.min(1_024)) }
    }

    /// Takes the vector of `key`, if it is among the nearest.
    pub fn offer(&mut self, key: K, similarity: f32) {
        let near = Near { similarity, key };
        if near.similarity < self.lowest {
            return;
        }
        if self.heap.len() < self.count {
            self.heap.push(near);
        } else if let Some(mut last) = self.heap.peek_mut()
            && near < *last
        {
            *last = near;
        }
    }

    /// What is less similar is not among the nearest.
    pub fn bar(&self) -> f32 {
        let last = self.heap.peek().filter(|_| self.heap.len() >= self.count);
        last.map_or(self.lowest, |last| last.similarity.max(self.lowest))
    }

    /// The most similar first, and equal ones in the order of their keys.
    pub fn told(self) -> Vec<(K, f32)> {
        self.heap.into_sorted_vec().into_iter().map(|it| (it.key, it.similarity)).collect()
    }
}

/// The `count` of `vectors` that are most like `asked`, none below `lowest`, the most similar first and equal ones in the
/// order of their keys. Vectors of another space are passed over, unless there are no others.
pub fn nearest<'a, K: Ord>(
    asked: &Vector,
    vectors: impl IntoIterator<Item = (K, &'a Vector)>,
    count: usize,
    lowest: f32,
) -> Result<Vec<(K, f32)>, RetrievalError> {
    let space = asked.space();
    let mut other: Option<Space> = None;
    let mut compared = false;
    let mut found = Nearest::new(count, lowest);
    for (key, vector) in vectors {
        if space.admit(vector).is_err() {
            other.get_or_insert_with(|| vector.space());
            continue;
        }
        compared = true;
        found.offer(key, asked.similarity(vector));
    }
    match other {
        Some(stored) if !compared => Err(RetrievalError::Space { stored, asked: space }),
        _ => Ok(found.told()),
    }
}
