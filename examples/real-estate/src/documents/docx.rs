//! A document of Word out of Markdown.

use std::io::{self, Cursor, Write as _};

use zip::{CompressionMethod, DateTime, ZipWriter, write::SimpleFileOptions};

/// The parts of the archive that are the same for every document.
const PARTS: [(&str, &str); 5] = [
    ("[Content_Types].xml", include_str!("../../templates/docx/content_types.xml")),
    ("_rels/.rels", include_str!("../../templates/docx/rels.xml")),
    ("word/_rels/document.xml.rels", include_str!("../../templates/docx/document_rels.xml")),
    ("word/styles.xml", include_str!("../../templates/docx/styles.xml")),
    ("word/numbering.xml", include_str!("../../templates/docx/numbering.xml")),
];

const BEGIN: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>"#;
const END: &str = "<w:sectPr/></w:body></w:document>";

/// The bytes of a `.docx` file with the headings (`#` to `###`), list items (`- `) and paragraphs of `markdown`.
///
/// A line is a paragraph. Backslash escapes and `&amp;`, `&lt;`, `&gt;` become the characters that they stand for; other markup is
/// left as it is written: emphasis, links and tables are not read. Equal texts give equal bytes.
///
/// # Errors
///
/// When the archive would be larger than its format allows.
pub(super) fn docx_from_markdown(markdown: &str) -> io::Result<Vec<u8>> {
    let mut document = BEGIN.to_owned();
    for line in markdown.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (style, text) = styled(line);
        document.push_str("<w:p>");
        if let Some(style) = style {
            document.push_str(&format!(r#"<w:pPr><w:pStyle w:val="{style}"/></w:pPr>"#));
        }
        let text = escaped(&unescaped(text));
        document.push_str(&format!(r#"<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>"#));
    }
    document.push_str(END);

    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    // 1980-01-01, the first day that an archive knows.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    for (name, text) in PARTS.into_iter().chain([("word/document.xml", document.as_str())]) {
        archive.start_file(name, options)?;
        archive.write_all(text.as_bytes())?;
    }
    Ok(archive.finish()?.into_inner())
}

/// The style of a line, and its text without the mark.
fn styled(line: &str) -> (Option<&'static str>, &str) {
    for (mark, style) in
        [("# ", "Heading1"), ("## ", "Heading2"), ("### ", "Heading3"), ("- ", "ListBullet")]
    {
        if let Some(text) = line.strip_prefix(mark) {
            return (Some(style), text.trim_start());
        }
    }
    (None, line)
}

/// `text` without its escapes, and without the characters that XML cannot hold.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.extend(chars.next()),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => plain.push(c),
        }
    }
    plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// `text` as XML holds it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::{docx_from_markdown, styled, unescaped};

    #[test]
    fn lines_have_styles_and_texts_have_no_escapes() {
        assert_eq!(styled("### 제1조(목적)"), (Some("Heading3"), "제1조(목적)"));
        assert_eq!(styled("#hash"), (None, "#hash"));
        assert_eq!(unescaped("a \\# b \\\\ &amp;lt; \u{0}&lt;c&gt;"), "a # b \\ &lt; <c>");
    }

    #[test]
    fn equal_texts_give_equal_bytes() {
        let write = || docx_from_markdown("# 계약\n\n- 가\n- 나 <&>\n").unwrap();
        assert_eq!(write(), write());
    }
}
