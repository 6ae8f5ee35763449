//! The fields of a message in the wire format of Protocol Buffers.

use crate::files::Fault;

/// What a field holds, as far as it is needed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    Bytes(&'a [u8]),
    Four([u8; 4]),
    Other,
}

/// The fields of `message` with their numbers, in order. The first fault is the last item.
pub(super) fn fields(message: &[u8]) -> impl Iterator<Item = Result<(u64, Value<'_>), Fault>> {
    let mut rest = message;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = field(&mut rest);
        if field.is_none() {
            rest = &[];
        }
        Some(field.ok_or_else(|| Fault("a field that breaks off".to_owned())))
    })
}

fn field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let tag = varint(rest)?;
    let value = match tag & 7 {
        0 => {
            varint(rest)?;
            Value::Other
        }
        1 => {
            rest.split_off(..8)?;
            Value::Other
        }
        2 => {
            let length = usize::try_from(varint(rest)?).ok()?;
            Value::Bytes(rest.split_off(..length)?)
        }
        5 => Value::Four(rest.split_off(..4)?.try_into().ok()?),
        _ => return None,
    };
    Some((tag >> 3, value))
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *rest.split_off_first()?;
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_and_what_breaks_off_is_a_fault() {
        let message = [0x0A, 2, b'a', b'b', 0x10, 0x96, 1, 0x1D, 1, 2, 3, 4];
        let read: Result<Vec<_>, _> = fields(&message).collect();
        let want = [(1, Value::Bytes(b"ab")), (2, Value::Other), (3, Value::Four([1, 2, 3, 4]))];
        assert_eq!(read.unwrap(), want);
        for end in [1, 2, 3, 5, 6, 8, 11] {
            let read: Result<Vec<_>, _> = fields(&message[..end]).collect();
            assert!(read.is_err(), "{end}");
        }
        assert!(fields(&[0xFF; 20]).collect::<Result<Vec<_>, _>>().is_err());
    }
}
