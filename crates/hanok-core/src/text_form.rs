//! Types that are one text outside of a program: an id, a name.

/// Gives a type whose `Display` is its whole text the ways back from that text, all of them through one function: `FromStr`,
/// `TryFrom<&str>`, `TryFrom<String>` and serde's `Deserialize`; and `Serialize`, as that text. The calling crate depends on `serde`.
///
/// ```
/// # use std::fmt;
/// #[derive(Debug, PartialEq)]
/// struct Floor(u8);
///
/// impl fmt::Display for Floor {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         write!(f, "floor-{}", self.0)
///     }
/// }
///
/// hanok_core::text_form! {
///     Floor: |text| text.strip_prefix("floor-").and_then(|n| n.parse().ok()).map(Self).ok_or("no floor") => &'static str;
/// }
///
/// assert_eq!("floor-3".parse(), Ok(Floor(3)));
/// assert_eq!(serde_json::to_string(&Floor(3))?, r#""floor-3""#);
/// assert!(serde_json::from_str::<Floor>(r#""roof""#).unwrap_err().to_string().starts_with("no floor"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[macro_export]
macro_rules! text_form {
    ($($(#[$meta:meta])* $name:ty: $read:expr => $error:ty;)+) => {$(
        $(#[$meta])*
        impl std::str::FromStr for $name {
            type Err = $error;

            fn from_str(text: &str) -> Result<Self, $error> {
                let read: fn(&str) -> Result<Self, $error> = $read;
                read(text)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = $error;

            fn try_from(text: &str) -> Result<Self, $error> {
                text.parse()
            }
        }

        impl TryFrom<String> for $name {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, $error> {
                text.parse()
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}
