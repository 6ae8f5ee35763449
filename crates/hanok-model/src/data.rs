//! Marks around what is data.

use std::fmt;

use hanok_core::{Call, Rng};
use serde::{Deserialize, Serialize};

/// A mark around text that is data and not instructions. Nobody who writes the text can guess it, so nobody can close it
/// early.
///
/// ```
/// use hanok_model::DataMark;
/// # #[derive(Debug)]
/// # struct Dice;
/// # impl hanok_core::Rng for Dice {
/// #     fn bits(&self) -> u64 { 0x5eed }
/// # }
///
/// let mark = DataMark::new(&Dice);
/// assert_eq!(
///     mark.around("연차는 15일"),
///     "<data-0000000000005eed>\n연차는 15일\n</data-0000000000005eed>"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DataMark(String);

impl DataMark {
    /// A new mark out of `dice`. Whoever makes one keeps it with the text, so that a replay shows the same.
    pub fn new(dice: &dyn Rng) -> Self {
        Self(format!("{:016x}", dice.bits()))
    }

    /// The mark whose code is `code`, as it was kept.
    pub fn from_code(code: impl Into<String>) -> Self {
        Self(code.into())
    }

    /// The mark of the first 64 bits of a digest, in hexadecimal: of a text, for example, so that whoever writes it cannot know it.
    pub fn from_digest(digest: &str) -> Self {
        Self(digest.get(..16).unwrap_or(digest).to_owned())
    }

    /// The mark of a call: whoever wrote a text cannot know the key of a call that is made after it.
    ///
    /// ```
    /// use hanok_core::{Call, CallKey, SystemClock};
    /// use hanok_model::DataMark;
    ///
    /// let call = Call::new(CallKey::new("0123456789abcdef0123456789abcdef"), std::sync::Arc::new(SystemClock));
    /// assert_eq!(DataMark::of_call(&call).code(), "0123456789abcdef");
    /// ```
    pub fn of_call(call: &Call) -> Self {
        Self::from_digest(call.key().as_str())
    }

    /// The code.
    pub fn code(&self) -> &str {
        &self.0
    }

    /// `text` between the marks, each on a line of its own.
    #[must_use]
    pub fn around(&self, text: &str) -> String {
        format!("<data-{0}>\n{text}\n</data-{0}>", self.0)
    }
}

impl fmt::Display for DataMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
