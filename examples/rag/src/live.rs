//! The answer, shown while it is written.

/// The labels behind which a supervisor writes the answer.
const LABELS: [&str; 3] = ["Final Answer:", "최종 답변:", "최종답변:"];

/// Finds the answer in what a model writes, piece by piece. Nothing of the protocol is shown.
#[derive(Debug, Default)]
pub(crate) struct Live {
    text: String,
    /// Where the answer begins, once its label stands at the beginning of a line.
    begins: Option<usize>,
    shown: usize,
}

impl Live {
    /// Takes a piece; what of the answer can be shown now.
    pub(crate) fn take(&mut self, piece: &str) -> &str {
        self.text += piece;
        if self.begins.is_none() {
            self.begins = begins(&self.text);
            self.shown = self.begins.unwrap_or_default();
        }
        let from = self.shown;
        if self.begins.is_some() {
            // Trailing blanks may turn out to be the end of the answer.
            self.shown = self.text.trim_end().len().max(from);
        }
        self.text.get(from..self.shown).unwrap_or_default()
    }

    /// What of `answer` was not shown yet; all of it, behind a line break, if something else was shown.
    pub(crate) fn rest(&self, answer: &str) -> String {
        let shown = self.begins.and_then(|begins| self.text.get(begins..self.shown));
        match shown.map(str::trim_start) {
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
        self.begins.is_some_and(|begins| self.shown > begins)
    }
}

/// Where the text behind a label begins.
fn begins(text: &str) -> Option<usize> {
    let mut line_at = 0;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        let label = LABELS.iter().find(|label| line.trim_start().starts_with(**label));
        if let Some(label) = label {
            let after = line_at + indent + label.len();
            let rest = text.get(after..)?;
            return (!rest.trim_start().is_empty())
                .then(|| after + rest.len() - rest.trim_start().len());
        }
        line_at += line.len();
    }
    None
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
    fn only_what_follows_the_label_is_shown_and_nothing_twice() {
        let whole = "찾았습니다.\n\nFinal Answer: 연 15일입니다.\n- 월 1일\n";
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
    fn a_delegation_shows_nothing_and_another_answer_is_shown_whole() {
        assert_eq!(
            shown(&["Delegate: a\nTask: Final Answer: 쓰기"], "답"),
            (String::new(), "답".into())
        );
        let (text, rest) = shown(&["Final Answer: 하나"], "둘");
        assert_eq!((text.as_str(), rest.as_str()), ("하나", "\n\n둘"));
    }
}
