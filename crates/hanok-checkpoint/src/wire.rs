//! Values and records as msgpack.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use hanok_core::{
    Answerer, Audience, Changes, Namespace, Position, Reader, RunId, Spent, Stored, StoredError,
    StoredSchema, TaskId, Tenant, ThreadKey, Timestamp, Writer,
};

/// A value, or a record of values, with one form in a log.
pub(crate) trait Wire: Sized {
    fn write(&self, to: &mut Writer);

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError>;
}

/// Declares a record: a struct of public fields that is stored as an array of them, in their order. Fields behind a `;` were
/// added to a record that had been stored without: the last of them that hold nothing are left out, so that a record that
/// needs none of them is stored as it always was.
macro_rules! record {
    ($(#[$meta:meta])* $record:ident {
        $($(#[doc = $doc:literal])+ $field:ident: $type:ty,)+
        $(; $($(#[doc = $later_doc:literal])+ $later:ident: Option<$later_type:ty>,)+)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $record {
            $($(#[doc = $doc])+ pub $field: $type,)+
            $($($(#[doc = $later_doc])+ pub $later: Option<$later_type>,)+)?
        }

        impl $record {
            /// The lengths that the array may have.
            pub(crate) const FIELDS: std::ops::RangeInclusive<usize> = {
                let least = [$(stringify!($field)),+].len();
                let later: &[&str] = &[$($(stringify!($later)),+)?];
                least..=least + later.len()
            };
        }

        impl $crate::wire::Wire for $record {
            fn write(&self, to: &mut hanok_core::Writer) {
                let later: &[bool] = &[$($(self.$later.is_some()),+)?];
                let later = later.iter().rposition(|is_there| *is_there).map_or(0, |last| last + 1);
                to.array(Self::FIELDS.start() + later);
                $($crate::wire::Wire::write(&self.$field, to);)+
                $(let mut rest = 0..later;
                $(if rest.next().is_some() {
                    $crate::wire::Wire::write(&self.$later, to);
                })+)?
            }

            fn read(from: &mut hanok_core::Reader<'_>) -> Result<Self, hanok_core::StoredError> {
                let expected = concat!("the fields of a `", stringify!($record), "`");
                let fields = from.array()?;
                if !Self::FIELDS.contains(&fields) {
                    return $crate::wire::malformed(from, expected);
                }
                $(let $field = $crate::wire::Wire::read(from)?;)+
                $(let mut rest = *Self::FIELDS.start()..fields;
                $(let $later = match rest.next() {
                    Some(_) => $crate::wire::Wire::read(from)?,
                    None => None,
                };)+)?
                Ok(Self { $($field,)+ $($($later,)+)? })
            }
        }
    };
}
pub(crate) use record;

pub(crate) fn malformed<T>(from: &Reader<'_>, expected: &'static str) -> Result<T, StoredError> {
    Err(StoredError::Malformed { at: from.at(), expected })
}

/// Begins an array of `length` values. One of another length is nothing that this build has written.
pub(crate) fn array_of(
    from: &mut Reader<'_>,
    length: usize,
    expected: &'static str,
) -> Result<(), StoredError> {
    if from.array()? == length { Ok(()) } else { malformed(from, expected) }
}

/// Reads 16, 32 or any other number of bytes.
pub(crate) fn bytes<const N: usize>(
    from: &mut Reader<'_>,
    expected: &'static str,
) -> Result<[u8; N], StoredError> {
    match from.bin()?.try_into() {
        Ok(bytes) => Ok(bytes),
        Err(_) => malformed(from, expected),
    }
}

/// Two values, the tenant and the thread.
pub(crate) fn write_thread(to: &mut Writer, thread: &ThreadKey) {
    to.str(thread.tenant().as_str()).str(thread.thread());
}

pub(crate) fn thread(from: &mut Reader<'_>) -> Result<ThreadKey, StoredError> {
    let (tenant, name) = (from.str()?, from.str()?);
    match Tenant::new(tenant).and_then(|tenant| ThreadKey::new(tenant, name)) {
        Ok(thread) => Ok(thread),
        Err(_) => malformed(from, "the name of a thread"),
    }
}

/// An array of the tenant and the thread.
impl Wire for ThreadKey {
    fn write(&self, to: &mut Writer) {
        write_thread(to.array(2), self);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        array_of(from, 2, "a tenant and a thread")?;
        thread(from)
    }
}

impl Wire for Namespace {
    fn write(&self, to: &mut Writer) {
        to.array(self.depth());
        self.segments().for_each(|segment| {
            to.str(segment);
        });
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        let mut namespace = Self::root();
        for _ in 0..from.array()? {
            let segment = from.str()?;
            namespace = match namespace.child(segment) {
                Ok(child) => child,
                Err(_) => return malformed(from, "a segment of a namespace"),
            };
        }
        Ok(namespace)
    }
}

impl Wire for TaskId {
    fn write(&self, to: &mut Writer) {
        to.bin(self.as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        bytes(from, "the 16 bytes of a task").map(Self::from_bytes)
    }
}

impl Wire for RunId {
    fn write(&self, to: &mut Writer) {
        to.bin(&self.0.to_be_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        bytes(from, "the 16 bytes of an id").map(|bytes| Self(u128::from_be_bytes(bytes)))
    }
}

/// Nil for nothing.
impl Wire for Spent {
    fn write(&self, to: &mut Writer) {
        if self.is_nothing() {
            to.nil();
            return;
        }
        to.array(6)
            .uint(self.model_calls)
            .uint(self.tool_calls)
            .uint(self.input_tokens)
            .uint(self.output_tokens)
            .uint(self.cost)
            .uint(self.millis);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        if from.is_nil() {
            from.nil()?;
            return Ok(Self::default());
        }
        array_of(from, 6, "six counts")?;
        Ok(Self {
            model_calls: from.uint()?,
            tool_calls: from.uint()?,
            input_tokens: from.uint()?,
            output_tokens: from.uint()?,
            cost: from.uint()?,
            millis: from.uint()?,
        })
    }
}

impl Wire for Stored {
    fn write(&self, to: &mut Writer) {
        to.raw(self.as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        Self::from_bytes(from.value()?.to_vec())
    }
}

impl Wire for u32 {
    fn write(&self, to: &mut Writer) {
        to.uint(u64::from(*self));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        match Self::try_from(from.uint()?) {
            Ok(number) => Ok(number),
            Err(_) => malformed(from, "a number of 32 bits"),
        }
    }
}

/// Implements [`Wire`] by one expression each way.
macro_rules! wire {
    ($($type:ty: |$value:ident, $to:ident| $write:expr, |$from:ident| $read:expr;)+) => {$(
        impl $crate::wire::Wire for $type {
            fn write(&self, $to: &mut hanok_core::Writer) {
                let $value = self;
                $write;
            }

            fn read($from: &mut hanok_core::Reader<'_>) -> Result<Self, hanok_core::StoredError> {
                $read
            }
        }
    )+};
}
pub(crate) use wire;

wire! {
    bool: |value, to| to.bool(*value), |from| from.bool();
    [u8; 16]: |bytes, to| to.bin(bytes), |from| bytes(from, "the 16 bytes of an id");
    u64: |value, to| to.uint(*value), |from| from.uint();
    Position: |position, to| to.uint(position.0), |from| from.uint().map(Self);
    Timestamp: |time, to| to.uint(time.0), |from| from.uint().map(Self);
    String: |text, to| to.str(text), |from| from.str().map(str::to_owned);
    Arc<str>: |text, to| to.str(text), |from| from.str().map(Self::from);
    Changes: |changes, to| changes.write(to), |from| Self::read(from);
    StoredSchema: |schema, to| schema.write(to), |from| Self::read(from);
    Arc<StoredSchema>: |schema, to| schema.as_ref().write(to), |from| StoredSchema::read(from).map(Self::new);
}

/// Nil for nothing.
impl<T: Wire> Wire for Option<T> {
    fn write(&self, to: &mut Writer) {
        match self {
            Some(value) => value.write(to),
            None => {
                to.nil();
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        if from.is_nil() {
            from.nil()?;
            return Ok(None);
        }
        T::read(from).map(Some)
    }
}

impl<T: Wire> Wire for Box<T> {
    fn write(&self, to: &mut Writer) {
        self.as_ref().write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        T::read(from).map(Self::new)
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn write(&self, to: &mut Writer) {
        to.array(self.len());
        self.iter().for_each(|value| value.write(to));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        (0..from.array()?).map(|_| T::read(from)).collect()
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn write(&self, to: &mut Writer) {
        to.array(2);
        self.0.write(to);
        self.1.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        array_of(from, 2, "two values")?;
        Ok((A::read(from)?, B::read(from)?))
    }
}

impl Wire for BTreeSet<String> {
    fn write(&self, to: &mut Writer) {
        to.array(self.len());
        self.iter().for_each(|text| {
            to.str(text);
        });
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        (0..from.array()?).map(|_| String::read(from)).collect()
    }
}

/// An array of the names and the roles.
impl Wire for Audience {
    fn write(&self, to: &mut Writer) {
        to.array(2);
        self.names.write(to);
        self.roles.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        let (names, roles) = Wire::read(from)?;
        Ok(Self { names, roles })
    }
}

/// An array of the name, the roles and the channel.
impl Wire for Answerer {
    fn write(&self, to: &mut Writer) {
        to.array(3).str(&self.name);
        self.roles.write(to);
        to.str(&self.channel);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        array_of(from, 3, "a name, roles and a channel")?;
        let (name, roles, channel) = (Wire::read(from)?, Wire::read(from)?, Wire::read(from)?);
        Ok(Self { name, roles, channel })
    }
}

impl Wire for BTreeMap<String, String> {
    fn write(&self, to: &mut Writer) {
        to.map(self.len());
        for (key, value) in self {
            to.str(key).str(value);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        (0..from.map()?).map(|_| Ok((String::read(from)?, String::read(from)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is longer or shorter than it was written is malformed, and no other value.
    #[test]
    fn an_array_of_another_length_is_malformed() {
        fn read<T: Wire>(length: usize) -> bool {
            let mut to = Writer::new();
            to.array(length);
            (0..length).for_each(|_| {
                to.uint(1);
            });
            T::read(&mut Reader::new(&to.into_bytes())).is_ok()
        }
        for length in 0..9 {
            assert_eq!(read::<(u64, u64)>(length), length == 2);
            assert_eq!(read::<Spent>(length), length == 6);
            assert!(read::<Vec<u64>>(length));
        }
    }
}
