//! What is read, split and found.

mod embedded;
mod english;
mod library;
mod ngrams;
mod recall;
mod reranked;
mod search_tool;
mod split;
mod store;
mod update;
