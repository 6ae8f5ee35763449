//! Whether a figure is worse.

use crate::works::Better;

/// Above which ratio a figure is worse.
pub(super) const BOUND: f64 = 1.05;

/// How probable it may be that pairs of equal builds stand as they do, for a figure to be worse.
const CHANCE: f64 = 0.05;

/// One figure of both builds, and how they compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quartiles {
    /// The median of the other build.
    pub(super) base: f64,
    /// The median of this one.
    pub(super) tree: f64,
    /// A quarter of the pairs' ratios are below it.
    pub(super) lower: f64,
    /// The median of the pairs' ratios.
    pub(super) ratio: f64,
    /// A quarter of the pairs' ratios are above it.
    pub(super) upper: f64,
    /// How many pairs there were.
    pub(super) pairs: usize,
    /// In how many of them this build was worse.
    pub(super) above: usize,
}

impl Quartiles {
    /// Compares `pairs` of the other build's figure and this one's.
    pub(super) fn of(pairs: &[(f64, f64)], better: Better) -> Self {
        let base = sorted(pairs.iter().map(|(base, _)| *base));
        let tree = sorted(pairs.iter().map(|(_, tree)| *tree));
        let ratios = sorted(pairs.iter().map(|(base, tree)| ratio(*base, *tree, better)));
        Self {
            base: quarter(&base, 2),
            tree: quarter(&tree, 2),
            lower: quarter(&ratios, 1),
            ratio: quarter(&ratios, 2),
            upper: quarter(&ratios, 3),
            pairs: pairs.len(),
            above: ratios.iter().filter(|ratio| **ratio > 1.0).count(),
        }
    }

    /// Whether this build seems to be worse.
    pub(super) fn is_above(&self) -> bool {
        self.ratio > BOUND
    }

    /// Whether so many pairs are worse that equal builds would hardly ever show it (a sign test).
    fn is_clear(&self) -> bool {
        chance(self.above, self.pairs) <= CHANCE
    }
}

/// A figure, and what it means.
#[derive(Debug, PartialEq)]
pub(super) struct Judged {
    /// The measurement that decided.
    pub(super) figure: Quartiles,
    pub(super) verdict: Verdict,
}

/// What the ratio of a figure means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It was not above the bound.
    Fine,
    /// It was above the bound, and not when it was measured again.
    NotAgain,
    /// It was above the bound both times, but pairs of equal builds could differ as much.
    Unclear,
    /// It was above the bound both times, and in nearly all pairs of the second.
    Worse,
}

impl Judged {
    /// A figure of a work that was not measured again.
    pub(super) fn once(figure: Quartiles) -> Self {
        Self { figure, verdict: Verdict::Fine }
    }

    /// A figure of a work that was: only one that was above the bound the first time is judged by the second.
    pub(super) fn twice(first: Quartiles, again: Quartiles) -> Self {
        match (first.is_above(), again.is_above()) {
            (false, _) => Self::once(first),
            (true, false) => Self { figure: again, verdict: Verdict::NotAgain },
            (true, true) if !again.is_clear() => Self { figure: again, verdict: Verdict::Unclear },
            (true, true) => Self { figure: again, verdict: Verdict::Worse },
        }
    }

    pub(super) fn is_worse(&self) -> bool {
        self.verdict == Verdict::Worse
    }
}

/// How many times worse `tree` is than `base`.
fn ratio(base: f64, tree: f64, better: Better) -> f64 {
    let (worse, than) = match better {
        Better::Less => (tree, base),
        Better::More => (base, tree),
    };
    // Two zeros are alike.
    if worse.total_cmp(&than).is_eq() { 1.0 } else { worse / than }
}

/// How probable it is that a coin that is thrown `throws` times shows heads at least `heads` times.
fn chance(heads: usize, throws: usize) -> f64 {
    // The row of Pascal's triangle, as probabilities.
    let mut row = vec![1.0];
    for _ in 0..throws {
        let left = row.iter().copied().chain([0.0]);
        let right = [0.0].into_iter().chain(row.iter().copied());
        row = left.zip(right).map(|(left, right): (f64, f64)| (left + right) / 2.0).collect();
    }
    row.into_iter().skip(heads).sum()
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The value that so many quarters of `sorted` are below, between its two neighbours if none stands there.
fn quarter(sorted: &[f64], quarters: usize) -> f64 {
    let place = sorted.len().saturating_sub(1) * quarters;
    let (below, part) = (place / 4, place % 4);
    let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
    match part {
        0 => at(below),
        1 => 0.75 * at(below) + 0.25 * at(below + 1),
        2 => 0.5 * at(below) + 0.5 * at(below + 1),
        _ => 0.25 * at(below) + 0.75 * at(below + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_above_one_is_worse_whichever_direction_is_better() {
        for (base, tree, better, want) in [
            (2.0, 3.0, Better::Less, 1.5),
            (3.0, 2.0, Better::More, 1.5),
            (4.0, 2.0, Better::Less, 0.5),
            (0.0, 0.0, Better::Less, 1.0),
            (0.0, 1.0, Better::Less, f64::INFINITY),
            (0.0, 1.0, Better::More, 0.0),
        ] {
            assert_eq!(ratio(base, tree, better), want, "{base} {tree} {better:?}");
        }
    }

    #[test]
    fn quarters_stand_between_their_neighbours() {
        for (sorted, want) in [
            (&[7.0][..], [7.0, 7.0, 7.0]),
            (&[1.0, 2.0], [1.25, 1.5, 1.75]),
            (&[1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 4.0]),
            (&[1.0, 2.0, 3.0, 4.0], [1.75, 2.5, 3.25]),
        ] {
            assert_eq!([1, 2, 3].map(|quarters| quarter(sorted, quarters)), want, "{sorted:?}");
        }
        assert!(quarter(&[], 2).is_nan());
    }

    /// A machine that is busy during one pair slows both of its processes.
    #[test]
    fn the_ratio_is_of_the_pairs_and_not_of_the_medians() {
        let pairs = [(10.0, 11.0), (20.0, 22.0), (10.0, 11.0), (30.0, 33.0)];
        let want = Quartiles {
            base: 15.0,
            tree: 16.5,
            lower: 1.1,
            ratio: 1.1,
            upper: 1.1,
            pairs: 4,
            above: 4,
        };
        assert_eq!(Quartiles::of(&pairs, Better::Less), want);
        assert!(want.is_above());
        assert!(!Quartiles { ratio: BOUND, ..want }.is_above());
    }

    #[test]
    fn the_chance_is_that_of_a_coin() {
        for (heads, throws, want) in
            [(0, 0, 1.0), (0, 3, 1.0), (3, 3, 0.125), (1, 2, 0.75), (5, 6, 0.109_375), (4, 3, 0.0)]
        {
            assert_eq!(chance(heads, throws), want, "{heads} of {throws}");
        }
    }

    #[test]
    fn what_is_above_the_bound_once_or_in_few_pairs_is_not_worse() {
        let at = |ratio, pairs, above| Quartiles {
            base: 1.0,
            tree: ratio,
            lower: ratio,
            ratio,
            upper: ratio,
            pairs,
            above,
        };
        for (first, again, above, want, decided) in [
            (1.0, 1.2, 16, Verdict::Fine, 8),
            (1.2, 1.0, 16, Verdict::NotAgain, 16),
            (1.2, 1.2, 11, Verdict::Unclear, 16),
            (1.2, 1.2, 12, Verdict::Worse, 16),
        ] {
            let judged = Judged::twice(at(first, 8, 8), at(again, 16, above));
            assert_eq!((judged.verdict, judged.figure.pairs), (want, decided), "{first} {again}");
        }
    }
}
