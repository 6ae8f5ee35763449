//! A text that may be none, as the methods of updates take it.

/// What a method of an update takes for a field of `Option<String>`: a text, or `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OptionalText(pub Option<String>);

impl From<&str> for OptionalText {
    fn from(text: &str) -> Self {
        Self(Some(text.to_owned()))
    }
}

impl From<String> for OptionalText {
    fn from(text: String) -> Self {
        Self(Some(text))
    }
}

impl From<Option<String>> for OptionalText {
    fn from(text: Option<String>) -> Self {
        Self(text)
    }
}
