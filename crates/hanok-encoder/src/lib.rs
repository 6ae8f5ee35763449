//! What is computed in this process by files that the user has: sentences as vectors ([`SentenceEncoder`], an
//! [`Embedder`](hanok_model::Embedder)), and Korean words as morphemes ([`Morphology`], for
//! [`Terms::Morphemes`](hanok_retrieval::Terms::Morphemes)). Nothing is downloaded.

mod encoder;
mod files;
mod morphology;

// The crates whose types stand in what this one says.
pub use hanok_model as model;
pub use hanok_retrieval as retrieval;

pub use encoder::SentenceEncoder;
pub use files::FilesError;
pub use morphology::Morphology;
