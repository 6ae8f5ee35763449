//! Codes of errors, by which people look them up, and the statuses by which HTTP tells of them.

/// Gives an error type a `code()` and the list of its `CODES`. A variant without a code does not compile. Variants that only carry
/// another error have the code of that one.
///
/// With a status behind each code the type has a `status()` too, and the list of its `STATUSES`.
///
/// ```
/// # #[allow(missing_docs)]
/// #[derive(Debug)]
/// pub enum Refused { Late, Full { by: u8 }, Other(Box<Refused>) }
///
/// hanok_core::error_codes! {
///     Refused { "X-1" 410: Self::Late, "X-2" 503: Self::Full { .. } }
///     of { Self::Other(inner) => inner }
/// }
///
/// let full = Refused::Other(Box::new(Refused::Full { by: 2 }));
/// assert_eq!((full.code(), full.status()), ("X-2", 503));
/// assert_eq!((Refused::CODES, Refused::STATUSES), (&["X-1", "X-2"][..], &[410, 503][..]));
/// ```
#[macro_export]
macro_rules! error_codes {
    (
        $error:ident { $($code:literal $status:literal: $pattern:pat),+ $(,)? }
        $(of { $($carrier:pat => $inner:expr),+ $(,)? })?
    ) => {
        $crate::error_codes! {
            $error { $($code: $pattern),+ } $(of { $($carrier => $inner),+ })?
        }

        impl $error {
            /// The statuses of this type, in the order of its [`CODES`](Self::CODES).
            pub const STATUSES: &'static [u16] = &[$($status),+];

            /// The status with which a service tells of the error over HTTP.
            pub fn status(&self) -> u16 {
                match self {
                    $($pattern => $status,)+
                    $($($carrier => $inner.status(),)+)?
                }
            }
        }
    };
    (
        $error:ident { $($code:literal: $pattern:pat),+ $(,)? }
        $(of { $($carrier:pat => $inner:expr),+ $(,)? })?
    ) => {
        impl $error {
            /// The codes of this type, in the order of its variants.
            pub const CODES: &'static [&'static str] = &[$($code),+];

            /// The code of the error. It does not change with its words, and the guide of errors lists what to do about each.
            pub fn code(&self) -> &'static str {
                match self {
                    $($pattern => $code,)+
                    $($($carrier => $inner.code(),)+)?
                }
            }
        }
    };
}
