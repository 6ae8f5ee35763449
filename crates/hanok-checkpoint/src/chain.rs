//! The chain of a log: each record's link covers the link before it, so that no record can be changed, taken out or put in
//! without the newest link, which stands in the head, being another.
//!
//! The chain goes by position, over all branches of a life. All of it is BLAKE3 with 32 bytes of output:
//!
//! - the *digest* of a payload is that of 16 random bytes, the salt, followed by the entry's msgpack, before compression and
//!   encryption. The salt is stored, and erased, with the payload: what was erased cannot be guessed from its digest;
//! - a *link* is that of the text `hanok link`, a zero byte, the link before it (zeros for the first record of a chain), the life
//!   (16 bytes, most significant first), the position and the parent (8 bytes each, least significant first) and the digest;
//!   of a record that names where its thread comes from, followed by that life and link;
//! - the *seal* of a head is that of the text `hanok head`, a zero byte, the tenant and the thread (each after its length in 8
//!   bytes, least significant first), the life, the position and the newest link (zeros where records are not chained).
//!
//! With encryption, links and seals are keyed by the chain key: who has no key cannot make them.

use std::fmt;

use hanok_core::{InvalidName, Position, ThreadKey, from_hex};
use serde::{Deserialize, Serialize};

use crate::{
    life::Life,
    wire::{Wire, array_of, bytes, wire},
};

/// A link of a chain. As text and as JSON it is 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Link(pub [u8; 32]);

/// The proof that a head was written by somebody who has the key. As text and as JSON it is 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct HeadSeal(pub [u8; 32]);

/// The end of a thread's log: what the next record follows. A writer that knows it need not read the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tip {
    /// The thread's life.
    pub life: Life,
    /// The position of the newest record.
    pub position: Position,
    /// The newest link; `None` for a thread whose records are not chained.
    pub link: Option<Link>,
}

impl Tip {
    /// The beginning of a new life, whose records are chained or not.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # use hanok_core::{Position};
    /// let tip = Tip::new(Life::new(1), true);
    /// assert_eq!((tip.position, tip.link), (Position::START, Some(Link::BEFORE_ALL)));
    /// assert_eq!(Tip::new(Life::new(1), false).link, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(life: Life, is_chained: bool) -> Self {
        Self { life, position: Position::START, link: is_chained.then_some(Link::BEFORE_ALL) }
    }
}

/// The digest of a record's payload.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Digest(pub(crate) [u8; 32]);

/// The thread that another comes from: the life, and the newest link it had then, if it was chained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ancestor {
    /// Its life.
    pub life: Life,
    /// Its newest link; `None` if it was not chained.
    pub link: Option<Link>,
}

/// A key of chains.
pub(crate) type ChainKey = [u8; 32];

/// The parts that a link is made of, but for the link before it.
pub(crate) struct Linked<'a> {
    pub(crate) life: Life,
    pub(crate) position: Position,
    pub(crate) parent: Position,
    pub(crate) digest: &'a Digest,
    pub(crate) from: Option<&'a Ancestor>,
}

impl Link {
    /// The link before the first record of a chain.
    pub const BEFORE_ALL: Self = Self([0; 32]);

    /// The link of a record that follows `self`.
    pub(crate) fn next(&self, key: Option<&ChainKey>, of: &Linked<'_>) -> Self {
        let mut hasher = hasher(key, b"hanok link\0");
        hasher.update(&self.0);
        hasher.update(&of.life.to_bytes());
        hasher.update(&of.position.0.to_le_bytes());
        hasher.update(&of.parent.0.to_le_bytes());
        hasher.update(&of.digest.0);
        if let Some(from) = of.from {
            hasher.update(&from.life.to_bytes());
            hasher.update(&from.link.unwrap_or(Self::BEFORE_ALL).0);
        }
        Self(hasher.finalize().into())
    }
}

wire! {
    Link: |link, to| to.bin(&link.0), |from| bytes(from, "the 32 bytes of a link").map(Self);
    Ancestor: |ancestor, to| {
        ancestor.life.write(to.array(2));
        ancestor.link.write(to);
    },
    |from| {
        array_of(from, 2, "a life and its link")?;
        Ok(Self { life: Wire::read(from)?, link: Wire::read(from)? })
    };
}

impl Digest {
    /// The digest of a salt and an entry's msgpack, one after the other.
    pub(crate) fn of(salted: &[u8]) -> Self {
        Self(blake3::hash(salted).into())
    }
}

impl HeadSeal {
    /// The seal of a head.
    pub(crate) fn of(key: &ChainKey, thread: &ThreadKey, tip: &Tip) -> Self {
        let mut hasher = hasher(Some(key), b"hanok head\0");
        for name in [thread.tenant().as_str(), thread.thread()] {
            hasher.update(&(name.len() as u64).to_le_bytes());
            hasher.update(name.as_bytes());
        }
        hasher.update(&tip.life.to_bytes());
        hasher.update(&tip.position.0.to_le_bytes());
        hasher.update(&tip.link.unwrap_or(Link::BEFORE_ALL).0);
        Self(hasher.finalize().into())
    }

    /// Checks whether two seals are equal, in a time that does not say where they differ.
    pub(crate) fn is(&self, other: &Self) -> bool {
        blake3::Hash::from_bytes(self.0) == blake3::Hash::from_bytes(other.0)
    }
}

fn hasher(key: Option<&ChainKey>, domain: &[u8]) -> blake3::Hasher {
    let mut hasher = key.map_or_else(blake3::Hasher::new, blake3::Hasher::new_keyed);
    hasher.update(domain);
    hasher
}

fn hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// 64 hexadecimal digits.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

/// 64 hexadecimal digits.
impl fmt::Display for HeadSeal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

hanok_core::text_form! {
    Link: |text| from_hex("link", text).map(Self) => InvalidName;
    HeadSeal: |text| from_hex("seal of a head", text).map(Self) => InvalidName;
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Link({self})")
    }
}

impl fmt::Debug for HeadSeal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HeadSeal({self})")
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(")?;
        hex(&self.0, f)?;
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use hanok_core::Tenant;

    use super::*;

    const KEY: ChainKey = [9; 32];

    /// Each part of what a link is made of changes it, and nothing else does.
    #[test]
    fn a_link_covers_all_that_it_is_made_of() {
        let (digest, other) = (Digest::of(b"salted"), Digest::of(b"tasteless"));
        let from = |life| Ancestor { life: Life::new(life), link: Some(Link([3; 32])) };
        let unchained = Ancestor { link: None, ..from(7) };
        let (seven, eight) = (from(7), from(8));
        let life = Life::new(1);
        let (position, parent) = (Position(5), Position(4));
        let of = || Linked { life, position, parent, digest: &digest, from: Some(&seven) };
        let before = Link([1; 32]);
        let link = before.next(Some(&KEY), &of());
        assert_eq!(before.next(Some(&KEY), &of()), link);
        for (part, next) in [
            ("the link before", Link([2; 32]).next(Some(&KEY), &of())),
            ("the key", before.next(None, &of())),
            ("the life", before.next(Some(&KEY), &Linked { life: Life::new(2), ..of() })),
            ("the position", before.next(Some(&KEY), &Linked { position: Position(6), ..of() })),
            ("the parent", before.next(Some(&KEY), &Linked { parent: Position(3), ..of() })),
            ("the digest", before.next(Some(&KEY), &Linked { digest: &other, ..of() })),
            ("the origin", before.next(Some(&KEY), &Linked { from: None, ..of() })),
            ("the origin's life", before.next(Some(&KEY), &Linked { from: Some(&eight), ..of() })),
            ("its link", before.next(Some(&KEY), &Linked { from: Some(&unchained), ..of() })),
        ] {
            assert_ne!(next, link, "{part} is no part of a link");
        }
    }

    /// Each part of what a head's seal is made of changes it.
    #[test]
    fn a_seal_covers_all_that_it_is_made_of() {
        let thread = |tenant, name| ThreadKey::new(Tenant::new(tenant).unwrap(), name).unwrap();
        let (own, other) = (thread("a", "bc"), thread("ab", "c"));
        let tip = Tip { life: Life::new(1), position: Position(5), link: Some(Link([1; 32])) };
        let seal = HeadSeal::of(&KEY, &own, &tip);
        assert!(HeadSeal::of(&KEY, &own, &tip).is(&seal));
        for (part, other) in [
            ("the key", HeadSeal::of(&[8; 32], &own, &tip)),
            ("the thread", HeadSeal::of(&KEY, &other, &tip)),
            ("the life", HeadSeal::of(&KEY, &own, &Tip { life: Life::new(2), ..tip })),
            ("the position", HeadSeal::of(&KEY, &own, &Tip { position: Position(4), ..tip })),
            ("the newest link", HeadSeal::of(&KEY, &own, &Tip { link: None, ..tip })),
        ] {
            assert!(!other.is(&seal), "{part} is no part of a seal");
        }
    }
}
