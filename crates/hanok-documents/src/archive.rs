//! The parts of a document that is a zip archive, unpacked up to limits.

use std::io::{Cursor, Read};

use zip::{ZipArchive, result::ZipError};

use crate::{decode, options::LoadOptions, skip::SkipReason};

/// A document has tens of parts, one with many pictures thousands.
const MAX_PARTS: usize = 10_000;

/// What a byte of the file may unpack to. Markup packs to a tenth, tables of nothing to a hundredth; a bomb to a thousandth.
const RATIO: u64 = 200;

/// What may be unpacked whatever the ratio: a small document is mostly the same few tags.
const ALWAYS: u64 = 1024 * 1024;

/// How the files begin in which Microsoft's programs keep an encrypted document, or one of their old formats.
const COMPOUND: [u8; 8] = [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1];

#[derive(Debug)]
pub(crate) struct Archive {
    zip: ZipArchive<Cursor<Vec<u8>>>,
    /// How many bytes may still be unpacked.
    left: u64,
    limit: u64,
}

impl Archive {
    pub(crate) fn open(bytes: Vec<u8>, options: &LoadOptions) -> Result<Self, SkipReason> {
        if bytes.starts_with(&COMPOUND) {
            return Err(SkipReason::Encrypted);
        }
        let ratio = RATIO.saturating_mul(bytes.len() as u64).saturating_add(ALWAYS);
        let limit = options.unpacked_bytes().min(ratio);
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|cause| refused(&cause))?;
        if zip.len() > MAX_PARTS {
            return Err(SkipReason::TooManyParts { limit: MAX_PARTS });
        }
        Ok(Self { zip, left: limit, limit })
    }

    /// The names of the parts.
    #[cfg(feature = "hwpx")]
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        // A name in no encoding is that of no part.
        self.zip.file_names().filter_map(|name| Some(name.ok()?.into_owned()))
    }

    /// The text of a part. `None` if there is none of this name.
    pub(crate) fn part(&mut self, name: &str) -> Result<Option<String>, SkipReason> {
        let part = match self.zip.by_name(name) {
            Ok(part) => part,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(cause) => return Err(refused(&cause)),
        };
        let mut bytes = Vec::new();
        let read = part.take(self.left.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|cause| SkipReason::damaged(&cause.to_string()))?;
        let Some(left) = self.left.checked_sub(bytes.len() as u64) else {
            return Err(SkipReason::Expands { limit: self.limit });
        };
        self.left = left;
        decode::markup(&bytes).map(Some)
    }

    /// The text of a part that has to be there.
    pub(crate) fn needed(&mut self, name: &str) -> Result<String, SkipReason> {
        self.part(name)?.ok_or_else(|| SkipReason::damaged(&format!("no part `{name}`")))
    }
}

fn refused(cause: &ZipError) -> SkipReason {
    match cause {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) | ZipError::InvalidPassword => {
            SkipReason::Encrypted
        }
        cause => SkipReason::damaged(&cause.to_string()),
    }
}
