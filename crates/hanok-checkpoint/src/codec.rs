//! Compression and encryption of the bytes of a record, a snapshot or an item.
//!
//! Compression comes first and is zstd (RFC 8878). Encryption is XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03) with a
//! nonce from the system's randomness for every record; what it binds a record to, beside its content, is its format, tenant,
//! thread, life, position and parent. An encrypted payload is 4 bytes of key id (little-endian), 24 of nonce, the text and the tag;
//! a compressed one is 4 bytes of its length without compression (little-endian) and a zstd frame.

use std::{fmt, sync::Arc};

use hanok_core::{BoxError, Position, ThreadKey};
use thiserror::Error;

use crate::{
    chain::ChainKey,
    life::Life,
    wire::{Wire, wire},
};

/// Compression and encryption of the bytes that go into a store. The default leaves them as they are.
#[derive(Debug, Clone, Default)]
pub struct Codec {
    compress: Option<usize>,
    keys: Option<Arc<Keyring>>,
}

/// Names a key. It stands in every record that the key encrypted, so that keys can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub u32);

wire! {
    KeyId: |id, to| to.uint(u64::from(id.0)), |from| Wire::read(from).map(Self);
}

/// The keys of a store: one that writes, and others that still read what they wrote.
#[derive(Clone)]
pub struct Keyring {
    writes: KeyId,
    keys: Vec<(KeyId, [u8; 32])>,
    /// The keys of chains that have one of their own: the one that writes first.
    chain: Vec<(KeyId, ChainKey)>,
}

/// Never shows a key.
impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.keys.iter().map(|(id, _)| id.0).collect();
        f.debug_struct("Keyring").field("writes", &self.writes.0).field("keys", &ids).finish()
    }
}

impl Keyring {
    /// A ring whose key `id` writes and reads. A key is 32 bytes of randomness, from a key store and never from a password.
    pub fn new(id: KeyId, key: [u8; 32]) -> Self {
        Self { writes: id, keys: vec![(id, key)], chain: Vec::new() }
    }

    /// Reads with the key `id` too: what an earlier key wrote stays readable after a change of keys.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// let keys = Keyring::new(KeyId(2), [2; 32]).reads(KeyId(1), [1; 32]);
    /// assert_eq!(format!("{keys:?}"), "Keyring { writes: 2, keys: [2, 1] }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn reads(mut self, id: KeyId, key: [u8; 32]) -> Self {
        self.keys.push((id, key));
        self
    }

    /// Keys the chain of records with the key `id` instead of one that derives from the key that encrypts. Then the chain can
    /// still be checked when a key that encrypts was destroyed to make what it wrote unreadable. Called again, the last key
    /// writes, and the earlier ones still read.
    #[must_use]
    pub fn chain(mut self, id: KeyId, key: [u8; 32]) -> Self {
        self.chain.insert(0, (id, key));
        self
    }

    /// The key that links are made with.
    fn chain_key(&self) -> Option<(KeyId, ChainKey)> {
        let own = self.chain.first().copied();
        own.or_else(|| Some((self.writes, self.derived(self.writes)?)))
    }

    /// The key of this id that links were made with.
    fn chain_key_of(&self, id: KeyId) -> Option<ChainKey> {
        let own = self.chain.iter().find(|(own, _)| *own == id).map(|(_, key)| *key);
        own.or_else(|| self.derived(id))
    }

    fn derived(&self, id: KeyId) -> Option<ChainKey> {
        let (_, key) = self.keys.iter().find(|(own, _)| *own == id)?;
        Some(blake3::derive_key("hanok 2026-11-23 the chain of a log", key))
    }

    #[cfg(feature = "encryption")]
    fn key(&self, id: KeyId) -> Option<&[u8; 32]> {
        self.keys.iter().find(|(own, _)| *own == id).map(|(_, key)| key)
    }
}

/// Why bytes cannot be read with a codec.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CodecError {
    /// They are encrypted, with a key that the codec does not have.
    #[error("it is encrypted with key {}, which is not given", .0.0)]
    NoKey(KeyId),
    /// They are not encrypted, and everything is to be.
    #[error("it is not encrypted, and a key is given")]
    Plain,
    /// The key is another than the one that wrote them, or they were moved or changed by somebody without the key.
    #[error("it does not open with key {}", .0.0)]
    Refused(KeyId),
    /// This build lacks the feature that reads them.
    #[error("this build of hanok-checkpoint lacks the feature `{0}`")]
    Lacks(&'static str),
    /// They cannot be decompressed.
    #[error("it cannot be decompressed")]
    Compressed(#[source] BoxError),
    /// They cannot be written.
    #[error("it cannot be compressed or encrypted")]
    Write(#[source] BoxError),
}

pub(crate) const COMPRESSED: u8 = 1;
pub(crate) const ENCRYPTED: u8 = 2;
pub(crate) const KNOWN: u8 = COMPRESSED | ENCRYPTED;

/// The most that a payload may say it is without compression: far above what a state may be.
#[cfg(feature = "zstd")]
const LARGEST: usize = 1 << 30;

/// The place that bytes are bound to.
#[cfg_attr(
    not(feature = "encryption"),
    allow(dead_code, reason = "only what is encrypted is bound by more than its checksum")
)]
#[derive(Clone, Copy)]
pub(crate) struct Bound<'a> {
    pub(crate) format: [u8; 2],
    pub(crate) thread: &'a ThreadKey,
    pub(crate) life: Life,
    pub(crate) position: Position,
    pub(crate) parent: Position,
}

impl Codec {
    /// A codec that leaves bytes as they are.
    pub fn new() -> Self {
        Self::default()
    }

    /// Compresses what has at least `from` bytes. Less than some hundred bytes is not worth it. Default: nothing.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
    /// # let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// let store = store.with_codec(Codec::new().compress(1024));
    /// # let _ = store;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[cfg(feature = "zstd")]
    #[must_use]
    pub fn compress(self, from: usize) -> Self {
        Self { compress: Some(from), ..self }
    }

    /// Encrypts everything, and refuses what is not encrypted. Default: nothing.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
    /// # let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// let keys = Keyring::new(KeyId(1), [7; 32]);
    /// let store = store.with_codec(Codec::new().encrypt(keys));
    /// # let mut tip = Tip::new(Life::new(1), false);
    /// # let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Rewind(Rewind::default()) };
    /// let record = tip.push(store.codec(), &thread, Position::START, &entry)?;
    /// assert!(record.open(&Codec::new(), &thread, tip.life).is_err());
    /// assert_eq!(record.open(store.codec(), &thread, tip.life)?.1, entry);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[cfg(feature = "encryption")]
    #[must_use]
    pub fn encrypt(self, keys: Keyring) -> Self {
        Self { keys: Some(Arc::new(keys)), ..self }
    }

    /// Checks whether bytes stay as they are.
    pub(crate) fn is_plain(&self) -> bool {
        self.compress.is_none() && self.keys.is_none()
    }

    /// The key that links and seals are made with, if they are keyed.
    pub(crate) fn chain_key(&self) -> Option<(KeyId, ChainKey)> {
        self.keys.as_ref()?.chain_key()
    }

    /// All keys that links and seals may be made with.
    pub(crate) fn chain_keys(&self) -> Vec<ChainKey> {
        let Some(keys) = &self.keys else { return Vec::new() };
        let derived = keys.keys.iter().filter_map(|(id, _)| keys.derived(*id));
        keys.chain.iter().map(|(_, key)| *key).chain(derived).collect()
    }

    /// The key of this id that links were made with, if it is known.
    pub(crate) fn chain_key_of(&self, id: KeyId) -> Option<ChainKey> {
        self.keys.as_ref()?.chain_key_of(id)
    }

    /// The flags of what was done to `payload`, and its bytes as they are stored. They are added to those in `bound`.
    pub(crate) fn seal(
        &self,
        mut bound: Bound<'_>,
        payload: Vec<u8>,
    ) -> Result<(u8, Vec<u8>), CodecError> {
        let (mut flags, mut payload) = (0, payload);
        if self.compress.is_some_and(|from| payload.len() >= from) {
            let small = compressed(&payload)?;
            if small.len() < payload.len() {
                (flags, payload) = (COMPRESSED, small);
            }
        }
        if let Some(keys) = &self.keys {
            flags |= ENCRYPTED;
            bound.format[1] |= flags;
            payload = encrypted(keys, &bound, &payload)?;
        }
        Ok((flags, payload))
    }

    /// Opens what was sealed. The format in `bound` holds the flags of the stored bytes.
    pub(crate) fn open(&self, bound: &Bound<'_>, payload: &[u8]) -> Result<Vec<u8>, CodecError> {
        let flags = bound.format[1];
        let payload = match (flags & ENCRYPTED != 0, &self.keys) {
            (true, keys) => decrypted(keys.as_deref(), bound, payload)?,
            (false, Some(_)) => return Err(CodecError::Plain),
            (false, None) => payload.to_vec(),
        };
        match flags & COMPRESSED != 0 {
            true => decompressed(&payload),
            false => Ok(payload),
        }
    }
}

#[cfg(feature = "zstd")]
fn compressed(payload: &[u8]) -> Result<Vec<u8>, CodecError> {
    let failed = |error: std::io::Error| CodecError::Write(error.into());
    let length = u32::try_from(payload.len()).map_err(|error| CodecError::Write(error.into()))?;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(zstd::bulk::compress(payload, zstd::DEFAULT_COMPRESSION_LEVEL).map_err(failed)?);
    Ok(bytes)
}

#[cfg(feature = "zstd")]
fn decompressed(payload: &[u8]) -> Result<Vec<u8>, CodecError> {
    let failed = |error: BoxError| CodecError::Compressed(error);
    let Some((length, frame)) = payload.split_first_chunk() else {
        return Err(failed("it has no length".into()));
    };
    let length = u32::from_le_bytes(*length) as usize;
    if length > LARGEST {
        return Err(failed(format!("it says that it is {length} bytes").into()));
    }
    let bytes = zstd::bulk::decompress(frame, length).map_err(|error| failed(error.into()))?;
    match bytes.len() == length {
        true => Ok(bytes),
        false => Err(failed("its length is another than it says".into())),
    }
}

#[cfg(not(feature = "zstd"))]
fn compressed(payload: &[u8]) -> Result<Vec<u8>, CodecError> {
    Ok(payload.to_vec())
}

#[cfg(not(feature = "zstd"))]
fn decompressed(_: &[u8]) -> Result<Vec<u8>, CodecError> {
    Err(CodecError::Lacks("zstd"))
}

#[cfg(feature = "encryption")]
fn encrypted(keys: &Keyring, bound: &Bound<'_>, payload: &[u8]) -> Result<Vec<u8>, CodecError> {
    use chacha20poly1305::{
        XChaCha20Poly1305, XNonce,
        aead::{Aead, KeyInit, Payload},
    };

    let failed = |error: BoxError| CodecError::Write(error);
    let id = keys.writes;
    let key = keys.key(id).ok_or_else(|| failed("the key that writes is missing".into()))?;
    let mut nonce = [0; 24];
    getrandom::fill(&mut nonce).map_err(|error| failed(error.to_string().into()))?;
    let aad = bound.to_bytes();
    let sealed = XChaCha20Poly1305::new(key.into())
        .encrypt(&XNonce::from(nonce), Payload { msg: payload, aad: &aad })
        .map_err(|error| failed(error.to_string().into()))?;
    Ok([&id.0.to_le_bytes()[..], &nonce, &sealed].concat())
}

#[cfg(feature = "encryption")]
fn decrypted(
    keys: Option<&Keyring>,
    bound: &Bound<'_>,
    payload: &[u8],
) -> Result<Vec<u8>, CodecError> {
    use chacha20poly1305::{
        XChaCha20Poly1305, XNonce,
        aead::{Aead, KeyInit, Payload},
    };

    let Some((id, rest)) = payload.split_first_chunk() else {
        return Err(CodecError::Refused(KeyId(0)));
    };
    let id = KeyId(u32::from_le_bytes(*id));
    let Some((nonce, sealed)) = rest.split_first_chunk::<24>() else {
        return Err(CodecError::Refused(id));
    };
    let key = keys.and_then(|keys| keys.key(id)).ok_or(CodecError::NoKey(id))?;
    let aad = bound.to_bytes();
    XChaCha20Poly1305::new(key.into())
        .decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: &aad })
        // The library says no more than that it does not open, and there is no more to say.
        .map_err(|_opaque| CodecError::Refused(id))
}

#[cfg(not(feature = "encryption"))]
fn encrypted(_: &Keyring, _: &Bound<'_>, _: &[u8]) -> Result<Vec<u8>, CodecError> {
    Err(CodecError::Lacks("encryption"))
}

#[cfg(not(feature = "encryption"))]
fn decrypted(_: Option<&Keyring>, _: &Bound<'_>, _: &[u8]) -> Result<Vec<u8>, CodecError> {
    Err(CodecError::Lacks("encryption"))
}

#[cfg(feature = "encryption")]
impl Bound<'_> {
    /// The bytes that are authenticated beside the text. Lengths keep ("ab", "c") and ("a", "bc") apart.
    fn to_bytes(self) -> Vec<u8> {
        let (tenant, thread) = (self.thread.tenant().as_str(), self.thread.thread());
        let mut bytes = self.format.to_vec();
        for name in [tenant, thread] {
            bytes.extend((name.len() as u64).to_le_bytes());
            bytes.extend(name.as_bytes());
        }
        bytes.extend(self.life.to_bytes());
        bytes.extend(self.position.0.to_le_bytes());
        bytes.extend(self.parent.0.to_le_bytes());
        bytes
    }
}

#[cfg(all(test, feature = "encryption"))]
mod tests {
    use hanok_core::Tenant;

    use super::*;

    /// Encrypted bytes open where they were sealed and nowhere else: each part of its place is part of it.
    #[test]
    fn what_is_encrypted_opens_in_its_own_place_alone() {
        let codec = Codec::new().encrypt(Keyring::new(KeyId(1), [7; 32]));
        let thread = |tenant, name| ThreadKey::new(Tenant::new(tenant).unwrap(), name).unwrap();
        let (own, other) = (thread("a", "bc"), thread("ab", "c"));
        let (format, life) = ([2, 0], Life::new(1));
        let place =
            Bound { format, thread: &own, life, position: Position(2), parent: Position(1) };
        let (flags, sealed) = codec.seal(place, b"secret".to_vec()).unwrap();
        let place = Bound { format: [2, flags], ..place };
        assert_eq!(codec.open(&place, &sealed).unwrap(), b"secret");
        for (part, elsewhere) in [
            ("the version", Bound { format: [3, flags], ..place }),
            ("the thread", Bound { thread: &other, ..place }),
            ("the life", Bound { life: Life::new(2), ..place }),
            ("the position", Bound { position: Position(3), ..place }),
            ("the parent", Bound { parent: Position(0), ..place }),
        ] {
            assert!(
                codec.open(&elsewhere, &sealed).is_err(),
                "{part} is no part of what is sealed"
            );
        }
    }
}
