//! A file as a model reads it: some of its lines at once.

use hanok_core::Printable;
use hanok_model::ToolOutput;
use serde_json::json;

use super::{
    FileError,
    lines::{self, Lines},
};

/// At most `count` lines of `text` from the line `from`, and at most `output` bytes of them.
pub(super) fn page(
    path: &str,
    text: &str,
    from: Option<usize>,
    count: Option<usize>,
    output: usize,
) -> Result<ToolOutput, FileError> {
    let (from, count) = (from.unwrap_or(1), count.unwrap_or(usize::MAX));
    let Some(lines) = lines::some(text, from, count, output) else {
        let path = path.to_owned();
        return Err(FileError::PastEnd { path, lines: text.lines().count(), from });
    };
    let data = json!({
        "path": path, "first_line": lines.first, "last_line": lines.last, "lines": lines.of,
    });
    Ok(ToolOutput::new(as_read(&lines)).data(data))
}

/// The text of a file.
pub(super) fn text(path: &str, bytes: Vec<u8>) -> Result<String, FileError> {
    let not_text = |at| FileError::NotText { path: path.to_owned(), at };
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Err(not_text(at));
    }
    let text =
        String::from_utf8(bytes).map_err(|error| not_text(error.utf8_error().valid_up_to()))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// What the model reads. Written-out characters take more room, at most eight times that of the file's.
fn as_read(lines: &Lines) -> String {
    let Lines { text, first, last, of, is_cut } = lines;
    let text = Printable(text);
    match (of, is_cut) {
        (0, _) => "(the file is empty)".to_owned(),
        (_, true) => {
            format!("{text}…\n[line {first} of {of}, cut; go on with from_line {}]", last + 1)
        }
        (of, _) if last < of => {
            format!("{text}[lines {first} to {last} of {of}; go on with from_line {}]", last + 1)
        }
        _ => text.to_string(),
    }
}
