//! The meaning of a text, as an embedder says it.

use std::sync::Arc;

use thiserror::Error;

use super::error::StoreError;

/// The longest vector.
const LONGEST: usize = 65_536;

/// Why numbers are no vector to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidVector {
    /// There has to be a number, and at most 65,536.
    #[error("a vector has 1 to {LONGEST} numbers, not {0}")]
    Length(usize),
    /// One of the numbers is infinite or none.
    #[error("number {0} of the vector is not finite")]
    NotFinite(usize),
    /// All numbers are zero, so it points nowhere.
    #[error("all numbers of the vector are zero")]
    Zero,
}

/// The direction of a vector: it is kept at length 1, in numbers of 32 bits. Clones share the numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    numbers: Arc<[f32]>,
    model: Arc<str>,
}

/// The properties that vectors have to have in common to be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// The number of their dimensions.
    pub dimensions: usize,
    /// The model that made them, by its name; empty where nobody said it.
    pub model: Arc<str>,
}

impl Space {
    /// Refuses a vector that cannot be compared with those of this space. Every store asks this before it compares or keeps one.
    ///
    /// # Errors
    ///
    /// [`StoreError::Dimensions`] or [`StoreError::Model`] when it cannot.
    pub fn admit(&self, vector: &Vector) -> Result<(), StoreError> {
        let (expected, actual) = (self.dimensions, vector.dimensions());
        if expected != actual {
            return Err(StoreError::Dimensions { expected, actual });
        }
        if self.model != vector.model {
            let (expected, actual) = (self.model.to_string(), vector.model.to_string());
            return Err(StoreError::Model { expected, actual });
        }
        Ok(())
    }
}

impl Vector {
    /// The direction of `numbers`.
    ///
    /// # Errors
    ///
    /// [`InvalidVector`] when it has none: no number, a number that is not finite, or zeros only.
    pub fn new(numbers: &[f32]) -> Result<Self, InvalidVector> {
        if numbers.is_empty() || numbers.len() > LONGEST {
            return Err(InvalidVector::Length(numbers.len()));
        }
        if let Some(at) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(InvalidVector::NotFinite(at));
        }
        // In 64 bits no square is too large or too small.
        let wide = || numbers.iter().copied().map(f64::from);
        let length = wide().map(|number| number * number).sum::<f64>().sqrt();
        if length == 0.0 {
            return Err(InvalidVector::Zero);
        }
        let numbers = wide().map(|number| (number / length) as f32).collect();
        Ok(Self { numbers, model: "".into() })
    }

    /// The model that made it, by its name. Default: none.
    #[must_use]
    pub fn made_by(self, model: &str) -> Self {
        Self { model: model.into(), ..self }
    }

    /// With which vectors it can be compared.
    pub fn space(&self) -> Space {
        Space { dimensions: self.dimensions(), model: self.model.clone() }
    }

    /// The number of its dimensions.
    pub fn dimensions(&self) -> usize {
        self.numbers.len()
    }

    /// The cosine of the angle between the two, from -1 to 1: the higher, the more alike. It says something only of
    /// vectors of one [`Space`].
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// let (east, north) = (Vector::new(&[1.0, 0.0])?, Vector::new(&[0.0, 1.0])?);
    /// assert_eq!((east.similarity(&east), east.similarity(&north)), (1.0, 0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn similarity(&self, other: &Self) -> f32 {
        self.similarity_to(&other.numbers)
    }

    /// The numbers.
    pub fn numbers(&self) -> &[f32] {
        &self.numbers
    }

    /// The similarity to the [`numbers`](Vector::numbers) of another.
    pub fn similarity_to(&self, numbers: &[f32]) -> f32 {
        dot(&self.numbers, numbers, |number| number)
    }

    /// The numbers, each in 4 bytes, the lowest first: how a store keeps them.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// The similarity to a vector that is still in the bytes of [`Vector::to_bytes`].
    pub fn similarity_to_bytes(&self, bytes: &[u8]) -> f32 {
        let (numbers, _) = bytes.as_chunks();
        dot(&self.numbers, numbers, f32::from_le_bytes)
    }
}

/// In eight sums, which a processor can do at once, and always in this order.
fn dot<T: Copy>(a: &[f32], b: &[T], number: impl Fn(T) -> f32) -> f32 {
    let mut sums = [0.0f32; 8];
    let mut add = |a: &[f32], b: &[T]| {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * number(*b);
        }
    };
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    a.iter().zip(b).for_each(|(a, b)| add(a, b));
    add(a_rest, b_rest);
    sums.iter().sum::<f32>().clamp(-1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_is_what_points_the_same_way_however_long_it_is() {
        let vector = |numbers: &[f32]| Vector::new(numbers).unwrap();
        for (a, b, want) in [
            (&[1.0, 0.0][..], &[2.0, 0.0][..], 1.0),
            (&[1.0, 0.0], &[0.0, 3.0], 0.0),
            (&[1.0, 1.0], &[-1.0, -1.0], -1.0),
            (&[f32::MAX; 9], &[f32::MIN_POSITIVE; 9], 1.0),
            (&[1e-45; 3], &[1.0, 0.0, 0.0], 0.577_350_3),
        ] {
            let (a, b) = (vector(a), vector(b));
            assert!((a.similarity(&b) - want).abs() < 1e-6, "{a:?} {b:?}");
            assert_eq!(a.similarity(&b), a.similarity_to_bytes(&b.to_bytes()));
        }
    }

    #[test]
    fn what_points_nowhere_is_no_vector() {
        for (numbers, want) in [
            (&[][..], InvalidVector::Length(0)),
            (&[0.0; 65_537], InvalidVector::Length(65_537)),
            (&[0.0, -0.0], InvalidVector::Zero),
            (&[1.0, f32::NAN], InvalidVector::NotFinite(1)),
            (&[f32::INFINITY], InvalidVector::NotFinite(0)),
        ] {
            assert_eq!(Vector::new(numbers), Err(want));
        }
    }
}
