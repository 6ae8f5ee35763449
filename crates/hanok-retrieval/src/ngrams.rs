//! An embedder of this process that reads letters and knows no meaning.

mod endings;
mod features;
mod sounds;

use hanok_core::Call;
use hanok_model::{Embedder, ModelError};

use self::features::features;

/// What the vectors are made by: another way has another number, and vectors of two numbers are not compared.
const VERSION: u32 = 1;

/// The longest vectors that a store takes.
const LONGEST: usize = 65_536;

/// An embedder that needs no model, no download and no server: texts are alike as far as their letters are.
///
/// Words count by themselves, by their pairs of characters and, if they are Korean, by how they sound; endings and words of
/// asking count little. So `제택근무` is near `재택근무는`, and `reviews` near `review`. **It understands no meaning**: 급여 is
/// no nearer to 월급 than to 휴가, and no language is near another. Beside a search by keywords it finds what is misspelled;
/// what is said in other words needs a model.
///
/// The same text always has the same vector, of length 1, on every machine. Time and room are linear.
///
/// ```
/// use hanok_model::Embedder;
/// use hanok_retrieval::NgramEmbedder;
///
/// let embedder = NgramEmbedder::default();
/// assert_eq!((embedder.name(), embedder.dimensions()), ("ngrams-1-1536", Some(1_536)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NgramEmbedder {
    dimensions: usize,
    name: String,
}

impl Default for NgramEmbedder {
    /// Vectors of 1,536 numbers.
    fn default() -> Self {
        Self::new(1_536)
    }
}

impl NgramEmbedder {
    /// Vectors of `dimensions` numbers, from 1 to 65,536; what is beyond is taken as the nearest of them. With few of them texts are alike
    /// by accident: 512 found noticeably less than 1,536 (`docs/retrieval.md`), in a third of the room.
    #[must_use]
    pub fn new(dimensions: usize) -> Self {
        let dimensions = dimensions.clamp(1, LONGEST);
        Self { dimensions, name: format!("ngrams-{VERSION}-{dimensions}") }
    }

    /// The vector of `text`.
    #[must_use]
    pub fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.dimensions];
        for (hash, weight) in features(text) {
            let place = (hash >> 1) % self.dimensions as u64;
            // By its sign, two features in one place are as often apart as together.
            let weight = if hash & 1 == 0 { weight } else { -weight };
            if let Some(number) = vector.get_mut(place as usize) {
                *number += weight;
            }
        }
        direction(vector)
    }
}

/// The same at length 1. What points nowhere, as an empty text does, gets a direction of its own.
fn direction(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number /= length);
    } else if let Some(first) = vector.first_mut() {
        *first = 1.0;
    }
    vector
}

impl Embedder for NgramEmbedder {
    /// With its version and the length of its vectors.
    fn name(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> Option<usize> {
        Some(self.dimensions)
    }

    async fn embed(&self, texts: &[String], call: &Call) -> Result<Vec<Vec<f32>>, ModelError> {
        let one = |text: &String| match call.stop().is_cancelled() {
            true => Err(ModelError::Cancelled),
            false => Ok(self.vector(text)),
        };
        texts.iter().map(one).collect()
    }
}
