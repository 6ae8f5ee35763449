//! The words of a text, for those who search in it.

/// A kind of script, by how its words stand in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Script {
    /// Written without reliable word borders: Hangul, Han, Kana.
    Syllables,
    /// Every other script.
    Letters,
    /// A number.
    Number,
}

/// A run of characters of one script.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Word {
    /// The script.
    pub script: Script,
    /// The characters, in lower case.
    pub text: String,
}

/// Longer runs are data, not words.
const LONGEST: usize = 256;

/// The words of `text` in their order, in lower case, cut after about 256 bytes. A number keeps its decimal point and loses
/// the commas between its thousands. Time and room are linear.
///
/// Composed and decomposed characters are kept apart: normalise the text before, where both may come.
///
/// ```
/// let words = hanok_core::words("연차휴가는 1,250일, VPN2");
/// let texts: Vec<_> = words.iter().map(|word| word.text.as_str()).collect();
/// assert_eq!(texts, ["연차휴가는", "1250", "일", "vpn", "2"]);
/// ```
pub fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut open = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let Some(script) = script(c) else {
            let digit = chars.peek().is_some_and(|next| next.is_ascii_digit());
            match words.last_mut().filter(|last| open && digit && last.script == Script::Number) {
                Some(_) if c == ',' => {}
                Some(number) if c == '.' => number.text.push(c),
                _ => open = false,
            }
            continue;
        };
        match words.last_mut() {
            Some(last) if open && last.script == script && last.text.len() < LONGEST => {
                push_lower(&mut last.text, c, script);
            }
            _ => {
                let mut text = String::new();
                push_lower(&mut text, c, script);
                words.push(Word { script, text });
            }
        }
        open = true;
    }
    words
}

fn push_lower(text: &mut String, c: char, script: Script) {
    match script {
        // These have no lower case, and looking for it takes longer than all the rest.
        Script::Syllables => text.push(c),
        _ => text.extend(c.to_lowercase()),
    }
}

fn script(c: char) -> Option<Script> {
    match c {
        '가'..='힣' | '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' => {
            Some(Script::Syllables)
        }
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => {
            Some(Script::Syllables)
        }
        _ if c.is_numeric() => Some(Script::Number),
        _ if c.is_alphabetic() => Some(Script::Letters),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_runs_of_its_scripts() {
        use Script::{Letters, Number, Syllables};
        for (text, want) in [
            ("", vec![]),
            ("\"*%_' --", vec![]),
            ("팀 VPN2", vec![(Syllables, "팀"), (Letters, "vpn"), (Number, "2")]),
            ("3.5% 2026.", vec![(Number, "3.5"), (Number, "2026")]),
            ("a.b 1,a", vec![(Letters, "a"), (Letters, "b"), (Number, "1"), (Letters, "a")]),
        ] {
            let words = words(text);
            let got: Vec<_> = words.iter().map(|word| (word.script, word.text.as_str())).collect();
            assert_eq!(got, want, "{text:?}");
        }
    }

    #[test]
    fn no_run_of_characters_is_one_endless_word() {
        for run in ["a", "가", "1.", "1,"] {
            let words = words(&run.repeat(10_000));
            assert!(words.iter().all(|word| word.text.len() <= LONGEST + 8), "{run}");
        }
    }
}
