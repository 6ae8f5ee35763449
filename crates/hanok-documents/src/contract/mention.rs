//! Articles that a text names, and whether they are there.

use super::{ArticleNumber, Contract};

/// A larger number is read as this: there is no such article either.
const LARGEST: u32 = 999_999_999;

/// A larger number without a `제` before it is a sum or a count.
const LARGEST_BARE: u32 = 200;

/// How many articles a range may have: `제5조부터 제8조까지`.
const LONGEST_RANGE: u32 = 20;

/// What follows a sum of money, where no `제` stands before the number: `5조인데`, `5조 2천억`.
const MONEY: [&str; 8] = ["원", "달러", "인데", "인 ", "억", "짜리", "규모", "이나 "];

/// What a line begins with that names sources.
const SOURCES: [&str; 2] = ["출처", "근거"];

/// An article that a text names: a question, or an answer that a model wrote.
///
/// ```
/// use hanok_documents::{ArticleMention, Contract};
///
/// let contract = Contract::parse("제1조(목적) 용역을 정한다.\n제2조(해지) 30일 전에 알린다.\n");
/// let named = ArticleMention::all("제2조와 제7조의2, 민법 제673조");
/// let made_up: Vec<_> = named.iter().filter(|it| contract.lacks(it)).collect();
/// assert_eq!(made_up.len(), 1);
/// assert_eq!(made_up[0].number.to_string(), "제7조의2");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArticleMention {
    /// Its number.
    pub number: ArticleNumber,
    /// Whether it is one of a law: `주택임대차보호법 제6조`.
    pub of_law: bool,
    /// Whether it is one of a standard contract: `표준계약서 제6조`.
    pub of_standard: bool,
}

impl ArticleMention {
    /// The articles that `text` names in its order, each once: `제5조`, `5조`, `제7조의2`, `제5조부터 제8조까지`, `Article 5`. Whose each is, the
    /// words since the one before say, or it is of the same contract. A sum of money (`5조 원`) is none.
    pub fn all(text: &str) -> Vec<Self> {
        mentions(text)
    }

    /// The articles from which an answer says that it was taken: those in its lines that begin with `출처` or `근거`, for what a
    /// clause in it refers to is none. Without such a line, all.
    ///
    /// ```
    /// use hanok_documents::ArticleMention;
    ///
    /// let answer = "제9조에 따라 30일 전에 알립니다.\n\n출처: 계약서 제18조(해지)";
    /// let cited = ArticleMention::cited(answer);
    /// assert_eq!(cited.len(), 1);
    /// assert_eq!(cited[0].number.to_string(), "제18조");
    /// ```
    pub fn cited(text: &str) -> Vec<Self> {
        let is_source = |line: &&str| SOURCES.iter().any(|label| line.starts_with(label));
        let sources: Vec<&str> = text.lines().filter(is_source).collect();
        if sources.is_empty() { mentions(text) } else { mentions(&sources.join("\n")) }
    }
}

impl Contract {
    /// Whether whoever names this article of this contract made it up: it has none of the number, and the article is no law's.
    /// Whether it is this contract that is meant, [`of_standard`](ArticleMention::of_standard) says.
    pub fn lacks(&self, mention: &ArticleMention) -> bool {
        !mention.of_law && self.numbered(mention.number).next().is_none()
    }
}

fn mentions(text: &str) -> Vec<ArticleMention> {
    let text: String = text.chars().map(half_width).collect::<String>().to_lowercase();
    let mut named: Vec<ArticleMention> = Vec::new();
    let (mut of_standard, mut from, mut before, mut in_english) = (false, 0, ' ', false);
    for (at, c) in text.char_indices() {
        let begins = c.is_ascii_digit() && !before.is_ascii_digit() && !matches!(before, '.' | ',');
        before = c;
        let Some(here) = text.get(at..).filter(|_| begins) else { continue };
        let between = text.get(from..at).unwrap_or_default();
        let english = names_article(between, in_english).then(|| english_number(here)).flatten();
        let Some((number, len)) = article(here).or(english) else { continue };
        in_english = english.is_some();
        let ordinal = in_english || between.trim_end().ends_with('제');
        let rest = text.get(at + len..).unwrap_or_default();
        let money = rest
            .trim_start()
            .trim_start_matches(|c: char| c.is_ascii_digit() || "천백만 ".contains(c));
        let money = MONEY.iter().any(|word| money.starts_with(word));
        let bare = number.sub.is_some() || number.number <= LARGEST_BARE && !money;
        if !ordinal && !bare {
            continue;
        }
        let words = between.trim_end().trim_end_matches('제').trim_end();
        let of_law = ["법", "법률", "시행령", "시행규칙"].iter().any(|law| words.ends_with(law));
        let of_law = of_law || in_english && is_of_law(rest);
        of_standard = speaks_of_standard(words).unwrap_or(of_standard);
        let range = match (named.last(), is_range(words)) {
            (Some(last), true) if last.of_standard == of_standard => {
                last.number.number..number.number
            }
            _ => number.number..number.number,
        };
        let within = range.skip(1).take(LONGEST_RANGE as usize).map(ArticleNumber::new);
        for number in within.chain([number]) {
            let one = ArticleMention { number, of_law, of_standard };
            if !named.contains(&one) {
                named.push(one);
            }
        }
        from = at + len;
    }
    named
}

fn half_width(c: char) -> char {
    char::from_digit(u32::from(c).wrapping_sub(u32::from('０')), 10).unwrap_or(c)
}

/// Whether `words` between two articles make a range of them.
fn is_range(words: &str) -> bool {
    matches!(words.trim(), "부터" | "에서" | "~" | "-" | "～" | "–" | "to" | "through")
}

/// Whether the number behind `words` is that of an article in English: `Article 5`, and the 7 of `Articles 5 and 7`.
fn names_article(words: &str, after_one: bool) -> bool {
    let words = words.trim();
    let last = words.rsplit(|c: char| !c.is_alphanumeric() && c != '.').next();
    matches!(last, Some("article" | "articles" | "art."))
        || after_one && (matches!(words, "and" | "or" | "," | ", and") || is_range(words))
}

/// The number that `text` begins with, if it counts nothing: not the 30 of `Article 5 and 30 days`.
fn english_number(text: &str) -> Option<(ArticleNumber, usize)> {
    let (number, rest) = number(text)?;
    let counts = ["day", "week", "month", "year", "percent", "%", "won"];
    let is_counted = counts.iter().any(|unit| rest.trim_start().starts_with(unit));
    let is_decimal =
        rest.strip_prefix('.').is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()));
    (!is_counted && !is_decimal).then(|| (ArticleNumber::new(number), text.len() - rest.len()))
}

/// Whether what follows an article in English says that it is one of a law: `of the Civil Act`.
fn is_of_law(rest: &str) -> bool {
    let Some(of) = rest.trim_start().strip_prefix("of ") else { return false };
    let name = of.split(['.', ',', '?', ';']).next().unwrap_or_default();
    name.split_whitespace().take(8).any(|word| matches!(word, "act" | "code" | "law"))
}

/// The article that `text` begins with, its digits, `조` and perhaps `의2`, and how long that is.
fn article(text: &str) -> Option<(ArticleNumber, usize)> {
    let (number, rest) = number(text)?;
    let rest = rest.trim_start().strip_prefix('조')?;
    let sub = rest.trim_start().strip_prefix('의').and_then(|rest| number_of(rest.trim_start()));
    let (article, rest) = match sub {
        Some((sub, rest)) => (ArticleNumber::inserted(number, sub), rest),
        None => (ArticleNumber::new(number), rest),
    };
    Some((article, text.len() - rest.len()))
}

/// A number of its own: not the `2개` of `제3조의 2개 항목`.
fn number_of(text: &str) -> Option<(u32, &str)> {
    let (sub, rest) = number(text)?;
    (!rest.starts_with(['개', '가', '명', '일', '년', '월'])).then_some((sub, rest))
}

/// The number that `text` begins with, and what follows.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end).filter(|(digits, _)| !digits.is_empty())?;
    Some((digits.parse().unwrap_or(LARGEST).min(LARGEST), rest))
}

/// Whether `words` speak of a standard contract last; `None` where they speak of none.
fn speaks_of_standard(words: &str) -> Option<bool> {
    let standard = words.rfind("표준").max(words.rfind("standard"));
    let own = ["계약서", "이 계약", "우리 계약", "this contract", "my contract"].iter().filter_map(
        |name| {
            let mut places = words.rmatch_indices(name).map(|(at, _)| at);
            places.find(|at| {
                let before = words.get(..*at).unwrap_or_default().trim_end();
                !OF_STANDARD.iter().any(|name| before.ends_with(name))
            })
        },
    );
    match (standard, own.max()) {
        (Some(standard), Some(own)) if own > standard => Some(false),
        (Some(_), _) => Some(true),
        (None, Some(_)) => Some(false),
        (None, None) => None,
    }
}

/// What a standard contract's name ends with before `계약서`.
const OF_STANDARD: [&str; 5] = ["표준", "표준용역", "표준 용역", "표준임대차", "표준 임대차"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_are_named_with_whose_they_are() {
        for (text, want) in [
            ("제5조 내용이 뭐야?", "계약서 제5조"),
            ("5조랑 제 12 조 차이", "계약서 제5조, 계약서 제12조"),
            ("제7조의2와 제7조", "계약서 제7조의2, 계약서 제7조"),
            ("제７조 의 ２는?", "계약서 제7조의2"),
            ("제5조 제5조", "계약서 제5조"),
            ("제5조부터 제8조까지", "계약서 제5조, 계약서 제6조, 계약서 제7조, 계약서 제8조"),
            ("5조 원을 받았다", ""),
            ("8조의2 알려줘", "계약서 제8조의2"),
            ("5조 2항과 5조 2천억", "계약서 제5조"),
            ("시총 500조 어때?", ""),
            ("예산이 5조인데", ""),
            ("3개월 5회 1.5조", ""),
            ("조항이 몇 개야", ""),
            ("제99조", "계약서 제99조"),
            ("제4294967296조는?", "계약서 제999999999조"),
            ("제3조의 2개 항목", "계약서 제3조"),
            ("제5조는 14일, 표준계약서 제6조는 30일입니다.", "계약서 제5조, 표준계약서 제6조"),
            ("표준계약서 제6조와 제7조", "표준계약서 제6조, 표준계약서 제7조"),
            ("표준 제6조. 이 계약서는 제5조", "표준계약서 제6조, 계약서 제5조"),
            (
                "출처: 계약서 제7조의2(비밀)\n출처: 표준용역계약서 제8조",
                "계약서 제7조의2, 표준계약서 제8조",
            ),
            ("제2항과 제3호, 제9조제2항", "계약서 제9조"),
            ("What does Article 5 say?", "계약서 제5조"),
            ("ARTICLES 5 and 7", "계약서 제5조, 계약서 제7조"),
            ("Articles 2 to 4?", "계약서 제2조, 계약서 제3조, 계약서 제4조"),
            ("Art. 12, and 30 days of notice", "계약서 제12조"),
            ("the standard contract's Article 6", "표준계약서 제6조"),
            ("Article 5. Is it fair?", "계약서 제5조"),
            ("article 5.2", ""),
            ("a particle 5 times", ""),
        ] {
            let whose = |standard| if standard { "표준계약서" } else { "계약서" };
            let shown = mentions(text)
                .into_iter()
                .map(|it| format!("{} {}", whose(it.of_standard), it.number));
            assert_eq!(shown.collect::<Vec<_>>().join(", "), want, "{text}");
        }
        assert!(mentions("주택임대차보호법 제6조에 따른다")[0].of_law);
        assert!(mentions("Article 673 of the Korean Civil Act")[0].of_law);
        assert!(!mentions("Article 5 of this contract")[0].of_law);
    }
}
