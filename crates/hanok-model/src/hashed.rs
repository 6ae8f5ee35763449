//! An embedder for tests.

use hanok_core::{Call, words};

use crate::{Embedder, ModelError, race::until_the_end_of};

/// An embedder for tests that understands nothing: texts are alike as far as they share pairs of characters within words.
/// The same text always has the same vector, on every machine.
///
/// ```
/// use hanok_model::{Embedder, HashEmbedder};
///
/// assert_eq!(HashEmbedder::new(64).dimensions(), Some(64));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct HashEmbedder {
    dimensions: usize,
}

impl HashEmbedder {
    /// Vectors of `dimensions` numbers, at least one. With few of them texts are alike by accident.
    pub fn new(dimensions: usize) -> Self {
        Self { dimensions: dimensions.max(1) }
    }

    fn vector(self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.dimensions];
        // A text without words points somewhere too.
        if let Some(first) = vector.first_mut() {
            *first = 0.01;
        }
        for word in words(text) {
            let padded = || [' '].into_iter().chain(word.text.chars()).chain([' ']);
            for (a, b) in padded().zip(padded().skip(1)) {
                let place = hash([a, b]) % self.dimensions as u64;
                if let Some(number) = vector.get_mut(place as usize) {
                    *number += 1.0;
                }
            }
        }
        vector
    }
}

/// FNV-1a.
fn hash(pair: [char; 2]) -> u64 {
    let bytes = pair.into_iter().flat_map(|c| u32::from(c).to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Embedder for HashEmbedder {
    fn name(&self) -> &str {
        "hashed"
    }

    fn dimensions(&self) -> Option<usize> {
        Some(self.dimensions)
    }

    async fn embed(&self, texts: &[String], call: &Call) -> Result<Vec<Vec<f32>>, ModelError> {
        let vectors = async { Ok(texts.iter().map(|text| self.vector(text)).collect()) };
        until_the_end_of(call, vectors).await
    }
}
