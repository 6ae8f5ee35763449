//! Vectors as one bit a number: RaBitQ (Gao and Long 2024, arXiv:2405.12497), whose estimates of products are right on average.

use std::hint::black_box;

use super::{
    rotation::Rotation,
    sums::{LANES, Row, STRIDE, Sums, WORDS, lane},
};

/// A code has at least so many bits: with fewer, estimates are worth little.
const LEAST: usize = 512;

/// Vectors of more numbers have no codes.
const WIDEST: usize = 8_192;

/// A number of a question is a multiple of this share of their usual size, three times it at most.
const STEP: f32 = 0.65;

/// How many binary digits such a multiple has.
const DIGITS: usize = 2;

/// The codes of vectors, in their order. A bit is the sign of a number of the vector, after the mean was taken from it and it
/// was turned; rows have the bits of 256 vectors each.
#[derive(Debug)]
pub(super) struct Codes {
    mean: Vec<f32>,
    rotation: Rotation,
    rows: Vec<Row>,
    /// What the product of a code's signs has to be multiplied by, of each vector.
    scales: Vec<f32>,
    /// The product of what is left of each vector, and the mean.
    shifts: Vec<f32>,
}

/// A question as the codes are compared with it.
#[derive(Debug)]
pub(super) struct Probe {
    /// The rows that are added, by digits, of numbers below and above zero.
    below: [Vec<u16>; DIGITS],
    above: [Vec<u16>; DIGITS],
    /// What all rows would add up to.
    most: usize,
    /// What makes an estimate of a count.
    factor: f32,
    offset: f32,
    /// The product with the mean.
    shift: f32,
    /// How long it is without the mean.
    length: f32,
}

impl Codes {
    /// Of `numbers`, one vector of `dimensions` behind the other. `None` where these are too many.
    pub(super) fn new(dimensions: usize, numbers: &[f32]) -> Option<Self> {
        if dimensions > WIDEST {
            return None;
        }
        let rotation = Rotation::new(dimensions.next_multiple_of(64).max(LEAST));
        let mean = mean(dimensions, numbers);
        let (rows, scales, shifts) = Default::default();
        let mut codes = Self { mean, rotation, rows, scales, shifts };
        numbers.chunks_exact(dimensions.max(1)).for_each(|numbers| codes.push(numbers));
        Some(codes)
    }

    /// Puts a vector behind the others.
    pub(super) fn push(&mut self, numbers: &[f32]) {
        let turned = self.turned(numbers);
        let (sum, square) = turned.iter().fold((0.0, 0.0), |(sum, square), number| {
            (sum + number.abs(), square + number * number)
        });
        let (place, height) = (self.scales.len(), self.rotation.size());
        self.scales.push(if sum > 0.0 { square / sum } else { 0.0 });
        self.shifts.push(product(numbers, &self.mean) - product(&self.mean, &self.mean));
        if place.is_multiple_of(LANES) {
            self.rows.resize(self.rows.len() + height, [0; WORDS]);
        }
        let (word, bit) = lane(place % LANES);
        for (row, number) in self.block(place).iter_mut().zip(turned) {
            write(row, word, bit, number > 0.0);
        }
    }

    /// The last vector takes the place of the one at `place`.
    pub(super) fn swap_remove(&mut self, place: usize) {
        let Some(last) = self.scales.len().checked_sub(1).filter(|last| place <= *last) else {
            return;
        };
        let (from, at) = (lane(last % LANES), lane(place % LANES));
        let bits: Vec<bool> = self.block(last).iter().map(|row| read(row, from)).collect();
        for (row, bit) in self.block(place).iter_mut().zip(bits) {
            write(row, at.0, at.1, bit);
        }
        self.scales.swap_remove(place);
        self.shifts.swap_remove(place);
        self.rows.truncate(last.div_ceil(LANES) * self.rotation.size());
    }

    /// How `asked` is compared.
    pub(super) fn probe(&self, asked: &[f32]) -> Probe {
        let turned = self.turned(asked);
        let square: f32 = turned.iter().map(|number| number * number).sum();
        let step = STEP * (square / turned.len() as f32).sqrt();
        let mut probe = Probe {
            below: Default::default(),
            above: Default::default(),
            most: 0,
            factor: 0.0,
            offset: 0.0,
            shift: product(asked, &self.mean),
            length: square.sqrt(),
        };
        if step > 0.0 {
            probe.fill(&turned, step, square);
        }
        probe
    }

    /// Estimates the product of every vector and a question, without the product with the mean, and gives those with their
    /// places to `offer` that are not below what this said last.
    pub(super) fn scan(&self, probe: &Probe, mut offer: impl FnMut(usize, f32) -> f32) {
        let mut bar = f32::NEG_INFINITY;
        let blocks = self.rows.chunks_exact(self.rotation.size());
        let factors = self.scales.chunks(LANES).zip(self.shifts.chunks(LANES));
        for (begin, (rows, (scales, shifts))) in (0..).step_by(LANES).zip(blocks.zip(factors)) {
            let mut estimates = [f32::NAN; LANES];
            let counts = probe.counts(rows);
            let factors = counts.iter().zip(scales).zip(shifts);
            for (estimate, ((count, scale), shift)) in estimates.iter_mut().zip(factors) {
                *estimate = scale * (f32::from(*count) * probe.factor + probe.offset) + shift;
            }
            for (begin, few) in (begin..).step_by(8).zip(estimates.as_chunks::<8>().0) {
                if few.iter().fold(false, |any, estimate| any | (*estimate >= bar)) {
                    for (place, estimate) in (begin..).zip(few) {
                        if *estimate >= bar {
                            bar = offer(place, *estimate);
                        }
                    }
                }
            }
        }
    }

    /// Nearly always, the product of the vector at `place` and a question is not above this, if so much is estimated.
    pub(super) fn bound(&self, probe: &Probe, place: usize, estimate: f32) -> f32 {
        // One standard deviation is about 0.63 of a scale and a length; and numbers are rounded.
        let scale = self.scales.get(place).copied().unwrap_or_default();
        estimate + probe.shift + 2.0 * scale * probe.length + 1e-5
    }

    /// What is left of a vector without the mean, turned.
    fn turned(&self, numbers: &[f32]) -> Vec<f32> {
        let left = numbers.iter().zip(&self.mean).map(|(number, mean)| number - mean);
        let mut turned: Vec<f32> = left.collect();
        turned.resize(self.rotation.size(), 0.0);
        self.rotation.turn(&mut turned);
        turned
    }

    /// The rows with the vector at `place`.
    fn block(&mut self, place: usize) -> &mut [Row] {
        let height = self.rotation.size();
        let begin = place / LANES * height;
        self.rows.get_mut(begin..begin + height).unwrap_or_default()
    }
}

impl Probe {
    /// Takes over what was `turned`, as multiples of `step`.
    fn fill(&mut self, turned: &[f32], step: f32, square: f32) {
        let (mut product, mut below) = (0.0, 0);
        for (place, number) in (0..).zip(turned) {
            let times = ((number.abs() / step + 0.5) as usize).min((1 << DIGITS) - 1);
            product += number.abs() * times as f32;
            self.most += times;
            below += if *number < 0.0 { times } else { 0 };
            let rows = if *number < 0.0 { &mut self.below } else { &mut self.above };
            for (digit, rows) in rows.iter_mut().enumerate() {
                if times >> digit & 1 == 1 {
                    rows.push(place);
                }
            }
        }
        for rows in self.below.iter_mut().chain(&mut self.above) {
            rows.resize(rows.len().next_multiple_of(STRIDE), u16::MAX);
        }
        // As with vectors, what is lost by rounding is made up for in the question's own direction.
        let unit = if product > 0.0 { square / product } else { 0.0 };
        // A count has 1 for each sign that is the same, and is one less, by turning it around.
        let same = 2.0 * (below as f32 + 1.0) - self.most as f32;
        (self.factor, self.offset) = (2.0 * unit, same * unit);
    }

    /// What the bits of each vector of `rows` count: those above zero, less those below.
    #[inline(never)]
    fn counts(&self, rows: &[Row]) -> [i16; LANES] {
        // Read once in order, which a processor foresees, they are near when they are added out of order: three times as fast
        // where others use up its cache.
        black_box(rows.iter().step_by(2).fold(0, |all, [word, ..]| all | word));
        let mut sums = Sums::new(self.most);
        (0..).zip(&self.below).for_each(|(digit, places)| sums.add(digit, rows, places));
        sums.invert();
        (0..).zip(&self.above).for_each(|(digit, places)| sums.add(digit, rows, places));
        sums.told()
    }
}

fn mean(dimensions: usize, numbers: &[f32]) -> Vec<f32> {
    let mut sums = vec![0.0; dimensions];
    for numbers in numbers.chunks_exact(dimensions.max(1)) {
        sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
    }
    let count = (numbers.len() / dimensions.max(1)).max(1) as f32;
    sums.into_iter().map(|sum| sum / count).collect()
}

/// In eight sums, which a processor can do at once.
fn product(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; 8];
    for (a, b) in a.chunks(8).zip(b.chunks(8)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

fn write(row: &mut Row, word: usize, bit: usize, set: bool) {
    if let Some(word) = row.get_mut(word) {
        *word = *word & !(1 << bit) | u64::from(set) << bit;
    }
}

fn read(row: &Row, (word, bit): (usize, usize)) -> bool {
    row.get(word).is_some_and(|word| word >> bit & 1 == 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::local::near::tests::{clustered, random};

    /// Vectors of `size` numbers, and what is estimated of each, with the product itself.
    fn estimated(codes: &Codes, vectors: &[Vec<f32>], asked: &[f32]) -> Vec<(f32, f32)> {
        let probe = codes.probe(asked);
        let mut told = vec![(f32::NAN, 0.0); vectors.len()];
        codes.scan(&probe, |place, estimate| {
            told[place] = (estimate + probe.shift, product(asked, &vectors[place]));
            f32::NEG_INFINITY
        });
        told
    }

    fn codes(vectors: &[Vec<f32>]) -> Codes {
        Codes::new(vectors[0].len(), &vectors.concat()).unwrap()
    }

    /// Right on average, also of those that are near; within the bound but for one in some hundreds; and off by about as much
    /// as the paper says: the square root of 0.56 by the number of bits, and what rounding the question adds.
    #[test]
    fn an_estimate_is_right_on_average_and_hardly_ever_beyond_its_bound() {
        for (size, clusters) in [(64, 0), (384, 50), (512, 0), (768, 50), (1_000, 0)] {
            let of = |key| match clusters {
                0 => random(size, key),
                clusters => clustered(size, clusters, key),
            };
            let vectors: Vec<Vec<f32>> = (0..700).map(of).collect();
            let codes = codes(&vectors);
            let (mut off, mut square, mut beyond, mut near, mut count) = (0.0, 0.0, 0, 0.0, 0.0);
            for key in 0..20 {
                let asked = of(1_000_000 + key);
                let probe = codes.probe(&asked);
                let told = estimated(&codes, &vectors, &asked);
                let mut nearest: Vec<f32> = Vec::new();
                for (place, (estimate, product)) in told.into_iter().enumerate() {
                    let error = estimate - product;
                    let bound = codes.bound(&probe, place, estimate) - estimate;
                    // Its own shift, which `estimated` has added already.
                    let bound = bound - probe.shift;
                    beyond += u32::from(error.abs() > bound);
                    let share = error / (codes.scales[place] * probe.length);
                    off += share;
                    square += share * share;
                    count += 1.0;
                    nearest.push(if product > 0.5 { share } else { 0.0 });
                }
                near += nearest.iter().sum::<f32>();
            }
            assert!((off / count).abs() < 0.02, "{size}: {}", off / count);
            assert!((near / count).abs() < 0.02, "{size}: {}", near / count);
            let deviation = (square / count).sqrt();
            assert!((0.5..0.7).contains(&deviation), "{size}: {deviation}");
            assert!((beyond as f32) < count / 300.0, "{size}: {beyond} of {count}");
        }
    }

    /// A vector asks for itself, and for its opposite.
    #[test]
    fn what_is_the_same_or_opposite_is_estimated_best_and_worst() {
        let mut vectors: Vec<Vec<f32>> = (0..300).map(|key| random(512, key)).collect();
        vectors.push(vectors[7].iter().map(|number| -number).collect());
        let told = estimated(&codes(&vectors), &vectors, &vectors[7]);
        assert!((told[7].0 - 1.0).abs() < 0.1, "{:?}", told[7]);
        assert!((told[300].0 + 1.0).abs() < 0.1, "{:?}", told[300]);
        assert!(told.iter().enumerate().all(|(at, it)| at % 293 == 7 || it.0.abs() < 0.4));
    }

    /// Where nothing is left without the mean, the mean says all.
    #[test]
    fn vectors_that_are_all_equal_are_estimated_exactly() {
        let vectors = vec![random(100, 1); 600];
        for asked in [random(100, 1), random(100, 2)] {
            for (estimate, product) in estimated(&codes(&vectors), &vectors, &asked) {
                assert!((estimate - product).abs() < 1e-4, "{estimate} {product}");
            }
        }
        assert!(Codes::new(WIDEST, &vec![0.1; WIDEST]).is_some());
        assert!(Codes::new(WIDEST + 1, &vec![0.1; WIDEST + 1]).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Whatever comes and goes, the codes are those that the vectors would have alone.
        #[test]
        fn codes_follow_what_comes_and_goes(
            begin in 1..600_u64,
            changes in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 0..300),
        ) {
            let mut vectors: Vec<Vec<f32>> = (0..begin).map(|key| random(33, key)).collect();
            let mut codes = codes(&vectors);
            for (key, (put, at)) in (begin..).zip(changes) {
                if put || vectors.is_empty() {
                    vectors.push(random(33, key));
                    codes.push(&vectors[vectors.len() - 1]);
                } else {
                    let at = at.index(vectors.len());
                    vectors.swap_remove(at);
                    codes.swap_remove(at);
                }
            }
            codes.swap_remove(vectors.len());
            let mut fresh = Codes::new(33, &[]).unwrap();
            fresh.mean.clone_from(&codes.mean);
            vectors.iter().for_each(|numbers| fresh.push(numbers));
            prop_assert_eq!(codes.rows.len(), fresh.rows.len());
            let asked = random(33, 1 << 40);
            let told = |codes| estimated(codes, &vectors, &asked);
            prop_assert_eq!(told(&codes), told(&fresh));
            prop_assert!(told(&codes).iter().all(|it| it.0.is_finite()));
        }
    }
}
