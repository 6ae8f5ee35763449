//! A value in several places, which is stored once and copied from there.

use std::{
    cell::{Cell, RefCell},
    fmt,
    ops::Deref,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{encode::Encoder, error::StoredError};

/// By this name our encoder knows such a value; to others it is the value itself.
pub(crate) const NAME: &str = "$hanok::Shared";

/// In how many others a value may stand for its bytes to be copied: it is stored as if it were that deep.
pub(crate) const DEPTH: usize = 8;

thread_local! {
    /// Our encoder asks the next value for its bytes.
    static ASKED: Cell<bool> = const { Cell::new(false) };
    /// The value's answer.
    static ANSWER: Cell<Option<Bytes>> = const { Cell::new(None) };
    /// The bytes of what was met while a value is encoded, and how many values are.
    static MET: RefCell<(Vec<Bytes>, usize)> = const { RefCell::new((Vec::new(), 0)) };
}

/// Holds the bytes of all shared values that are met while a value is encoded: they may be met again.
pub(crate) struct Hold;

impl Hold {
    pub(crate) fn new() -> Self {
        MET.with_borrow_mut(|(_, encoding)| *encoding += 1);
        Self
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let met = MET.with_borrow_mut(|(met, encoding)| {
            *encoding -= 1;
            if *encoding == 0 { std::mem::take(met) } else { Vec::new() }
        });
        drop(met);
    }
}

/// A value that stands in several places of a state, or in several states: a clone costs a pointer, as of an `Arc`, and what
/// one super-step writes of it is encoded once, however many lists hold it.
///
/// It reads and is stored as the value itself. A value that changes behind a shared reference is not for this: it may be
/// stored as it was.
///
/// ```
/// use hanok_core::{Shared, Stored};
///
/// let event = Shared::new(vec!["opened", "closed"]);
/// let twice = Stored::encode(&[event.clone(), event])?;
/// assert_eq!(twice, Stored::encode(&[["opened", "closed"], ["opened", "closed"]])?);
/// # Ok::<(), hanok_core::StoredError>(())
/// ```
pub struct Shared<T>(Arc<SharedValue<T>>);

struct SharedValue<T> {
    value: T,
    /// The value as it is stored, while somebody holds that.
    stored: Mutex<Weak<Vec<u8>>>,
}

/// The owner of the bytes of a stored value.
struct Held(Arc<Vec<u8>>);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl<T> Shared<T> {
    /// Shares `value`.
    pub fn new(value: T) -> Self {
        Self(Arc::new(SharedValue { value, stored: Mutex::default() }))
    }
}

impl<T: Serialize> SharedValue<T> {
    /// The value as it is stored.
    fn stored(&self) -> Result<Bytes, StoredError> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = stored.upgrade() {
            return Ok(Bytes::from_owner(Held(held)));
        }
        let mut out = Vec::new();
        self.value.serialize(&mut Encoder::part_of(&mut out, DEPTH))?;
        out.shrink_to_fit();
        let held = Arc::new(out);
        *stored = Arc::downgrade(&held);
        let bytes = Bytes::from_owner(Held(held));
        MET.with_borrow_mut(|(met, _)| met.push(bytes.clone()));
        Ok(bytes)
    }
}

/// The bytes of a shared `value`, for our encoder; `None` where it cannot be stored, or not that deep.
pub(crate) fn stored<T: Serialize + ?Sized>(value: &T) -> Option<Bytes> {
    ASKED.set(true);
    let mut nothing = Vec::new();
    let met = value.serialize(&mut Encoder::new(&mut nothing));
    ASKED.set(false);
    ANSWER.take().filter(|_| met.is_ok())
}

/// The value as an encoder gets it.
struct Part<'a, T>(&'a SharedValue<T>);

impl<T: Serialize> Serialize for Part<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(inner) = self;
        match ASKED.replace(false) {
            true => {
                // Why it cannot be stored is said where it is written in its place.
                ANSWER.set(inner.stored().ok());
                serializer.serialize_unit()
            }
            false => inner.value.serialize(serializer),
        }
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(NAME, &Part(&self.0))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::new)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for Shared<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: fmt::Display> fmt::Display for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeMap,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use super::*;
    use crate::Stored;

    /// A value that counts how often it was encoded.
    #[derive(Debug, Default)]
    struct Counting(AtomicUsize);

    impl Serialize for Counting {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.fetch_add(1, Ordering::SeqCst);
            serializer.serialize_str("counted")
        }
    }

    #[test]
    fn a_value_is_encoded_once_for_all_places_in_another() {
        let value = Shared::new(Counting::default());
        Stored::encode(&vec![value.clone(); 9]).unwrap();
        assert_eq!(value.0.value.0.load(Ordering::SeqCst), 1);
        MET.with_borrow(|(met, encoding)| assert_eq!((met.len(), *encoding), (0, 0)));
    }

    #[test]
    fn a_value_is_encoded_once_while_its_bytes_are_held() {
        let value = Shared::new(Counting::default());
        let first = Stored::encode(&value).unwrap();
        let list = Stored::encode(&[value.clone(), value.clone()]).unwrap();
        let some = Stored::encode(&BTreeMap::from([("a", Some(value.clone()))])).unwrap();
        assert_eq!(value.0.value.0.load(Ordering::SeqCst), 1);
        assert_eq!(
            [&first, &list, &some].map(Stored::to_string),
            [r#""counted""#, r#"["counted","counted"]"#, r#"{"a":"counted"}"#,]
        );
        drop(first);
        Stored::encode(&value).unwrap();
        assert_eq!(value.0.value.0.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn to_others_it_is_the_value_itself() {
        let value = Shared::new(vec![Shared::new(1), Shared::new(2)]);
        let bytes = rmp_serde::to_vec(&value).unwrap();
        assert_eq!(bytes, rmp_serde::to_vec(&[1, 2]).unwrap());
        assert_eq!(rmp_serde::from_slice::<Shared<Vec<Shared<u32>>>>(&bytes).unwrap(), value);
        assert_eq!(Stored::encode(&value).unwrap().decode::<Vec<u32>>().unwrap(), [1, 2]);
    }

    /// So many lists in each other, and a value in the last.
    struct Nested<'a, T>(usize, &'a T);

    impl<T: Serialize> Serialize for Nested<'_, T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self.0 {
                0 => self.1.serialize(serializer),
                n => serializer.collect_seq([Nested(n - 1, self.1)]),
            }
        }
    }

    /// A value that cannot be read again is not written, wherever it stands, and all else is.
    #[test]
    fn a_value_is_as_deep_as_where_it_stands() {
        for inner in [0, 50, 103, 104, 105, 111, 112, 120] {
            for outer in [0, 1, 7, 8, 9, 12, 50, 111] {
                let shared = Shared::new(Nested(inner, &1));
                let message =
                    |stored: Result<Stored, StoredError>| stored.map_err(|error| error.to_string());
                let outcome = message(Stored::encode(&Nested(outer, &shared)));
                assert_eq!(outcome, message(Stored::encode(&Nested(outer + inner, &1))));
                // Where its bytes are held already, too.
                let held = Stored::encode(&shared);
                assert_eq!(
                    message(Stored::encode(&Nested(outer, &shared))),
                    outcome,
                    "{inner} in {outer}"
                );
                drop(held);
            }
        }
    }
}
