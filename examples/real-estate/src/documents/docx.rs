//! A page as a document of Word (ECMA-376). The same page is the same bytes: no time and no name of a machine is in it.

use std::io::{Cursor, Write as _};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use thiserror::Error;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::page::{Block, BlockKind, Page};

const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";

const TYPES: &str = include_str!("../../templates/docx/content_types.xml");
const RELATIONS: &str = include_str!("../../templates/docx/rels.xml");
const DOCUMENT_RELATIONS: &str = include_str!("../../templates/docx/document_rels.xml");
const STYLES: &str = include_str!("../../templates/docx/styles.xml");
const NUMBERING: &str = include_str!("../../templates/docx/numbering.xml");

/// A document that could not be put together.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DocxError {
    /// The XML.
    #[error("the document's XML cannot be written")]
    Xml(#[from] std::io::Error),
    /// The archive.
    #[error("the document's archive cannot be written")]
    Archive(#[from] zip::result::ZipError),
}

impl Page {
    /// The page as the bytes of a `.docx`.
    ///
    /// # Errors
    ///
    /// [`DocxError`], which writing to memory does not cause.
    pub fn docx(&self) -> Result<Vec<u8>, DocxError> {
        let document = document(&self.blocks)?;
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        // 1980-01-01, the first day that an archive knows.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::default())
            .unix_permissions(0o644);
        for (name, text) in [
            ("[Content_Types].xml", TYPES.as_bytes()),
            ("_rels/.rels", RELATIONS.as_bytes()),
            ("word/_rels/document.xml.rels", DOCUMENT_RELATIONS.as_bytes()),
            ("word/styles.xml", STYLES.as_bytes()),
            ("word/numbering.xml", NUMBERING.as_bytes()),
            ("word/document.xml", document.as_slice()),
        ] {
            archive.start_file(name, options)?;
            archive.write_all(text)?;
        }
        Ok(archive.finish()?.into_inner())
    }
}

fn document(blocks: &[Block]) -> Result<Vec<u8>, std::io::Error> {
    let mut writer = Writer::new(Vec::new());
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), Some("yes"))))?;
    let mut root = BytesStart::new("w:document");
    root.push_attribute(("xmlns:w", WORD));
    writer.write_event(Event::Start(root))?;
    writer.write_event(Event::Start(BytesStart::new("w:body")))?;
    for block in blocks {
        paragraph(&mut writer, block)?;
    }
    writer.write_event(Event::Empty(BytesStart::new("w:sectPr")))?;
    writer.write_event(Event::End(BytesEnd::new("w:body")))?;
    writer.write_event(Event::End(BytesEnd::new("w:document")))?;
    Ok(writer.into_inner())
}

fn paragraph(writer: &mut Writer<Vec<u8>>, block: &Block) -> Result<(), std::io::Error> {
    let style = match block.kind {
        BlockKind::Heading(rank) => Some(format!("Heading{}", rank.clamp(1, 3))),
        BlockKind::Item => Some("ListBullet".to_owned()),
        BlockKind::Paragraph => None,
    };
    writer.write_event(Event::Start(BytesStart::new("w:p")))?;
    if let Some(style) = style {
        writer.write_event(Event::Start(BytesStart::new("w:pPr")))?;
        let mut named = BytesStart::new("w:pStyle");
        named.push_attribute(("w:val", style.as_str()));
        writer.write_event(Event::Empty(named))?;
        writer.write_event(Event::End(BytesEnd::new("w:pPr")))?;
    }
    writer.write_event(Event::Start(BytesStart::new("w:r")))?;
    let mut text = BytesStart::new("w:t");
    text.push_attribute(("xml:space", "preserve"));
    writer.write_event(Event::Start(text))?;
    writer.write_event(Event::Text(BytesText::new(&block.text)))?;
    for name in ["w:t", "w:r", "w:p"] {
        writer.write_event(Event::End(BytesEnd::new(name)))?;
    }
    Ok(())
}
