//! Which files of a folder are read.

use hanok_documents::LoadOptions;

/// The defaults; with the feature `documents`, PDF, Word, Hangul and HTML files are read as well.
#[must_use]
pub fn load_options() -> LoadOptions {
    let options = LoadOptions::new();
    #[cfg(feature = "documents")]
    let options = hanok_documents::readers(options);
    options
}
