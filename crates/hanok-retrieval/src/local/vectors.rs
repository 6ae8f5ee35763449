//! Every vector of an index, in memory.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use hanok_checkpoint::{Space, Vector};

use super::{approximate::Approximate, near::Coded};
use crate::{
    error::{BoxError, RetrievalError},
    nearest::Nearest,
};

/// Vectors by the keys of their passages. Each is compared, and what is found is exact, unless there are codes.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    pub(super) slabs: Vec<Slab>,
    pub(super) approximate: Option<Approximate>,
}

/// The vectors of one space, one behind the other.
#[derive(Debug)]
pub(super) struct Slab {
    pub(super) space: Space,
    pub(super) keys: Vec<u64>,
    pub(super) numbers: Vec<f32>,
    places: HashMap<u64, usize>,
    /// Where vectors are estimated, and there are many.
    pub(super) codes: Option<Coded>,
}

/// A vector as it was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kept {
    space: Space,
    numbers: Vec<f32>,
}

impl From<&Vector> for Kept {
    fn from(vector: &Vector) -> Self {
        Self { space: vector.space(), numbers: vector.numbers().to_vec() }
    }
}

impl Kept {
    /// As bytes: how long the model's name is, the name, the numbers.
    pub(super) fn to_bytes(vector: &Vector) -> Vec<u8> {
        let model = vector.space().model;
        let length = (model.len() as u32).to_le_bytes();
        [&length, model.as_bytes(), &vector.to_bytes()].concat()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, BoxError> {
        let read = || {
            let (length, rest) = bytes.split_first_chunk()?;
            let (model, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            let (numbers, []) = rest.as_chunks() else { return None };
            let model: Arc<str> = str::from_utf8(model).ok()?.into();
            let space = Space { dimensions: numbers.len(), model };
            let numbers = numbers.iter().copied().map(f32::from_le_bytes).collect();
            (space.dimensions > 0).then_some(Self { space, numbers })
        };
        read().ok_or_else(|| "a vector cannot be read".into())
    }
}

impl Slab {
    fn new(space: Space) -> Self {
        let (keys, numbers, places, codes) = Default::default();
        Self { space, keys, numbers, places, codes }
    }

    fn put(&mut self, key: u64, numbers: &[f32]) {
        let Entry::Vacant(place) = self.places.entry(key) else { return };
        place.insert(self.keys.len());
        self.keys.push(key);
        self.numbers.extend_from_slice(numbers);
        if let Some(coded) = &mut self.codes {
            coded.codes.push(numbers);
        }
    }

    /// The last vector takes the place of the one that goes.
    fn remove(&mut self, key: u64) {
        let Some(place) = self.places.remove(&key) else { return };
        let size = self.space.dimensions;
        self.keys.swap_remove(place);
        let last = self.keys.len() * size;
        if let Some(moved) = self.keys.get(place) {
            self.places.insert(*moved, place);
            self.numbers.copy_within(last.., place * size);
        }
        self.numbers.truncate(last);
        if let Some(coded) = &mut self.codes {
            coded.codes.swap_remove(place);
        }
    }

    pub(super) fn get(&self, key: u64) -> Option<&[f32]> {
        self.at(self.place(key)?)
    }

    pub(super) fn place(&self, key: u64) -> Option<usize> {
        self.places.get(&key).copied()
    }

    pub(super) fn at(&self, place: usize) -> Option<&[f32]> {
        let size = self.space.dimensions;
        self.numbers.get(place * size..(place + 1) * size)
    }
}

impl Vectors {
    pub(super) fn has(&self, key: u64) -> bool {
        self.slabs.iter().any(|slab| slab.places.contains_key(&key))
    }

    /// Puts a vector. A key is that of its content, too: there is no other vector of the same.
    pub(super) fn put(&mut self, key: u64, vector: &Kept) {
        if !self.slabs.iter().any(|slab| slab.space == vector.space) {
            self.slabs.push(Slab::new(vector.space.clone()));
        }
        let slab = self.slabs.iter_mut().find(|slab| slab.space == vector.space);
        if let Some(slab) = slab {
            slab.put(key, &vector.numbers);
            if self.approximate.is_some() {
                slab.encode();
            }
        }
    }

    pub(super) fn remove(&mut self, key: u64) {
        self.slabs.iter_mut().for_each(|slab| slab.remove(key));
        self.slabs.retain(|slab| !slab.keys.is_empty());
    }

    /// Removes what `stays` does not hold of.
    pub(super) fn retain(&mut self, stays: impl Fn(u64) -> bool) {
        let keys = self.slabs.iter().flat_map(|slab| &slab.keys).copied();
        let gone: Vec<u64> = keys.filter(|key| !stays(*key)).collect();
        gone.into_iter().for_each(|key| self.remove(key));
    }

    /// The `count` that are most like `asked`, none below `lowest`, the most similar first; of `among` alone, where it is
    /// given.
    pub(super) fn nearest(
        &self,
        asked: &Vector,
        among: Option<&[u64]>,
        count: usize,
        lowest: f32,
    ) -> Result<Vec<(u64, f32)>, RetrievalError> {
        let space = asked.space();
        let there = |slab: &&Slab| {
            among.is_none_or(|among| among.iter().any(|key| slab.places.contains_key(key)))
        };
        let Some(slab) = self.slabs.iter().find(|slab| slab.space == space) else {
            return match self.slabs.iter().find(there) {
                Some(other) => {
                    Err(RetrievalError::Space { stored: other.space.clone(), asked: space })
                }
                None => Ok(Vec::new()),
            };
        };
        if let Some(approximate) = self.approximate
            && let Some(near) = slab.near(asked, among, count, lowest, approximate)
        {
            return Ok(near);
        }
        let mut found = Nearest::new(count, lowest);
        match among {
            None => {
                let vectors = slab.numbers.chunks_exact(space.dimensions.max(1));
                for (key, numbers) in slab.keys.iter().zip(vectors) {
                    found.offer(*key, asked.similarity_to(numbers));
                }
            }
            Some(among) => {
                let there = among.iter().filter_map(|key| Some((*key, slab.get(*key)?)));
                there.for_each(|(key, numbers)| found.offer(key, asked.similarity_to(numbers)));
            }
        }
        Ok(found.told())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(numbers: &[f32]) -> Vector {
        Vector::new(numbers).unwrap().made_by("small")
    }

    #[test]
    fn a_vector_reads_back_to_the_last_bit() {
        let one = vector(&[0.1, -0.7, 3.0]);
        assert_eq!(Kept::from_bytes(&Kept::to_bytes(&one)).unwrap(), Kept::from(&one));
        for broken in [&[][..], &[0; 4], &[9, 0, 0, 0, 1], &[0, 0, 0, 0, 1, 2, 3]] {
            assert!(Kept::from_bytes(broken).is_err());
        }
    }

    /// Whatever is put and removed, what is left is found as if it had been alone from the beginning.
    #[test]
    fn what_is_removed_leaves_the_others_as_they_were() {
        let mut vectors = Vectors::default();
        let of = |key: u64| vector(&[key as f32, 1.0, (key % 7) as f32]);
        for key in 0..50 {
            vectors.put(key, &Kept::from(&of(key)));
            vectors.put(key, &Kept::from(&of(key)));
        }
        for key in (0..50).filter(|key| key % 3 != 1) {
            vectors.remove(key);
            vectors.remove(key);
        }
        for asked in 0..50 {
            let mut want = Nearest::new(5, -1.0);
            let left = (0..50).filter(|key| key % 3 == 1);
            left.for_each(|key| want.offer(key, of(asked).similarity(&of(key))));
            assert_eq!(vectors.nearest(&of(asked), None, 5, -1.0).unwrap(), want.told());
        }
        vectors.retain(|_| false);
        assert!(vectors.slabs.is_empty());
    }
}
