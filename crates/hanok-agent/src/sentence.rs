//! Sentences in the language of an agent.

/// The text of one sentence in `$language`: Korean, or else English. Both are format strings.
macro_rules! sentence {
    ($language:expr, $korean:literal, $english:literal) => {
        match $language {
            hanok_parse::Language::Korean => format!($korean),
            _ => format!($english),
        }
    };
}

pub(crate) use sentence;
