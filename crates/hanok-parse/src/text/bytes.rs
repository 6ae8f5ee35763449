//! Sets of bytes.

/// Some bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bytes([u64; 4]);

impl Bytes {
    #[inline]
    pub(crate) fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte) / 64).is_some_and(|word| word & (1 << (byte % 64)) != 0)
    }
}

impl FromIterator<u8> for Bytes {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        let mut set = Self::default();
        for byte in bytes {
            if let Some(word) = set.0.get_mut(usize::from(byte) / 64) {
                *word |= 1 << (byte % 64);
            }
        }
        set
    }
}
