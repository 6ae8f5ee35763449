//! Sentences and words are computed as the models of the files do.

mod encoder;
mod morphology;
