//! Threads that are deleted and begin anew, or in whose place another one is put.

use super::{Scenario, flow::rounds, history::long, of, silent};
use crate::nodes::says;

pub(super) fn all() -> Vec<Scenario> {
    let anew = silent(rounds).input(says("one")).delete().input(says("one")).input(says("two"));
    let again = long().delete().input(says("one")).input(says("two"));
    let other = silent(rounds).turn_to("other").input(says("zero")).turn_to("simulated");
    let over = other.input(says("one")).input(says("two")).copy_over("other");
    let fork = silent(rounds).input(says("one")).fork("other").input(says("two"));
    let fork = fork.turn_to("simulated").input(says("three")).copy_over("other");
    vec![
        of("deleted, and begun anew", anew),
        of("deleted while snapshots are under way", again),
        of("a copy over another thread", over.input(says("three"))),
        of("a copy over a fork", fork.input(says("four"))),
    ]
}
