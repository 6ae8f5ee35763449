//! Arrays of NumPy in an archive (`.npz`), each checked against what is expected of it before it is unpacked.

use std::io::{Cursor, Read};

use ndarray::{Array1, Array2};
use zip::ZipArchive;

use crate::files::{Fault, ensure};

/// What all arrays together may unpack to, in bytes.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// The longest side of an array.
const MAX_SIDE: usize = 1 << 20;

/// The longest description of an array.
const MAX_HEADER: u32 = 4_096;

#[derive(Debug)]
pub(super) struct Arrays {
    zip: ZipArchive<Cursor<Vec<u8>>>,
    left: u64,
}

/// How an array is described.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    kind: String,
    shape: Vec<usize>,
}

impl Arrays {
    pub(super) fn open(bytes: Vec<u8>) -> Result<Self, Fault> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|cause| Fault(cause.to_string()))?;
        Ok(Self { zip, left: MAX_BYTES })
    }

    /// Whether there is an array of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(&format!("{name}.npy")).is_some()
    }

    /// Small numbers in rows, with how many numbers a row has.
    pub(super) fn table(&mut self, name: &str) -> Result<(Vec<u8>, usize), Fault> {
        let (header, bytes) = self.array(name, "|u1", 1)?;
        match header.shape.as_slice() {
            [_, columns] => Ok((bytes, *columns)),
            _ => Err(Fault(format!("`{name}` is no table"))),
        }
    }

    /// A matrix of `rows`, and of `columns` if that is known.
    pub(super) fn matrix(
        &mut self,
        name: &str,
        rows: usize,
        columns: Option<usize>,
    ) -> Result<Array2<f32>, Fault> {
        let (header, bytes) = self.array(name, "<f4", 4)?;
        let fits = match header.shape.as_slice() {
            [has, of] => *has == rows && columns.is_none_or(|columns| columns == *of),
            _ => false,
        };
        let shape = header.shape.get(1).copied().filter(|_| fits);
        let made = shape.and_then(|of| Array2::from_shape_vec((rows, of), numbers(&bytes)).ok());
        finite(name, made.ok_or_else(|| Fault(format!("`{name}` is {:?}", header.shape)))?)
    }

    /// A list of `length` numbers.
    pub(super) fn list(&mut self, name: &str, length: usize) -> Result<Array1<f32>, Fault> {
        let (header, bytes) = self.array(name, "<f4", 4)?;
        ensure(header.shape == [length], || format!("`{name}` is {:?}", header.shape))?;
        finite(name, numbers(&bytes).into())
    }

    /// One number.
    pub(super) fn number(&mut self, name: &str) -> Result<f64, Fault> {
        let (_, bytes) = self.array(name, "<f8", 8)?;
        let number = bytes.first_chunk().map(|bytes| f64::from_le_bytes(*bytes));
        let number = number.filter(|number| number.is_finite() && bytes.len() == 8);
        number.ok_or_else(|| Fault(format!("`{name}` is not one number")))
    }

    /// The bytes of the array, which is of `kind`, with `size` bytes for each number.
    fn array(&mut self, name: &str, kind: &str, size: u64) -> Result<(Header, Vec<u8>), Fault> {
        let failed = |cause: &dyn std::fmt::Display| Fault(format!("`{name}`: {cause}"));
        let file = self.zip.by_name(&format!("{name}.npy"));
        let mut file = file.map_err(|cause| failed(&cause))?;
        let header = Header::read(&mut file).ok_or_else(|| failed(&"no array of NumPy"))?;
        ensure(header.kind == kind, || format!("`{name}` holds `{}`", header.kind))?;
        let wide = header.shape.iter().all(|side| (1..=MAX_SIDE).contains(side));
        let count = header.shape.iter().try_fold(size, |all, side| all.checked_mul(*side as u64));
        let Some(left) = count.filter(|_| wide).and_then(|count| self.left.checked_sub(count))
        else {
            return Err(Fault(format!("`{name}` is {:?}", header.shape)));
        };
        let count = self.left - left;
        self.left = left;
        let mut bytes = Vec::new();
        file.take(count).read_to_end(&mut bytes).map_err(|cause| failed(&cause))?;
        ensure(bytes.len() as u64 == count, || format!("`{name}` breaks off"))?;
        Ok((header, bytes))
    }
}

impl Header {
    /// Reads the description that stands before the numbers (NumPy's NEP 1).
    fn read(file: &mut impl Read) -> Option<Self> {
        let mut magic = [0; 8];
        file.read_exact(&mut magic).ok()?;
        let version = *magic.strip_prefix(b"\x93NUMPY")?.first()?;
        let mut length = [0; 4];
        let known = if version == 1 { 2 } else { 4 };
        file.read_exact(length.get_mut(..known)?).ok()?;
        let length = u32::from_le_bytes(length);
        let mut text = String::new();
        file.take(u64::from(length.min(MAX_HEADER))).read_to_string(&mut text).ok()?;
        Self::of(&text).filter(|_| length <= MAX_HEADER)
    }

    fn of(text: &str) -> Option<Self> {
        let after = |key: &str| Some(text.split_once(key)?.1.trim_start());
        let kind = after("'descr':")?.strip_prefix('\'')?.split_once('\'')?.0.to_owned();
        after("'fortran_order':")?.strip_prefix("False")?;
        let sides = after("'shape':")?.strip_prefix('(')?.split_once(')')?.0;
        let sides = sides.split(',').map(str::trim).filter(|side| !side.is_empty());
        let shape: Result<Vec<usize>, _> = sides.map(str::parse).collect();
        Some(Self { kind, shape: shape.ok()? })
    }
}

fn numbers(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)).collect()
}

fn finite<D: ndarray::Dimension>(
    name: &str,
    array: ndarray::Array<f32, D>,
) -> Result<ndarray::Array<f32, D>, Fault> {
    ensure(array.iter().all(|number| number.is_finite()), || format!("`{name}` has no numbers"))?;
    Ok(array)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_read_and_what_is_none_is_not() {
        let header = |kind: &str, shape: &[usize]| {
            Some(Header { kind: kind.to_owned(), shape: shape.to_vec() })
        };
        for (text, want) in [
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (512, 256), }",
                header("<f4", &[512, 256]),
            ),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", header("<f8", &[])),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (7,), }", header("<f4", &[7])),
            ("{'descr': '<f4', 'fortran_order': True, 'shape': (7,), }", None),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (-7,), }", None),
            ("{'fortran_order': False, 'shape': (7,), }", None),
            ("", None),
        ] {
            assert_eq!(Header::of(text), want, "{text}");
        }
    }
}
