//! Words behind a number that make of it a reference and not a heading.

use super::number::{digits, ordinal, skip_spaces};
use crate::work;

/// What only follows a name that it is written together with: apart it may be a word, as the party `을` is.
const GLUED: &[&str] = &["를", "을", "은", "는", "가", "와", "과", "로", "도", "만", "나"];

/// Whole words that only follow what a sentence names.
#[rustfmt::skip]
const PARTICLES: &[&str] = &[
    "에", "에서", "에는", "에도", "에만", "에의", "에게", "에따라", "에따른", "에의한", "에의하여", "의", "과의", "와의",
    "으로", "로서", "까지", "부터", "까지의", "및", "또는", "혹은", "내지", "상의", "상", "중", "등", "등의", "등에", "등을",
    "이하", "이라", "이나", "각호", "각항", "소정의", "규정에", "규정의", "규정을",
];

/// What words begin with that only follow what a sentence names.
const BEGINNINGS: [&str; 10] =
    ["본문", "단서", "전단", "후단", "각 호", "각 항", "규정에", "소정의", "(이하", "에서 정"];

/// The same in English.
const ENGLISH: &[&str] = &[
    "of", "and", "or", "shall", "is", "are", "was", "hereof", "to", "through", "above", "below",
    "will", "may", "must", "has", "have", "applies", "apply", "in", "under", "herein", "hereto",
    "for", "by", "with", "does", "survives", "survive",
];

/// Whether `rest`, what follows a number or its title, spaces and all, goes on with a sentence.
pub(crate) fn goes_on(rest: &str) -> bool {
    let glued = !rest.starts_with(char::is_whitespace);
    says_more(skip_spaces(rest), glued)
}

/// Whether the next line goes on with the sentence. Below a title it may name another article.
pub(crate) fn goes_on_below(line: &str, titled: bool) -> bool {
    let line = skip_spaces(line);
    says_more(line, false) && !(titled && numbered(line))
}

fn says_more(rest: &str, glued: bool) -> bool {
    let Some(first) = rest.chars().next() else { return false };
    if matches!(
        first,
        ',' | '、'
            | '·'
            | 'ㆍ'
            | '・'
            | '~'
            | '∼'
            | '～'
            | '」'
            | '』'
            | '”'
            | '’'
            | ')'
            | ';'
            | '?'
    ) {
        return true;
    }
    let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    work::count(2 * end);
    let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
    // "가. 첫째" is an item.
    let is_mark = after.starts_with(['.', ')']) && word.chars().nth(1).is_none();
    let is_word = (PARTICLES.contains(&word) || glued && GLUED.contains(&word)) && !is_mark;
    let is_english = ENGLISH.contains(&word.to_ascii_lowercase().as_str()) && !is_mark;
    is_word
        || is_english
        || BEGINNINGS.iter().any(|begin| rest.starts_with(begin))
        || numbered(rest)
}

/// `제2항에 따른`, `제6조`, `2항`: another part of what is referred to. `제1항 갑은` begins a clause.
fn numbered(rest: &str) -> bool {
    if let Some((_, unit, after)) = ordinal(rest) {
        return match unit {
            '항' => clause_goes_on(after),
            '조' | '호' | '목' | '장' | '절' => true,
            _ => false,
        };
    }
    digits(rest).is_some_and(|(_, after)| skip_spaces(after).starts_with(['항', '호']))
}

/// Whether a sentence goes on behind `제2항`, and no clause begins there.
pub(crate) fn clause_goes_on(after: &str) -> bool {
    let marked = after.starts_with(|c: char| c.is_whitespace() || ".:)(".contains(c));
    !marked || skip_spaces(after).is_empty() || goes_on(after)
}

/// Whether `rest` ends as a line of a table of contents: `........ 12`.
pub(crate) fn is_of_contents(rest: &str) -> bool {
    let said = work::stripped(rest, rest.trim_end());
    let before = work::stripped(said, said.trim_end_matches(|c: char| c.is_ascii_digit()));
    let leader = work::stripped(before, before.trim_end());
    let is_dot = |c: char| matches!(c, '.' | '·' | '…' | '‥' | '⋯' | 'ㆍ' | '・' | '_' | '-');
    let dots = leader.chars().rev().take_while(|c| is_dot(*c) || *c == ' ');
    let dots = dots.inspect(|_| work::count(1));
    let width: usize =
        dots.filter(|c| is_dot(*c)).map(|c| if c == '…' || c == '⋯' { 3 } else { 1 }).sum();
    before.len() < said.len() && width >= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_told_from_what_a_heading_says() {
        for (rest, want) in [
            ("에 따라", true),
            ("의 규정", true),
            (", 제6조", true),
            (" 및 제6조를", true),
            (" 제2항에 따라", true),
            (" 제2항", true),
            (" 제1항 갑은 을에게", false),
            (" 각 호의 사유", true),
            (" 각 당사자는 비밀을 지킨다.", false),
            ("은행은 갑에게", false),
            ("에너지의 공급", false),
            (" 가. 첫째", false),
            ("가 적용된다", true),
            (" 을(를) 갑에게", false),
            (" 단서에 따라", true),
            (" 2항에도", true),
            (" of this Agreement", true),
            (" Term and Termination", false),
            ("", false),
            (" ① 갑은", false),
        ] {
            assert_eq!(goes_on(rest), want, "{rest:?}");
        }
    }

    #[test]
    fn lines_of_a_table_of_contents_are_known() {
        for (rest, want) in [
            (" ........ 3", true),
            ("목적 ……… 12", true),
            (" · · · · 3", true),
            ("목적 3", false),
            ("목적이다.", false),
            (" 2026", false),
        ] {
            assert_eq!(is_of_contents(rest), want, "{rest:?}");
        }
    }
}
