//! How long a text is, in characters or tokens.

use std::{fmt, sync::Arc};

/// What the length of a passage is counted in.
#[derive(Clone)]
pub(crate) enum Measure {
    Chars,
    Tokens(Arc<Count>),
}

type Count = dyn Fn(&str) -> usize + Send + Sync;

impl fmt::Debug for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Chars => "Chars",
            Self::Tokens(_) => "Tokens",
        })
    }
}

/// Two that count with different functions are different, whatever these do.
impl PartialEq for Measure {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Chars, Self::Chars) => true,
            (Self::Tokens(one), Self::Tokens(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Eq for Measure {}

impl Measure {
    pub(crate) fn tokens(count: impl Fn(&str) -> usize + Send + Sync + 'static) -> Self {
        Self::Tokens(Arc::new(count))
    }

    /// How far `text` is no longer than `max`, in bytes: at least its first character. `None` when all of it is.
    pub(crate) fn limit(&self, text: &str, max: usize) -> Option<usize> {
        match self {
            Self::Chars => text.char_indices().nth(max).map(|(at, _)| at),
            Self::Tokens(count) => {
                let fits = |len: usize| text.get(..len).is_some_and(|text| count(text) <= max);
                let first = text.chars().next().map_or(0, char::len_utf8);
                let most = longest(text.len(), max, |len| fits(text.floor_char_boundary(len)));
                let most = text.floor_char_boundary(most).max(first);
                (most < text.len()).then_some(most)
            }
        }
    }

    /// Whether a passage of `text` is no longer than `max`. A character is never too long.
    pub(crate) fn holds(&self, text: &str, max: usize) -> bool {
        match self {
            Self::Chars => true,
            Self::Tokens(count) => text.chars().nth(1).is_none() || count(text) <= max,
        }
    }

    /// Where the last `overlap` before the byte `cut` begin; in the second half of what is before it, so that reading gets on.
    pub(crate) fn tail(&self, text: &str, cut: usize, overlap: usize) -> usize {
        let before = text.get(..cut).unwrap_or(text);
        match self {
            _ if overlap == 0 => cut,
            Self::Chars => before.char_indices().rev().nth(overlap - 1).map_or(cut, |(at, _)| at),
            Self::Tokens(count) => {
                let from = |len: usize| before.ceil_char_boundary(before.len() - len);
                let fits =
                    |len: usize| before.get(from(len)..).is_some_and(|text| count(text) <= overlap);
                from(longest(before.len() / 2, overlap, fits))
            }
        }
    }
}

/// The longest length up to `most` that `fits`, found from a guess of `max` on; 0 always does. Where what fits and what does
/// not are mixed, one that does.
fn longest(most: usize, max: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut step) = (0_usize, max.max(1));
    let mut high = loop {
        let next = low.saturating_add(step).min(most);
        if !fits(next) {
            break next;
        }
        if next == most {
            return most;
        }
        (low, step) = (next, step.saturating_mul(2));
    };
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
