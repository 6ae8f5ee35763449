//! What of a text is counted, hashed, with its weight.

use hanok_core::{Script, Word, words};
use unicode_normalization::UnicodeNormalization;

use super::{endings, sounds::sounds};
use crate::terms::is_asking;

/// What a whole word weighs.
const WHOLE: f32 = 1.0;
/// What two characters of a word in syllables weigh.
const PAIR: f32 = 0.5;
/// What letters of a word's sound weigh, so many at a time.
const SOUND: f32 = 0.8;
const SOUNDS: usize = 4;
/// What letters of a word in other scripts weigh, so many at a time.
const LETTERS: f32 = 0.8;
const LETTER: usize = 3;
/// The weight of an ending, and of a word that asks.
const ENDING: f32 = 0.1;
const ASKING: f32 = 0.1;

/// Which kind a feature is of, so that a word is none of its own parts.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Whole = 1,
    Pair = 2,
    Sound = 3,
    Letters = 4,
    Ending = 5,
}

/// The features of `text` in a fixed order, each once: what occurs often weighs more, but not as much more.
pub(super) fn features(text: &str) -> Vec<(u64, f32)> {
    let text: String = text.nfc().collect();
    let mut all = Vec::new();
    for word in words(&text) {
        let weight = if is_asking(&word.text) { ASKING } else { 1.0 };
        add(&word, weight, &mut all);
    }
    all.sort_by(|(a, x), (b, y)| a.cmp(b).then(x.total_cmp(y)));
    let counted = all.chunk_by(|(a, _), (b, _)| a == b).filter_map(|same| {
        let (hash, weight) = same.last()?;
        Some((*hash, weight * (1.0 + (same.len() as f32).ln())))
    });
    counted.collect()
}

fn add(word: &Word, weight: f32, all: &mut Vec<(u64, f32)>) {
    let mut push = |kind, part: &[char], of: f32| all.push((hash(kind, part), weight * of));
    let chars = |text: &str| text.chars().collect::<Vec<char>>();
    match word.script {
        Script::Syllables => {
            let (stem, ending) = endings::split(&word.text);
            let stem_chars = chars(stem);
            push(Kind::Whole, &stem_chars, WHOLE);
            stem_chars.windows(2).for_each(|pair| push(Kind::Pair, pair, PAIR));
            let heard = bordered(sounds(stem));
            heard.windows(SOUNDS).for_each(|some| push(Kind::Sound, some, SOUND));
            if !ending.is_empty() {
                push(Kind::Ending, &chars(ending), ENDING);
            }
        }
        Script::Letters => {
            let letters = chars(&word.text);
            push(Kind::Whole, &letters, WHOLE);
            let bordered = bordered(letters);
            bordered.windows(LETTER).for_each(|some| push(Kind::Letters, some, LETTERS));
        }
        // A number is another number, whatever digits they share.
        _ => push(Kind::Whole, &chars(&word.text), WHOLE),
    }
}

/// With the borders of the word: how it begins says more than what it holds.
fn bordered(mut letters: Vec<char>) -> Vec<char> {
    letters.insert(0, ' ');
    letters.push(' ');
    letters
}

/// FNV-1a, with the last step of MurmurHash3, so that every bit is as good as the others.
fn hash(kind: Kind, part: &[char]) -> u64 {
    let bytes = part.iter().flat_map(|c| u32::from(*c).to_le_bytes());
    let bytes = [kind as u8].into_iter().chain(bytes);
    let mut hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}
