//! The nearest vectors of a space, by their codes.

use hanok_checkpoint::Vector;

use super::{
    approximate::Approximate,
    codes::Codes,
    likeliest::{Candidate, Likeliest},
    vectors::{Slab, Vectors},
};
use crate::nearest::Nearest;

/// Fewer vectors are all compared.
pub(super) const LEAST: usize = 5_000;

/// With a filter that lets through less than one in so many vectors, these are all compared.
const FEW: usize = 64;

/// Vectors of fewer numbers are compared about as fast as their codes, and better.
const NARROW: usize = 64;

/// Of so many vectors, the mean stays what it is.
const SETTLED: usize = 100_000;

impl Slab {
    /// The `count` most like `asked`, of `among` alone, where it is given; one may be missed. `None` where all have to be
    /// compared.
    pub(super) fn near(
        &self,
        asked: &Vector,
        among: Option<&[u64]>,
        count: usize,
        lowest: f32,
        approximate: Approximate,
    ) -> Option<Vec<(u64, f32)>> {
        let codes = &self.codes.as_ref()?.codes;
        let all = among.map_or(self.keys.len(), <[u64]>::len);
        let wanted = approximate.wanted(count);
        if all < LEAST.max(self.keys.len() / FEW) || wanted > all / 4 {
            return None;
        }
        let allowed = among.map(|among| self.places(among));
        let probe = codes.probe(asked.numbers());
        let mut best = Likeliest::new(wanted);
        codes.scan(&probe, |place, estimate| {
            if allowed.as_ref().is_none_or(|allowed| allowed.get(place) == Some(&true))
                && let Some(key) = self.keys.get(place).copied()
            {
                best.offer(Candidate { estimate, key, place });
            }
            best.bar()
        });
        let mut found = Nearest::new(count, lowest);
        for Candidate { estimate, key, place } in best.told() {
            if codes.bound(&probe, place, estimate) >= found.bar()
                && let Some(numbers) = self.at(place)
            {
                found.offer(key, asked.similarity_to(numbers));
            }
        }
        Some(found.told())
    }

    /// Makes codes where there are enough vectors, and makes them anew when these are twice as many as those whose mean they
    /// know.
    pub(super) fn encode(&mut self) {
        let (count, of) = (self.keys.len(), self.codes.as_ref().map_or(0, |coded| coded.of));
        let due = if of == 0 { count >= LEAST } else { count >= 2 * of && of < SETTLED };
        if due && self.space.dimensions >= NARROW {
            self.codes = Codes::new(self.space.dimensions, &self.numbers)
                .map(|codes| Coded { codes, of: count });
        }
    }

    /// Which places have one of the keys.
    fn places(&self, keys: &[u64]) -> Vec<bool> {
        let mut allowed = vec![false; self.keys.len()];
        for key in keys {
            if let Some(place) = self.place(*key).and_then(|place| allowed.get_mut(place)) {
                *place = true;
            }
        }
        allowed
    }
}

/// The codes of the vectors of a space, in the same order.
#[derive(Debug)]
pub(super) struct Coded {
    pub(super) codes: Codes,
    /// How many vectors there were when they were made.
    of: usize,
}

impl Vectors {
    /// From now on these have codes.
    pub(super) fn approximate(&mut self, approximate: Approximate) {
        self.approximate = Some(approximate);
        self.slabs.iter_mut().for_each(Slab::encode);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::local::vectors::Kept;

    const COUNT: u64 = 6_000;

    fn numbers(size: usize, key: u64) -> impl Iterator<Item = f32> {
        let mut seed = key.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let uniform = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        std::iter::repeat_with(uniform).skip(8).take(size)
    }

    fn unit(numbers: &[f32]) -> Vec<f32> {
        Vector::new(numbers).unwrap().numbers().to_vec()
    }

    /// One of length 1 that follows from its key.
    pub(in crate::local) fn random(size: usize, key: u64) -> Vec<f32> {
        unit(&numbers(size, key).collect::<Vec<_>>())
    }

    /// One near one of some centres, which follows from its key, too.
    pub(in crate::local) fn clustered(size: usize, clusters: u64, key: u64) -> Vec<f32> {
        let centre = numbers(size, (1 << 50) + (key.wrapping_mul(0x9E37_79B9) >> 7) % clusters);
        // What makes vectors of a cluster different lies in a few directions, as with those that encoders make.
        let mut of: Vec<f32> = centre.collect();
        for (direction, share) in numbers(16, key).enumerate() {
            let along = numbers(size, (1 << 51) + direction as u64);
            of.iter_mut().zip(along).for_each(|(number, along)| *number += 0.3 * share * along);
        }
        let noise = numbers(size, key + (1 << 52));
        of.iter_mut().zip(noise).for_each(|(number, noise)| *number += 0.2 * noise);
        unit(&of)
    }

    fn vector(key: u64) -> Vector {
        Vector::new(&random(64, key)).unwrap()
    }

    fn put(vectors: &mut Vectors, keys: impl IntoIterator<Item = u64>) {
        keys.into_iter().for_each(|key| vectors.put(key, &Kept::from(&vector(key))));
    }

    /// Vectors that were there before.
    fn opened(keys: impl IntoIterator<Item = u64>) -> Vectors {
        let mut vectors = Vectors::default();
        put(&mut vectors, keys);
        vectors.approximate(Approximate::new());
        vectors
    }

    /// The share of the ten nearest to each that is found. What is found is there, and has its own score.
    fn recall(
        vectors: &mut Vectors,
        asked: impl Iterator<Item = Vector>,
        among: impl Fn(&Vector) -> Option<Vec<u64>>,
    ) -> f64 {
        let (approximate, mut both, mut all) = (vectors.approximate, 0, 0);
        for asked in asked {
            let among = among(&asked);
            let mut find = |approximate| {
                vectors.approximate = approximate;
                vectors.nearest(&asked, among.as_deref(), 10, -1.0).unwrap()
            };
            let (want, found) = (find(None), find(approximate));
            assert_eq!((want.len(), found.len()), (10, 10));
            for (key, similarity) in &found {
                assert_eq!(*similarity, asked.similarity_to(vectors.slabs[0].get(*key).unwrap()));
                assert!(among.as_ref().is_none_or(|among| among.contains(key)));
            }
            assert!(found.is_sorted_by(|a, b| a.1 >= b.1), "{found:?}");
            both += found.iter().filter(|found| want.contains(found)).count();
            all += want.len();
        }
        both as f64 / all as f64
    }

    fn questions() -> impl Iterator<Item = Vector> {
        (0..50).map(|number| vector(1 << 40 | number))
    }

    #[test]
    fn estimates_find_nearly_all_that_a_scan_finds() {
        let mut vectors = opened(0..COUNT);
        let found = recall(&mut vectors, questions(), |_| None);
        assert!(found >= 0.98, "{found}");
        vectors.approximate = Some(Approximate::new().breadth(16));
        let narrow = recall(&mut vectors, questions(), |_| None);
        assert!(narrow > 0.3 && narrow < found, "{narrow}");
        vectors.approximate = Some(Approximate::new().breadth(1_024));
        assert!(recall(&mut vectors, questions(), |_| None) > 0.995);

        let mut few = opened(0..LEAST as u64 - 1);
        assert!(few.slabs[0].codes.is_none());
        assert_eq!(recall(&mut few, questions(), |_| None), 1.0);
        put(&mut few, [COUNT]);
        assert!(few.slabs[0].codes.is_some());
    }

    #[test]
    fn of_vectors_in_clusters_nearly_all_is_found() {
        let size = 256;
        let of = |key| Vector::new(&clustered(size, 50, key)).unwrap();
        let mut vectors = Vectors::default();
        (0..COUNT).for_each(|key| vectors.put(key, &Kept::from(&of(key))));
        vectors.approximate(Approximate::new());
        let found = recall(&mut vectors, (0..50).map(|key| of(1 << 40 | key)), |_| None);
        assert!(found >= 0.98, "{found}");
    }

    #[test]
    fn a_filter_lets_through_what_it_should_and_loses_nothing_of_few() {
        let mut vectors = opened(0..COUNT);
        vectors.approximate = Some(Approximate::new().breadth(16));
        for few in [40, 1_000, 4_999] {
            let few: Vec<u64> = (0..COUNT).rev().take(few).collect();
            assert_eq!(recall(&mut vectors, questions(), |_| Some(few.clone())), 1.0);
        }
        vectors.approximate = Some(Approximate::new());
        let two_in_three = || (0..COUNT + 2_000).filter(|key| key % 3 > 0).collect();
        let found = recall(&mut vectors, questions(), |_| Some(two_in_three()));
        assert!(found >= 0.98, "{found}");
        vectors.approximate = Some(Approximate::new().breadth(1_024));
        // All but the nearest: many are about as near as those that are left.
        let far = |asked: &Vector| {
            let mut keys: Vec<u64> = (0..COUNT).collect();
            keys.sort_by_cached_key(|key| (asked.similarity(&vector(*key)) * 1e6) as i32);
            keys.truncate(5_500);
            Some(keys)
        };
        let found = recall(&mut vectors, questions().take(20), far);
        assert!(found >= 0.95, "{found}");
    }

    #[test]
    fn codes_are_made_anew_when_there_are_twice_as_many_vectors() {
        let mut vectors = opened(0..5_500);
        let of = |vectors: &Vectors| vectors.slabs[0].codes.as_ref().unwrap().of;
        put(&mut vectors, 5_500..10_999);
        assert_eq!(of(&vectors), 5_500);
        put(&mut vectors, 10_999..11_000);
        assert_eq!(of(&vectors), 11_000);
        (0..6_000).for_each(|key| vectors.remove(key));
        assert!(recall(&mut vectors, questions(), |_| None) >= 0.95);
    }

    /// What is equal is told by its key; a search of opposites finds those of its own side.
    #[test]
    fn equal_and_opposite_vectors_are_found_as_by_a_scan() {
        let (one, other) = (random(64, 1), random(64, 2));
        let minus: Vec<f32> = one.iter().map(|number| -number).collect();
        for (a, b) in [(&one, &one), (&one, &minus), (&one, &other)] {
            let mut vectors = Vectors::default();
            for key in 0..COUNT {
                let numbers = if key * 7 % 3 == 0 { a } else { b };
                let kept = Kept::from(&Vector::new(numbers).unwrap());
                vectors.put(key.wrapping_mul(0x9E37_79B9_7F4A_7C15), &kept);
            }
            let mut find = |asked: &[f32], approximate: Option<Approximate>| {
                vectors.approximate = None;
                approximate.into_iter().for_each(|it| vectors.approximate(it));
                vectors.nearest(&Vector::new(asked).unwrap(), None, 30, -1.0).unwrap()
            };
            for asked in [a, b, &random(64, 3)] {
                let want = find(asked, None);
                assert_eq!(find(asked, Some(Approximate::new())), want);
            }
        }
    }

    /// Whatever their size, what is found is good: below 64 numbers and above 8,192 because it is exact.
    #[test]
    fn vectors_of_any_size_are_found() {
        for (size, coded) in [(1, false), (2, false), (63, false), (65, true), (130, true)] {
            let of = |key| Vector::new(&random(size, key)).unwrap();
            let mut vectors = Vectors::default();
            vectors.approximate(Approximate::new());
            (0..COUNT).for_each(|key| vectors.put(key, &Kept::from(&of(key))));
            assert_eq!(vectors.slabs[0].codes.is_some(), coded);
            let found = recall(&mut vectors, (0..20).map(|key| of(1 << 40 | key)), |_| None);
            assert!(found >= if coded { 0.93 } else { 1.0 }, "{size}: {found}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3))]

        /// Whatever was put, removed and replaced, a store finds what a fresh one finds.
        #[test]
        fn what_comes_is_found_and_what_goes_is_not(
            changes in prop::collection::vec((any::<bool>(), 0..COUNT + 500), 0..400),
        ) {
            let mut vectors = opened(0..COUNT);
            let mut there: std::collections::BTreeSet<u64> = (0..COUNT).collect();
            for (put_it, key) in changes {
                if put_it && there.insert(key) {
                    put(&mut vectors, [key]);
                } else if !put_it {
                    there.remove(&key);
                    vectors.remove(key);
                }
            }
            let fresh = opened(there.iter().copied());
            for key in (0..COUNT + 500).step_by(97) {
                let find = |vectors: &Vectors| vectors.nearest(&vector(key), None, 3, 0.6).unwrap();
                let found = find(&vectors);
                prop_assert_eq!(&found, &find(&fresh));
                prop_assert_eq!(found.iter().any(|found| found.0 == key), there.contains(&key));
            }
        }
    }
}
