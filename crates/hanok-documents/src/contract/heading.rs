//! What a line may head: an article, a chapter, an appendix.

use hanok_retrieval::backend;

use super::{
    AppendixKind,
    lines::{Dress, trimmed, undressed},
    number::{self, ArticleNumber, skip_spaces},
    refer::{goes_on, is_of_contents},
};
use crate::work;

/// How sure it is that a line is a heading: what is around it decides about the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Firm {
    /// A number and the begin of a sentence.
    Sentence,
    /// A number alone, or with a title without brackets.
    Bare,
    /// A number and a title in brackets.
    Titled,
    /// Written as a heading: `##`, bold.
    Written,
}

/// The heading of an article.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) number: ArticleNumber,
    pub(crate) title: Option<String>,
    /// Whether it says `Article` and not `제…조`.
    pub(crate) english: bool,
    /// Where it ends, in bytes from the line's begin; a title may go on in the next line.
    pub(crate) end: usize,
    pub(crate) firm: Firm,
}

const BRACKETS: [(char, char); 9] = [
    ('(', ')'),
    ('（', '）'),
    ('[', ']'),
    ('【', '】'),
    ('〔', '〕'),
    ('「', '」'),
    ('<', '>'),
    ('〈', '〉'),
    ('《', '》'),
];

/// A longer text in brackets is no title, in characters.
const MAX_BRACKETED: usize = 80;

/// A longer title without brackets is a sentence, in characters.
const MAX_BARE: usize = 25;

/// A line that a page broke is longer, in characters.
const MAX_BRIEF: usize = 15;

/// The article that `text` heads in its first line, if it does. What follows the line is read for the rest of a title only.
pub(crate) fn article(text: &str) -> Option<Head> {
    let line = first_line(text);
    let (dress, start) = undressed(line);
    let start = text.get(line.len() - start.len()..)?;
    let (number, english, after) = match number::article(start) {
        Some((number, rest)) => (number, false, rest),
        None => english(start).map(|(number, rest)| (number, true, rest))?,
    };
    let at = |rest: &str| text.len() - rest.len();
    let head = |title, rest: &str, firm| Head { number, title, english, end: at(rest), firm };

    let shut = unbold(after);
    if let Some((title, rest)) = bracketed(skip_spaces(shut)) {
        let rest = unbold(rest);
        let line = first_line(rest);
        let is_reference = goes_on(line) || is_of_contents(line);
        return (!is_reference).then(|| head(Some(title), rest, firm(dress, Firm::Titled)));
    }
    let line = first_line(shut);
    let is_glued = line.starts_with(|c: char| c.is_alphanumeric());
    if is_glued || goes_on(line) || is_of_contents(line) {
        return None;
    }
    let signs = |c: char| matches!(c, '.' | ':' | '-' | '–' | '—' | '：' | '*' | '_');
    let spaced = skip_spaces(line);
    let said = skip_spaces(work::stripped(spaced, spaced.trim_start_matches(signs)));
    let rest = shut.get(line.len() - said.len()..)?;
    work::count(2 * said.len());
    let title = said.split(is_circled).next().unwrap_or(said);
    // `**제5조 해지** 갑은`: what is bold is the title.
    let title = title.split_once("**").map_or(title, |(bold, _)| bold);
    let shown = undressed_end(title);
    if said.is_empty() || shown.is_empty() {
        return Some(head(None, rest, firm(dress, Firm::Bare)));
    }
    if is_bare_title(shown) {
        let end = unbold(rest.get(title.len()..)?);
        return Some(head(Some(shown.to_owned()), end, firm(dress, Firm::Bare)));
    }
    Some(head(None, rest, firm(dress, Firm::Sentence)))
}

fn firm(dress: Dress, firm: Firm) -> Firm {
    match dress {
        Dress { listed: true, .. } => firm.min(Firm::Bare),
        Dress { heading: true, .. } => Firm::Written,
        Dress { .. } => firm,
    }
}

pub(crate) fn first_line(text: &str) -> &str {
    let line = text.split_once('\n').map_or(text, |(line, _)| line);
    work::count(line.len() + 1);
    line
}

/// `text` without the signs before it that close what is bold.
pub(crate) fn unbold(text: &str) -> &str {
    work::stripped(text, text.trim_start_matches(['*', '_']))
}

/// `line` without what dresses its end.
fn undressed_end(line: &str) -> &str {
    work::stripped(line, line.trim_end().trim_end_matches(['*', '_', '#']).trim_end())
}

/// `Article 5`, `ARTICLE 5`, `Section 5`; the number of a `Section 5.2` is none of an article.
fn english(text: &str) -> Option<(ArticleNumber, &str)> {
    let rest = ["article ", "section "].iter().find_map(|word| {
        let (head, rest) = text.split_at_checked(word.len())?;
        head.eq_ignore_ascii_case(word).then_some(rest)
    })?;
    let is_name = text.starts_with(|c: char| c.is_ascii_uppercase());
    let (number, rest) = number::digits(skip_spaces(rest))?;
    let is_part =
        rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (is_name && !is_part).then_some((ArticleNumber::new(number), rest))
}

/// The title in brackets that `text` begins with, in one line or broken once, and what follows.
pub(crate) fn bracketed(text: &str) -> Option<(String, &str)> {
    let first = text.chars().next()?;
    let (open, close) = BRACKETS.into_iter().find(|(open, _)| *open == first)?;
    let (mut depth, mut breaks) = (0_usize, 0_usize);
    for (at, c) in text.char_indices().take(MAX_BRACKETED) {
        work::count(1);
        depth += usize::from(c == open);
        breaks += usize::from(c == '\n');
        if breaks > 1 {
            return None;
        }
        if c == close {
            depth -= 1;
            if depth == 0 {
                let title = one_line(text.get(open.len_utf8()..at)?);
                work::count(title.len());
                let rest = text.get(at + close.len_utf8()..)?;
                return title.chars().any(char::is_alphanumeric).then_some((title, rest));
            }
        }
    }
    None
}

fn one_line(text: &str) -> String {
    work::count(2 * text.len());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether words without brackets are a title: short, and no words of a sentence. The shorter, the fewer of these tell.
pub(crate) fn is_bare_title(text: &str) -> bool {
    let is_object = |word: &str| {
        word.chars().nth(1).is_some()
            && (word.ends_with(['을', '를', '은'])
                || word.ends_with(['이', '가']) && word.starts_with(['갑', '을']))
    };
    work::count(4 * text.len());
    let mut words = text.split_whitespace();
    let is_sentence = match is_brief(text) {
        true => words.next_back().is_some_and(is_object),
        false => words.any(is_object),
    };
    let is_open = BRACKETS.iter().any(|(open, _)| text.starts_with(*open));
    is_title(text)
        && text.chars().count() <= MAX_BARE
        && !text.contains([',', '|'])
        && text.chars().any(char::is_alphabetic)
        && !is_sentence
        && !is_open
}

/// Whether a line is too short to be one that a page broke.
pub(crate) fn is_brief(line: &str) -> bool {
    line.chars().nth(MAX_BRIEF).is_none()
}

pub(crate) fn is_circled(c: char) -> bool {
    matches!(c, '①'..='⑳' | '㉑'..='㉟')
}

/// `제2장 대금`: how deep it divides (0 is outermost), and its line.
pub(crate) fn division(line: &str) -> Option<(u8, String)> {
    let (_, start) = undressed(line);
    let start = undressed_end(start);
    let (_, unit, rest) = number::ordinal(start)?;
    let rank = match unit {
        '편' => 0,
        '장' => 1,
        '절' => 2,
        '관' => 3,
        _ => return None,
    };
    let title = trimmed(rest);
    let glued = rest.starts_with(|c: char| c.is_alphanumeric());
    let titled = title.is_empty()
        || bracketed(title).is_some_and(|(_, rest)| trimmed(rest).is_empty())
        || is_title(title);
    (!glued && titled && !goes_on(rest) && !is_of_contents(rest)).then(|| (rank, one_line(start)))
}

/// What appendices are called. Spaces may stand between the syllables.
const APPENDICES: [(&str, AppendixKind); 15] = [
    ("별표", AppendixKind::Table),
    ("별지", AppendixKind::Form),
    ("부칙", AppendixKind::Supplement),
    ("별첨", AppendixKind::Attachment),
    ("첨부", AppendixKind::Attachment),
    ("붙임", AppendixKind::Attachment),
    ("부록", AppendixKind::Attachment),
    ("부속서", AppendixKind::Attachment),
    ("특약사항", AppendixKind::Special),
    ("appendix", AppendixKind::Attachment),
    ("annex", AppendixKind::Attachment),
    ("exhibit", AppendixKind::Attachment),
    ("schedule", AppendixKind::Table),
    ("attachment", AppendixKind::Attachment),
    ("addendum", AppendixKind::Supplement),
];

/// The appendix that a line heads: its kind and its label.
pub(crate) fn appendix(line: &str) -> Option<(AppendixKind, String)> {
    let (dress, start) = undressed(line);
    if dress.listed || is_of_contents(start) {
        return None;
    }
    let start = undressed_end(start);
    let (inner, rest) = match bracketed(start) {
        Some((inner, rest)) => (inner, rest),
        None => (start.to_owned(), ""),
    };
    work::count(inner.len());
    let is_bracketed = inner.len() < start.len();
    let (kind, after) = named(&inner)?;
    let tail = if is_bracketed { rest } else { after };
    let glued = tail.starts_with(|c: char| c.is_alphabetic() || c == ',');
    let titled = is_label(after) && (trimmed(rest).is_empty() || is_label(rest));
    (titled && !glued && !goes_on(tail)).then(|| (kind, one_line(start)))
}

/// The kind that `text` begins with the name of, and what follows the name and its number.
fn named(text: &str) -> Option<(AppendixKind, &str)> {
    let (kind, rest) =
        APPENDICES.iter().find_map(|(name, kind)| Some((*kind, called(text, name)?)))?;
    let after = skip_spaces(rest);
    let numbered = number::ordinal(after)
        .filter(|(_, unit, _)| *unit == '호')
        .map(|(.., rest)| rest)
        .or_else(|| number::digits(after).map(|(_, rest)| rest))
        .or_else(|| {
            let letter = after.chars().next().filter(char::is_ascii_uppercase)?;
            let rest = after.get(letter.len_utf8()..)?;
            (!rest.starts_with(|c: char| c.is_alphanumeric())).then_some(rest)
        });
    let rest = numbered.unwrap_or(rest);
    let rest = number::sub(rest).map_or(rest, |(_, rest)| rest);
    let bare = skip_spaces(rest);
    Some((kind, bare.strip_prefix("서식").unwrap_or(rest)))
}

/// What follows `name` in `text`, whose syllables may stand apart.
fn called<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    if name.is_ascii() {
        let (head, rest) = text.split_at_checked(name.len())?;
        let is_word = !rest.starts_with(|c: char| c.is_alphanumeric());
        let is_name = head.starts_with(|c: char| c.is_ascii_uppercase());
        return (is_name && is_word && head.eq_ignore_ascii_case(name)).then_some(rest);
    }
    let mut rest = text;
    for (at, c) in name.chars().enumerate() {
        rest = if at == 0 { rest } else { skip_spaces(rest) }.strip_prefix(c)?;
    }
    Some(rest)
}

/// Nothing, a title, or a date in brackets.
fn is_label(rest: &str) -> bool {
    let signs = ['.', ':', '-', '–', '—', '：'];
    let rest = work::stripped(rest, rest.trim().trim_start_matches(signs).trim());
    let inner = bracketed(rest).filter(|(_, after)| trimmed(after).is_empty());
    work::count(rest.len());
    rest.is_empty() || inner.is_some() || is_title(rest) && !rest.contains(',')
}

/// Whether a line closes the articles: the sentence before the signatures.
pub(crate) fn closes(line: &str) -> bool {
    let (dress, start) = undressed(line);
    let begins = [
        "위 ",
        "위와 ",
        "이상",
        "이 계약",
        "본 계약",
        "상기",
        "갑과 을은",
        "“갑”과",
        "\"갑\"과",
        "IN WITNESS",
    ];
    let proves = [
        "증명하기 위",
        "증명하고자",
        "증거로",
        "성립을 증명",
        "체결을 증명",
        "서명 날인",
        "서명날인",
        "기명날인",
        "WITNESS WHEREOF",
    ];
    !dress.listed
        && begins.iter().any(|begin| start.starts_with(begin))
        && proves.iter().any(|word| {
            work::count(start.len());
            start.contains(word)
        })
}

/// Whether `title` reads like one.
fn is_title(title: &str) -> bool {
    work::count(2 * title.len());
    backend::is_title(title)
}
