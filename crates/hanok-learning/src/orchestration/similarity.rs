//! How alike two texts are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::normal::normalized;

/// The likeness of two texts, with its parts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TextSimilarity {
    /// The share of pairs of neighbouring letters that both have (Dice's coefficient), from 0 to 1; blanks do not count.
    pub letters: f64,
    /// The likeness of their meaning, where the store makes vectors ([`Semantic`](hanok_model::Semantic)), from -1 to 1.
    pub meaning: Option<f32>,
}

impl TextSimilarity {
    /// The likeness by letters of `one` and `other`, with that of their meaning if there is one.
    ///
    /// ```
    /// use hanok_learning::TextSimilarity;
    ///
    /// let alike = |one, other| TextSimilarity::of(one, other, None).value();
    /// assert_eq!(alike("Lease of building A", "lease of  BUILDING a"), 1.0);
    /// assert!(alike("연차휴가 며칠 남았지?", "연차 휴가 며칠 남았어?") > 0.75);
    /// assert!(alike("연차휴가 며칠 남았지?", "날씨 어때?") < 0.2);
    /// assert_eq!(TextSimilarity::of("rain", "weather", Some(0.5)).value(), 0.5);
    /// ```
    pub fn of(one: &str, other: &str, meaning: Option<f32>) -> Self {
        Self { letters: dice(&pairs(one), &pairs(other)), meaning }
    }

    /// The greater of both.
    pub fn value(&self) -> f64 {
        let meaning = self.meaning.map(f64::from).filter(|meaning| meaning.is_finite());
        meaning.map_or(self.letters, |meaning| meaning.max(self.letters))
    }
}

/// How often each pair of neighbouring letters stands in a text; a text of one letter is a pair with nothing.
fn pairs(text: &str) -> BTreeMap<(char, Option<char>), u32> {
    let normal = normalized(text);
    let letters: Vec<char> = normal.chars().filter(|c| !c.is_whitespace()).collect();
    let mut pairs = BTreeMap::new();
    if let [only] = letters.as_slice() {
        pairs.insert((*only, None), 1);
    }
    for (first, second) in letters.iter().zip(letters.iter().skip(1)) {
        *pairs.entry((*first, Some(*second))).or_default() += 1;
    }
    pairs
}

fn dice<K: Ord>(one: &BTreeMap<K, u32>, other: &BTreeMap<K, u32>) -> f64 {
    let count = |pairs: &BTreeMap<K, u32>| pairs.values().map(|n| f64::from(*n)).sum::<f64>();
    let both = one.iter().filter_map(|(pair, n)| other.get(pair).map(|m| f64::from(*n.min(m))));
    let (both, all) = (both.sum::<f64>(), count(one) + count(other));
    if all > 0.0 { 2.0 * both / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn likeness_is_dices() {
        // Pairs counted by hand: ni ig gh ht, na ac ch ht.
        for (one, other, want) in [
            ("night", "nacht", 0.25),
            ("", "", 0.0),
            ("a", "A", 1.0),
            ("a", "b", 0.0),
            ("a", "ab", 0.0),
        ] {
            assert_eq!(TextSimilarity::of(one, other, None).value(), want, "{one} {other}");
        }
        assert_eq!(TextSimilarity::of("a", "a", Some(f32::NAN)).value(), 1.0);
    }

    proptest! {
        #[test]
        fn likeness_is_symmetric_and_between_0_and_1(one in any::<String>(), other in any::<String>()) {
            let alike = TextSimilarity::of(&one, &other, None).value();
            prop_assert!((0.0..=1.0).contains(&alike));
            prop_assert_eq!(alike, TextSimilarity::of(&other, &one, None).value());
        }
    }
}
