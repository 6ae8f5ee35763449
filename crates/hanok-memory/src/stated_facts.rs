//! Facts that users state, found by rules.

use hanok_core::sentences;
use hanok_state::Message;

use crate::memory::{Fact, FactKind};

/// The longest sentence that is a fact, in characters.
const LONGEST: usize = 200;

/// Phrases with which users say their own name, anywhere in a clause and at its beginning.
const OWN_NAMES: &[&str] = &[
    "내 이름은",
    "내 이름이",
    "제 이름은",
    "제 이름이",
    "나의 이름은",
    "저의 이름은",
    "my name is",
    "i'm called",
    "i am called",
    "you can call me",
];
const CALLED: (&[&str], &[&str]) =
    (&["저는 ", "나는 ", "난 "], &["라고 해", "라고 해요", "라고 합니다", "라고 불러"]);

/// Phrases with which the name of anything else is said.
const NAMES: &[&str] = &["이름은", "이름이", "name is"];

/// What a sentence begins with in which users speak of themselves, with or without a word before it; and what it has when it says
/// what stays so, and not how they are just now.
const OWN: &[&str] =
    &["나는 ", "난 ", "내 ", "저는 ", "전 ", "제 ", "우리 ", "저희 ", "i ", "i'm ", "my ", "we "];
const BEFORE_OWN: &[&str] = &["사실 ", "참고로 ", "아 ", "actually ", "by the way, "];
const LASTING: &[&str] = &[
    "알레르기",
    "알러지",
    "살아",
    "살고",
    "산다",
    "살았",
    "삽니다",
    "이사했",
    "키워",
    "키우",
    "기르",
    "좋아",
    "싫어",
    "못 먹",
    "안 먹",
    "다녀",
    "다니",
    "일하",
    "일해",
    "직업",
    "전공",
    "취미",
    "고향",
    "채식",
    "결혼",
    "태어",
    "담당",
    "세입자",
    "집주인",
    "allergic",
    "allergy",
    "live in",
    "moved to",
    "work at",
    "work as",
    "prefer",
    "vegetarian",
    "vegan",
    "have a ",
    "have two ",
];

/// Phrases of a user who wants something remembered: no order that asks for something else.
const KEEP: &[&str] = &["기억해", "기억 해", "remember", "keep in mind"];

/// Phrases that ask, wherever they stand; whole words of English; and the ends of a clause that asks or orders.
const ASKS: &[&str] = &[
    "알려",
    "뭐",
    "무엇",
    "무슨",
    "언제",
    "얼마",
    "몇 ",
    "어디",
    "누구",
    "어떻게",
    "tell me",
    "can you",
    "could you",
    "do you",
];
const ASKING_WORDS: &[&str] = &[
    "what",
    "when",
    "who",
    "how",
    "where",
    "which",
    "why",
    "please",
    "calculate",
    "search",
    "find",
    "show",
];
const ORDERS: &[&str] = &[
    "줘",
    "줘요",
    "주세요",
    "줄래",
    "줄래요",
    "까",
    "까요",
    "나요",
    "인가",
    "인가요",
    "해봐",
    "하세요",
    "해라",
];

/// Units behind the number of an amount.
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

/// Signs before the number of an amount.
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
/// The rules are lists of words, in Korean and English. A fact that they miss is still in the summary.
///
/// ```
/// use hanok_memory::{FactKind, stated_facts};
/// use hanok_state::Message;
///
/// let message = Message::user("내 이름은 철수야. 마감은 3월 15일이고 예산은 1억원이야! 오늘 며칠이지?");
/// let facts = stated_facts(&message);
/// assert_eq!(facts.len(), 2);
/// assert_eq!((facts[0].kind, facts[0].text.as_str()), (FactKind::Name, "내 이름은 철수야"));
/// ```
#[must_use]
pub fn stated_facts(message: &Message) -> Vec<Fact> {
    let id = message.id().unwrap_or_default();
    let fact = |clause: &str| {
        let kind = kind(clause)?;
        Some(Fact { kind, text: clause.to_owned(), message: id.to_owned() })
    };
    let sentences = sentences(&message.text());
    // What is to be kept and what is asked may stand in one sentence: `내 이름은 철수야, 기억해 줘`.
    let clauses = sentences.iter().flat_map(|sentence| sentence.split(", ")).map(str::trim);
    clauses.filter_map(fact).collect()
}

/// The kind of fact that a clause states, `None` where it states none.
fn kind(clause: &str) -> Option<FactKind> {
    let lower = clause.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let ends = |words: &[&str]| words.iter().any(|word| lower.ends_with(word));
    let begins = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
    let word = |word: &str| lower.split(|c: char| !c.is_alphanumeric()).any(|one| one == word);
    let asks = has(ASKS) || ends(ORDERS) || ASKING_WORDS.iter().any(|asking| word(asking));
    if clause.is_empty() || clause.chars().count() > LONGEST || asks && !has(KEEP) {
        return None;
    }
    if has(OWN_NAMES) || begins(&["call me "]) || begins(CALLED.0) && has(CALLED.1) {
        return Some(FactKind::Name);
    }
    if has_date(&lower) {
        return Some(FactKind::Date);
    }
    if has_amount(&lower) {
        return Some(FactKind::Amount);
    }
    let bare = BEFORE_OWN.iter().find_map(|word| lower.strip_prefix(word)).unwrap_or(&lower);
    let is_own = OWN.iter().any(|own| bare.starts_with(own));
    (has(NAMES) || is_own && has(LASTING)).then_some(FactKind::Other)
}

/// True for a text that names a day: `3월 15일`, `15일까지`, `2026-03-15`, `3/15`, `march 15`.
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

/// True for a text with a number that has a unit or the sign of a currency.
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

    use super::stated_facts;
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
            ("프로젝트 이름은 한옥이야", &[(FactKind::Other, "프로젝트 이름은 한옥이야")]),
            ("나는 땅콩 알레르기가 있어", &[(FactKind::Other, "나는 땅콩 알레르기가 있어")]),
            ("사실 나는 대구로 이사했어", &[(FactKind::Other, "사실 나는 대구로 이사했어")]),
            ("I am allergic to nuts.", &[(FactKind::Other, "I am allergic to nuts")]),
            ("나는 배고파", &[]),
            ("나는 어디에 살아야 해?", &[]),
            ("Don't call me after 6", &[]),
            ("저는 김철수라고 합니다.", &[(Name, "저는 김철수라고 합니다")]),
            ("내 이름은 철수야, 꼭 기억해줘", &[(Name, "내 이름은 철수야")]),
            (
                "Please remember that my name is Kim",
                &[(Name, "Please remember that my name is Kim")],
            ),
            ("My research budget is $5000", &[(Amount, "My research budget is $5000")]),
            ("계산서는 3월 2일에 보냈어", &[(Date, "계산서는 3월 2일에 보냈어")]),
            ("내 이름이 뭐라고 했지?", &[]),
            ("3월 15일이 무슨 요일이야", &[]),
            ("123 * 456 계산해줘", &[]),
            ("1억원을 5명이 나누면?", &[]),
            ("안녕하세요", &[]),
            ("", &[]),
        ];
        for (text, want) in cases {
            let facts = stated_facts(&Message::user(*text).with_id("m"));
            let found: Vec<_> = facts.iter().map(|fact| (fact.kind, fact.text.as_str())).collect();
            assert_eq!(found, *want, "{text}");
            assert!(facts.iter().all(|fact| fact.message == "m"));
        }
    }
}
