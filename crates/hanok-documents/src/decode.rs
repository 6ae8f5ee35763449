//! Bytes of a text file to text.

use hanok_retrieval::backend::clean;

use crate::skip::SkipReason;

/// The text of a file in UTF-8, UTF-16 with a byte order mark, or (feature `cp949`) CP949, as [`clean`] leaves it.
pub(crate) fn decode(bytes: &[u8]) -> Result<String, SkipReason> {
    let text = match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest)?,
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes)?,
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes)?,
        _ if bytes.contains(&0) => return Err(SkipReason::Binary),
        _ => utf8(bytes).or_else(|reason| cp949(bytes).ok_or(reason))?,
    };
    if is_binary(&text) { Err(SkipReason::Binary) } else { Ok(clean(&text)) }
}

/// A part of XML: UTF-8, or UTF-16 with a byte order mark.
#[cfg(any(feature = "docx", feature = "hwpx"))]
pub(crate) fn markup(bytes: &[u8]) -> Result<String, SkipReason> {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Result<String, SkipReason> {
    // The cause would say which byte; the reason is reported without it.
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_cause| SkipReason::Encoding)
}

/// Without a replacement for half a character or half a pair.
fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, SkipReason> {
    let (units, []) = bytes.as_chunks() else { return Err(SkipReason::Encoding) };
    let units: Vec<u16> = units.iter().copied().map(unit).collect();
    String::from_utf16(&units).map_err(|_cause| SkipReason::Encoding)
}

/// Korean Windows' code page 949, which the WHATWG calls EUC-KR.
#[cfg(feature = "cp949")]
fn cp949(bytes: &[u8]) -> Option<String> {
    if is_damaged_utf8(bytes) {
        return None;
    }
    let text = encoding_rs::EUC_KR.decode_without_bom_handling_and_without_replacement(bytes)?;
    Some(text.into_owned())
}

#[cfg(not(feature = "cp949"))]
fn cp949(_: &[u8]) -> Option<String> {
    None
}

/// Whether most of what is not ASCII is valid UTF-8: a few broken bytes in a UTF-8 text could
/// otherwise pass for CP949 and be indexed as gibberish.
#[cfg(feature = "cp949")]
fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let (mut valid, mut broken) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    valid > 4 * broken
}

fn is_binary(text: &str) -> bool {
    let odd = |c: &char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}' | '\u{b}');
    let (odd, all) = (text.chars().filter(odd).count(), text.chars().count());
    text.contains('\0') || odd * 50 > all
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization;

    use super::*;

    #[test]
    fn reads_what_korean_text_files_come_in() {
        let utf16 = |to: fn(u16) -> [u8; 2], mark: [u8; 2]| {
            mark.into_iter().chain("연차휴가\r\n".encode_utf16().flat_map(to)).collect::<Vec<u8>>()
        };

        for (name, bytes) in [
            ("utf-8", "연차휴가\n".as_bytes().to_vec()),
            ("utf-8 with a mark", "\u{feff}연차휴가\r\n".as_bytes().to_vec()),
            ("utf-8 in NFD", "연차휴가\n".nfd().collect::<String>().into_bytes()),
            ("utf-16 le", utf16(u16::to_le_bytes, [0xFF, 0xFE])),
            ("utf-16 be", utf16(u16::to_be_bytes, [0xFE, 0xFF])),
            #[cfg(feature = "cp949")]
            ("cp949", b"\xBF\xAC\xC2\xF7\xC8\xDE\xB0\xA1\n".to_vec()),
        ] {
            assert_eq!(decode(&bytes), Ok("연차휴가\n".to_owned()), "{name}");
        }
    }

    #[test]
    #[cfg(feature = "cp949")]
    fn cp949_is_more_than_euc_kr() {
        // 똠 and 햏 are not among the 2,350 syllables of KS X 1001.
        let bytes = encoding_rs::EUC_KR.encode("똠방각하 햏").0.into_owned();
        assert_eq!(decode(&bytes), Ok("똠방각하 햏".to_owned()));
    }

    #[test]
    fn refuses_what_is_no_text() {
        let mut damaged = "연차휴가는 근속년수에 따라 부여한다.".repeat(3).into_bytes();
        damaged[31] = 0xFF;
        for (name, bytes, want) in [
            ("nul", b"PK\x03\x04\0\0".to_vec(), SkipReason::Binary),
            ("controls", b"\x01\x02\x03\x04ab".to_vec(), SkipReason::Binary),
            ("latin-1", b"caf\xE9 au lait".to_vec(), SkipReason::Encoding),
            ("damaged utf-8", damaged, SkipReason::Encoding),
            ("odd utf-16", b"\xFF\xFEa\0b".to_vec(), SkipReason::Encoding),
            ("lone surrogate", b"\xFF\xFE\x00\xD8a\0".to_vec(), SkipReason::Encoding),
        ] {
            assert_eq!(decode(&bytes), Err(want), "{name}");
        }
    }
}
