//! What a line says about the structure of a text.

/// A line that begins a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading<'a> {
    /// 1 is outermost; a heading closes every open one of its rank or a higher number.
    pub rank: u8,
    /// As it is shown in a path of headings.
    pub label: &'a str,
    /// Whether the line is the heading and nothing more: an article may begin on its own line.
    pub alone: bool,
}

/// Longer lines with a number before them are sentences.
const MAX_NUMBERED: usize = 40;

/// A longer line above a rule is a paragraph before a break.
const MAX_UNDERLINED: usize = 80;

/// Reads a markdown heading (`## 휴가`), a Korean division (`제3장 휴가`, `제12조(연차휴가) …`) or
/// a numbered heading of several parts (`2.1 범위`).
///
/// A single number (`1. 목적`) is a list item as often as a heading; `numbered` reads it, and the
/// lines around it decide.
pub fn heading(line: &str) -> Option<Heading<'_>> {
    markdown(line).or_else(|| division(line)).or_else(|| {
        let (parts, heading) = numbered(line)?;
        (parts > 1).then_some(heading)
    })
}

fn markdown(line: &str) -> Option<Heading<'_>> {
    let label = line.trim_start_matches('#');
    let rank = u8::try_from(line.len() - label.len()).ok().filter(|rank| (1..=6).contains(rank))?;
    let label = label.strip_prefix([' ', '\t'])?.trim().trim_end_matches('#').trim_end();
    (!label.is_empty()).then_some(Heading { rank, label, alone: true })
}

/// A line above a line of `=` or `-`, and how long that is. `rest` is what stands behind the first.
pub(crate) fn underlined<'a>(line: &'a str, rest: &str) -> Option<(Heading<'a>, usize)> {
    let under = rest.split_inclusive('\n').next()?;
    let mut signs = under.trim_end().chars();
    let sign = signs.next()?;
    let rank = match sign {
        '=' => 1,
        '-' => 2,
        _ => return None,
    };
    if under.trim_end().len() < 3 || signs.any(|other| other != sign) {
        return None;
    }
    let label = line.trim();
    let is_text = label.chars().any(char::is_alphanumeric) && !label.contains('|');
    let is_title = is_text && label.chars().count() <= MAX_UNDERLINED && !is_item(label);
    is_title.then_some((Heading { rank, label, alone: true }, under.len()))
}

/// `제N장`, `제N절`, `제N조`, `제N조의M`; an article's title stands in brackets.
fn division(line: &str) -> Option<Heading<'_>> {
    let line = line.trim();
    let rest = line.strip_prefix('제')?.trim_start();
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if after.len() == rest.len() {
        return None;
    }
    let mut chars = after.trim_start().chars();
    let rank = match chars.next()? {
        '편' => 10,
        '장' => 11,
        '절' => 12,
        '조' => 13,
        _ => return None,
    };
    let after = chars.as_str();
    let after = after
        .strip_prefix('의')
        .map_or(after, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    titled(line, after, rank)
}

fn titled<'a>(line: &'a str, after: &'a str, rank: u8) -> Option<Heading<'a>> {
    if after.trim().is_empty() {
        return Some(Heading { rank, label: line, alone: true });
    }
    if let Some(title) = after.trim_start().strip_prefix('(') {
        let (_, rest) = title.split_once(')')?;
        let label = line.strip_suffix(rest).unwrap_or(line).trim_end();
        return Some(Heading { rank, label, alone: rest.trim().is_empty() });
    }
    // "제12조에 따라", "제3조 및 제4조를 적용한다." are sentences.
    let title = after.strip_prefix([' ', '.', ':'])?;
    is_title(title).then_some(Heading { rank, label: line, alone: true })
}

/// `1. 목적` or `2.1 범위`, with how many numbers it has.
pub(crate) fn numbered(line: &str) -> Option<(usize, Heading<'_>)> {
    let label = line.trim();
    let title = label.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = label.strip_suffix(title)?;
    let parts = number.trim_end_matches('.').split('.').collect::<Vec<_>>();
    let is_number = |part: &&str| (1..=2).contains(&part.len());
    if !parts.iter().all(is_number) || !(number.contains('.')) {
        return None;
    }
    let title = title.strip_prefix(' ')?;
    let rank = u8::try_from(parts.len()).ok()?.checked_add(20)?;
    is_title(title).then_some((parts.len(), Heading { rank, label, alone: true }))
}

/// Short, and not the end of a sentence.
pub fn is_title(title: &str) -> bool {
    let title = title.trim();
    !title.is_empty()
        && title.chars().count() <= MAX_NUMBERED
        && !title.ends_with(['.', ',', ';', ':', '다', '요', '?', '!'])
}

/// Whether the line begins something of its own: a heading, a list item, a numbered paragraph.
pub fn begins(line: &str) -> bool {
    heading(line).is_some() || is_item(line)
}

fn is_item(line: &str) -> bool {
    let mut chars = line.chars();
    match chars.next() {
        Some('-' | '*' | '+') => chars.next() == Some(' '),
        Some('•' | '·' | '※' | '○' | '●' | '□' | '■' | '▪' | '◦') => true,
        Some('①'..='⑳' | '㉠'..='㉭' | '⑴'..='⒇') => true,
        Some('0'..='9') => {
            let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
            line.len() - rest.len() <= 2 && (rest.starts_with(". ") || rest.starts_with(')'))
        }
        // "가. 나. 다." and on, the third level of Korean lists.
        Some('가' | '나' | '다' | '라' | '마' | '바' | '사' | '아' | '자' | '차' | '카' | '타') => {
            chars.as_str().starts_with(". ")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_headings_from_sentences() {
        for (line, want) in [
            ("# 인사규정", Some((1, "인사규정", true))),
            ("### 제12조(연차휴가) ##", Some((3, "제12조(연차휴가)", true))),
            ("#태그", None),
            ("제3장 휴가", Some((11, "제3장 휴가", true))),
            ("제 3 장  휴가와 휴직", Some((11, "제 3 장  휴가와 휴직", true))),
            ("제12조(연차휴가) ① 회사는", Some((13, "제12조(연차휴가)", false))),
            ("제12조의2(반차)", Some((13, "제12조의2(반차)", true))),
            ("제12조", Some((13, "제12조", true))),
            ("제12조에 따라 부여한다.", None),
            ("제12조 및 제13조에 따른다.", None),
            ("제안서 작성", None),
            ("2.1 적용 범위", Some((22, "2.1 적용 범위", true))),
            ("2.1 버전을 쓴다.", None),
            ("1. 목적", None),
            ("3.5억 원", None),
        ] {
            let got = heading(line).map(|h| (h.rank, h.label, h.alone));
            assert_eq!(got, want, "{line:?}");
        }
        assert_eq!(numbered("1. 목적").map(|(parts, h)| (parts, h.rank)), Some((1, 21)));
        assert_eq!(numbered("2026. 3. 1. 시행"), None);
    }

    #[test]
    fn tells_items_from_running_text() {
        for (line, want) in [
            ("- 하나", true),
            ("① 회사는", true),
            ("1. 자산", true),
            ("2) 등급", true),
            ("가. 대외비", true),
            ("가나다라", false),
            ("-5도", false),
            ("2026. 3. 1.부터", false),
            ("회사는", false),
        ] {
            assert_eq!(begins(line), want, "{line:?}");
        }
    }
}
