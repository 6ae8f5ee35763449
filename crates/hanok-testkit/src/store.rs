//! The claims about every [`Store`], written once and checked on each.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a suite stops at what it did not expect"
)]

mod batches;
mod filters;
mod fixture;
mod names;
mod searches;
mod time;
mod vectors;

use hanok_checkpoint::{SharedStore, Store};

use crate::claims::named;
use batches::*;
use filters::*;
use names::*;
use searches::*;
use time::*;
use vectors::*;

/// One claim of the suite: its name, and what panics when a store does not hold it.
pub type StoreClaim = (&'static str, fn(SharedStore));

/// Every claim of the suite, for whoever runs it in another way than [`store_conforms!`](crate::store_conforms).
pub const STORE_CLAIMS: &[StoreClaim] = crate::store_conforms!(@claims);

/// Checks one claim on a store with nothing in it.
///
/// # Panics
///
/// When the store does not hold it, or there is no claim of that name.
pub fn check_store(claim: &str, store: impl Store) {
    named(STORE_CLAIMS, claim)(SharedStore::new(store));
}

/// Makes a test of every claim: `store_conforms!(Mine::open().await.unwrap())`, in a module of its own if there are several
/// stores. The expression gives a store with nothing in it, once for every test, on a tokio runtime.
#[macro_export]
macro_rules! store_conforms {
    (@claims) => { $crate::store_conforms!(@each [@name]) };
    (@each [$($then:tt)*]) => {
        $crate::store_conforms! { $($then)*;
            /// B106
            what_is_put_is_read_back
            /// P23 in part
            a_value_of_any_depth_is_kept_and_harms_nothing
            /// B106
            an_item_keeps_when_it_was_first_put
            /// B106
            of_two_writers_of_one_version_one_gets_a_conflict
            /// B106
            a_version_never_comes_twice
            /// B106
            many_writers_lose_no_update
            /// B106
            transfers_in_opposite_orders_lose_nothing_and_all_end
            /// B106
            a_batch_is_made_as_a_whole_or_not_at_all
            /// B106
            of_several_writes_of_one_item_the_last_counts_and_reads_see_what_was_before
            /// P43 in part: what is forgotten is gone everywhere.
            what_is_removed_or_replaced_is_found_by_nothing
            /// B84, P26, P29, P30, P31
            hostile_names_stay_apart_and_read_back_as_they_were_written
            /// P28
            a_prefix_matches_whole_labels
            /// P28, P43 in part: users never see each other's.
            a_tenant_sees_its_own_items_only
            /// B106
            namespaces_are_listed_to_a_depth_page_by_page
            /// P26
            any_number_a_caller_names_is_answered
            /// B106, B107
            every_comparison_works_on_nested_keys
            /// B84, P27, P31
            every_sign_in_a_filter_means_itself
            /// B107, P27
            a_filter_finds_what_a_plain_reading_of_it_finds
            /// B107
            pages_hold_every_item_once_while_others_write
            /// B107
            pages_of_a_ranked_search_hold_every_item_once
            /// B107
            a_page_and_the_next_are_the_page_of_twice_its_size
            a_text_is_found_within_korean_words
            texts_rank_by_how_well_they_hold_the_words
            only_what_is_indexed_is_found_by_text
            /// P27
            every_sign_in_a_text_that_is_looked_for_means_itself
            /// P43 in part: users never see each other's.
            ranks_tell_nothing_of_what_is_elsewhere
            /// B108
            a_search_by_meaning_ranks_by_similarity_within_prefix_and_filter
            /// B108
            what_has_no_vector_is_listed_and_never_found_by_meaning
            /// B108
            an_item_is_as_similar_as_its_most_similar_vector
            /// B108
            vectors_of_one_tenant_have_one_length
            /// B108
            vectors_of_one_tenant_are_of_one_model
            /// B108
            text_and_meaning_are_joined_by_weight
            /// B109
            what_has_expired_is_not_seen_before_it_is_swept
            /// B109
            what_is_read_lives_on
            /// B109
            a_time_of_its_own_comes_before_the_default
            /// B109
            what_is_swept_is_counted
        }
    };
    (@name; $($(#[$promise:meta])* $claim:ident)*) => {
        &[$((stringify!($claim), $claim as fn(SharedStore))),*]
    };
    (@test $store:expr; $($(#[$promise:meta])* $claim:ident)*) => {
        $($(#[$promise])* #[test] fn $claim() {
            $crate::check_store(stringify!($claim), $crate::block_on(async { $store }));
        })*
    };
    ($store:expr) => { $crate::store_conforms!(@each [@test $store]); };
}
