//! Server-sent events, as they come in.

use hanok_model::ModelError;

/// The longest line.
const LONGEST_LINE: usize = 4 * 1024 * 1024;

/// Takes bytes in pieces of any size and gives the data of events (WHATWG HTML, 9.2.6).
///
/// More is understood than the standard has, for servers that leave it when they fail: a line that begins with `{`, and
/// one named `error`, is data. Each line of data is an event of its own, for the data here is JSON of one line.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    line: Vec<u8>,
    /// Whether the last line ended with a carriage return, so that a line feed that follows is part of that end.
    returned: bool,
    begun: bool,
}

impl Decoder {
    /// Adds the data of the events that `bytes` complete to `events`, up to the first that is none.
    pub(crate) fn take(
        &mut self,
        bytes: &[u8],
        events: &mut Vec<String>,
    ) -> Result<(), ModelError> {
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (text, end) = match piece.split_last() {
                Some((end @ (b'\n' | b'\r'), text)) => (text, Some(*end)),
                _ => (piece, None),
            };
            let after_return = std::mem::take(&mut self.returned);
            if after_return && text.is_empty() && end == Some(b'\n') {
                continue;
            }
            self.grow(text)?;
            if let Some(end) = end {
                self.returned = end == b'\r';
                events.extend(self.line()?);
            }
        }
        Ok(())
    }

    fn grow(&mut self, text: &[u8]) -> Result<(), ModelError> {
        if self.line.len().saturating_add(text.len()) > LONGEST_LINE {
            let limit = u64::try_from(LONGEST_LINE).unwrap_or(u64::MAX);
            return Err(ModelError::TooLarge { limit });
        }
        self.line.extend_from_slice(text);
        Ok(())
    }

    /// The data of the line that just ended.
    fn line(&mut self) -> Result<Option<String>, ModelError> {
        let line = String::from_utf8(std::mem::take(&mut self.line)).map_err(|error| {
            let what = format!("invalid UTF-8 in a stream, {}", error.utf8_error());
            ModelError::Protocol { what, source: None }
        })?;
        let line = match std::mem::replace(&mut self.begun, true) {
            false => line.strip_prefix('\u{feff}').unwrap_or(&line),
            true => &line,
        };
        if line.starts_with('{') {
            return Ok(Some(line.to_owned()));
        }
        let Some((name, value)) = line.split_once(':') else { return Ok(None) };
        let value = value.strip_prefix(' ').unwrap_or(value);
        Ok(matches!(name, "data" | "error")
            .then(|| value.to_owned())
            .filter(|data| !data.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(chunks: &[&[u8]]) -> Vec<String> {
        let (mut decoder, mut events) = (Decoder::default(), Vec::new());
        chunks.iter().for_each(|chunk| decoder.take(chunk, &mut events).unwrap());
        events
    }

    #[test]
    fn events_are_the_same_however_the_bytes_are_cut() {
        let stream = "\u{feff}: hello\ndata: {\"a\":\"휴가\"}\n\r\nevent: x\r\ndata:{\"b\":1}\r\n\r\n:\r\
                      data: two\rid: 7\n\ndata:\n\nerror: {\"c\":2}\n\n{\"d\":3}\n\ndata: [DONE]\n\ndata: cut";
        let want = [r#"{"a":"휴가"}"#, r#"{"b":1}"#, "two", r#"{"c":2}"#, r#"{"d":3}"#, "[DONE]"];
        let bytes = stream.as_bytes();
        assert_eq!(events(&[bytes]), want);
        for size in 1..7 {
            assert_eq!(events(&bytes.chunks(size).collect::<Vec<_>>()), want, "chunks of {size}");
        }
    }

    /// P16
    #[test]
    fn a_line_without_end_and_invalid_text_are_errors() {
        let (mut decoder, mut events) = (Decoder::default(), Vec::new());
        let mut take = |bytes: &[u8]| decoder.take(bytes, &mut events).err();
        let refused = (0..=4).find_map(|_| take(&[b'a'; 1024 * 1024])).unwrap();
        assert!(matches!(refused, ModelError::TooLarge { .. }), "{refused:?}");
        let mut events = Vec::new();
        let refused = Decoder::default().take(b"data: a\ndata: \xff\n", &mut events).unwrap_err();
        assert!(matches!(refused, ModelError::Protocol { .. }), "{refused:?}");
        assert_eq!(events, ["a"], "what came before is not lost");
    }
}
