//! The state of a call that waits, as its client carries it: readable by all, and made by nobody else.

use std::fmt;

use hanok_core::Secret;
use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};

use super::error::ServeError;

/// The key with which a server seals the state of calls that wait. Clients carry that state and cannot change it. All processes of
/// a server have the same one: a call is answered in whichever of them.
///
/// ```
/// use hanok_core::Secret;
/// use hanok_mcp::{SealKey, ServeError};
///
/// assert!(SealKey::new(&Secret::new(b"thirty-two random bytes or more!".to_vec())).is_ok());
/// assert!(matches!(SealKey::new(&Secret::new(b"short".to_vec())), Err(ServeError::ShortKey { .. })));
/// ```
#[derive(Clone)]
pub struct SealKey(RequestStateCodec);

impl SealKey {
    /// The key that `secret` is: 32 bytes or more, from the system's randomness.
    ///
    /// # Errors
    ///
    /// [`ServeError::ShortKey`].
    pub fn new(secret: &Secret<Vec<u8>>) -> Result<Self, ServeError> {
        let (bytes, least) = (secret.expose().len(), RequestStateCodec::MIN_KEY_LENGTH);
        if bytes < least {
            return Err(ServeError::ShortKey { bytes, least });
        }
        Ok(Self(RequestStateCodec::new_unchecked(secret.expose().clone())))
    }

    /// A key of this process: what it seals no other one opens, and no later one.
    ///
    /// # Errors
    ///
    /// [`ServeError::NoRandomness`].
    pub fn random() -> Result<Self, ServeError> {
        let mut bytes = vec![0; RequestStateCodec::MIN_KEY_LENGTH];
        getrandom::fill(&mut bytes).map_err(|error| ServeError::NoRandomness(error.into()))?;
        Self::new(&Secret::new(bytes))
    }

    /// Seals `state` for the call of this `binding`.
    pub(super) fn seal(&self, state: &SealedCall, binding: &[u8]) -> Result<String, ServeError> {
        let options = SealOptions::new().associated_data(binding);
        let sealed = self.0.seal_json_with(state, &options);
        sealed.map_err(|error| ServeError::Connection(error.into()))
    }

    /// Opens what was sealed for the call of this `binding`; `None` for all else.
    pub(super) fn open(&self, sealed: &str, binding: &[u8]) -> Option<SealedCall> {
        self.0.open_json_with(sealed, binding).ok()
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(…)")
    }
}

/// The state of a call that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SealedCall {
    /// The key that the call goes by: its client's, or the one that it was given.
    pub(super) key: String,
    pub(super) thread: String,
    pub(super) questions: Vec<SealedQuestion>,
}

/// A question that was put to the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SealedQuestion {
    /// The key among the requests to the client.
    pub(super) key: String,
    pub(super) id: String,
    /// The digest of what was shown.
    pub(super) shown: String,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(byte: u8) -> SealKey {
        SealKey::new(&Secret::new(vec![byte; 32])).unwrap()
    }

    proptest! {
        /// P44: what a client sends back counts only as it was made, for the call that it was made for.
        #[test]
        fn a_state_is_opened_as_it_was_sealed_and_never_otherwise(
            (call, thread, id) in ("[ -~가-힣]{0,40}", "[a-z]{1,40}", any::<String>()),
            (binding, other) in (any::<Vec<u8>>(), any::<Vec<u8>>()),
            (at, flip) in (any::<prop::sample::Index>(), 1_u8..128),
        ) {
            let question = SealedQuestion { key: "q".to_owned(), id, shown: "d".to_owned() };
            let state = SealedCall { key: call, thread, questions: vec![question] };
            let sealed = key(1).seal(&state, &binding).unwrap();
            prop_assert_eq!(key(1).open(&sealed, &binding), Some(state));
            prop_assert_eq!(key(2).open(&sealed, &binding), None);
            if binding != other {
                prop_assert_eq!(key(1).open(&sealed, &other), None);
            }
            let mut forged = sealed.clone().into_bytes();
            forged[at.index(sealed.len())] ^= flip;
            if let Ok(forged) = String::from_utf8(forged) {
                prop_assert_eq!(key(1).open(&forged, &binding), None);
            }
        }
    }
}
