//! Where two contracts differ, and which of several a contract is like.

use std::collections::BTreeSet;

use super::{Article, Contract};

/// Units of figures; of two that begin alike, the longer one first.
#[rustfmt::skip]
const UNITS: [&str; 15] = [
    "개월", "영업일", "시간", "만원", "만 원", "분의", "%", "일", "년", "원", "회", "배", "주", "명", "부",
];

/// The share of a contract's titles, by their weight, that a contract of the same kind has.
const ALIKE: f32 = 0.25;

/// The differences between a contract and another one, by articles: [`Contract::compare`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison<'a> {
    /// Articles that are about the same and have different figures, in the order of the contract.
    pub differing: Vec<Difference<'a>>,
    /// Articles that only the contract has.
    pub own: Vec<&'a Article>,
    /// Articles that only the other contract has.
    pub lacking: Vec<&'a Article>,
}

/// Articles with their counterpart in another contract, and the figures that only one side has: `30일`, `5%`, `1,000분의 1.5`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference<'a> {
    /// The articles of the contract: several, where it divides what its counterpart has together.
    pub articles: Vec<&'a Article>,
    /// Figures that only they have, sorted.
    pub figures: Vec<String>,
    /// The article of the other contract.
    pub counterpart: &'a Article,
    /// Figures that only the counterpart has, sorted.
    pub counterpart_figures: Vec<String>,
}

impl Contract {
    /// Compares the figures of articles that are about the same ([`counterparts`](Self::counterparts)), and lists the articles that
    /// only one of the two contracts has. What a difference means, and for whom it is better, is not judged.
    ///
    /// ```
    /// use hanok_documents::Contract;
    ///
    /// let ours = Contract::parse("제1조(해지) 30일 전에 알린다.\n제2조(대금) 100원으로 한다.\n");
    /// let standard = Contract::parse("제4조(계약의 해지) 60일 전에 알린다.\n제5조(관할) 서울로 한다.\n");
    /// let compared = ours.compare(&standard);
    /// assert_eq!(compared.differing[0].counterpart.label(), "제4조(계약의 해지)");
    /// assert_eq!(compared.differing[0].figures, ["30일"]);
    /// assert_eq!(compared.differing[0].counterpart_figures, ["60일"]);
    /// assert_eq!((compared.own[0].label(), compared.lacking[0].label()), ("제2조(대금)".into(), "제5조(관할)".into()));
    /// ```
    #[must_use]
    pub fn compare<'a>(&'a self, other: &'a Self) -> Comparison<'a> {
        let (mut pairs, mut own) = (Vec::<(&Article, Vec<&Article>)>::new(), Vec::new());
        for (article, counterpart) in self.articles.iter().zip(self.counterparts(other)) {
            let Some(counterpart) = counterpart else {
                own.push(article);
                continue;
            };
            match pairs.iter_mut().find(|(known, _)| known.span == counterpart.span) {
                Some((_, articles)) => articles.push(article),
                None => pairs.push((counterpart, vec![article])),
            }
        }
        let lacks = |article: &&Article| pairs.iter().all(|(known, _)| known.span != article.span);
        let lacking = other.articles.iter().filter(lacks).collect();
        let differing = pairs.into_iter().filter_map(|(counterpart, articles)| {
            let ours: BTreeSet<_> = articles.iter().flat_map(|it| self.figures(it)).collect();
            let theirs = other.figures(counterpart);
            (ours != theirs).then(|| Difference {
                articles,
                figures: ours.difference(&theirs).cloned().collect(),
                counterpart,
                counterpart_figures: theirs.difference(&ours).cloned().collect(),
            })
        });
        Comparison { differing: differing.collect(), own, lacking }
    }

    /// The position of the contract in `others` that has most of this one's titles, `None` if none is of the same kind. A title
    /// that every kind of contract has does not count.
    ///
    /// ```
    /// use hanok_documents::Contract;
    ///
    /// let lease = Contract::parse("제1조(목적) 가.\n제2조(차임) 나.\n제3조(보증금) 다.\n");
    /// let services = Contract::parse("제1조(목적) 가.\n제2조(검수) 나.\n");
    /// let ours = Contract::parse("제1조(목적) 가.\n제5조(차임) 나.\n");
    /// assert_eq!(ours.most_like(&[&services, &lease]), Some(1));
    /// assert_eq!(ours.most_like(&[&services]), None);
    /// ```
    #[must_use]
    pub fn most_like(&self, others: &[&Self]) -> Option<usize> {
        let titles: Vec<&str> =
            self.articles.iter().filter_map(|article| article.title.as_deref()).collect();
        let has = |other: &Self, title: &str| !other.by_title(title).is_empty();
        let weigh = |title: &&str| {
            let known = others.iter().filter(|other| has(other, title)).count();
            ((others.len() + 1) as f32 / (known + 1) as f32).ln()
        };
        let weights: Vec<f32> = titles.iter().map(weigh).collect();
        let all = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        let share = |other: &&Self| {
            let known = titles.iter().zip(&weights).filter(|(title, _)| has(other, title));
            known.map(|(_, weight)| weight).sum::<f32>() / all
        };
        let best = others.iter().map(share).enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        best.filter(|(_, share)| *share >= ALIKE).map(|(at, _)| at)
    }

    /// The numbers of `article` with their units.
    fn figures(&self, article: &Article) -> BTreeSet<String> {
        let text = self.without_pages(&article.body).replace("퍼센트", "%");
        let mut found = BTreeSet::new();
        let mut rest = text.as_str();
        while let Some((number, after)) = next_number(rest) {
            rest = after;
            let after = after.trim_start();
            let Some(unit) = UNITS.iter().find(|unit| after.starts_with(**unit)) else { continue };
            let of = after.strip_prefix("분의").and_then(next_number);
            found.insert(match of {
                Some((of, behind)) => {
                    rest = behind;
                    format!("{number}분의 {of}")
                }
                None => format!("{number}{unit}"),
            });
        }
        found
    }
}

/// The next number of `text`, and what follows it.
fn next_number(text: &str) -> Option<(&str, &str)> {
    let from = text.get(text.find(|c: char| c.is_ascii_digit())?..)?;
    let is_of = |c: char| c.is_ascii_digit() || c == ',' || c == '.';
    let (number, behind) = from.split_at_checked(from.find(|c| !is_of(c)).unwrap_or(from.len()))?;
    Some((number.trim_end_matches(['.', ',']), behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Payment terms are compared with payment terms, wherever they stand.
    #[test]
    fn articles_about_the_same_are_compared() {
        let ours = Contract::parse(
            "제1조(목적) 정한다.\n\n제2조(대금) 대금은 100원으로 한다.\n\n\
             제3조(지급의 시기) 갑은 잔금과 중도금을 검수 뒤 20일 안에 지급하고, 늦으면 1,000분의 1.5를 더한다.\n",
        );
        let standard = Contract::parse(
            "제1조(목적) 정한다.\n\n제5조(해지) 해지한다.\n\n\
             제9조(대금) 갑은 중도금과 잔금을 검수 뒤 15일 안에 지급하고, 늦으면 연 12퍼센트를 더한다.\n",
        );
        let Comparison { differing, own, lacking } = ours.compare(&standard);
        let [difference] = &differing[..] else { panic!("{differing:?}") };
        let labels = |articles: &[&Article]| -> Vec<String> {
            articles.iter().map(|article| article.label()).collect()
        };
        assert_eq!(labels(&difference.articles), ["제2조(대금)", "제3조(지급의 시기)"]);
        assert_eq!(difference.counterpart.label(), "제9조(대금)");
        assert_eq!(difference.figures, ["1,000분의 1.5", "100원", "20일"]);
        assert_eq!(difference.counterpart_figures, ["12%", "15일"]);
        assert!(own.is_empty());
        assert_eq!(labels(&lacking), ["제5조(해지)"]);
    }
}
