//! The keys of an encrypted store, out of a file.

use std::path::Path;

use hanok_checkpoint::{Codec, KeyId, Keyring};

use crate::failure::Failure;

/// The codec of the keys in `file`: a line each, its number and its 32 bytes in hexadecimal digits. The first one writes, all
/// of them read. What is after a `#` does not count.
pub(crate) fn codec(file: &Path) -> Result<Codec, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::Keys(file.display().to_string(), error))?;
    let lines = (1..).zip(text.lines());
    let lines = lines.map(|(at, line)| (at, line.split('#').next().unwrap_or_default().trim()));
    let mut ring: Option<Keyring> = None;
    for (at, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let (id, key) = key(line).ok_or(Failure::NoKey(at))?;
        ring = Some(match ring {
            None => Keyring::new(id, key),
            Some(ring) => ring.reads(id, key),
        });
    }
    Ok(Codec::new().encrypt(ring.ok_or(Failure::NoKeys)?))
}

fn key(line: &str) -> Option<(KeyId, [u8; 32])> {
    let (id, digits) = line.split_once(char::is_whitespace)?;
    let digits = digits.trim().as_bytes();
    let mut key = [0; 32];
    if digits.len() != 2 * key.len() {
        return None;
    }
    for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |at: usize| pair.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
    }
    Some((KeyId(id.parse().ok()?), key))
}
