//! Which points of a sweep a test takes.

use std::{env, ops::Range};

use crate::scatter::{STEP, scattered};

/// The variable that has a test take all points, where it is not empty.
const FULL: &str = "HANOK_TEST_FULL";

/// The variable whose number says which tenth a test takes.
const TURN: &str = "HANOK_TEST_TURN";

/// How many turns take all points between them.
const TURNS: u64 = 10;

/// Those of a sweep's points that a test takes: all of them where the environment's `HANOK_TEST_FULL` is not empty, else the first, the last
/// and a tenth of the others. Which tenth, the number in `HANOK_TEST_TURN` says (without it, 0): ten numbers in a row take every point.
///
/// ```
/// use hanok_testkit::sampled;
///
/// for at in sampled(0..40) {
///     // A run that dies at its append number `at`, and one that goes on with what it left.
///     # assert!(at < 40);
/// }
/// ```
///
/// # Panics
///
/// There are no points, or the turn is no number.
pub fn sampled<T>(points: impl IntoIterator<Item = T>) -> Vec<T> {
    let points: Vec<_> = points.into_iter().collect();
    assert!(!points.is_empty(), "a sweep without a point shows nothing");
    match turn() {
        None => points,
        Some(turn) => sample(points, turn),
    }
}

/// How often a test does what it does many times: `times` where [`sampled`] takes all points, else a tenth, and at least once.
///
/// # Panics
///
/// The turn is no number.
pub fn shortened(times: usize) -> usize {
    match turn() {
        None => times,
        Some(_) => (times / 10).max(1),
    }
}

/// The tenth of `seeds` that the turn chooses, and at least one; all of them where [`sampled`] takes all points.
///
/// # Panics
///
/// There are no seeds, or the turn is no number.
pub fn stretch(seeds: Range<u64>) -> Range<u64> {
    assert!(!seeds.is_empty(), "a sweep without a seed shows nothing");
    match turn() {
        None => seeds,
        Some(turn) => tenth(&seeds, turn),
    }
}

/// Whether all points are taken, as the environment says.
pub fn is_full() -> bool {
    env::var_os(FULL).is_some_and(|full| !full.is_empty())
}

/// The turn, where it is not all points that are taken.
fn turn() -> Option<u64> {
    if is_full() {
        return None;
    }
    let turn = env::var(TURN).unwrap_or_else(|_unset| "0".to_owned());
    let number = turn.parse();
    assert!(number.is_ok(), "{TURN} is `{turn}`, and has to be a number");
    number.ok()
}

fn sample<T>(points: Vec<T>, turn: u64) -> Vec<T> {
    let last = points.len() - 1;
    let numbered = (0..).zip(points);
    let taken = numbered.filter(|(at, _)| {
        *at == 0 || *at == last || (tenth_of(*at) + turn % TURNS).is_multiple_of(TURNS)
    });
    taken.map(|(_, point)| point).collect()
}

fn tenth(seeds: &Range<u64>, turn: u64) -> Range<u64> {
    let size = (seeds.end - seeds.start).div_ceil(TURNS);
    let start = (seeds.start + turn % TURNS * size).min(seeds.end - 1);
    start..(start + size).min(seeds.end)
}

/// A number below [`TURNS`], the same for a tenth of all points, which are not those of one column where a sweep has two.
fn tenth_of(at: usize) -> u64 {
    scattered((at as u64).wrapping_mul(STEP)) % TURNS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ten_turns_take_every_point_and_each_takes_a_tenth() {
        for count in [1, 2, 7, 40, 1_000_usize] {
            let turns: Vec<Vec<usize>> =
                (7..17).map(|turn| sample((0..count).collect(), turn)).collect();
            let all: BTreeSet<_> = turns.iter().flatten().copied().collect();
            assert_eq!(all.len(), count);
            for taken in turns {
                assert_eq!((taken.first(), taken.last()), (Some(&0), Some(&(count - 1))));
                assert!(
                    taken.is_sorted() && taken.len() <= count / 10 + count / 20 + 4,
                    "{taken:?}"
                );
            }
        }
    }

    #[test]
    fn ten_turns_take_every_seed_and_each_takes_some() {
        for seeds in [0..1, 3..10, 0..25, 40..46, 0..6_000] {
            let turns = (7..17).map(|turn| tenth(&seeds, turn));
            let all: BTreeSet<u64> = turns.clone().flatten().collect();
            assert!(all.into_iter().eq(seeds.clone()), "{seeds:?}");
            assert!(turns.into_iter().all(|taken| !taken.is_empty()), "{seeds:?}");
        }
    }

    #[test]
    fn a_turn_takes_points_of_every_column() {
        for columns in [2, 4, 5, 10] {
            for turn in 0..10 {
                let taken = sample((0..400_usize).collect(), turn);
                let seen: BTreeSet<_> = taken.into_iter().map(|at| at % columns).collect();
                assert_eq!(seen.len(), columns, "{columns} columns, turn {turn}");
            }
        }
    }
}
