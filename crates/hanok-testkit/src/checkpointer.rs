//! The claims about every [`Checkpointer`], written once and checked on each.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a suite stops at what it did not expect"
)]

pub(crate) mod contract;
mod copies;
mod cuts;
mod damage;
mod entries;
mod histories;
mod lives;
mod logs;
pub(crate) mod names;
mod others;
mod retained;
mod script;
mod verified;

pub use entries::{any_entry, any_snapshot};
use hanok_checkpoint::{Checkpointer, SharedCheckpointer};

use crate::claims::named;
use contract::*;
use copies::*;
use cuts::*;
use damage::*;
use histories::*;
use lives::*;
use logs::*;
use names::*;
use others::*;
use retained::*;
use verified::*;

/// One claim of the suite: its name, and what panics when a store does not hold it.
pub type CheckpointerClaim = (&'static str, fn(SharedCheckpointer));

/// Every claim of the suite, for whoever runs it in another way than [`checkpointer_conforms!`](crate::checkpointer_conforms).
pub const CHECKPOINTER_CLAIMS: &[CheckpointerClaim] = crate::checkpointer_conforms!(@claims);

/// Checks one claim on a store with nothing in it.
///
/// # Panics
///
/// When the store does not hold it, or there is no claim of that name.
pub fn check_checkpointer(claim: &str, store: impl Checkpointer) {
    named(CHECKPOINTER_CLAIMS, claim)(SharedCheckpointer::new(store));
}

/// Makes a test of every claim: `checkpointer_conforms!(Mine::open().await.unwrap())`, in a module of its own if there are
/// several stores. The expression gives a store with nothing in it, once for every test, on a tokio runtime.
#[macro_export]
macro_rules! checkpointer_conforms {
    (@claims) => { $crate::checkpointer_conforms!(@each [@name]) };
    (@each [$($then:tt)*]) => {
        $crate::checkpointer_conforms! { $($then)*;
            /// B70
            what_is_appended_is_read_back
            /// B70
            a_thread_without_a_record_is_not_there
            /// P10, B76
            of_two_appends_to_one_position_one_gets_a_conflict
            /// P10, B76
            appends_from_many_threads_never_interleave
            /// P9, B73
            an_append_whose_answer_was_lost_is_stored_once
            /// P10
            an_append_without_the_claim_is_fenced
            /// P10
            a_claim_and_its_beat_are_seen_in_the_head
            /// P10
            a_beat_without_the_claim_is_fenced
            /// B74
            a_page_of_history_is_newest_first
            /// P1
            a_read_begins_at_the_newest_snapshot_that_is_not_too_new
            /// P57, B75
            deleting_a_thread_leaves_nothing_of_it_and_all_of_the_others
            /// P26, P27, P28, P29, P31, B84
            hostile_names_stay_apart_and_read_back_as_they_were_written
            /// P26, P50
            a_tenant_sees_its_own_threads_only
            /// P26
            threads_are_listed_by_name_page_by_page
            /// P26
            any_number_a_caller_names_gets_an_answer
            /// P1, B85
            a_log_reads_at_any_position_as_its_records_say
            /// B74
            pages_of_history_hold_every_entry_once
            /// B70
            a_fork_outlives_its_origin
            /// P10
            a_rewind_goes_back_and_keeps_what_it_leaves
            /// P7
            a_position_that_is_not_in_the_log_is_named_and_no_damage
            /// P7, B79
            a_flipped_bit_is_told_with_the_last_good_position
            /// P7, B79
            a_record_cut_at_any_length_is_told_with_the_last_good_position
            /// P7
            a_record_that_belongs_elsewhere_is_told
            /// P7
            a_damaged_snapshot_is_passed_over
            /// P57, B78
            what_is_cut_off_is_gone_and_what_follows_reads_from_the_base
            /// B78
            a_floor_only_rises_and_never_above_the_head
            /// B78
            a_cut_moves_no_head_unless_it_appends
            /// B78
            a_cut_is_made_where_it_is_expected
            /// B78
            what_a_cut_keeps_reads_as_it_did
            /// B81
            a_copy_is_the_same_log_under_another_name
            /// B85
            an_exported_log_is_taken_in_as_it_was
            /// B74, B84
            a_history_holds_what_was_asked_for
            /// B74
            a_checkpoint_tells_what_leads_to_it
            /// P7
            a_whole_log_is_found_whole
            /// P7, B79
            damage_is_found_and_a_log_goes_on_from_before_it
            /// P7
            a_damaged_snapshot_is_found_and_no_loss
            /// P57
            what_is_written_anew_holds_nothing_of_before
            /// P57, B75
            a_thread_is_erased_with_its_forks_unless_they_are_to_stay
            /// P57
            threads_are_listed_by_what_they_are
            /// P57
            a_thread_is_deleted_only_where_it_is_expected
            /// P10
            an_epoch_only_rises
            /// P10
            what_belongs_to_another_life_is_refused
            /// P7
            a_head_holds_the_newest_link_and_its_seal
            /// P22
            a_log_may_begin_at_a_floor
            /// P57
            what_is_left_of_erased_records_stands_in_the_history_alone
            /// P26
            labels_change_with_an_append_or_not_at_all
            /// P35
            threads_that_wait_are_listed_by_their_deadline
            /// P7
            the_chain_of_a_log_leads_to_its_head
            /// P7
            a_record_that_somebody_made_anew_breaks_the_chain
            /// P7
            a_fork_and_a_copy_say_which_log_they_come_from
            /// P24
            a_follower_hears_of_what_others_append
            /// P2
            items_for_others_come_with_their_append_or_not_at_all
            /// P2
            items_are_handed_out_in_one_order_until_they_are_done
            /// P26, P27
            topics_and_consumers_are_data
            /// P2
            items_of_many_writers_are_handed_out_once_each_in_order
        }
    };
    (@name; $($(#[$promise:meta])* $claim:ident)*) => {
        &[$((stringify!($claim), $claim as fn(SharedCheckpointer))),*]
    };
    (@test $store:expr; $($(#[$promise:meta])* $claim:ident)*) => {
        $($(#[$promise])* #[test] fn $claim() {
            $crate::check_checkpointer(stringify!($claim), $crate::block_on(async { $store }));
        })*
    };
    ($store:expr) => { $crate::checkpointer_conforms!(@each [@test $store]); };
}
