//! The claims about every [`DocumentStore`], written once and checked on each.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a suite stops at what it did not expect"
)]

mod contents;
mod fixture;
mod keeping;
mod searches;
mod vectors;

use hanok_retrieval::{DocumentStore, SharedDocumentStore};

use crate::claims::named;
pub use keeping::Keeping;

use contents::*;
use searches::*;
use vectors::*;

/// One claim of the suite: its name, and what panics when a store does not hold it.
pub type DocumentStoreClaim = (&'static str, fn(SharedDocumentStore));

/// Every claim of the suite, for whoever runs it in another way than
/// [`document_store_conforms!`](crate::document_store_conforms).
pub const DOCUMENT_STORE_CLAIMS: &[DocumentStoreClaim] = crate::document_store_conforms!(@claims);

/// Checks one claim on a store with nothing in it.
///
/// # Panics
///
/// When the store does not hold it, or there is no claim of that name.
pub fn check_document_store(claim: &str, store: impl DocumentStore) {
    named(DOCUMENT_STORE_CLAIMS, claim)(SharedDocumentStore::new(store));
}

/// Makes a test of every claim: `document_store_conforms!(Mine::open().await.unwrap())`, in a module of its own if there are
/// several stores. The expression gives a store with nothing in it, once for every test, on a tokio runtime. The store has
/// to search by keywords and by vectors.
#[macro_export]
macro_rules! document_store_conforms {
    (@claims) => { $crate::document_store_conforms!(@each [@name]) };
    (@each [$($then:tt)*]) => {
        $crate::document_store_conforms! { $($then)*;
            passages_read_back_as_they_were_put
            a_document_is_replaced_as_a_whole
            what_is_removed_is_found_by_nothing
            putting_the_same_again_changes_nothing
            documents_are_listed_by_source_with_their_version
            of_a_replaced_document_a_search_sees_one_version
            only_what_changed_is_put_again
            hits_come_best_first_and_no_more_than_asked
            a_word_is_found_within_a_korean_one
            a_question_without_an_answer_finds_nothing
            a_folder_holds_whole_names_only
            every_value_of_a_filter_has_to_hold
            equal_passages_are_told_once_when_asked
            what_is_near_is_found_by_its_vector
            a_vector_goes_with_its_passage
            filters_hold_for_vectors_too
            vectors_of_another_model_are_not_compared
            a_question_without_its_vector_is_an_error
            both_parts_are_joined_and_told
            the_model_of_the_vectors_is_listed
            passages_are_read_with_their_neighbours
            /// P27 in part
            every_sign_in_a_question_or_a_filter_means_itself
        }
    };
    (@name; $($(#[$promise:meta])* $claim:ident)*) => {
        &[$((stringify!($claim), $claim as fn(SharedDocumentStore))),*]
    };
    (@test $store:expr; $($(#[$promise:meta])* $claim:ident)*) => {
        $($(#[$promise])* #[test] fn $claim() {
            $crate::check_document_store(stringify!($claim), $crate::block_on(async { $store }));
        })*
    };
    ($store:expr) => { $crate::document_store_conforms!(@each [@test $store]); };
}
