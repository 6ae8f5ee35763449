//! Korean documents of any number, the same for the same seed: rules in articles, of words that are as frequent as words are.

use hanok_retrieval::{Document, Passage, Splitter};

/// Numbers by SplitMix64 (Steele, Lea & Flood 2014).
#[derive(Debug, Clone)]
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// One of `all`.
    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all.get(self.below(all.len())).copied().unwrap_or_default()
    }

    /// A number below `end`, low ones much more often: the n-th as often as 1/n (Zipf).
    fn often(&mut self, end: usize) -> usize {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((end as f64).powf(share) as usize).saturating_sub(1).min(end.saturating_sub(1))
    }
}

/// How many articles a document has.
const ARTICLES: usize = 5;

/// How many nouns there are.
const NOUNS: usize = 20_000;

#[rustfmt::skip]
const SYLLABLES: [&str; 60] = [
    "가", "각", "간", "감", "강", "개", "거", "검", "경", "계", "고", "공", "과", "관", "교", "구", "권", "근", "금", "기",
    "난", "납", "내", "노", "단", "담", "대", "도", "동", "등", "로", "매", "면", "무", "문", "물", "반", "발", "방", "배",
    "법", "변", "보", "복", "부", "분", "비", "사", "산", "상", "서", "설", "성", "소", "수", "시", "신", "안", "약", "업",
];
const PARTICLES: [&str; 8] = ["은", "는", "을", "를", "에", "의", "와", "에서"];
const VERBS: [&str; 8] = [
    "신청한다",
    "지급한다",
    "승인을 받는다",
    "정산한다",
    "제출하여야 한다",
    "보관한다",
    "면제한다",
    "따로 정한다",
];
const QUESTIONS: [&str; 5] =
    ["어떻게 하나요?", "언제까지 해야 해?", "알려줘", "얼마야?", "되나요?"];

/// The noun of this number: two or three syllables, frequent ones shorter.
fn noun(number: usize) -> String {
    let at = |n: usize| SYLLABLES.get(n % SYLLABLES.len()).copied().unwrap_or_default();
    let (first, second, third) = (number * 7 + 3, number / 60 + number * 13, number / 3_600);
    match third {
        0 => format!("{}{}", at(first), at(second)),
        third => format!("{}{}{}", at(first), at(second), at(third * 11 + number)),
    }
}

fn sentence(numbers: &mut Numbers) -> String {
    let mut text = String::new();
    for _ in 0..3 + numbers.below(5) {
        text += &noun(numbers.often(NOUNS));
        text += numbers.of(&PARTICLES);
        text.push(' ');
    }
    format!("{text}{}일 안에 {}.", 1 + numbers.below(90), numbers.of(&VERBS))
}

/// The passages of the document of this number.
pub(crate) fn passages(seed: u64, document: usize) -> Vec<Passage> {
    let mut numbers = Numbers::new(seed ^ (document as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93));
    let mut text = format!("# {} 규정\n\n", noun(numbers.often(NOUNS)));
    for article in 1..=ARTICLES {
        text += &format!("## 제{article}조({})\n\n", noun(numbers.often(NOUNS)));
        for _ in 0..3 + numbers.below(5) {
            text += &sentence(&mut numbers);
            text.push(' ');
        }
        text += "\n\n";
    }
    let passages = Splitter::new().split(&Document::new(format!("{document:06}.md"), text));
    passages.into_iter().take(ARTICLES).collect()
}

/// So many passages, document by document.
pub(crate) fn documents(seed: u64, count: usize) -> impl Iterator<Item = Vec<Passage>> {
    (0..count.div_ceil(ARTICLES)).map(move |document| passages(seed, document))
}

/// A question in words of one of the first `count` passages.
pub(crate) fn question(seed: u64, number: usize, count: usize) -> String {
    let mut numbers = Numbers::new(!seed ^ number as u64);
    let document = numbers.below(count.div_ceil(ARTICLES));
    let about = passages(seed, document);
    let text = about.get(numbers.below(about.len())).map(|it| it.text.as_str()).unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().filter(|word| !word.starts_with('#')).collect();
    let some = (0..3).map(|_| numbers.of(&words)).collect::<Vec<_>>().join(" ");
    format!("{some} {}", numbers.of(&QUESTIONS))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn documents_are_the_same_for_the_same_seed_and_no_two_are_alike() {
        let texts = |seed| documents(seed, 500).flatten().map(|it| it.text).collect::<Vec<_>>();
        assert_eq!(texts(1), texts(1));
        assert_ne!(texts(1), texts(2));
        let distinct: BTreeSet<_> = texts(1).into_iter().collect();
        assert_eq!(distinct.len(), 500);
        assert_eq!(question(1, 7, 500), question(1, 7, 500));
        assert_ne!(question(1, 7, 500), question(1, 8, 500));
    }

    #[test]
    fn words_are_as_frequent_as_words_are() {
        let mut numbers = Numbers::new(3);
        let drawn: Vec<usize> = (0..10_000).map(|_| numbers.often(NOUNS)).collect();
        let first = drawn.iter().filter(|it| **it == 0).count();
        assert!((400..1_200).contains(&first), "{first}");
        assert!(drawn.iter().copied().collect::<BTreeSet<_>>().len() > 2_000);
        let nouns: BTreeSet<_> = (0..NOUNS).map(noun).collect();
        assert!(nouns.len() > NOUNS * 9 / 10, "{}", nouns.len());
    }
}
