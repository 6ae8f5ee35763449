//! What a token of JSON may be.

/// A token that the text may stop in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inside {
    Nothing,
    /// A string, with the quote that opened it.
    Text(char),
    LineComment,
    BlockComment,
    /// Behind the first of two closing braces.
    Doubled,
    /// A string of Python, with its quote, whether there are three of them, and whether its backslashes are letters.
    Python(char, bool, bool),
    /// A string as it is, up to this.
    Quoted(&'static str),
}

pub(crate) fn is_quote(letter: char) -> bool {
    matches!(letter, '"' | '\'' | '“' | '”' | '„' | '‘' | '’')
}

pub(crate) fn closes(open: char, letter: char) -> bool {
    match open {
        '"' => letter == '"',
        '\'' => letter == '\'',
        '“' | '”' | '„' => matches!(letter, '“' | '”' | '"'),
        _ => matches!(letter, '‘' | '’' | '\''),
    }
}
