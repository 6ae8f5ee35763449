//! Whether a token stands at the beginning of a text that may go on.

/// Whether something stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Yes,
    No,
    /// The text has to go on before it can be told.
    More,
}

/// The text has to go on before it can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct More;

/// How many of `bytes` are none of `stops`, up to the first that is. Eight at a time are looked at.
#[inline]
pub(crate) fn run<const N: usize>(bytes: &[u8], stops: [u8; N]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let eights = bytes.chunks_exact(8);
    let rest = eights.remainder();
    for (before, eight) in eights.enumerate() {
        let Ok(eight) = <[u8; 8]>::try_from(eight).map(u64::from_le_bytes) else { break };
        // The lowest bit that is set belongs to the first byte that is a stop.
        let is_stop = stops.iter().fold(0, |any, stop| {
            let differs = eight ^ (u64::from(*stop) * ONES);
            any | differs.wrapping_sub(ONES) & !differs
        }) & (0x80 * ONES);
        if is_stop != 0 {
            return 8 * before + is_stop.trailing_zeros() as usize / 8;
        }
    }
    let tail = rest.iter().position(|byte| stops.contains(byte));
    bytes.len() - rest.len() + tail.unwrap_or(rest.len())
}

pub(crate) fn of(rest: &str, token: &str, ended: bool) -> Presence {
    if rest.starts_with(token) {
        Presence::Yes
    } else if !ended && rest.len() < token.len() && token.starts_with(rest) {
        Presence::More
    } else {
        Presence::No
    }
}

pub(crate) fn any(rest: &str, tokens: &[&str], ended: bool) -> Result<Option<usize>, More> {
    let mut more = false;
    for token in tokens {
        match of(rest, token, ended) {
            Presence::Yes => return Ok(Some(token.len())),
            Presence::More => more = true,
            Presence::No => {}
        }
    }
    if more { Err(More) } else { Ok(None) }
}

#[cfg(test)]
mod tests {
    use super::run;

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
                    assert_eq!(run(&bytes, stops), want, "{byte:#x} at {at} of {len}");
                    bytes[len - 1] = b'<';
                    let want = bytes.iter().position(|byte| stops.contains(byte)).unwrap_or(len);
                    assert_eq!(
                        run(&bytes, stops),
                        want,
                        "{byte:#x} at {at} of {len} before a stop"
                    );
                }
            }
        }
    }
}
