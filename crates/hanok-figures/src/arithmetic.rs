//! The arithmetic in a question, as an expression.

use crate::amounts::{Amount, AmountUnit, Figure, figures};

/// The calculation that a question in Korean or English asks for, as an expression for [`evaluate`](crate::evaluate).
///
/// Amounts are read as [`figures`] reads them, so money is exact.
///
/// ```
/// use hanok_figures::{Arithmetic, evaluate};
///
/// let asked = Arithmetic::in_question("1억 2천만원을 12로 나누면?").unwrap();
/// assert_eq!(asked.expression, "120000000 / 12");
/// assert_eq!(evaluate(&asked.expression)?.to_string(), "10000000");
/// assert!(asked.is_certain);
/// assert!(!Arithmetic::in_question("2026-3 버전은?").unwrap().is_certain);
/// assert_eq!(Arithmetic::in_question("제7조의 보증금 3억원은 언제 돌려받나요?"), None);
/// # Ok::<(), hanok_figures::CalculatorError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arithmetic {
    /// The expression.
    pub expression: String,
    /// Whether the words of the question say that it is calculated. A bare `10-3` may as well be a range or a day: it is meant where
    /// nothing else is asked.
    pub is_certain: bool,
}

/// A piece of a question that may be part of a calculation.
#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Number(String),
    /// An operator, and whether it alone shows that a calculation is meant. A hyphen also stands between other things.
    Operator(&'static str, bool),
    Open,
    Close,
    Root,
    /// `의 제곱근`, behind the number.
    RootOf,
    /// `제곱` behind a number, `10제곱` behind 의: the exponent if it is said.
    Square,
    Cube,
    Percent,
    /// A word such as 원, between a number and what follows.
    Unit,
    /// What is done, behind the numbers: `7로 나누면`.
    Verb(&'static str),
    /// `의`, which multiplies a percentage.
    Of,
    Word,
}

/// Words of calculating, longest first, and what they are.
#[rustfmt::skip]
const WORDS: &[(&str, Piece)] = &[
    ("multiplied by", Piece::Operator("*", true)), ("divided by", Piece::Operator("/", true)), ("square root of", Piece::Root),
    ("to the power of", Piece::Operator("**", true)), ("times", Piece::Operator("*", true)), ("minus", Piece::Operator("-", true)),
    ("plus", Piece::Operator("+", true)), ("squared", Piece::Square), ("percent", Piece::Percent), ("sqrt", Piece::Root), ("of", Piece::Of),
    ("곱하기", Piece::Operator("*", true)), ("나누기", Piece::Operator("/", true)), ("더하기", Piece::Operator("+", true)),
    ("빼기", Piece::Operator("-", true)), ("플러스", Piece::Operator("+", true)), ("마이너스", Piece::Operator("-", true)),
    ("퍼센트", Piece::Percent), ("프로", Piece::Percent), ("루트", Piece::Root), ("의 세제곱근", Piece::Word), ("세제곱근", Piece::Word), ("의 제곱근", Piece::RootOf), ("제곱근", Piece::Root), ("의 제곱", Piece::Square), ("의 세제곱", Piece::Cube), ("세제곱", Piece::Cube), ("제곱", Piece::Square), ("cubed", Piece::Cube),
    ("곱하", Piece::Verb("*")), ("곱한", Piece::Verb("*")), ("곱은", Piece::Verb("*")), ("나누", Piece::Verb("/")), ("나눈", Piece::Verb("/")),
    ("더하", Piece::Verb("+")), ("더한", Piece::Verb("+")), ("합하", Piece::Verb("+")), ("합은", Piece::Verb("+")), ("빼면", Piece::Verb("-")),
    ("빼 ", Piece::Verb("-")), ("뺀", Piece::Verb("-")), ("부터", Piece::Word), ("의", Piece::Of),
    ("원", Piece::Unit), ("달러", Piece::Unit), ("명", Piece::Unit), ("개", Piece::Unit), ("일", Piece::Unit), ("을", Piece::Unit), ("를", Piece::Unit),
    ("에서", Piece::Unit), ("에", Piece::Unit), ("과", Piece::Unit), ("와", Piece::Unit), ("으로", Piece::Unit), ("로", Piece::Unit), ("and", Piece::Unit),
];

const SIGNS: &[(&str, Piece)] = &[
    ("**", Piece::Operator("**", true)),
    ("*", Piece::Operator("*", true)),
    ("×", Piece::Operator("*", true)),
    ("÷", Piece::Operator("/", true)),
    ("^", Piece::Operator("**", true)),
    ("+", Piece::Operator("+", true)),
    ("−", Piece::Operator("-", true)),
    ("-", Piece::Operator("-", false)),
    ("/", Piece::Operator("/", false)),
    ("%", Piece::Percent),
    ("(", Piece::Open),
    (")", Piece::Close),
];

/// No calculation of a question is longer.
const MOST_PIECES: usize = 400;

impl Arithmetic {
    /// The longest calculation in `question`; `None` where there is none, or where it is but a day or a number of a telephone.
    #[must_use]
    pub fn in_question(question: &str) -> Option<Self> {
        let pieces = pieces(&half_width(question));
        let runs = pieces.split(|piece| *piece == Piece::Word);
        let (run, expression) = runs
            .filter_map(|run| {
                Some((run, by_share(run).or_else(|| infix(run)).or_else(|| by_verb(run))?))
            })
            .max_by_key(|(_, written)| written.len())?;
        // `3-4일 전에` and `2026-03-01` are no calculations, unless nothing else is asked.
        let sure = run.iter().any(|piece| {
            matches!(
                piece,
                Piece::Operator(_, true)
                    | Piece::Root
                    | Piece::RootOf
                    | Piece::Square
                    | Piece::Cube
                    | Piece::Verb(_)
                    | Piece::Of
                    | Piece::Open
            )
        }) || expression.contains("- ") && question.contains(" - ")
            || question.contains(" / ");
        let asks = question.contains("계산")
            || question.to_lowercase().contains("calculat")
            || question.contains('=');
        let is_certain = sure || asks;
        (is_certain || !is_date(run)).then_some(Self { expression, is_certain })
    }
}

/// `2026-03-01`, `010-1234-5678`.
fn is_date(run: &[Piece]) -> bool {
    let numbers = run.iter().filter_map(|piece| match piece {
        Piece::Number(number) => Some(number),
        _ => None,
    });
    numbers.filter(|number| number.len() > 1 && number.starts_with('0')).count() > 0
}

fn half_width(text: &str) -> String {
    let narrow = |c: char| match u32::from(c) {
        code @ 0xFF01..=0xFF5E => char::from_u32(code - 0xFEE0).unwrap_or(c),
        _ => c,
    };
    text.chars().map(narrow).collect::<String>().to_lowercase()
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut amounts = figures(text).filter_map(Figure::into_amount).peekable();
    let mut rest = text;
    while let Some(c) = rest.chars().next().filter(|_| pieces.len() < MOST_PIECES) {
        let at = text.len() - rest.len();
        while amounts.next_if(|amount| amount.at.start < at).is_some() {}
        if let Some((written, length)) = amounts.next_if(|it| it.at.start == at).and_then(amount) {
            pieces.extend(written);
            rest = rest.get(length..).unwrap_or_default();
            continue;
        }
        if c.is_whitespace() || matches!(c, '=' | '?' | ',') {
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        }
        let (piece, length) =
            number(rest).or_else(|| sign(rest, &pieces)).unwrap_or((Piece::Word, word(rest)));
        pieces.push(piece);
        rest = rest.get(length..).unwrap_or_default();
    }
    pieces
}

/// An amount such as `1억 2천만원` as its value and its unit. A minus before it is an operator.
fn amount(amount: Amount) -> Option<(Vec<Piece>, usize)> {
    let value = amount.value.to_string();
    let unit = match amount.unit {
        AmountUnit::Percent => Some(Piece::Percent),
        AmountUnit::Plain => None,
        _ => Some(Piece::Unit),
    };
    let is_negative = value.starts_with('-');
    let pieces = std::iter::once(Piece::Number(value)).chain(unit).collect();
    (!is_negative).then_some((pieces, amount.at.len()))
}

/// A number that is no amount by itself, such as those of `3x4`, with its Korean unit of thousands.
fn number(text: &str) -> Option<(Piece, usize)> {
    let mut digits = String::new();
    let mut length = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let more = chars.peek().is_some_and(char::is_ascii_digit);
        match c {
            '0'..='9' => digits.push(c),
            '.' if more && !digits.contains('.') => digits.push(c),
            ',' if more && !digits.is_empty() => {}
            _ => break,
        }
        length += 1;
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let rest = text.get(length..).unwrap_or_default();
    let units = [("천만", "10000000"), ("억", "100000000"), ("만", "10000"), ("천", "1000")];
    let unit = units.iter().find(|(unit, _)| rest.starts_with(unit));
    Some(match unit {
        Some((unit, times)) => {
            (Piece::Number(format!("({digits} * {times})")), length + unit.len())
        }
        None => (Piece::Number(digits), length),
    })
}

fn sign(text: &str, before: &[Piece]) -> Option<(Piece, usize)> {
    let found = SIGNS.iter().find(|(sign, _)| text.starts_with(sign));
    // An `x` multiplies between numbers only.
    let cross = text.starts_with(['x', '✕'])
        && matches!(before.last(), Some(Piece::Number(_) | Piece::Close))
        && text
            .chars()
            .skip(1)
            .find(|c| !c.is_whitespace())
            .is_some_and(|c| c.is_ascii_digit() || c == '(');
    if cross {
        return Some((Piece::Operator("*", true), text.chars().next().map_or(1, char::len_utf8)));
    }
    let latin = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let whole = |word: &str| {
        !latin
            || !text
                .get(word.len()..)
                .unwrap_or_default()
                .starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let word = || WORDS.iter().find(|(word, _)| text.starts_with(word) && whole(word));
    found.or_else(word).map(|(sign, piece)| (piece.clone(), sign.len()))
}

/// The length of a word that has nothing to do with a calculation.
fn word(text: &str) -> usize {
    let first = text.chars().next().map_or(1, char::len_utf8);
    let letters = text.chars().take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum::<usize>();
    first.max(letters)
}

/// The calculation that is written with operators between numbers.
fn infix(run: &[Piece]) -> Option<String> {
    let run: Vec<&Piece> = run.iter().filter(|piece| **piece != Piece::Unit).collect();
    let mut kept: Vec<Piece> = Vec::new();
    let mut rest = run.as_slice();
    while let Some((piece, behind)) = rest.split_first() {
        rest = behind;
        match (piece, behind) {
            // `2의 10제곱`
            (Piece::Of, [number @ Piece::Number(_), Piece::Square, after @ ..]) => {
                kept.extend([Piece::Operator("**", true), (*number).clone()]);
                rest = after;
            }
            // `300의 15%`, `15% of 300`
            (Piece::Of, [Piece::Number(_), Piece::Percent, ..]) => {
                kept.push(Piece::Operator("*", true))
            }
            (Piece::Of, [Piece::Number(_), ..]) if kept.last() == Some(&Piece::Percent) => {
                kept.push(Piece::Operator("*", true));
            }
            (Piece::Of, _) => kept.push(Piece::Word),
            (number @ Piece::Number(_), [Piece::RootOf, after @ ..]) => {
                kept.extend([Piece::Root, (*number).clone()]);
                rest = after;
            }
            (Piece::Verb(_), _) => {}
            (piece, _) => kept.push((*piece).clone()),
        }
    }
    (0..kept.len())
        .filter_map(|from| longest(kept.get(from..)?))
        .max_by_key(|(count, _)| *count)
        .map(|(_, text)| text)
}

/// The longest calculation at the beginning of `pieces`, with its operations counted. It has at least one.
fn longest(pieces: &[Piece]) -> Option<(usize, String)> {
    let (mut written, mut best) = (String::new(), None);
    let (mut open, mut operations, mut wants) = (0_usize, 0_usize, true);
    for piece in pieces {
        match (piece, wants) {
            (Piece::Number(number), true) => {
                written.push_str(number);
                wants = false;
            }
            (Piece::Open, true) => {
                written.push('(');
                open += 1;
            }
            (Piece::Root, true) => {
                written.push_str("sqrt ");
                operations += 1;
            }
            (Piece::Operator("-", _), true) if !written.ends_with('-') => written.push('-'),
            (Piece::Close, false) if open > 0 => {
                written.push(')');
                open -= 1;
            }
            (Piece::Operator(sign, _), false) => {
                written.push(' ');
                written.push_str(sign);
                written.push(' ');
                operations += 1;
                wants = true;
            }
            (Piece::Square, false) => {
                written.push_str(" ** 2");
                operations += 1;
            }
            (Piece::Cube, false) => {
                written.push_str(" ** 3");
                operations += 1;
            }
            (Piece::Percent, false) => written.push('%'),
            _ => break,
        }
        if !wants && open == 0 && operations > 0 {
            best = Some((operations, rooted(&written)));
        }
    }
    best
}

/// `sqrt 2` as the calculator reads it.
fn rooted(written: &str) -> String {
    let mut parts = written.split("sqrt ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if part.starts_with('(') || part.is_empty() {
            text.push_str("sqrt");
            text.push_str(part);
            continue;
        }
        let end = part.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(part.len());
        let (number, rest) = part.split_at_checked(end).unwrap_or((part, ""));
        text.push_str(&format!("sqrt({number}){rest}"));
    }
    text
}

/// `100의 5%를 빼면`, `3억에서 5%를 빼면`: what a number is without a share of it, or with one more.
fn by_share(run: &[Piece]) -> Option<String> {
    let run: Vec<&Piece> = run.iter().filter(|it| !matches!(it, Piece::Unit | Piece::Of)).collect();
    let [Piece::Number(whole), Piece::Number(share), Piece::Percent, Piece::Verb(sign)] = run[..]
    else {
        return None;
    };
    matches!(*sign, "+" | "-").then(|| format!("{whole} {sign} {whole} * {share}%"))
}

/// `100을 7로 나누면`: numbers, then what is done with them.
fn by_verb(run: &[Piece]) -> Option<String> {
    let verb = run.iter().rev().find_map(|piece| match piece {
        Piece::Verb(sign) => Some(*sign),
        _ => None,
    })?;
    let numbers: Vec<&str> = run
        .iter()
        .filter_map(|piece| match piece {
            Piece::Number(number) => Some(number.as_str()),
            _ => None,
        })
        .collect();
    (numbers.len() >= 2).then(|| numbers.join(&format!(" {verb} ")))
}

#[cfg(test)]
mod tests {
    use super::Arithmetic;

    #[test]
    fn a_calculation_is_found_in_a_question() {
        for (question, want) in [
            ("123 * 456은?", Some("123 * 456")),
            ("123*456", Some("123 * 456")),
            ("10-3은?", None),
            ("1,234.5 × ２ 계산해줘", Some("1234.5 * 2")),
            ("(1200 - 300) / 12 얼마야", Some("(1200 - 300) / 12")),
            ("12 곱하기 34는?", Some("12 * 34")),
            ("100을 7로 나누면 얼마야?", Some("100 / 7")),
            ("3과 4를 더하면?", Some("3 + 4")),
            ("100의 5%를 빼면?", Some("100 - 100 * 5%")),
            ("3억에서 5%를 빼면?", Some("300000000 - 300000000 * 5%")),
            ("80만원에 10%를 더하면 얼마야?", Some("800000 + 800000 * 10%")),
            ("3만 원의 15%는 얼마야?", Some("30000 * 15%")),
            ("1억 2천만원을 12로 나누면?", Some("120000000 / 12")),
            ("1억2천만원의 5퍼센트는?", Some("120000000 * 5%")),
            ("삼억오천만원을 7로 나누면", Some("350000000 / 7")),
            ("3억5천 곱하기 2", Some("350000000 * 2")),
            ("5천만원 더하기 2천5백만원은?", Some("50000000 + 25000000")),
            ("10만원 - 5만원은?", Some("100000 - 50000")),
            ("2 + -3", Some("2 + -3")),
            ("1억 2천만원을 만약 못 받으면?", None),
            ("제7조의 보증금 3억원은 언제 돌려받나요?", None),
            ("what is 15% of 300?", Some("15% * 300")),
            ("what is 12 times 12?", Some("12 * 12")),
            ("7의 제곱은?", Some("7 ** 2")),
            ("7의 제곱근은 얼마야?", Some("sqrt(7)")),
            ("제곱근 16은?", Some("sqrt(16)")),
            ("8의 세제곱근은?", None),
            ("루트 2는 얼마야", Some("sqrt(2)")),
            ("2의 10제곱은?", Some("2 ** 10")),
            ("5의 세제곱", Some("5 ** 3")),
            ("2의 3은?", None),
            ("2^10 값은", Some("2 ** 10")),
            ("3 x 4", Some("3 * 4")),
            ("2026-03-01에 시행된 규정", None),
            ("3-4일 전에 휴가를 신청해도 돼?", None),
            ("출석이 70% 이상이면 수료인가요?", None),
            ("1부터 10까지 더하면?", None),
            ("1년 미만 근속이면 휴가가 며칠?", None),
            ("24/7 지원되나요", None),
            ("", None),
        ] {
            let asked = Arithmetic::in_question(question).filter(|it| it.is_certain);
            assert_eq!(asked.map(|it| it.expression).as_deref(), want, "{question}");
        }
    }
}
