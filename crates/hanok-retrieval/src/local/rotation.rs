//! A rotation that makes the numbers of a vector alike in size, whatever they were.

/// How often signs are changed and sums are taken.
const ROUNDS: usize = 3;

/// Signs that look random, though always the same, and a fast Hadamard transform, in turn. Where the size is no power of two,
/// the greatest one in it is transformed at the beginning and at the end in turn.
#[derive(Debug)]
pub(super) struct Rotation {
    size: usize,
    window: usize,
    /// Each with the length that keeps a transform from lengthening.
    signs: [Vec<f32>; ROUNDS],
}

impl Rotation {
    /// Of vectors of `size` numbers, one at least.
    pub(super) fn new(size: usize) -> Self {
        let window = 1 << size.max(1).ilog2();
        let (length, mut state) = ((window as f32).sqrt().recip(), 0);
        let mut sign = || if random(&mut state) >> 63 == 0 { length } else { -length };
        let signs = std::array::from_fn(|_| (0..window).map(|_| sign()).collect());
        Self { size, window, signs }
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Turns `numbers`, which stay as long as they are.
    pub(super) fn turn(&self, numbers: &mut [f32]) {
        for (signs, begin) in self.signs.iter().zip([0, self.size - self.window, 0]) {
            if let Some(window) = numbers.get_mut(begin..begin + self.window) {
                window.iter_mut().zip(signs).for_each(|(number, sign)| *number *= sign);
                transform(window);
            }
        }
    }
}

/// The sums and differences of each half, of their halves and so on (Fino and Algazi 1976).
fn transform(numbers: &mut [f32]) {
    let mut half = 1;
    while half < numbers.len() {
        for both in numbers.chunks_exact_mut(2 * half) {
            let (left, right) = both.split_at_mut(half);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

/// The next number of SplitMix64 (Steele, Lea and Flood 2014).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths and angles stay, and what stood in one number is in all of them.
    #[test]
    fn a_rotation_keeps_products_and_spreads_every_number() {
        for size in [512, 576, 768, 1_024, 1_536] {
            let rotation = Rotation::new(size);
            let one = |at: usize| {
                let mut numbers = vec![0.0; size];
                numbers[at] = 1.0;
                rotation.turn(&mut numbers);
                numbers
            };
            let all: Vec<_> = [0, 1, size / 2, size - 2, size - 1].map(one).into();
            for (n, a) in all.iter().enumerate() {
                for (m, b) in all.iter().enumerate() {
                    let product: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                    assert!((product - f32::from(u8::from(n == m))).abs() < 1e-4, "{product}");
                }
                let mean = (size as f32).sqrt().recip();
                let largest = a.iter().fold(0.0f32, |most, number| most.max(number.abs()));
                assert!(largest < 6.0 * mean, "{size}: {}", largest / mean);
            }
        }
    }
}
