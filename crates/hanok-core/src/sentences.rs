//! A text in sentences.

/// The most sentences of one text.
const MOST: usize = 50;

/// The sentences of a text that end without a question mark.
#[must_use]
pub fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut sentence = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // The point of a number or of a date does not end a sentence.
        let ends = match c {
            '.' => chars.peek().is_none_or(|next| next.is_whitespace()),
            '\n' | '!' | '?' | '。' | '！' | '？' => true,
            _ => false,
        };
        match ends {
            false => sentence.push(c),
            true => {
                let whole = std::mem::take(&mut sentence);
                if !matches!(c, '?' | '？') {
                    sentences.push(whole.trim().to_owned());
                }
            }
        }
        if sentences.len() >= MOST {
            return sentences;
        }
    }
    sentences.push(sentence.trim().to_owned());
    sentences
}
