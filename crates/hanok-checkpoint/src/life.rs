//! Which life of a thread something belongs to.

use std::fmt;

use hanok_core::{InvalidName, from_hex};

use crate::wire::{Wire, wire};

/// Tells one life of a thread from another: a thread that is deleted and begun anew under the same name is another life.
///
/// The first append draws it at random. Whatever names a position of the thread (records, snapshots, claims, events, items
/// for others) names the life too, and a store refuses what belongs to another one. As text and as JSON it is 32 hexadecimal digits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Life([u8; 16]);

impl Life {
    /// The life of this number, which is drawn at random.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// let life = Life::new(0x2a);
    /// assert_eq!(Life::from_bytes(life.to_bytes()), life);
    /// assert!(life.to_string().ends_with("2a"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn new(drawn: u128) -> Self {
        Self(drawn.to_be_bytes())
    }

    /// The life as 16 bytes, most significant first, as stores keep it.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// Reads what [`Life::to_bytes`] wrote.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

wire! {
    Life: |life, to| to.bin(&life.0), |from| Wire::read(from).map(Self);
}

hanok_core::text_form! {
    Life: |text| from_hex("life", text).map(Self) => InvalidName;
}

/// 32 hexadecimal digits.
impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Life({self})")
    }
}
