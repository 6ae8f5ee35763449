//! The parts of a compound question, and what of it they cover.

use serde::{Deserialize, Serialize};

/// The most parts of a question.
const MOST_PARTS: usize = 8;

/// One part of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QuestionPart {
    /// The part, as a question of its own.
    pub text: String,
    /// The words of the whole question that it covers, in their order.
    pub covers: Vec<String>,
}

/// A question in parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Decomposed {
    /// The parts.
    pub(crate) parts: Vec<QuestionPart>,
    /// The words of the question that no part covers.
    pub(crate) uncovered: Vec<String>,
}

/// `question` in the `parts` that a model proposes. A part that shares no word with the question is none of it and is left out;
/// without any part the question is one.
pub(crate) fn decompose(question: &str, parts: &[String]) -> Decomposed {
    let words: Vec<&str> = words(question).filter(|word| !joins(word)).collect();
    let mut covered = vec![false; words.len()];
    let mut of_question = Vec::new();
    for text in parts.iter().take(MOST_PARTS) {
        let in_part: Vec<&str> = self::words(text).collect();
        let of_part: Vec<bool> = words.iter().map(|word| in_part.contains(word)).collect();
        if !of_part.contains(&true) {
            continue;
        }
        let covers = words.iter().zip(&of_part).filter(|(_, is)| **is);
        let covers = covers.map(|(word, _)| (*word).to_owned()).collect();
        covered.iter_mut().zip(of_part).for_each(|(covered, is)| *covered |= is);
        of_question.push(QuestionPart { text: text.trim().to_owned(), covers });
    }
    if of_question.is_empty() {
        let covers = words.iter().map(|word| (*word).to_owned()).collect();
        let whole = QuestionPart { text: question.trim().to_owned(), covers };
        return Decomposed { parts: vec![whole], uncovered: Vec::new() };
    }
    let uncovered = words.iter().zip(covered).filter(|(_, is)| !is);
    let uncovered = uncovered.map(|(word, _)| (*word).to_owned()).collect();
    Decomposed { parts: of_question, uncovered }
}

/// `question` in parts by its punctuation: what is asked in sentences of its own.
pub(crate) fn sentences(question: &str) -> Vec<String> {
    let ends = |c: char| matches!(c, '?' | '!' | '\n' | '？' | '。');
    let parts = question.split(ends).map(str::trim).filter(|part| !part.is_empty());
    parts.take(MOST_PARTS).map(str::to_owned).collect()
}

/// True for a word that only joins two parts.
fn joins(word: &str) -> bool {
    let words = ["그리고", "또", "또한", "그런데", "및", "and", "also", "then", "plus"];
    words.contains(&word.to_lowercase().as_str())
}

/// The words of a text, without the punctuation around them.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_mark = |c: char| !c.is_alphanumeric() && !matches!(c, '%' | '㎡');
    text.split_whitespace()
        .map(move |word| word.trim_matches(is_mark))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(question: &str, parts: &[&str]) -> (Vec<String>, Vec<String>) {
        let parts: Vec<_> = parts.iter().map(|part| (*part).to_owned()).collect();
        let Decomposed { parts, uncovered } = decompose(question, &parts);
        (parts.into_iter().map(|part| part.covers.join(" ")).collect(), uncovered)
    }

    #[test]
    fn what_no_part_covers_is_listed() {
        let question = "전세금을 올려 달라는데, 올려 줘야 해? 근처 시세도 보여줘";
        let (covers, uncovered) =
            parts(question, &["전세금을 올려 줘야 해?", "시세도 보여줘", "날씨"]);
        assert_eq!(covers, ["전세금을 올려 올려 줘야 해", "시세도 보여줘"]);
        assert_eq!(uncovered, ["달라는데", "근처"]);
    }

    #[test]
    fn a_question_without_parts_is_one() {
        assert_eq!(parts("얼마야?", &[]), (vec!["얼마야".to_owned()], vec![]));
        assert_eq!(parts("얼마야?", &["날씨"]), (vec!["얼마야".to_owned()], vec![]));
        assert_eq!(parts("", &[]), (vec![String::new()], vec![]));
        assert_eq!(
            sentences("올려 줘야 해? 시세는?\n계약서도 써 줘"),
            ["올려 줘야 해", "시세는", "계약서도 써 줘"]
        );
        let many = vec!["가".to_owned(); 20];
        assert_eq!(decompose("가", &many).parts.len(), MOST_PARTS);
    }
}
