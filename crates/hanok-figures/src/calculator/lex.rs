//! Text to tokens.

use super::error::CalculatorError;
use super::limits;
use super::number::Number;

/// So much of a number of another base is shown.
const OTHER_BASE: usize = 32;

/// A part of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Number(Number),
    /// Letters, in lower case.
    Name(String),
    Plus,
    Minus,
    Times,
    Divide,
    Percent,
    Power,
    Open,
    Close,
    Comma,
}

/// A token and the character, counted from 1, at which it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) at: usize,
}

/// The tokens of `expression`.
pub(super) fn tokens(expression: &str) -> Result<Vec<Placed>, CalculatorError> {
    let characters = expression.chars().map(half_width).collect();
    let mut lexer = Lexer { characters, next: 0, calls: Vec::new() };
    let mut tokens: Vec<Placed> = Vec::new();
    loop {
        while lexer.peek(0).is_some_and(char::is_whitespace) {
            lexer.next += 1;
        }
        let at = lexer.next + 1;
        let after_name = tokens.last().is_some_and(|last| matches!(last.token, Token::Name(_)));
        let Some(token) = lexer.token(after_name)? else { return Ok(tokens) };
        tokens.push(Placed { token, at });
    }
}

/// The ASCII twin of a full-width character (U+FF01 to U+FF5E).
fn half_width(c: char) -> char {
    match u32::from(c) {
        code @ 0xFF01..=0xFF5E => char::from_u32(code - 0xFEE0).unwrap_or(c),
        _ => c,
    }
}

#[derive(Debug)]
struct Lexer {
    characters: Vec<char>,
    next: usize,
    /// For every open bracket, whether it holds the arguments of a function.
    calls: Vec<bool>,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.next + ahead).copied()
    }

    fn is_digit(&self, ahead: usize) -> bool {
        self.peek(ahead).is_some_and(|c| c.is_ascii_digit())
    }

    fn token(&mut self, after_name: bool) -> Result<Option<Token>, CalculatorError> {
        let Some(c) = self.peek(0) else { return Ok(None) };
        if c.is_ascii_digit() || (c == '.' && self.is_digit(1)) {
            return self.number().map(Some);
        }
        if c.is_alphabetic() {
            return Ok(Some(Token::Name(self.name())));
        }
        let (token, length) = match c {
            '*' if self.peek(1) == Some('*') => (Token::Power, 2),
            '*' | '×' | '✕' | '∙' | '⋅' => (Token::Times, 1),
            '^' => (Token::Power, 1),
            '/' | '÷' | '∕' => (Token::Divide, 1),
            '+' => (Token::Plus, 1),
            '-' | '−' | '–' => (Token::Minus, 1),
            '%' => (Token::Percent, 1),
            ',' => (Token::Comma, 1),
            '(' => {
                self.calls.push(after_name);
                (Token::Open, 1)
            }
            ')' => {
                self.calls.pop();
                (Token::Close, 1)
            }
            other => {
                return Err(CalculatorError::Syntax {
                    at: self.next + 1,
                    found: format!("`{}`", other.escape_debug()),
                    expected: "digits, an operator (+ - * / % **), a function or brackets",
                });
            }
        };
        self.next += length;
        Ok(Some(token))
    }

    fn name(&mut self) -> String {
        let letters = self.characters.iter().skip(self.next);
        let name: Vec<char> = letters.copied().take_while(|c| c.is_alphabetic()).collect();
        self.next += name.len();
        name.into_iter().flat_map(char::to_lowercase).collect()
    }

    fn number(&mut self) -> Result<Token, CalculatorError> {
        let start = self.next;
        let mut digits = self.whole_part()?;
        if digits == "0" {
            self.other_base(start)?;
        }
        let mut decimals = 0;
        if self.peek(0) == Some('.') {
            self.next += 1;
            let before = digits.len();
            self.take_digits(&mut digits);
            decimals = i64::try_from(digits.len() - before).unwrap_or(i64::MAX);
        }
        let exponent = self.exponent();
        Number::read(&digits, decimals.saturating_sub(exponent)).map(Token::Number)
    }

    /// Refuses what other languages write for a number of another base, which would be read as a product: `0x10`.
    fn other_base(&self, start: usize) -> Result<(), CalculatorError> {
        let is_base = match self.peek(0) {
            Some('x' | 'X') => true,
            Some('b' | 'B' | 'o' | 'O') => self.is_digit(1),
            _ => false,
        };
        if !is_base {
            return Ok(());
        }
        let letters = self.characters.iter().skip(start).take(OTHER_BASE);
        let number = letters.take_while(|c| c.is_ascii_alphanumeric()).collect();
        Err(CalculatorError::OtherBase { at: start + 1, number })
    }

    fn take_digits(&mut self, digits: &mut String) {
        while let Some(c) = self.peek(0).filter(char::is_ascii_digit) {
            digits.push(c);
            self.next += 1;
        }
    }

    /// The digits before the point, thousands separators left out.
    fn whole_part(&mut self) -> Result<String, CalculatorError> {
        let mut digits = String::new();
        self.take_digits(&mut digits);
        let may_group = (1..=3).contains(&digits.len()) && !digits.starts_with('0');
        while may_group && self.is_group() {
            if self.calls.last() == Some(&true) {
                return Err(CalculatorError::AmbiguousComma { at: self.next + 1 });
            }
            self.next += 1;
            self.take_digits(&mut digits);
        }
        Ok(digits)
    }

    /// Whether a comma and exactly three digits follow.
    fn is_group(&self) -> bool {
        self.peek(0) == Some(',') && (1..=3).all(|ahead| self.is_digit(ahead)) && !self.is_digit(4)
    }

    /// The power of ten after an `e`, zero without one. One that no number can have is cut off.
    fn exponent(&mut self) -> i64 {
        let sign = match self.peek(1) {
            Some('+' | '-') if self.is_digit(2) => 1,
            _ if self.is_digit(1) => 0,
            _ => return 0,
        };
        if !matches!(self.peek(0), Some('e' | 'E')) {
            return 0;
        }
        let is_negative = self.peek(1) == Some('-');
        self.next += 1 + sign;
        let mut digits = String::new();
        self.take_digits(&mut digits);
        // An expression has no room for the digits that would make up for more than this.
        let most = limits::DIGITS * 10;
        let exponent = digits.parse::<i64>().map_or(most, |exponent| exponent.min(most));
        if is_negative { -exponent } else { exponent }
    }
}
