//! The checksum of what is stored.

use hanok_core::{Position, ThreadKey};

use crate::life::Life;

/// The checksum of `covered`, and of whose it is and where it stands.
pub(crate) fn checksum(
    format: [u8; 2],
    thread: &ThreadKey,
    life: Life,
    position: Position,
    covered: &[u8],
) -> u32 {
    let tenant = thread.tenant().as_str().as_bytes();
    // Lengths keep ("ab", "c") and ("a", "bc") apart.
    let mut sum = crc32c::crc32c(&(tenant.len() as u64).to_le_bytes());
    let mut place = [0; 24];
    let (of_life, of_position) = place.split_at_mut(16);
    of_life.copy_from_slice(&life.to_bytes());
    of_position.copy_from_slice(&position.0.to_le_bytes());
    for part in [tenant, &format, thread.thread().as_bytes(), &place, covered] {
        sum = crc32c::crc32c_append(sum, part);
    }
    sum
}
