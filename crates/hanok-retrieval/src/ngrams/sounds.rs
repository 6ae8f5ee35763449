//! How Korean sounds: what is misspelled mostly sounds as what was meant.

/// Where composed syllables begin, and how many vowels and last consonants there are (Unicode, section 3.12).
const FIRST: u32 = 0xAC00;
const LAST: u32 = 0xD7A3;
const VOWELS: u32 = 21;
const FINALS: u32 = 28;

/// The letters of `word`, those that are easily taken for each other as one: tense consonants as plain ones, ㅐ as ㅔ, and the last
/// consonants as the seven that are heard. Other characters than composed syllables stay as they are.
pub(super) fn sounds(word: &str) -> Vec<char> {
    let mut sounds = Vec::new();
    for c in word.chars() {
        let code = u32::from(c);
        if !(FIRST..=LAST).contains(&code) {
            sounds.push(c);
            continue;
        }
        let at = code - FIRST;
        sounds.push(LEADS.chars().nth((at / (VOWELS * FINALS)) as usize).unwrap_or(c));
        sounds.push(MIDDLES.chars().nth((at / FINALS % VOWELS) as usize).unwrap_or(c));
        sounds.extend(TAILS.chars().nth((at % FINALS) as usize).filter(|tail| *tail != '-'));
    }
    sounds
}

/// For ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ.
const LEADS: &str = "ㄱㄱㄴㄷㄷㄹㅁㅂㅂㅅㅅㅇㅈㅈㅊㅋㅌㅍㅎ";
/// For ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ.
const MIDDLES: &str = "ㅏㅔㅑㅖㅓㅔㅕㅖㅗㅘㅚㅚㅛㅜㅝㅚㅟㅠㅡㅢㅣ";
/// For none and ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ.
const TAILS: &str = "-ㄱㄱㄱㄴㄴㄴㄷㄹㄱㅁㄹㄹㄹㅂㄹㅁㅂㅂㄷㄷㅇㄷㄷㄱㄷㅂㄷ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spelled_otherwise_and_sounds_alike_is_the_same() {
        for (one, other) in [
            ("재택근무", "제택근무"),
            ("배포", "베포"),
            ("숙박비", "숙빡비"),
            ("빛", "빗"),
            ("밖", "박"),
        ] {
            assert_eq!(sounds(one), sounds(other));
        }
        assert_ne!(sounds("연차"), sounds("연자"));
        assert_eq!(sounds("값a"), ['ㄱ', 'ㅏ', 'ㅂ', 'a']);
        for text in
            [LEADS, MIDDLES, TAILS].map(|all| all.chars().count()).into_iter().zip([19, 21, 28])
        {
            assert_eq!(text.0, text.1);
        }
    }
}
