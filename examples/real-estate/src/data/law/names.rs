//! Laws as people name them in a text.

use std::ops::Range;

/// Short names by the law's whole name.
const SHORT: [(&str, &[&str]); 3] = [
    ("주택임대차보호법", &["주임법", "주택임대차법", "임대차보호법"]),
    ("상가건물 임대차보호법", &["상임법", "상가임대차보호법", "상가임대차법", "상가건물임대차법"]),
    ("공인중개사법", &["중개사법", "공인중개법"]),
];

/// Laws that questions about homes name as well. A file that has one of them has it under this name.
const OTHERS: [&str; 24] = [
    "형법",
    "상법",
    "헌법",
    "주택법",
    "건축법",
    "은행법",
    "소득세법",
    "지방세법",
    "상속세 및 증여세법",
    "종합부동산세법",
    "국세징수법",
    "국세기본법",
    "민사집행법",
    "민사소송법",
    "부동산등기법",
    "주민등록법",
    "공동주택관리법",
    "민간임대주택에 관한 특별법",
    "민간임대주택법",
    "공공주택 특별법",
    "전세사기특별법",
    "부동산 거래신고 등에 관한 법률",
    "도시 및 주거환경정비법",
    "집합건물법",
];

/// A decree.
const DECREES: &str = "시행령";

/// How the name of a decree and of a rule ends.
const ADDITIONS: [&str; 2] = [DECREES, "시행규칙"];

/// A law that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// Which one.
    pub law: Mentioned,
    /// The bytes of the text that the name stands in.
    pub at: Range<usize>,
}

/// Which law a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mentioned {
    /// One of the data, by its whole name.
    Known(String),
    /// Every decree of the data: `시행령` without the name of its law.
    Decrees,
    /// One that is not in the data, as it is called.
    Unknown(String),
}

/// The laws that `text` names, in its order. A name begins a word, and spaces in it do not count.
pub(super) fn mentions(text: &str, laws: &[&str]) -> Vec<Mention> {
    let chars: Vec<(usize, char)> =
        text.char_indices().filter(|one| !one.1.is_whitespace()).collect();
    let names = names(laws);
    let mut mentions = Vec::new();
    let mut at = 0;
    while let Some(&(start, _)) = chars.get(at) {
        let is_joined = text.get(..start).unwrap_or_default().ends_with(char::is_alphanumeric);
        let rest = chars.get(at..).unwrap_or_default();
        let name = if is_joined { None } else { longest(rest, &names) };
        let length = name.as_ref().map_or(1, |name| name.1);
        if let Some((law, _)) = name {
            let law = laws.iter().find(|known| compact(known) == compact(&law)).map_or_else(
                || {
                    if law == DECREES {
                        Mentioned::Decrees
                    } else {
                        Mentioned::Unknown(law.clone())
                    }
                },
                |known| Mentioned::Known((*known).to_owned()),
            );
            let last = chars.get(at + length - 1).map_or(start, |last| last.0 + last.1.len_utf8());
            mentions.push(Mention { law, at: start..last });
        }
        at += length;
    }
    mentions
}

fn compact(name: &str) -> Vec<char> {
    name.chars().filter(|c| !c.is_whitespace()).collect()
}

/// What a text may write, without spaces, and the whole name.
fn names<'a>(laws: &[&'a str]) -> Vec<(Vec<char>, &'a str)> {
    let short = SHORT.iter().flat_map(|law| law.1.iter().map(|name| (compact(name), law.0)));
    let whole = laws.iter().chain(&OTHERS).map(|law| (compact(law), *law));
    whole.chain(short).collect()
}

/// The longest name that `rest` begins with, and how many characters it has; one at least.
fn longest(rest: &[(usize, char)], names: &[(Vec<char>, &str)]) -> Option<(String, usize)> {
    let begins = |at: usize, name: &[char]| {
        let piece = rest.get(at..at + name.len());
        piece.is_some_and(|piece| piece.iter().map(|one| one.1).eq(name.iter().copied()))
    };
    let law = names.iter().filter(|name| begins(0, &name.0)).max_by_key(|name| name.0.len());
    let length = law.map_or(0, |name| name.0.len());
    let addition = ADDITIONS.into_iter().find(|addition| begins(length, &compact(addition)));
    let length = length + addition.map_or(0, |addition| addition.chars().count());
    match (law, addition) {
        (Some((_, law)), Some(addition)) => Some((format!("{law} {addition}"), length)),
        (Some((_, law)), None) => Some(((*law).to_owned(), length)),
        (None, Some(DECREES)) => Some((DECREES.to_owned(), length)),
        (None, _) => None,
    }
}
