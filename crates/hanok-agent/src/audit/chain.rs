//! The chain of an audit's records.

use std::fmt;

use thiserror::Error;

use super::record::AuditRecord;

/// The key of an audit. With it nobody who lacks it can make records that fit; without one a chain shows accidents, and no
/// operator's hand.
#[derive(Clone)]
pub struct AuditKey([u8; 32]);

/// The purpose that the key of an audit derives for.
const PURPOSE: &str = "hanok 2026 audit of requests to people";

impl AuditKey {
    /// The key that derives from `secret`, a text of any length that nobody can guess.
    #[must_use]
    pub fn new(secret: &str) -> Self {
        Self(blake3::derive_key(PURPOSE, secret.as_bytes()))
    }
}

impl fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditKey(…)")
    }
}

/// The first fault of an audit's records.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AuditFault {
    /// A record is not as it was written, or was written with another key.
    #[error(
        "record {number} (position {position}) is not as it was written, or another key wrote it"
    )]
    Changed {
        /// The record, counted from 1.
        number: usize,
        /// The position that it names.
        position: u64,
    },
    /// Records are missing before one, or it stands in another place.
    #[error("record {number} (position {position}) does not follow the one before")]
    OutOfOrder {
        /// The record, counted from 1.
        number: usize,
        /// The position that it names.
        position: u64,
    },
}

/// The hash of `record`, behind the one that hashes to `previous`.
pub(super) fn hash(record: &AuditRecord, previous: &str, key: Option<&AuditKey>) -> String {
    let bare = AuditRecord { previous: previous.into(), hash: String::new(), ..record.clone() };
    // A record is of texts and numbers, which all are JSON.
    let text = serde_json::to_vec(&bare).unwrap_or_default();
    let hash = match key {
        Some(AuditKey(key)) => blake3::keyed_hash(key, &text),
        None => blake3::hash(&text),
    };
    hash.to_hex().to_string()
}

/// Checks the records of an audit, such as those that were written out earlier: each is as it was written, and follows the one before.
///
/// # Errors
///
/// The first [`AuditFault`].
pub fn verify_audit(records: &[AuditRecord], key: Option<&AuditKey>) -> Result<(), AuditFault> {
    let mut previous = "";
    for (nth, record) in records.iter().enumerate() {
        let (number, position) = (nth + 1, record.position);
        if record.hash != hash(record, &record.previous, key) {
            return Err(AuditFault::Changed { number, position });
        }
        if record.previous != previous {
            return Err(AuditFault::OutOfOrder { number, position });
        }
        previous = &record.hash;
    }
    Ok(())
}
