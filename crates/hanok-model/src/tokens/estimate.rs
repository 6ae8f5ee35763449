//! A count of tokens for models whose vocabulary is not known.
//!
//! By the kind of character, in tenths of a token:
//!
//! | kind | tenths |
//! | --- | --- |
//! | a word of ASCII letters | 13, and 2 for each letter after the fourth |
//! | a digit | 5 |
//! | a sign of ASCII | 8, and 6 for each that follows it at once |
//! | a space between two words | 0 |
//! | a line break, or a run of spaces | 8 |
//! | a Hangul syllable | 16 |
//! | an ideograph or kana | 12 |
//! | a character of another alphabet below U+1000 | 6 |
//! | any other character | 25 |
//!
//! The numbers are fitted to o200k_base and cl100k_base, the vocabularies at hand: on prose in Korean and English, JSON
//! and code the sum is between the exact count and twice it, and newer vocabularies lie nearer to the lower one. The
//! common rule of four characters a token counts two to three times too few in Korean.

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Letter,
    Digit,
    Space,
    Break,
    Sign,
    Hangul,
    Ideograph,
    Alphabet,
    Other,
}

/// The tokens of `text`, rather too many than too few.
pub(super) fn tokens(text: &str) -> u64 {
    let (mut tenths, mut last, mut run) = (0_u64, Kind::Break, 0_u64);
    for c in text.chars() {
        let kind = kind(c);
        run = if kind == last { run.saturating_add(1) } else { 1 };
        last = kind;
        tenths = tenths.saturating_add(cost(kind, run));
    }
    tenths.div_ceil(10)
}

/// The tenths of the `run`th character in a row of this kind.
fn cost(kind: Kind, run: u64) -> u64 {
    match (kind, run) {
        (Kind::Letter, 1) => 13,
        (Kind::Letter, 2..=4) => 0,
        (Kind::Letter, _) => 2,
        (Kind::Digit, _) => 5,
        (Kind::Sign, 1) => 8,
        (Kind::Sign, _) => 6,
        // The second space makes a run; a longer one is as dear, up to the length of the vocabularies' own runs.
        (Kind::Space, run) if run % 16 == 2 => 8,
        (Kind::Space, _) => 0,
        (Kind::Break, _) => 8,
        (Kind::Hangul, _) => 16,
        (Kind::Ideograph, _) => 12,
        (Kind::Alphabet, _) => 6,
        (Kind::Other, _) => 25,
    }
}

fn kind(c: char) -> Kind {
    match c {
        'a'..='z' | 'A'..='Z' => Kind::Letter,
        '0'..='9' => Kind::Digit,
        ' ' | '\t' => Kind::Space,
        '\n' | '\r' => Kind::Break,
        '\0'..='\u{7f}' => Kind::Sign,
        '가'..='힣' => Kind::Hangul,
        '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => {
            Kind::Ideograph
        }
        '\u{80}'..='\u{fff}' => Kind::Alphabet,
        _ => Kind::Other,
    }
}
