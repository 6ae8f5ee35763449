use std::{io, time::Duration};

use thiserror::Error;

/// A file or folder that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{path}: {reason}")]
#[non_exhaustive]
pub struct Skipped {
    /// The path below the opened folder, with `/` between its parts.
    pub path: String,
    /// Why it was left out.
    pub reason: SkipReason,
}

/// Why a file or folder was left out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SkipReason {
    /// Its name begins with a dot.
    #[error("hidden")]
    Hidden,
    /// A symbolic link. Links are never followed, so none leads out of the folder or in a circle.
    #[error("a symbolic link")]
    Symlink,
    /// Neither a file nor a folder: a pipe, a socket, a device.
    #[error("not a regular file")]
    NotAFile,
    /// Its extension is neither `.txt` nor `.md` nor of a known kind of document.
    #[error("no kind of document that can be read")]
    Unsupported,
    /// A kind of document without a reader. Add one ([`LoadOptions::reader`](crate::LoadOptions::reader)):
    /// [`readers`](crate::readers()) adds those of PDF, Word, Hangul and HTML.
    #[error("no reader of .{kind} files was added")]
    NoReader {
        /// The usual extension: `pdf`, `html`, `docx` or `hwpx`.
        kind: &'static str,
    },
    /// A binary format of old, `.hwp` or `.doc`. Save it in the format that has taken its place.
    #[error("an old binary format, to be saved as {instead}")]
    OldFormat {
        /// The extension of the new one.
        instead: &'static str,
    },
    /// Another file has this name once both are in NFC.
    #[error("another file has the same name")]
    SameName,
    /// A folder below the limit of depth.
    #[error("deeper than {limit} folders")]
    TooDeep {
        /// [`LoadOptions::max_depth`](crate::LoadOptions::max_depth).
        limit: usize,
    },
    /// The file is larger than allowed.
    #[error("larger than {limit} bytes")]
    TooLarge {
        /// [`LoadOptions::max_file_bytes`](crate::LoadOptions::max_file_bytes).
        limit: u64,
    },
    /// The texts before it, in the order of their names, left too little of the limit.
    #[error("its {bytes} bytes of text pass the limit of {limit} for all documents")]
    TextBudget {
        /// How long its text is, in bytes of UTF-8.
        bytes: usize,
        /// [`LoadOptions::max_text_bytes`](crate::LoadOptions::max_text_bytes).
        limit: usize,
    },
    /// A text file with bytes that no text has.
    #[error("binary content")]
    Binary,
    /// A text in none of UTF-8, UTF-16 with a byte order mark, and (feature `cp949`) CP949.
    #[cfg_attr(feature = "cp949", error("neither UTF-8 nor UTF-16 nor CP949"))]
    #[cfg_attr(not(feature = "cp949"), error("neither UTF-8 nor UTF-16"))]
    Encoding,
    /// Nothing but white space; of a PDF: no text layer, such as a scan has none.
    #[error("no text")]
    Empty,
    /// A document that opens with a password only.
    #[error("encrypted")]
    Encrypted,
    /// A PDF with more pages than allowed.
    #[error("more than {limit} pages")]
    TooManyPages {
        /// [`LoadOptions::max_pdf_pages`](crate::LoadOptions::max_pdf_pages).
        limit: usize,
    },
    /// A document whose decoding took longer than allowed.
    #[error("not decoded within {limit:?}")]
    TooSlow {
        /// [`LoadOptions::max_decode_time`](crate::LoadOptions::max_decode_time).
        limit: Duration,
    },
    /// A document whose parts unpack to more than allowed, as a bomb does.
    #[error("unpacks to more than {limit} bytes")]
    Expands {
        /// [`LoadOptions::max_unpacked_bytes`](crate::LoadOptions::max_unpacked_bytes), or what a file of its size may unpack
        /// to.
        limit: u64,
    },
    /// A document of more parts than any has.
    #[error("more than {limit} parts")]
    TooManyParts {
        /// The limit.
        limit: usize,
    },
    /// A document in which elements or tables stand in each other deeper than in any.
    #[error("nested deeper than {limit}")]
    TooNested {
        /// The limit.
        limit: usize,
    },
    /// A document that could not be decoded.
    #[error("damaged: {detail}")]
    Damaged {
        /// What the decoder said.
        detail: String,
    },
    /// The operating system refused to read it.
    #[error("unreadable: {kind}")]
    Unreadable {
        /// Its reason.
        kind: io::ErrorKind,
    },
}

/// What the operating system refused.
pub(crate) fn unreadable(cause: &io::Error) -> SkipReason {
    SkipReason::Unreadable { kind: cause.kind() }
}

impl SkipReason {
    /// [`Damaged`](Self::Damaged), with what is wrong.
    #[must_use]
    pub fn damaged(detail: &str) -> Self {
        Self::Damaged { detail: detail.to_owned() }
    }
}
