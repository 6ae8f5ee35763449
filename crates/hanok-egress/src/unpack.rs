//! Bodies, as they are sent and as they are meant.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, GzDecoder, ZlibDecoder};

use crate::EgressError;

/// A body that small may unpack to any ratio: a few repeated words do.
const SMALL: u64 = 64 * 1024;

/// What may not be passed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Bytes, sent and unpacked.
    pub(crate) size: u64,
    pub(crate) ratio: u64,
}

/// How a body is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Gzip,
    Deflate,
}

impl Packing {
    /// Reads a `Content-Encoding`.
    pub(crate) fn read(encoding: &str) -> Result<Self, EgressError> {
        match encoding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::None),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            "deflate" => Ok(Self::Deflate),
            other => {
                let encoding = other.chars().take(48).flat_map(char::escape_debug).collect();
                Err(EgressError::Encoding { encoding })
            }
        }
    }
}

/// A body while it comes in.
#[derive(Debug)]
pub(crate) struct Unpacked {
    received: u64,
    bounds: Bounds,
    packed: Packed,
}

#[derive(Debug)]
enum Packed {
    Plain(Kept),
    Gzip(GzDecoder<Kept>),
    /// Nothing came yet; zlib and bare deflate both go by the one name.
    Unknown(Kept),
    Zlib(ZlibDecoder<Kept>),
    Deflate(DeflateDecoder<Kept>),
}

impl Unpacked {
    pub(crate) fn new(packing: Packing, bounds: Bounds) -> Self {
        let kept = Kept { bytes: Vec::new(), limit: 0, refused: None };
        let packed = match packing {
            Packing::None => Packed::Plain(kept),
            Packing::Gzip => Packed::Gzip(GzDecoder::new(kept)),
            Packing::Deflate => Packed::Unknown(kept),
        };
        Self { received: 0, bounds, packed }
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), Unpacking> {
        self.received = self.received.saturating_add(length(bytes));
        if self.received > self.bounds.size {
            return Err(Unpacking::TooLarge);
        }
        let Some(first) = bytes.first() else { return Ok(()) };
        if let Packed::Unknown(kept) = &mut self.packed {
            let kept = std::mem::take(kept);
            // The method in the first byte of zlib's head (RFC 1950) is 8.
            self.packed = match first & 0x0f {
                8 => Packed::Zlib(ZlibDecoder::new(kept)),
                _ => Packed::Deflate(DeflateDecoder::new(kept)),
            };
        }
        let by_ratio = self.received.saturating_mul(self.bounds.ratio).max(SMALL);
        let limit = by_ratio.min(self.bounds.size);
        let written = match &mut self.packed {
            Packed::Plain(kept) | Packed::Unknown(kept) => {
                kept.limit = self.bounds.size;
                kept.write_all(bytes)
            }
            Packed::Gzip(packed) => {
                packed.get_mut().limit = limit;
                packed.write_all(bytes)
            }
            Packed::Zlib(packed) => {
                packed.get_mut().limit = limit;
                packed.write_all(bytes)
            }
            Packed::Deflate(packed) => {
                packed.get_mut().limit = limit;
                packed.write_all(bytes)
            }
        };
        self.judged(written)
    }

    /// The whole body.
    pub(crate) fn end(mut self) -> Result<Vec<u8>, Unpacking> {
        let finished = match &mut self.packed {
            Packed::Plain(_) | Packed::Unknown(_) => Ok(()),
            Packed::Gzip(packed) => packed.try_finish(),
            Packed::Zlib(packed) => packed.try_finish(),
            Packed::Deflate(packed) => packed.try_finish(),
        };
        self.judged(finished)?;
        Ok(std::mem::take(&mut self.kept().bytes))
    }

    fn judged(&mut self, written: io::Result<()>) -> Result<(), Unpacking> {
        let Err(error) = written else { return Ok(()) };
        let size = self.bounds.size;
        match self.kept().refused {
            Some(limit) if limit < size => Err(Unpacking::Ratio),
            Some(_) => Err(Unpacking::TooLarge),
            None => Err(Unpacking::Broken(error)),
        }
    }

    fn kept(&mut self) -> &mut Kept {
        match &mut self.packed {
            Packed::Plain(kept) | Packed::Unknown(kept) => kept,
            Packed::Gzip(packed) => packed.get_mut(),
            Packed::Zlib(packed) => packed.get_mut(),
            Packed::Deflate(packed) => packed.get_mut(),
        }
    }
}

/// Why a body is not taken.
#[derive(Debug)]
pub(crate) enum Unpacking {
    TooLarge,
    Ratio,
    Broken(io::Error),
}

/// What was unpacked so far.
#[derive(Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    limit: u64,
    /// The limit that was passed.
    refused: Option<u64>,
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if length(&self.bytes).saturating_add(length(bytes)) > self.limit {
            self.refused = Some(self.limit);
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use flate2::{
        Compression,
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
    };

    use super::*;

    const BOUNDS: Bounds = Bounds { size: 1024 * 1024, ratio: 100 };

    fn unpack(packing: Packing, bytes: &[u8], step: usize) -> Result<Vec<u8>, Unpacking> {
        let mut unpacked = Unpacked::new(packing, BOUNDS);
        for bytes in bytes.chunks(step) {
            unpacked.push(bytes)?;
        }
        unpacked.end()
    }

    fn packed(text: &[u8]) -> [(Packing, Vec<u8>); 3] {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
        for pack in [&mut gzip as &mut dyn Write, &mut zlib, &mut deflate] {
            pack.write_all(text).unwrap();
        }
        [
            (Packing::Gzip, gzip.finish().unwrap()),
            (Packing::Deflate, zlib.finish().unwrap()),
            (Packing::Deflate, deflate.finish().unwrap()),
        ]
    }

    #[test]
    fn what_was_packed_is_unpacked_however_it_is_cut() {
        let text = "날씨 맑음, 21도. ".repeat(500);
        for (packing, bytes) in packed(text.as_bytes()) {
            for step in [1, 7, bytes.len()] {
                assert_eq!(unpack(packing, &bytes, step).unwrap(), text.as_bytes());
            }
            let cut = unpack(packing, &bytes[..bytes.len() / 2], 100);
            assert!(matches!(cut, Err(Unpacking::Broken(_))), "{packing:?} {cut:?}");
            let mut garbage = bytes.clone();
            garbage.iter_mut().skip(20).for_each(|byte| *byte ^= 0x5a);
            assert!(unpack(packing, &garbage, 100).is_err(), "{packing:?}");
        }
        assert_eq!(unpack(Packing::None, b"plain", 2).unwrap(), b"plain");
        assert_eq!(unpack(Packing::Deflate, b"", 1).unwrap(), b"");
    }

    /// P39
    #[test]
    fn a_bomb_ends_at_the_ratio_and_an_honest_flood_at_the_size() {
        for (packing, bytes) in packed(&vec![0; 8 * 1024 * 1024]) {
            for step in [1, 1000, bytes.len()] {
                let bomb = unpack(packing, &bytes, step);
                let refused = matches!(bomb, Err(Unpacking::Ratio | Unpacking::TooLarge));
                assert!(refused, "{packing:?} {step}");
            }
            assert!(matches!(unpack(packing, &bytes, 1), Err(Unpacking::Ratio)));
        }
        let flood = vec![7; 1024 * 1024 + 1];
        assert!(matches!(unpack(Packing::None, &flood, 4096), Err(Unpacking::TooLarge)));
        assert!(unpack(Packing::None, &flood[1..], 4096).is_ok());
    }

    #[test]
    fn only_what_was_asked_for_is_read() {
        for (text, want) in [
            ("", Packing::None),
            (" GZIP ", Packing::Gzip),
            ("deflate", Packing::Deflate),
            ("identity", Packing::None),
        ] {
            assert_eq!(Packing::read(text).unwrap(), want);
        }
        for other in ["br", "zstd", "gzip, gzip", "compress"] {
            assert!(matches!(Packing::read(other), Err(EgressError::Encoding { .. })));
        }
    }
}
