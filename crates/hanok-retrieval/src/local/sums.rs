//! Sums of bits of many vectors at once.
//!
//! A row has one bit of each of [`LANES`] vectors. Rows are added like numbers on paper, digit by digit: a count is a row for
//! each binary digit, and one instruction carries for as many vectors as it has bits (Harley and Seal, in Warren, *Hacker's
//! Delight*). Nothing here needs more of a processor than it has had for twenty years, and what it has more, compilers use.

/// How many words a row has.
pub(super) const WORDS: usize = 4;

/// How many vectors are counted at once.
pub(super) const LANES: usize = 64 * WORDS;

/// One bit of each vector.
pub(super) type Row = [u64; WORDS];

/// How many rows are added at once.
pub(super) const STRIDE: usize = 16;

/// How many digits a count has, the sign included.
const DIGITS: usize = 16;

const NOTHING: &Row = &[0; WORDS];

/// Counts, one of each vector.
#[derive(Debug)]
pub(super) struct Sums {
    counts: [Row; DIGITS],
    /// So many digits are in use.
    digits: usize,
}

impl Sums {
    /// All zero. None will be further from zero than `most`, which is less than 32,768.
    pub(super) fn new(most: usize) -> Self {
        let digits = (most + 1).ilog2() as usize + 2;
        Self { counts: [*NOTHING; DIGITS], digits: digits.clamp(8, DIGITS) }
    }

    /// Adds the rows at `places`, times 2 to the power of `digit`, which is 0 to 3. Those that are not there are empty;
    /// what is more than a multiple of [`STRIDE`] is passed over.
    pub(super) fn add(&mut self, digit: usize, rows: &[Row], places: &[u16]) {
        let counts = self.counts.get_mut(digit..self.digits);
        let Some((low, high)) = counts.and_then(<[Row]>::split_first_chunk_mut) else { return };
        for places in places.as_chunks().0 {
            let mut carry = add(low, rows, places);
            for count in &mut *high {
                for (count, carry) in count.iter_mut().zip(&mut carry) {
                    (*count, *carry) = (*count ^ *carry, *count & *carry);
                }
            }
        }
    }

    /// Makes -n - 1 of every count n.
    pub(super) fn invert(&mut self) {
        self.counts.as_flattened_mut().iter_mut().for_each(|word| *word = !*word);
    }

    /// The counts as numbers, in the order of the vectors ([`lane`]).
    pub(super) fn told(&self) -> [i16; LANES] {
        let mut counts = self.counts;
        let sign = self.counts.get(self.digits - 1).unwrap_or(NOTHING);
        counts.iter_mut().skip(self.digits).for_each(|count| *count = *sign);
        turn(&mut counts);
        let mut told = [0; LANES];
        for (four, word) in told.as_chunks_mut::<4>().0.iter_mut().zip(counts.as_flattened()) {
            let [a, b, c, d, e, f, g, h] = word.to_le_bytes();
            *four = [[a, b], [c, d], [e, f], [g, h]].map(i16::from_le_bytes);
        }
        told
    }
}

/// The word and the bit in it that the vector `at` has in a row.
pub(super) fn lane(at: usize) -> (usize, usize) {
    let (digit, at) = (at / (4 * WORDS), at % (4 * WORDS));
    (at / 4, at % 4 * DIGITS + digit)
}

/// Adds the rows at 16 places to counts of four digits, and gives what is carried to the fifth. All is written out: then the
/// words of a row are added at once.
#[inline(always)]
#[rustfmt::skip]
fn add(counts: &mut [Row; 4], rows: &[Row], places: &[u16; STRIDE]) -> Row {
    let row = |place: u16| rows.get(usize::from(place)).unwrap_or(NOTHING);
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *places;
    let [a, b, c, d, e, f, g, h] = [row(a), row(b), row(c), row(d), row(e), row(f), row(g), row(h)];
    let [i, j, k, l, m, n, o, p] = [row(i), row(j), row(k), row(l), row(m), row(n), row(o), row(p)];
    let mut carried = *NOTHING;
    let [ones, twos, fours, eights] = counts;
    let counts = ones.iter_mut().zip(twos).zip(fours).zip(eights).zip(&mut carried);
    for (at, ((((one, two), four), eight), carried)) in counts.enumerate() {
        let bit = |row: &Row| row.get(at).copied().unwrap_or_default();
        let (q, r) = (full(one, bit(a), bit(b)), full(one, bit(c), bit(d)));
        let (s, t) = (full(one, bit(e), bit(f)), full(one, bit(g), bit(h)));
        let (q, r) = (full(two, q, r), full(two, s, t));
        let first = full(four, q, r);
        let (q, r) = (full(one, bit(i), bit(j)), full(one, bit(k), bit(l)));
        let (s, t) = (full(one, bit(m), bit(n)), full(one, bit(o), bit(p)));
        let (q, r) = (full(two, q, r), full(two, s, t));
        let second = full(four, q, r);
        *carried = full(eight, first, second);
    }
    carried
}

/// Adds three bits: what stays, and what is carried.
#[inline(always)]
fn full(a: &mut u64, b: u64, c: u64) -> u64 {
    let one = b ^ c;
    let carried = (b & c) | (one & *a);
    *a ^= one;
    carried
}

/// Turns the 16 digits of each 16 counts around, so that each count stands in one piece.
fn turn(counts: &mut [Row; DIGITS]) {
    let steps = [(8, 0x00FF_00FF_00FF_00FF), (4, 0x0F0F_0F0F_0F0F_0F0F)];
    for (apart, mask) in
        steps.into_iter().chain([(2, 0x3333_3333_3333_3333), (1, 0x5555_5555_5555_5555)])
    {
        for both in counts.chunks_exact_mut(2 * apart) {
            let (low, high) = both.split_at_mut(apart);
            for (low, high) in low.as_flattened_mut().iter_mut().zip(high.as_flattened_mut()) {
                let other = ((*low >> apart) ^ *high) & mask;
                *high ^= other;
                *low ^= other << apart;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// As if each vector's bits had been added one after the other.
        #[test]
        fn counts_are_those_of_addition(
            rows in prop::collection::vec(prop::array::uniform4(any::<u64>()), 40),
            taken in prop::collection::vec((0..50_u16, any::<bool>(), 0..2_usize), 0..300),
        ) {
            let most = taken.iter().map(|(_, _, digit)| 1 << digit).sum();
            let mut sums = Sums::new(most);
            let of = |subtracted: bool, digit: usize| {
                let taken = taken.iter().filter(|it| it.1 == subtracted && it.2 == digit);
                let mut places: Vec<u16> = taken.map(|it| it.0).collect();
                places.resize(places.len().next_multiple_of(STRIDE), u16::MAX);
                places
            };
            (0..2).for_each(|digit| sums.add(digit, &rows, &of(true, digit)));
            sums.invert();
            (0..2).for_each(|digit| sums.add(digit, &rows, &of(false, digit)));
            for (at, told) in sums.told().into_iter().enumerate() {
                let (word, bit) = lane(at);
                let mut want = -1;
                for (place, subtracted, digit) in &taken {
                    let row = rows.get(usize::from(*place)).unwrap_or(NOTHING);
                    let added = ((row[word] >> bit & 1) << digit) as i16;
                    want += if *subtracted { -added } else { added };
                }
                prop_assert_eq!(told, want);
            }
        }
    }
}
