//! What rules read in a question.

use hanok_documents::{ArticleMention, ArticleNumber};

use crate::Origin;

/// Words by which a standard contract is asked for.
const STANDARD: [&str; 9] = [
    "표준",
    "모범",
    "일반적인 계약",
    "다른 계약서",
    "보통 계약서",
    "통상적",
    "업계 관행",
    "공정한 계약",
    "standard",
];

/// Words by which two things are compared: with the standard contract, where no two articles are named.
const COMPARE: [&str; 3] = ["비교", "불리", "독소"];

/// What a question begins with that points at what was said before.
const POINTING: [&str; 15] = [
    "그 ",
    "그건",
    "그것",
    "그거",
    "그게",
    "그때",
    "그중",
    "이건",
    "이것",
    "아까",
    "방금",
    "위의",
    "위 조",
    "앞에서",
    "앞의",
];

/// What a question begins with that goes on from what was said before.
const FOLLOWING: [&str; 5] = ["그럼", "그러면", "그렇다면", "그리고", "또"];

/// What a word begins with that asks for nothing by itself: `얼마인데?`.
const ASKS: [&str; 8] = ["얼마", "언제", "누가", "누구", "왜", "어디", "며칠", "몇"];

/// The longest word that is a question by itself.
const LONGEST_WORD: usize = 10;

/// The articles of the contract of `origin` that `question` names.
pub(crate) fn articles(question: &str, origin: Origin) -> Vec<ArticleNumber> {
    let named = ArticleMention::all(question).into_iter();
    named.filter(|it| Origin::of(it) == origin && !it.of_law).map(|it| it.number).collect()
}

/// Whether `question` asks for the standard contract.
pub(crate) fn asks_standard(question: &str) -> bool {
    let lower = question.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    has(&STANDARD) || has(&COMPARE) && articles(question, Origin::Contract).len() < 2
}

/// Whether `question` is so short that what was said before may be a part of it: `표준계약서는 어때?`.
pub(crate) fn is_short(question: &str) -> bool {
    question.split_whitespace().count() <= 2
}

/// Whether `question` points at what was said before: it is about the same.
pub(crate) fn points_back(question: &str) -> bool {
    let begin = question.trim_start();
    let begin =
        FOLLOWING.iter().find_map(|word| begin.strip_prefix(word)).unwrap_or(begin).trim_start();
    POINTING.iter().any(|word| begin.starts_with(word))
}

/// Whether `question` is about what was asked before: it points back, or is no more than a word that asks (`얼마인데?`).
pub(crate) fn goes_on(question: &str) -> bool {
    let begin = question.trim();
    let is_word = !begin.contains(' ') && begin.chars().count() <= LONGEST_WORD;
    points_back(question) || is_word && ASKS.iter().any(|word| begin.starts_with(word))
}

/// Whether `question` goes on from what was said before, by its words alone: one that points back or goes on, or a single word
/// (`해지는?`).
pub(crate) fn follows(question: &str) -> bool {
    let begin = question.trim().trim_end_matches(['?', '？']);
    let single = !begin.contains(' ') && begin.chars().count() <= LONGEST_WORD;
    goes_on(question)
        || is_short(question) && asks_standard(question)
        || FOLLOWING.iter().any(|word| begin.starts_with(word))
        || single && begin.ends_with(['는', '은', '면'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_questions_go_on_from_the_one_before() {
        for (question, want) in [
            ("그럼 해지는?", true),
            ("해지는?", true),
            ("그 조항의 위약금은 얼마야", true),
            ("제5조 내용이 뭐야?", false),
            ("계약 기간은 얼마나 돼?", false),
            ("얼마인데?", true),
            ("얼마까지 올릴 수 있어?", false),
        ] {
            assert_eq!(follows(question), want, "{question}");
        }
        assert!(points_back("그럼 그 돈은?") && !points_back("그럼 해지는?"));
        assert!(
            asks_standard("해지를 표준과 비교해줘") && !asks_standard("제5조와 제6조를 비교해줘")
        );
        assert!(!asks_standard("퇴사 후 동종업계에 취업할 수 있어?"));
        assert!(!asks_standard("통상임금은 어떻게 계산해?"));
    }
}
