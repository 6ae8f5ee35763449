//! Numbers that look random and are the same in every run.

/// The step from one state of SplitMix64 to the next.
pub const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// What a state of SplitMix64 gives (Steele, Lea and Flood 2014): small, and good enough to choose schedules with.
#[must_use]
pub fn scattered(state: u64) -> u64 {
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
