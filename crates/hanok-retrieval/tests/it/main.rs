//! What is read, split and found.

mod contract;
mod documents;
mod embedded;
mod encoder;
mod english;
mod library;
mod local;
mod morphology;
mod ngrams;
mod opensearch;
mod pdf;
mod pgvector;
mod recall;
mod reranked;
mod samples;
mod search_tool;
mod split;
mod store;
mod structures;
mod update;
