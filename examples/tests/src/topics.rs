//! An embedder for tests that knows which words mean the same, and nothing else.

use hanok_core::Call;
use hanok_model::{Embedder, ModelError};

/// An embedder of topics: the vector of a text says how many words of each it has.
#[derive(Debug, Clone, Copy)]
pub struct Topics(pub &'static [&'static [&'static str]]);

impl Embedder for Topics {
    fn name(&self) -> &str {
        "topics"
    }

    fn dimensions(&self) -> Option<usize> {
        Some(self.0.len() + 1)
    }

    async fn embed(&self, texts: &[String], _: &Call) -> Result<Vec<Vec<f32>>, ModelError> {
        let vector = |text: &String| {
            let topics = self.0.iter().map(|words| {
                let count = words.iter().map(|word| text.matches(word).count()).sum::<usize>();
                f32::from(u16::try_from(count).unwrap_or(u16::MAX))
            });
            // What is about none of them is about something else.
            topics.chain([0.1]).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}
