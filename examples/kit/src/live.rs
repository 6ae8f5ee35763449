//! The answer, shown while it is written.

/// What of an answer was shown.
#[derive(Debug, Default)]
pub(crate) struct Live {
    text: String,
    shown: usize,
}

impl Live {
    /// Takes a piece; what of the answer can be shown now.
    pub(crate) fn take(&mut self, piece: &str) -> &str {
        self.text += if self.text.is_empty() { piece.trim_start() } else { piece };
        let from = self.shown;
        // Trailing blanks may turn out to be the end of the answer.
        self.shown = self.text.trim_end().len().max(from);
        self.text.get(from..self.shown).unwrap_or_default()
    }

    /// What of `answer` was not shown yet; all of it, behind a line break, if something else was shown.
    pub(crate) fn rest(&self, answer: &str) -> String {
        match self.text.get(..self.shown) {
            None | Some("") => answer.to_owned(),
            Some(shown) => match answer.strip_prefix(shown) {
                Some(rest) => rest.to_owned(),
                None => format!("\n\n{answer}"),
            },
        }
    }

    /// Another model writes now.
    pub(crate) fn restart(&mut self) {
        *self = Self::default();
    }

    /// Whether anything was shown.
    pub(crate) fn is_showing(&self) -> bool {
        self.shown > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[&str], answer: &str) -> (String, String) {
        let mut live = Live::default();
        let text = pieces.iter().map(|piece| live.take(piece).to_owned()).collect();
        let rest = live.rest(answer);
        (text, rest)
    }

    #[test]
    fn nothing_is_shown_twice() {
        let whole = " 연 15일입니다.\n- 월 1일\n";
        let answer = "연 15일입니다.\n- 월 1일";
        for size in 1..8 {
            let chars: Vec<char> = whole.chars().collect();
            let pieces: Vec<String> =
                chars.chunks(size).map(|piece| piece.iter().collect()).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let (text, rest) = shown(&pieces, answer);
            assert_eq!(format!("{text}{rest}"), answer, "in pieces of {size}");
        }
    }

    #[test]
    fn another_answer_is_shown_whole() {
        assert_eq!(shown(&[], "답"), (String::new(), "답".into()));
        assert_eq!(shown(&["하나"], "둘"), ("하나".into(), "\n\n둘".into()));
    }
}
