//! Summaries in one text, with a line between two.

use thiserror::Error;

/// The line between two summaries.
const LINE: &str = "---SUMMARY_BREAK---";

/// A summary cannot be written in this form.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "summary {number} has a line `---SUMMARY_BREAK---` of its own, so it could not be told from two"
)]
pub struct SeparatorInside {
    /// The number of the summary; the oldest is 1.
    pub number: usize,
}

/// The summaries in `text`, without empty ones.
pub(crate) fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in text.lines() {
        if line.trim() == LINE {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push_str(line);
            part.push('\n');
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// `summaries` as one text.
pub(crate) fn joined<'a>(
    summaries: impl Iterator<Item = &'a str>,
) -> Result<String, SeparatorInside> {
    let all: Vec<&str> = summaries.collect();
    let inside = |text: &&str| text.lines().any(|line| line.trim() == LINE);
    match all.iter().position(inside) {
        Some(at) => Err(SeparatorInside { number: at + 1 }),
        None => Ok(all.join(&format!("\n{LINE}\n"))),
    }
}

#[cfg(test)]
mod tests {
    use super::{SeparatorInside, joined, parts};

    #[test]
    fn summaries_are_written_and_read_back() {
        let text = joined(["요약1", "요약2\n둘째 줄"].into_iter()).unwrap();
        assert_eq!(text, "요약1\n---SUMMARY_BREAK---\n요약2\n둘째 줄");
        assert_eq!(parts(&text), ["요약1", "요약2\n둘째 줄"]);
        assert_eq!(parts("\n---SUMMARY_BREAK---\n요약\r\n---SUMMARY_BREAK---\n \n"), ["요약"]);
        assert!(parts("").is_empty());
        let inside = joined(["a", "b\n---SUMMARY_BREAK---\nc"].into_iter());
        assert_eq!(inside, Err(SeparatorInside { number: 2 }));
    }
}
