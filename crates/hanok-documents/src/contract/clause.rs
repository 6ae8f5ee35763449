//! The clauses of an article and the items in them.

use std::{fmt, ops::Range};

use super::{
    heading::{first_line, is_circled},
    lines::{Kind, Line, undressed},
    number::{self, skip_spaces},
    refer::clause_goes_on,
};
use crate::work;

/// How deep clauses stand in clauses.
const MAX_DEPTH: usize = 4;

/// How many numbers may be missing between two items: a mark further on is a date or the end of a broken word.
const MAX_MISSING: u32 = 1;

/// How a clause or an item is numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mark {
    /// `①`.
    Circled,
    /// `제1항`.
    Paragraph,
    /// `1.`.
    Number,
    /// `1)`.
    HalfNumber,
    /// `(1)`, `⑴`.
    Parenthesised,
    /// `가.`.
    Letter,
    /// `가)`.
    HalfLetter,
    /// `(가)`, `㉮`.
    ParenthesisedLetter,
    /// `(a)`.
    Latin,
    /// The 2 of `5.2`, within the article 5.
    Decimal,
}

/// A numbered part of an article (항, 호, 목): it ends where the next of its kind begins.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Clause {
    /// How it is numbered.
    pub mark: Mark,
    /// Its number: 2 for `②` and for `나.`.
    pub number: u32,
    /// Where it stands in the text, in bytes, from its mark on.
    pub span: Range<usize>,
    /// What is numbered in it, in order.
    pub items: Vec<Clause>,
}

const LETTERS: [char; 14] =
    ['가', '나', '다', '라', '마', '바', '사', '아', '자', '차', '카', '타', '파', '하'];

/// As it is written: `②`, `2.`, `나.`.
impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number;
        let at = usize::try_from(number).unwrap_or_default().saturating_sub(1);
        let letter = LETTERS.get(at).copied().unwrap_or('?');
        match self.mark {
            Mark::Circled => {
                let from = if number <= 20 { 0x2460 } else { 0x3251 - 20 };
                let circled = char::from_u32(from + number.saturating_sub(1));
                write!(f, "{}", circled.unwrap_or('?'))
            }
            Mark::Paragraph => write!(f, "제{number}항"),
            Mark::Number => write!(f, "{number}."),
            Mark::HalfNumber => write!(f, "{number})"),
            Mark::Parenthesised => write!(f, "({number})"),
            Mark::Letter => write!(f, "{letter}."),
            Mark::HalfLetter => write!(f, "{letter})"),
            Mark::ParenthesisedLetter => write!(f, "({letter})"),
            Mark::Latin => {
                let offset = u8::try_from(at).ok().and_then(|at| b'a'.checked_add(at));
                write!(f, "({})", char::from(offset.unwrap_or(b'?')))
            }
            Mark::Decimal => write!(f, ".{number}"),
        }
    }
}

/// The clauses in `body` of `text`, whose `lines` are those that it touches. `article` is the number of the article.
pub(crate) fn clauses(text: &str, body: Range<usize>, lines: &[Line], article: u32) -> Vec<Clause> {
    let mut tree = Tree::default();
    work::count(lines.len());
    for line in lines.iter().filter(|line| line.kind == Kind::Text) {
        let from = line.span.start.max(body.start);
        let to = line.span.end.min(body.end);
        let Some(shown) = text.get(from..to) else { continue };
        tree.read_line(work::stripped(shown, shown.trim_end()), from, article);
    }
    tree.finish(body.end)
}

/// The clauses that are read.
#[derive(Debug, Default)]
struct Tree {
    done: Vec<Clause>,
    /// Those that are open, the outermost first.
    open: Vec<Clause>,
}

impl Tree {
    /// Reads the marks at the begin of a line, one in another, and circled ones behind a sentence.
    fn read_line(&mut self, line: &str, at: usize, article: u32) {
        let offset = |rest: &str| at + line.len() - rest.len();
        let (_, mut rest) = undressed(line);
        for _ in 0..MAX_DEPTH {
            let Some((mark, number, after)) = mark(rest, article) else { break };
            if !self.add(mark, number, offset(rest)) {
                break;
            }
            rest = skip_spaces(after);
        }
        let mut ended = false;
        work::count(rest.len());
        for (place, c) in rest.char_indices() {
            if is_circled(c) && ended {
                let here = rest.get(place..).unwrap_or_default();
                if let Some(number) = circled(c)
                    && self.last(Mark::Circled).is_some_and(|last| number == last + 1)
                {
                    self.add(Mark::Circled, number, offset(here));
                }
            }
            ended = matches!(c, '.' | ')' | '。') || ended && c.is_whitespace();
        }
    }

    fn last(&self, mark: Mark) -> Option<u32> {
        work::count(self.open.len());
        self.open.iter().find(|clause| clause.mark == mark).map(|clause| clause.number)
    }

    /// Adds a clause where it fits. Says whether it does.
    fn add(&mut self, mark: Mark, number: u32, at: usize) -> bool {
        work::count(self.open.len());
        let place = self.open.iter().position(|clause| clause.mark == mark);
        let sure = mark == Mark::Circled || mark == Mark::Decimal;
        let fits = match self.last(mark) {
            Some(last) => number == 1 || (last..=last + 1 + MAX_MISSING).contains(&number),
            None => number == 1 && self.open.len() < MAX_DEPTH,
        };
        let room = place.is_some() || self.open.len() < MAX_DEPTH;
        if !(fits || sure && room) {
            return false;
        }
        self.close(place.unwrap_or(self.open.len()), at);
        self.open.push(Clause { mark, number, span: at..at, items: Vec::new() });
        true
    }

    /// Ends the open clauses from the depth `depth` on.
    fn close(&mut self, depth: usize, at: usize) {
        while self.open.len() > depth {
            let Some(mut clause) = self.open.pop() else { break };
            work::count(1);
            clause.span.end = at;
            self.open.last_mut().map_or(&mut self.done, |outer| &mut outer.items).push(clause);
        }
    }

    fn finish(mut self, end: usize) -> Vec<Clause> {
        self.close(0, end);
        self.done
    }
}

/// Whether a line begins with a mark of any kind.
pub(crate) fn begins_with_mark(line: &str) -> bool {
    mark(undressed(line).1, 0).is_some()
}

fn circled(c: char) -> Option<u32> {
    let code = u32::from(c);
    match c {
        '①'..='⑳' => Some(code - 0x2460 + 1),
        '㉑'..='㉟' => Some(code - 0x3251 + 21),
        _ => None,
    }
}

/// The mark that `text` begins with, its number, and what follows.
fn mark(text: &str, article: u32) -> Option<(Mark, u32, &str)> {
    let first = text.chars().next()?;
    let rest = text.get(first.len_utf8()..)?;
    if let Some(number) = circled(first) {
        return Some((Mark::Circled, number, rest));
    }
    match first {
        '⑴'..='⒇' => Some((Mark::Parenthesised, u32::from(first) - 0x2474 + 1, rest)),
        '㉮'..='㉻' => Some((Mark::ParenthesisedLetter, u32::from(first) - 0x326E + 1, rest)),
        '제' => {
            let (number, unit, after) = number::ordinal(text)?;
            let begins = unit == '항' && !clause_goes_on(first_line(after));
            let said = work::stripped(after, after.trim_start_matches(['.', ':']));
            begins.then_some((Mark::Paragraph, number, said))
        }
        '(' | '（' => within(rest),
        _ if first.is_ascii_digit() || ('０'..='９').contains(&first) => numbered(text, article),
        _ => {
            let number = letter(first)?;
            let (mark, after) = closed(rest, Mark::Letter, Mark::HalfLetter)?;
            begins(after).then_some((mark, number, after))
        }
    }
}

/// `(1)`, `(가)`, `(a)`, from behind the bracket.
fn within(rest: &str) -> Option<(Mark, u32, &str)> {
    let close = |after: &'_ str| after.chars().next().is_some_and(|c| c == ')' || c == '）');
    if let Some((number, after)) = number::digits(skip_spaces(rest)) {
        let after = skip_spaces(after);
        let behind = after.get(after.chars().next()?.len_utf8()..)?;
        return (close(after) && number <= 99).then_some((Mark::Parenthesised, number, behind));
    }
    let first = rest.chars().next()?;
    let after = rest.get(first.len_utf8()..)?;
    let behind = after.get(after.chars().next()?.len_utf8()..)?;
    let (mark, number) = match (letter(first), first) {
        (Some(number), _) => (Mark::ParenthesisedLetter, number),
        (None, 'a'..='z') => (Mark::Latin, u32::from(first) - u32::from('a') + 1),
        _ => return None,
    };
    close(after).then_some((mark, number, behind))
}

/// `1.`, `1)`, or `5.2` within the article 5.
fn numbered(text: &str, article: u32) -> Option<(Mark, u32, &str)> {
    let (number, rest) = number::digits(text)?;
    if number == article
        && let Some((part, after)) = rest.strip_prefix('.').and_then(number::digits)
    {
        let after = after.strip_prefix('.').unwrap_or(after);
        let apart = after.starts_with(char::is_whitespace);
        return apart.then_some((Mark::Decimal, part, after));
    }
    let (mark, after) = closed(rest, Mark::Number, Mark::HalfNumber)?;
    (number <= 99 && begins(after)).then_some((mark, number, after))
}

fn closed(rest: &str, dot: Mark, bracket: Mark) -> Option<(Mark, &str)> {
    let rest = skip_spaces(rest);
    rest.strip_prefix('.')
        .map(|rest| (dot, rest))
        .or_else(|| rest.strip_prefix([')', '）']).map(|rest| (bracket, rest)))
}

/// Whether words follow a mark: `3. 1.부터` is a date, `3.5억` a sum.
fn begins(after: &str) -> bool {
    let said = skip_spaces(after);
    let is_date = number::digits(said).is_some_and(|(_, rest)| skip_spaces(rest).starts_with('.'));
    let glued = after.starts_with(|c: char| c.is_ascii_digit());
    !is_date && !glued
}

fn letter(c: char) -> Option<u32> {
    let at = LETTERS.iter().position(|letter| *letter == c)?;
    u32::try_from(at + 1).ok()
}
