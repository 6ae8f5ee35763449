//! What rules read in a question.

use hanok_documents::{ArticleMention, ArticleNumber};

use crate::Origin;

/// Words by which a comparison with the standard contract is asked for.
const STANDARD: [&str; 6] = ["표준", "모범", "통상적", "불리", "독소", "standard"];

/// What a question begins with that points at what was said before, or goes on from it.
#[rustfmt::skip]
const FOLLOWING: [&str; 17] = [
    "그 ", "그건", "그것", "그거", "그게", "그때", "그중", "그럼", "그러", "그렇", "그리고", "이건", "이것", "아까", "방금", "위의", "앞",
];

/// The articles of the contract of `origin` that `question` names.
pub(crate) fn articles(question: &str, origin: Origin) -> Vec<ArticleNumber> {
    let named = ArticleMention::all(question).into_iter();
    named.filter(|it| Origin::of(it) == origin && !it.of_law).map(|it| it.number).collect()
}

/// Whether `question` asks for the standard contract.
pub(crate) fn asks_standard(question: &str) -> bool {
    let lower = question.to_lowercase();
    STANDARD.iter().any(|word| lower.contains(word))
}

/// Whether `question` goes on from what was said before, by its words alone: one that points back, or a single word (`해지는?`).
pub(crate) fn follows(question: &str) -> bool {
    let question = question.trim();
    let is_word = question.ends_with(['?', '？']) && !question.contains(' ');
    is_word || FOLLOWING.iter().any(|word| question.starts_with(word))
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
    }

    #[test]
    fn the_standard_contract_is_asked_for_by_name() {
        for (question, want) in [
            ("해지를 표준과 비교해줘", true),
            ("을에게 불리한 조항이 있어?", true),
            ("제5조와 제6조를 비교해줘", false),
            ("퇴사 후 동종업계에 취업할 수 있어?", false),
            ("통상임금은 어떻게 계산해?", false),
        ] {
            assert_eq!(asks_standard(question), want, "{question}");
        }
    }
}
