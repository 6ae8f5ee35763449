//! Which articles of two contracts are about the same.

use std::collections::{BTreeMap, BTreeSet};

use super::{Article, Contract};

/// What an article has to share with one of another contract, where their titles do not fit: of all that either says, so much.
const ALIKE: f32 = 0.4;

/// Two syllables that stand beside each other in a word.
type Pair = (char, char);

impl Contract {
    /// For each article of this contract, that of `other` which is about the same: the one whose title fits, or else the one that says
    /// most of what it says, if that is much. Two articles may have one counterpart, as where one contract divides what the other has
    /// together; where they stand in their contracts is no matter.
    ///
    /// ```
    /// use hanok_documents::Contract;
    ///
    /// let ours = Contract::parse(
    ///     "제1조(대금) 대금은 100원으로 한다.\n제2조(지급의 시기) 갑은 잔금과 중도금을 검수 뒤 20일 안에 지급한다.\n제3조(관할) 서울로 한다.\n",
    /// );
    /// let standard = Contract::parse("제1조(목적) 정한다.\n제7조(대금) 갑은 중도금과 잔금을 검수 뒤 15일 안에 지급한다.\n");
    /// let found = ours.counterparts(&standard);
    /// let found: Vec<_> = found.into_iter().map(|it| it.map(|it| it.number.to_string())).collect();
    /// assert_eq!(found, [Some("제7조".to_owned()), Some("제7조".to_owned()), None]);
    /// ```
    #[must_use]
    pub fn counterparts<'a>(&self, other: &'a Self) -> Vec<Option<&'a Article>> {
        let of = |contract: &Self| -> Vec<BTreeSet<Pair>> {
            contract.articles.iter().map(|it| pairs(contract.text(&it.body))).collect()
        };
        let (ours, theirs) = (of(self), of(other));
        let mut known: BTreeMap<Pair, f32> = BTreeMap::new();
        for pair in ours.iter().chain(&theirs).flatten() {
            *known.entry(*pair).or_default() += 1.0;
        }
        // What stands in every article says nothing of one.
        let all = ours.len() as f32 + theirs.len() as f32;
        let weight = |pair: &Pair| known.get(pair).map_or(0.0, |count| (all / count).ln());
        let sum = |pairs: &BTreeSet<Pair>| pairs.iter().map(weight).sum::<f32>();
        let alike = |one: &BTreeSet<Pair>, other: &BTreeSet<Pair>| {
            let shared = one.intersection(other).map(weight).sum::<f32>();
            shared / sum(one).min(sum(other)).max(f32::MIN_POSITIVE)
        };
        let by_words = |one: &BTreeSet<Pair>| {
            let scored = theirs.iter().map(|other| alike(one, other)).zip(&other.articles);
            let best = scored.max_by(|(a, _), (b, _)| a.total_cmp(b));
            best.filter(|(score, _)| *score >= ALIKE).map(|(_, article)| article)
        };
        let counterpart = |(article, pairs): (&Article, &BTreeSet<Pair>)| {
            let title = article.title.as_deref().unwrap_or_default();
            let by_title = other.by_title(title).into_iter().next();
            by_title.map(|it| it.article).or_else(|| by_words(pairs))
        };
        self.articles.iter().zip(&ours).map(counterpart).collect()
    }
}

/// The pairs of syllables in the words of `text`.
fn pairs(text: &str) -> BTreeSet<Pair> {
    let is_hangul = |c: char| ('가'..='힣').contains(&c);
    let letters = text.chars().zip(text.chars().skip(1));
    letters.filter(|(one, next)| is_hangul(*one) && is_hangul(*next)).collect()
}

#[cfg(test)]
mod tests {
    use super::Contract;

    #[test]
    fn an_article_without_its_like_has_no_counterpart() {
        let ours =
            Contract::parse("제1조(반려동물) 을은 개를 키우지 않는다.\n제2조(해지) 해지한다.\n");
        let nothing = Contract::parse("제목만 있다.");
        let other =
            Contract::parse("제3조(계약의 해지) 해지할 수 있다.\n제4조 갑은 세금을 낸다.\n");
        let keys = |other: &Contract| -> Vec<Option<String>> {
            ours.counterparts(other).into_iter().map(|it| it.map(|it| it.number.key())).collect()
        };
        assert_eq!(keys(&nothing), [None, None]);
        assert_eq!(keys(&other), [None, Some("3".to_owned())]);
        assert_eq!(keys(&ours), [Some("1".to_owned()), Some("2".to_owned())]);
        assert!(nothing.counterparts(&ours).is_empty());
    }
}
