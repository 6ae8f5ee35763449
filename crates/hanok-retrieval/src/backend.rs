//! What a store of passages is made of, for whoever writes one outside of this crate: `hanok-index`, `hanok-pgvector` and
//! `hanok-opensearch` do.
//!
//! All stores rank by the same terms, weigh them by the same formula and join keywords and vectors by the same one, so that the
//! parts of a [`Hit`](crate::Hit) mean the same everywhere. A store finds passages [by keywords](asked_by) and by
//! [vectors](nearest), each as a list of [`Found`], and [`Query::told`](crate::Query::told) makes hits of the two.

pub use crate::{
    bm25::{B, K1, Weight, in_other_words, weights},
    clean::{clean, display},
    document::of_file,
    found::{Found, Whole},
    kept::{decode, encode},
    memory::{asked_by, by_source, matched, searched, told},
    nearest::{Nearest, nearest},
    split::Passages,
    structure::{Heading, begins, heading, is_title},
    terms::{Asked, Term, written},
};
