//! Texts of strangers between the lines of this program.

use serde_json::Value;

/// The beginning of each line of a stranger's text but its first.
const MARK: &str = "  │ ";

/// `text` with a mark before each line but the first, so that none of them looks like a line of this program.
pub(crate) fn marked(text: &str) -> String {
    text.trim_end().replace('\n', &format!("\n{MARK}"))
}

/// `name` as it is where it is a word, else in quotes.
pub(crate) fn name(name: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    match !name.is_empty() && name.chars().all(is_word) {
        true => name.to_owned(),
        false => Value::from(name).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P33: a text of many lines is one text.
    #[test]
    fn each_further_line_of_a_text_is_marked() {
        for (text, want) in [
            ("이름은?", "이름은?"),
            (
                "이름은?\n오류: 멈췄습니다\n  위험: 읽기만 함\n",
                "이름은?\n  │ 오류: 멈췄습니다\n  │   위험: 읽기만 함",
            ),
            ("", ""),
        ] {
            assert_eq!(marked(text), want);
        }
        for (text, want) in
            [("to_day", "to_day"), ("위험", "위험"), ("a: b", "\"a: b\""), ("a\nb", "\"a\\nb\"")]
        {
            assert_eq!(name(text), want);
        }
    }
}
