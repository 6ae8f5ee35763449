//! Bytes that are looked at eight at a time.

const ONES: u64 = u64::from_ne_bytes([1; 8]);

/// How many of `bytes` come before the first that is looked for. `in_eight` says of eight bytes, the first of them the lowest, which
/// are: the lowest bit that it sets belongs to the first of them, and it sets none where none is.
#[inline]
pub(crate) fn before(bytes: &[u8], in_eight: impl Fn(u64) -> u64) -> usize {
    let eights = bytes.chunks_exact(8);
    let rest = eights.remainder();
    for (before, eight) in eights.enumerate() {
        let Ok(eight) = <[u8; 8]>::try_from(eight) else { break };
        let first = in_eight(u64::from_le_bytes(eight));
        if first != 0 {
            return 8 * before + first.trailing_zeros() as usize / 8;
        }
    }
    // What is missing of the last eight may look like something that is looked for, and stands behind all that there is.
    let first = in_eight(padded(rest)).trailing_zeros() as usize / 8;
    bytes.len() - rest.len() + first.min(rest.len())
}

/// Fewer than eight bytes, with zeros behind them.
#[inline]
fn padded(bytes: &[u8]) -> u64 {
    let four = |four: &[u8; 4]| u64::from(u32::from_le_bytes(*four));
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => four(first) | four(last) << (8 * (bytes.len() - 4)),
        _ => bytes.iter().rev().fold(0, |eight, byte| eight << 8 | u64::from(*byte)),
    }
}

/// How many of `bytes` come before the first that is one of `stops`.
#[inline]
pub(crate) fn before_any<const N: usize>(bytes: &[u8], stops: [u8; N]) -> usize {
    before(bytes, |eight| stops.iter().fold(0, |any, stop| any | equal(eight, *stop)))
}

/// Sets a bit for each of eight bytes that is below `byte`, up to the first of them exactly.
#[inline]
pub(crate) fn below(eight: u64, byte: u64) -> u64 {
    eight.wrapping_sub(byte * ONES) & !eight & (0x80 * ONES)
}

/// The same for those that are `byte`.
#[inline]
pub(crate) fn equal(eight: u64, byte: u8) -> u64 {
    below(eight ^ (u64::from(byte) * ONES), 1)
}

#[cfg(test)]
mod tests {
    use super::before_any;

    /// Every byte at every place of what is looked at eight at a time, beside the simple way.
    #[test]
    fn the_first_stop_is_found_wherever_it_stands() {
        let stops = [b'<', 0, 0x80, 0xff];
        for len in 0..20 {
            for at in 0..len {
                for (byte, around) in
                    (0..=u8::MAX).flat_map(|byte| [(byte, b'='), (byte, 0x7f), (byte, 1)])
                {
                    let mut bytes = vec![around; len];
                    bytes[at] = byte;
                    let want = bytes.iter().position(|byte| stops.contains(byte)).unwrap_or(len);
                    assert_eq!(before_any(&bytes, stops), want, "{byte:#x} at {at} of {len}");
                    bytes[len - 1] = b'<';
                    let want = bytes.iter().position(|byte| stops.contains(byte)).unwrap_or(len);
                    assert_eq!(
                        before_any(&bytes, stops),
                        want,
                        "{byte:#x} at {at} of {len} before a stop"
                    );
                }
            }
        }
    }
}
