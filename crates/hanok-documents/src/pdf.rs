//! A PDF to text, under limits of size, pages and time.
//!
//! The bytes are hostile until shown otherwise: every stream is decompressed up to a limit.

mod cmap;
mod lines;
mod page;

use std::collections::HashMap;

use lopdf::Dictionary;

use self::{
    cmap::Coding,
    lines::{Line, join},
    page::{Fonts, Page},
};
use hanok_retrieval::backend::clean;

use crate::{deadline::Deadline, options::LoadOptions, reader::FileText, skip::SkipReason};

/// What one stream may decompress to. A page of text has kilobytes; a bomb has gigabytes.
const MAX_STREAM: usize = 16 * 1024 * 1024;

/// What one PDF's text may be long: past it, the file is a bomb of text.
const MAX_TEXT: usize = 32 * 1024 * 1024;

/// Decodes `bytes` with the limits of `options`.
pub(crate) fn decode(
    bytes: &[u8],
    options: &LoadOptions,
    deadline: Deadline,
) -> Result<FileText, SkipReason> {
    let most = options.pdf_pages();
    // The loader allocates for what the file claims to be; a file that is no PDF is told apart first.
    if !bytes.iter().take(1024).copied().collect::<Vec<_>>().windows(5).any(|w| w == b"%PDF-") {
        return Err(SkipReason::damaged("no PDF header"));
    }
    let load = lopdf::LoadOptions::with_max_decompressed_size(MAX_STREAM);
    let pdf =
        lopdf::Document::load_mem_with_options(bytes, load).map_err(|cause| refused(&cause))?;
    if pdf.is_encrypted() {
        return Err(SkipReason::Encrypted);
    }
    let ids: Vec<_> = pdf.page_iter().take(most.saturating_add(1)).collect();
    if ids.len() > most {
        return Err(SkipReason::TooManyPages { limit: most });
    }
    let mut fonts = Fonts::new(&pdf);
    let mut decoded = FileText::default();
    let mut failure = None;
    for id in ids {
        deadline.check()?;
        match Page::new(&pdf, &mut fonts).lines(id) {
            Ok(lines) => push(&mut decoded, &lines)?,
            // A page that cannot be read keeps its number; the others are still worth having.
            Err(cause) => {
                push(&mut decoded, &[])?;
                failure = Some(refused(&cause));
            }
        }
    }
    match failure {
        Some(reason) if decoded.text.trim().is_empty() => Err(reason),
        _ => Ok(decoded),
    }
}

/// Adds a page.
fn push(file: &mut FileText, lines: &[Line]) -> Result<(), SkipReason> {
    // An article may go on over the page break: the line break alone does not end it.
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        file.text.push('\n');
    }
    file.pages.push(file.text.len());
    file.text.push_str(&clean(&join(lines)));
    if file.text.len() > MAX_TEXT { Err(SkipReason::damaged("too much text")) } else { Ok(()) }
}

fn refused(cause: &lopdf::Error) -> SkipReason {
    match cause {
        lopdf::Error::InvalidPassword
        | lopdf::Error::Decryption(_)
        | lopdf::Error::UnsupportedSecurityHandler(_) => SkipReason::Encrypted,
        cause => SkipReason::Damaged { detail: cause.to_string() },
    }
}

/// Encodings by the place of their font, so that a font shared by all pages is parsed once.
type Encodings<'a> = HashMap<*const Dictionary, Option<std::rc::Rc<Coding<'a>>>>;
