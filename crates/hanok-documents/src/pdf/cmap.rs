//! How the strings of a font become text: by its own map or, where the font is not embedded, by a predefined one (ISO 32000-1, 9.7.5.2).

use encoding_rs::{EUC_KR, Encoding as Charset, UTF_16BE};
use lopdf::{Dictionary, Document, Encoding};

use super::MAX_STREAM;

/// How the strings of a font become text.
#[derive(Debug)]
pub(crate) enum Coding<'a> {
    /// As the font says itself.
    OfFont(Encoding<'a>),
    /// The codes of a predefined map are those of this character set.
    Charset(&'static Charset),
}

impl<'a> Coding<'a> {
    /// That of `font`; `None` where it cannot be read.
    pub(crate) fn of(font: &'a Dictionary, pdf: &'a Document) -> Option<Self> {
        let own = || font.get_font_encoding_with_limit(pdf, MAX_STREAM).ok().map(Self::OfFont);
        // What the font maps to Unicode itself is surer.
        if font.has(b"ToUnicode") {
            return own();
        }
        let name = font.get_deref(b"Encoding", pdf).and_then(|it| it.as_name()).unwrap_or_default();
        charset(name).map(Self::Charset).or_else(own)
    }

    /// The text of a string; `None` where it is none.
    pub(crate) fn decode(&self, bytes: &[u8]) -> Option<String> {
        match self {
            Self::OfFont(encoding) => Document::decode_text(encoding, bytes).ok(),
            Self::Charset(charset) => {
                charset.decode_without_bom_handling_and_without_replacement(bytes).map(Into::into)
            }
        }
    }
}

/// The character set of the codes of the predefined map of this name.
fn charset(name: &[u8]) -> Option<&'static Charset> {
    let name = std::str::from_utf8(name).ok()?;
    let unicode = ["UniKS-", "UniGB-", "UniJIS-", "UniJIS2004-", "UniCNS-"];
    if unicode.iter().any(|it| name.starts_with(it)) {
        return (name.contains("UCS2") || name.contains("UTF16")).then_some(UTF_16BE);
    }
    ["KSCms-UHC", "KSC-EUC", "KSCpc-EUC"].iter().any(|it| name.starts_with(it)).then_some(EUC_KR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predefined_maps_have_the_codes_of_a_character_set() {
        for (name, bytes, want) in [
            ("UniKS-UCS2-H", &[0xD5, 0x5C, 0xC6, 0x25][..], Some("한옥")),
            ("UniKS-UTF16-V", &[0xD5, 0x5C], Some("한")),
            ("KSCms-UHC-H", &[0xC7, 0xD1, 0xBF, 0xC1, b'1'], Some("한옥1")),
            ("KSC-EUC-V", &[0xC7, 0xD1], Some("한")),
            ("UniKS-UTF8-H", &[0xC7, 0xD1], None),
            ("Identity-H", &[0xC7, 0xD1], None),
            ("WinAnsiEncoding", b"a", None),
        ] {
            let text = charset(name.as_bytes()).and_then(|it| Coding::Charset(it).decode(bytes));
            assert_eq!(text.as_deref(), want, "{name}");
        }
        assert_eq!(Coding::Charset(UTF_16BE).decode(&[0xD8, 0x00]), None);
    }
}
