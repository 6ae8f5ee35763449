//! What rules read in a question.

use hanok_retrieval::ArticleNumber;

/// Words by which a standard contract is asked for.
const STANDARD: [&str; 5] = ["표준", "모범", "비교", "일반적인 계약", "standard"];

/// What a question begins with that goes on from what was said before.
const FOLLOWING: [&str; 22] = [
    "그럼",
    "그러면",
    "그렇다면",
    "그건",
    "그것",
    "그거",
    "그게",
    "그 조",
    "그때",
    "그 경우",
    "그 기간",
    "그 금액",
    "그중",
    "그 중",
    "이건",
    "이것",
    "그리고",
    "아까",
    "방금",
    "위의",
    "위 조",
    "앞에서",
];

/// The longest word that is a question by itself.
const LONGEST_WORD: usize = 10;

/// The articles that `question` names, in its order, each once: `제5조`, `5조`, `제7조의2`.
pub(crate) fn articles(question: &str) -> Vec<ArticleNumber> {
    let question: String = question.chars().map(half_width).collect();
    let mut found = Vec::new();
    let mut before = ' ';
    for (at, c) in question.char_indices() {
        let begins = c.is_ascii_digit() && !before.is_ascii_digit() && !matches!(before, '.' | ',');
        before = c;
        let rest = question.get(at..).filter(|_| begins);
        if let Some(number) = rest.and_then(article).filter(|number| !found.contains(number)) {
            found.push(number);
        }
    }
    found
}

fn half_width(c: char) -> char {
    let digit = u32::from(c).wrapping_sub(u32::from('０'));
    char::from_digit(digit, 10).unwrap_or(c)
}

/// The article that `text` begins with: its digits, `조`, perhaps `의2`.
fn article(text: &str) -> Option<ArticleNumber> {
    let (number, rest) = number(text)?;
    let rest = rest.trim_start().strip_prefix('조')?;
    // A sum of money.
    if rest.trim_start().starts_with(['원', '달']) {
        return None;
    }
    let sub = rest.trim_start().strip_prefix('의').and_then(|rest| number_of(rest.trim_start()));
    Some(sub.map_or(ArticleNumber::new(number), |sub| ArticleNumber::inserted(number, sub)))
}

/// The number that `text` begins with, and what follows.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

fn number_of(text: &str) -> Option<u32> {
    number(text).map(|(number, _)| number)
}

/// Whether `question` asks for the standard contract.
pub(crate) fn asks_standard(question: &str) -> bool {
    let lower = question.to_lowercase();
    STANDARD.iter().any(|word| lower.contains(word))
}

/// Whether `question` goes on from what was said before, by its words alone: one that points back, or a single word (`해지는?`).
pub(crate) fn follows(question: &str) -> bool {
    let begin = question.trim().trim_end_matches(['?', '？']);
    let single = !begin.contains(' ') && begin.chars().count() <= LONGEST_WORD;
    FOLLOWING.iter().any(|word| begin.starts_with(word)) || single && begin.ends_with(['는', '은'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_are_named_by_their_numbers() {
        for (question, want) in [
            ("제5조 내용이 뭐야?", "제5조"),
            ("5조랑 제 12 조 차이", "제5조 제12조"),
            ("제7조의2와 제7조", "제7조의2 제7조"),
            ("제７조 의 ２는?", "제7조의2"),
            ("제5조 제5조", "제5조"),
            ("5조 원을 받았다", ""),
            ("3개월 5회 1.5조", ""),
            ("조항이 몇 개야", ""),
            ("제99조", "제99조"),
        ] {
            let found: Vec<_> = articles(question).iter().map(ToString::to_string).collect();
            assert_eq!(found.join(" "), want, "{question}");
        }
    }

    #[test]
    fn some_questions_go_on_from_the_one_before() {
        for (question, want) in [
            ("그럼 해지는?", true),
            ("해지는?", true),
            ("그 조항의 위약금은 얼마야", true),
            ("제5조 내용이 뭐야?", false),
            ("계약 기간은 얼마나 돼?", false),
        ] {
            assert_eq!(follows(question), want, "{question}");
        }
    }
}
