//! Reading and writing msgpack piece by piece (the format: <https://github.com/msgpack/msgpack/blob/master/spec.md>).

use rmp::encode;

use super::error::StoredError;

/// Writes msgpack piece by piece. An array or map is its length, then its parts.
///
/// ```
/// use hanok_core::{Reader, Writer};
///
/// let mut writer = Writer::new();
/// writer.array(2).str("휴가").uint(15);
/// let bytes = writer.into_bytes();
/// let mut reader = Reader::new(&bytes);
/// assert_eq!((reader.array()?, reader.str()?, reader.uint()?), (2, "휴가", 15));
/// assert!(reader.is_at_end());
/// # Ok::<(), hanok_core::StoredError>(())
/// ```
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// A writer with nothing written.
    pub fn new() -> Self {
        Self::default()
    }

    /// A writer that goes on after `bytes`.
    pub fn after(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes that were written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Begins an array of `len` values.
    pub fn array(&mut self, len: usize) -> &mut Self {
        wrote(encode::write_array_len(&mut self.0, length(len)));
        self
    }

    /// Begins a map of `len` keys, each followed by its value.
    pub fn map(&mut self, len: usize) -> &mut Self {
        wrote(encode::write_map_len(&mut self.0, length(len)));
        self
    }

    /// Writes a number.
    pub fn uint(&mut self, value: u64) -> &mut Self {
        wrote(encode::write_uint(&mut self.0, value));
        self
    }

    /// Writes a text.
    pub fn str(&mut self, text: &str) -> &mut Self {
        wrote(encode::write_str(&mut self.0, text));
        self
    }

    /// Writes bytes.
    pub fn bin(&mut self, bytes: &[u8]) -> &mut Self {
        wrote(encode::write_bin(&mut self.0, bytes));
        self
    }

    /// Writes nothing, as a value.
    pub fn nil(&mut self) -> &mut Self {
        self.0.push(0xc0);
        self
    }

    /// Writes a truth value.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.0.push(if value { 0xc3 } else { 0xc2 });
        self
    }

    /// Writes a value that is msgpack already.
    pub fn raw(&mut self, value: &[u8]) -> &mut Self {
        self.0.extend_from_slice(value);
        self
    }
}

/// Lengths beyond `u32` cannot be said in msgpack; no value of that size fits the limits above this layer.
pub(crate) fn length(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Writing into a `Vec` cannot fail; the result is looked at and dropped.
fn wrote<T, E>(result: Result<T, E>) {
    debug_assert!(result.is_ok(), "writing into memory");
}

/// Reads msgpack piece by piece.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The head of one value.
#[derive(Clone, Copy)]
pub(crate) enum Head {
    Nil,
    Bool(bool),
    Uint(u64),
    Int(i64),
    F32(f32),
    F64(f64),
    Str(usize),
    Bin(usize),
    Array(usize),
    Map(usize),
    Ext(usize),
}

impl<'a> Reader<'a> {
    /// Reads from the beginning of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The offset at which the next value begins.
    pub fn at(&self) -> usize {
        self.at
    }

    /// True when everything was read.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// True when the next value is nil.
    pub fn is_nil(&self) -> bool {
        self.bytes.get(self.at) == Some(&0xc0)
    }

    /// True when the next value is an unsigned integer.
    pub fn is_uint(&self) -> bool {
        self.bytes.get(self.at).is_some_and(|head| matches!(head, 0..=0x7f | 0xcc..=0xcf))
    }

    /// Reads the length of an array.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the next value is something else; so for all that follow.
    pub fn array(&mut self) -> Result<usize, StoredError> {
        match self.head()? {
            Head::Array(len) => Ok(len),
            _ => Err(self.wrong("an array")),
        }
    }

    /// Reads the length of a map.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the next value is something else.
    pub fn map(&mut self) -> Result<usize, StoredError> {
        match self.head()? {
            Head::Map(len) => Ok(len),
            _ => Err(self.wrong("a map")),
        }
    }

    /// Reads a number that is not negative.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the next value is something else.
    pub fn uint(&mut self) -> Result<u64, StoredError> {
        match self.head()? {
            Head::Uint(value) => Ok(value),
            _ => Err(self.wrong("a number")),
        }
    }

    /// Reads a text.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the next value is something else or no UTF-8.
    pub fn str(&mut self) -> Result<&'a str, StoredError> {
        match self.head()? {
            Head::Str(len) => {
                let text = std::str::from_utf8(self.take(len)?).ok();
                text.ok_or_else(|| self.wrong("a text in UTF-8"))
            }
            _ => Err(self.wrong("a text")),
        }
    }

    /// Reads bytes.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the next value is something else.
    pub fn bin(&mut self) -> Result<&'a [u8], StoredError> {
        match self.head()? {
            Head::Bin(len) => self.take(len),
            _ => Err(self.wrong("bytes")),
        }
    }

    /// Reads a truth value.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the next value is something else.
    pub fn bool(&mut self) -> Result<bool, StoredError> {
        match self.head()? {
            Head::Bool(value) => Ok(value),
            _ => Err(self.wrong("a truth value")),
        }
    }

    /// Reads a nil.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the next value is something else.
    pub fn nil(&mut self) -> Result<(), StoredError> {
        match self.head()? {
            Head::Nil => Ok(()),
            _ => Err(self.wrong("nil")),
        }
    }

    /// Reads one whole value, however nested, as its bytes. Takes time by its length and no stack.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the value is cut off or no msgpack.
    pub fn value(&mut self) -> Result<&'a [u8], StoredError> {
        let start = self.at;
        let mut due: u64 = 1;
        while due > 0 {
            due -= 1;
            match self.head()? {
                Head::Str(len) | Head::Bin(len) | Head::Ext(len) => {
                    self.take(len)?;
                }
                Head::Array(len) => due += len as u64,
                Head::Map(len) => due += 2 * len as u64,
                Head::Nil
                | Head::Bool(_)
                | Head::Uint(_)
                | Head::Int(_)
                | Head::F32(_)
                | Head::F64(_) => {}
            }
        }
        self.bytes.get(start..self.at).ok_or_else(|| self.cut())
    }

    /// Reads the head of a value; of a text or of bytes, the content is still to be taken.
    pub(crate) fn head(&mut self) -> Result<Head, StoredError> {
        let marker = self.number(1)?;
        let head = match marker {
            0x00..=0x7f => Head::Uint(marker),
            0x80..=0x8f => Head::Map((marker & 0x0f) as usize),
            0x90..=0x9f => Head::Array((marker & 0x0f) as usize),
            0xa0..=0xbf => Head::Str((marker & 0x1f) as usize),
            0xc0 => Head::Nil,
            0xc2 => Head::Bool(false),
            0xc3 => Head::Bool(true),
            0xc4..=0xc6 => Head::Bin(self.len(1 << (marker - 0xc4))?),
            0xc7..=0xc9 => Head::Ext(self.len(1 << (marker - 0xc7))? + 1),
            0xca => Head::F32(f32::from_bits(self.number(4)? as u32)),
            0xcb => Head::F64(f64::from_bits(self.number(8)?)),
            0xcc..=0xcf => Head::Uint(self.number(1 << (marker - 0xcc))?),
            0xd0 => signed(i64::from(self.number(1)? as u8 as i8)),
            0xd1 => signed(i64::from(self.number(2)? as u16 as i16)),
            0xd2 => signed(i64::from(self.number(4)? as u32 as i32)),
            0xd3 => signed(self.number(8)? as i64),
            0xd4..=0xd8 => Head::Ext((1usize << (marker - 0xd4)) + 1),
            0xd9..=0xdb => Head::Str(self.len(1 << (marker - 0xd9))?),
            0xdc | 0xdd => Head::Array(self.len(2 << (marker - 0xdc))?),
            0xde | 0xdf => Head::Map(self.len(2 << (marker - 0xde))?),
            0xe0..=0xff => Head::Int(i64::from(marker as u8 as i8)),
            _ => return Err(self.wrong("a msgpack value")),
        };
        Ok(head)
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], StoredError> {
        let end = self.at.checked_add(len).ok_or_else(|| self.cut())?;
        let taken = self.bytes.get(self.at..end).ok_or_else(|| self.cut())?;
        self.at = end;
        Ok(taken)
    }

    /// A big-endian number of `width` bytes.
    fn number(&mut self, width: usize) -> Result<u64, StoredError> {
        Ok(self.take(width)?.iter().fold(0, |n, byte| (n << 8) | u64::from(*byte)))
    }

    fn len(&mut self, width: usize) -> Result<usize, StoredError> {
        usize::try_from(self.number(width)?).ok().ok_or_else(|| self.wrong("a length"))
    }

    fn cut(&self) -> StoredError {
        StoredError::Malformed { at: self.at, expected: "more bytes" }
    }

    fn wrong(&self, expected: &'static str) -> StoredError {
        StoredError::Malformed { at: self.at, expected }
    }
}

/// A number that was written as signed and may not be negative.
fn signed(value: i64) -> Head {
    u64::try_from(value).map_or(Head::Int(value), Head::Uint)
}
