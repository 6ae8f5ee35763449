//! Units behind a numeral, and whether a word ends there.

use super::figure::AmountUnit;
use super::words::{char_at, ends_word, is_hangul, rest, skip_space, word_at};

/// What may follow a word with a consonant at its end, such as 원, 평 and 억.
const PARTICLES: &[&str] = &[
    "은", "이", "을", "의", "에", "과", "도", "만", "씩", "까지", "부터", "으로", "정", "쯤",
    "가량", "이상", "이하", "미만", "초과", "대", "당", "보다", "마다", "처럼", "밖에", "뿐",
    "조차", "인", "입", "임", "짜리", "어치", "여", "선", "안팎", "내외", "남짓", "상당", "규모",
    "일", "권", "및", "또는", "요",
];

/// What may follow one without.
const OPEN_PARTICLES: &[&str] = &["는", "가", "를", "와", "로", "라", "다", "였"];

/// Words behind 원 that begin with a particle's syllable and are others: 원만하다, 원도급.
const NO_WON: &[&str] = &["만하", "만히", "만한", "도급", "대한", "이름", "여민", "선순위"];

/// What follows 원 directly behind digits in another word: 원래, 원룸, 원칙.
const OTHER_WON: &[&str] =
    &["래", "룸", "칙", "본", "장", "고", "서", "형", "리", "산지", "재료", "자재", "주민"];

/// Words behind 만원 where it means full.
const FULL: &[&str] = &["버스", "지하철", "전철", "열차", "관중", "사례"];

/// What a numeral is that a unit follows, as far as that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// It begins with Arabic digits.
    Digits,
    /// Hangul with a place (십, 백, 천, 만, …).
    Places,
    /// One syllable of 일 to 구.
    Syllable,
}

/// Whether the word that ends at `at` is over there, but for a particle.
pub(super) fn is_bound(text: &str, at: usize) -> bool {
    let follows = |words: &[&str]| words.iter().any(|word| rest(text, at).starts_with(word));
    !char_at(text, at).is_some_and(char::is_alphanumeric) || follows(PARTICLES)
}

fn is_bound_open(text: &str, at: usize) -> bool {
    is_bound(text, at) || OPEN_PARTICLES.iter().any(|word| rest(text, at).starts_with(word))
}

/// The unit behind the numeral that ends at `at`, and its own end.
pub(super) fn unit(text: &str, at: usize, writing: Writing) -> Option<(AmountUnit, usize)> {
    let start = skip_space(text, at);
    let is_direct = start == at;
    if let Some(end) = won(text, start, writing, is_direct) {
        return Some((AmountUnit::Won, end));
    }
    // `이 퍼센트` may be `this per cent`.
    if writing == Writing::Syllable && !is_direct {
        return None;
    }
    percent(text, start, writing)
        .map(|end| (AmountUnit::Percent, end))
        .or_else(|| square_metre(text, start).map(|end| (AmountUnit::SquareMetre, end)))
        .or_else(|| pyeong(text, start, writing).map(|end| (AmountUnit::Pyeong, end)))
}

/// The end of 원 at `at`, if money is what it says.
pub(super) fn won(text: &str, at: usize, writing: Writing, is_direct: bool) -> Option<usize> {
    let end = word_at(text, at, "원").filter(|_| writing != Writing::Syllable)?;
    let behind = rest(text, end);
    let starts = |words: &[&str]| words.iter().any(|word| behind.starts_with(word));
    let is_money = if is_direct && writing == Writing::Digits {
        !starts(OTHER_WON)
    } else {
        is_bound(text, end) && !starts(NO_WON)
    };
    is_money.then_some(end)
}

/// Whether 만원 ends at `at` and says that something is full.
pub(super) fn is_full(text: &str, at: usize) -> bool {
    let behind = rest(text, skip_space(text, at));
    FULL.iter().any(|word| behind.starts_with(word))
}

fn percent(text: &str, at: usize, writing: Writing) -> Option<usize> {
    let is_points = |end: &usize| {
        let behind = rest(text, skip_space(text, *end));
        rest(text, *end).starts_with(['p', 'P']) || behind.starts_with("포인트")
    };
    let sign = ["%", "％"].iter().find_map(|sign| word_at(text, at, sign));
    let word = || word_at(text, at, "퍼센트").filter(|end| is_bound_open(text, *end));
    let spoken = || {
        word_at(text, at, "프로")
            .filter(|end| is_bound_open(text, *end) && writing != Writing::Syllable)
    };
    sign.or_else(word).or_else(spoken).filter(|end| !is_points(end))
}

fn square_metre(text: &str, at: usize) -> Option<usize> {
    let sign = ["㎡", "m²", "M²"].iter().find_map(|sign| word_at(text, at, sign));
    let typed = || {
        let end = ["m2", "M2", "m^2"].iter().find_map(|sign| word_at(text, at, sign))?;
        let goes_on = char_at(text, end).is_some_and(|c| c.is_alphanumeric() && !is_hangul(c));
        (!goes_on).then_some(end)
    };
    let word = || {
        let words = ["제곱미터", "제곱 미터", "평방미터", "평방 미터"];
        words
            .iter()
            .find_map(|word| word_at(text, at, word))
            .filter(|end| is_bound_open(text, *end))
    };
    sign.or_else(typed).or_else(word)
}

/// `평`, but not `평형`, `평균` or `평일`.
fn pyeong(text: &str, at: usize, writing: Writing) -> Option<usize> {
    let end = word_at(text, at, "평").filter(|_| writing != Writing::Syllable)?;
    let is_other =
        ["일", "정", "선", "이하게"].iter().any(|word| rest(text, end).starts_with(word));
    let is_about = rest(text, end).starts_with("정도");
    (is_bound(text, end) && (!is_other || is_about)).then_some(end)
}

/// Words that begin with the last syllable of a numeral: 천만에, 백신, 3만큼, 2천안.
const OTHER_WORDS: &[&str] = &[
    "만약", "만일", "만큼", "만남", "만나", "만족", "만기", "만료", "만점", "만들", "백신", "백화",
    "백지", "백분", "백업", "백서", "천안", "천장", "천막", "천사", "천연", "천국", "천재", "조건",
    "조항", "조각", "조사", "조치", "조직", "조합", "조정", "조례", "조약", "조각", "억울", "억제",
    "억지", "십자", "십대",
];

/// Whether the syllable before `at` begins another word that goes on there.
pub(super) fn joins_word(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|text| Some(at - text.chars().next_back()?.len_utf8()));
    let tail = before.map(|before| rest(text, before)).unwrap_or_default();
    OTHER_WORDS.iter().any(|word| tail.starts_with(word))
}

/// Things that are counted, where the word for them stands directly behind the numeral.
const COUNTED: &[&str] = &[
    "명", "개", "가구", "세대", "주", "달러", "유로", "엔", "위안", "대", "부", "건", "채", "표",
    "톤",
];

/// Whether a numeral in Hangul that ends at `at` is clearly over there.
pub(super) fn is_clear(text: &str, at: usize) -> bool {
    let counts = COUNTED.iter().any(|word| {
        word_at(text, at, word).is_some_and(|end| is_bound_open(text, end) || ends_word(text, end))
    });
    counts || is_bound(text, at)
}
