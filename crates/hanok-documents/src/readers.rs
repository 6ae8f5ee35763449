//! The readers, as a library of documents takes them.

#[cfg(any(feature = "docx", feature = "html", feature = "hwpx"))]
use hanok_retrieval::backend::clean;

use crate::options::LoadOptions;
#[cfg(any(feature = "docx", feature = "html", feature = "hwpx", feature = "pdf"))]
use crate::{
    deadline::Deadline,
    reader::{FileReader, FileText},
    skip::SkipReason,
};

/// `options` with every reader of this build: those of PDF, Word, Hangul and HTML, as the features are on.
#[must_use]
pub fn readers(options: LoadOptions) -> LoadOptions {
    #[cfg(feature = "pdf")]
    let options = options.reader(Pdf);
    #[cfg(feature = "html")]
    let options = options.reader(Html);
    #[cfg(feature = "docx")]
    let options = options.reader(Docx);
    #[cfg(feature = "hwpx")]
    let options = options.reader(Hwpx);
    options
}

/// The text layer of `.pdf` files, page by page; a scan has none.
#[cfg(feature = "pdf")]
#[derive(Debug, Clone, Copy, Default)]
pub struct Pdf;

#[cfg(feature = "pdf")]
impl FileReader for Pdf {
    fn extensions(&self) -> &[&str] {
        &["pdf"]
    }

    fn read(
        &self,
        bytes: Vec<u8>,
        options: &LoadOptions,
        deadline: Deadline,
    ) -> Result<FileText, SkipReason> {
        crate::pdf::decode(&bytes, options, deadline)
    }
}

/// What a reader sees of `.html` and `.htm` files.
#[cfg(feature = "html")]
#[derive(Debug, Clone, Copy, Default)]
pub struct Html;

#[cfg(feature = "html")]
impl FileReader for Html {
    fn extensions(&self) -> &[&str] {
        &["html", "htm"]
    }

    fn read(
        &self,
        bytes: Vec<u8>,
        _: &LoadOptions,
        deadline: Deadline,
    ) -> Result<FileText, SkipReason> {
        let text = crate::decode::decode(&bytes)?;
        let (text, title) = crate::html::decode(&text, deadline)?;
        let mut text = FileText::new(clean(&text));
        text.title = title.map(|title| clean(&title));
        Ok(text)
    }
}

/// Word's `.docx` files.
#[cfg(feature = "docx")]
#[derive(Debug, Clone, Copy, Default)]
pub struct Docx;

#[cfg(feature = "docx")]
impl FileReader for Docx {
    fn extensions(&self) -> &[&str] {
        &["docx"]
    }

    fn read(
        &self,
        bytes: Vec<u8>,
        options: &LoadOptions,
        deadline: Deadline,
    ) -> Result<FileText, SkipReason> {
        Ok(FileText::new(clean(&crate::docx::decode(bytes, options, deadline)?)))
    }
}

/// Hancom Hangul's `.hwpx` files.
#[cfg(feature = "hwpx")]
#[derive(Debug, Clone, Copy, Default)]
pub struct Hwpx;

#[cfg(feature = "hwpx")]
impl FileReader for Hwpx {
    fn extensions(&self) -> &[&str] {
        &["hwpx"]
    }

    fn read(
        &self,
        bytes: Vec<u8>,
        options: &LoadOptions,
        deadline: Deadline,
    ) -> Result<FileText, SkipReason> {
        Ok(FileText::new(clean(&crate::hwpx::decode(bytes, options, deadline)?)))
    }
}
