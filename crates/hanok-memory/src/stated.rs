//! What users say of themselves, found by rules.

use hanok_state::Message;

use crate::{Fact, FactKind};

/// The longest sentence that is a fact, in characters.
const LONGEST: usize = 200;

/// The most sentences of one message that are looked at.
const MOST: usize = 50;

/// How a name is said.
const NAMES: &[&str] = &[
    "이름은",
    "이름이",
    "my name is",
    "i'm called",
    "i am called",
    "call me",
    "라고 불러",
    "라고 해요",
    "라고 합니다",
];

/// What asks or orders, and states nothing.
const ASKS: &[&str] = &[
    "알려",
    "뭐",
    "무엇",
    "무슨",
    "언제",
    "얼마",
    "몇 ",
    "몇번",
    "어디",
    "누구",
    "어떻게",
    "계산",
    "찾아",
    "검색",
    "보여",
    "해줘",
    "해 줘",
    "주세요",
    "줄래",
    "할까",
    "인가",
    "일까",
    "나요",
    "습니까",
    "what",
    "when",
    "who",
    "how ",
    "where",
    "which",
    "why",
    "tell me",
    "calculate",
    "search",
    "find ",
    "show ",
    "please",
    "can you",
    "could you",
    "do you",
];

/// What stands behind the number of an amount.
const UNITS: &[&str] = &[
    "원",
    "만",
    "억",
    "천",
    "백만",
    "달러",
    "유로",
    "엔",
    "위안",
    "%",
    "퍼센트",
    "명",
    "개",
    "살",
    "세",
    "평",
    "kg",
    "km",
    "시간",
    "won",
    "dollars",
    "usd",
    "krw",
    "eur",
    "euros",
    "people",
    "years old",
    "percent",
    "hours",
];

/// What stands before the number of an amount.
const SIGNS: &[char] = &['₩', '$', '€', '£', '¥'];

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The sentences of a user's message that state a name, a date or an amount, in the user's own words. A question or an
/// order states nothing.
///
/// It knows Korean and English, and works by a list of words: what it misses is still in the summary.
///
/// ```
/// use hanok_memory::{FactKind, stated};
/// use hanok_state::Message;
///
/// let message = Message::user("내 이름은 철수야. 마감은 3월 15일이고 예산은 1억원이야! 오늘 며칠이지?");
/// let facts = stated(&message);
/// assert_eq!(facts.len(), 2);
/// assert_eq!((facts[0].kind, facts[0].text.as_str()), (FactKind::Name, "내 이름은 철수야"));
/// ```
#[must_use]
pub fn stated(message: &Message) -> Vec<Fact> {
    let id = message.id().unwrap_or_default();
    let fact = |sentence: &str| {
        let kind = kind(sentence)?;
        Some(Fact { kind, text: sentence.to_owned(), message: id.to_owned() })
    };
    sentences(&message.text()).iter().filter_map(|sentence| fact(sentence)).collect()
}

/// The sentences of a text that end without a question mark.
fn sentences(text: &str) -> Vec<String> {
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

/// What a sentence states, `None` where it states nothing of these.
fn kind(sentence: &str) -> Option<FactKind> {
    let lower = sentence.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if sentence.is_empty() || sentence.chars().count() > LONGEST || has(ASKS) {
        return None;
    }
    if has(NAMES) {
        return Some(FactKind::Name);
    }
    if has_date(&lower) {
        return Some(FactKind::Date);
    }
    has_amount(&lower).then_some(FactKind::Amount)
}

/// Whether a text names a day: `3월 15일`, `15일까지`, `2026-03-15`, `3/15`, `march 15`.
fn has_date(text: &str) -> bool {
    let behind = |(number, rest): (&str, &str)| {
        let rest = rest.trim_start();
        let day = rest.starts_with("월") || rest.starts_with("일") && number.len() <= 2;
        let year = rest.starts_with('년') && number.len() == 4;
        let sign = |sign: char| {
            rest.strip_prefix(sign)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        day || year || number.len() == 4 && sign('-') || number.len() <= 2 && sign('/')
    };
    let month = |month: &&str| {
        let behind = text.split_once(*month).map(|(_, behind)| behind.trim_start());
        behind.is_some_and(|behind| behind.starts_with(|c: char| c.is_ascii_digit()))
    };
    numbers(text).any(behind) || MONTHS.iter().any(month)
}

/// Whether a text has a number with a unit, or with the sign of a currency.
fn has_amount(text: &str) -> bool {
    let unit = |(_, rest): (&str, &str)| {
        let rest = rest.trim_start();
        UNITS.iter().any(|unit| rest.starts_with(unit))
    };
    let mut signs = text.match_indices(SIGNS);
    let signed = signs.any(|(at, sign)| {
        let behind = text.get(at + sign.len()..).unwrap_or_default();
        behind.trim_start().starts_with(|c: char| c.is_ascii_digit())
    });
    signed || numbers(text).any(unit)
}

/// The numbers of a text, each with what stands behind it.
fn numbers(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let at = rest.find(|c: char| c.is_ascii_digit())?;
        let begin = rest.get(at..)?;
        let end = begin.find(|c: char| !(c.is_ascii_digit() || matches!(c, ',' | '.')));
        let (number, behind) = begin.split_at(end.unwrap_or(begin.len()));
        rest = behind;
        Some((number, behind))
    })
}

#[cfg(test)]
mod tests {
    use hanok_state::Message;

    use super::stated;
    use crate::FactKind::{self, Amount, Date, Name};

    #[test]
    fn names_dates_and_amounts_that_are_stated_are_facts() {
        let cases: &[(&str, &[(FactKind, &str)])] = &[
            ("내 이름은 철수야", &[(Name, "내 이름은 철수야")]),
            ("안녕! My name is Kim Haneul.", &[(Name, "My name is Kim Haneul")]),
            ("프로젝트 마감일은 3월 15일이야", &[(Date, "프로젝트 마감일은 3월 15일이야")]),
            ("The launch is on March 15.", &[(Date, "The launch is on March 15")]),
            ("계약은 2026-03-15에 끝나", &[(Date, "계약은 2026-03-15에 끝나")]),
            ("예산은 1억원이고 팀은 5명이야.", &[(Amount, "예산은 1억원이고 팀은 5명이야")]),
            ("Our budget is $1.5 million", &[(Amount, "Our budget is $1.5 million")]),
            ("월세는 1,200,000 원입니다\n고마워", &[(Amount, "월세는 1,200,000 원입니다")]),
            ("내 이름이 뭐라고 했지?", &[]),
            ("3월 15일이 무슨 요일이야", &[]),
            ("123 * 456 계산해줘", &[]),
            ("1억원을 5명이 나누면?", &[]),
            ("안녕하세요", &[]),
            ("", &[]),
        ];
        for (text, want) in cases {
            let facts = stated(&Message::user(*text).with_id("m"));
            let found: Vec<_> = facts.iter().map(|fact| (fact.kind, fact.text.as_str())).collect();
            assert_eq!(found, *want, "{text}");
            assert!(facts.iter().all(|fact| fact.message == "m"));
        }
    }
}
