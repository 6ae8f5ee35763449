//! Codes of errors, by which people look them up.

/// Gives an error type a `code()` and the list of its `CODES`. A variant without a code does not compile. Variants that only carry
/// another error have the code of that one.
///
/// ```
/// # #[allow(missing_docs)]
/// #[derive(Debug)]
/// pub enum Refused { Late, Full { by: u8 }, Other(Box<Refused>) }
///
/// hanok_core::error_codes! {
///     Refused { "X-1": Self::Late, "X-2": Self::Full { .. } }
///     of { Self::Other(inner) => inner.code() }
/// }
///
/// assert_eq!(Refused::Other(Box::new(Refused::Full { by: 2 })).code(), "X-2");
/// assert_eq!(Refused::CODES, ["X-1", "X-2"]);
/// ```
#[macro_export]
macro_rules! error_codes {
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
                    $($($carrier => $inner,)+)?
                }
            }
        }
    };
}
