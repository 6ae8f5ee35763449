//! Tokens to a program for a stack machine, which runs without recursion.
//!
//! ```text
//! sum     = product { ( "+" | "-" ) product }
//! product = signed { ( "*" | "/" | "%" | "x" ) signed }
//! signed  = { "+" | "-" } power
//! power   = percent [ "**" signed ]
//! percent = primary { "%" }
//! primary = number | constant | function "(" sum { "," sum } ")" | "(" sum ")"
//! ```

use super::doubt::Doubt;
use super::error::CalculatorError;
use super::lex::{Placed, Token};
use super::limits;
use super::number::Number;

/// What the machine does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Push(Number),
    Negate,
    Hundredth,
    Binary(Binary),
    Call(Function, usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Plus,
    Minus,
    Times,
    Divide,
    Remainder,
    Power,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    SquareRoot,
    Absolute,
    Round,
    Floor,
    Ceiling,
    Least,
    Greatest,
}

impl Function {
    /// The function of this name, with the counts of arguments that it takes, in numbers and words.
    fn named(name: &str) -> Option<(Self, std::ops::RangeInclusive<usize>, &'static str)> {
        Some(match name {
            "sqrt" => (Self::SquareRoot, 1..=1, "one argument"),
            "abs" => (Self::Absolute, 1..=1, "one argument"),
            "round" => (Self::Round, 1..=2, "one or two arguments"),
            "floor" => (Self::Floor, 1..=1, "one argument"),
            "ceil" => (Self::Ceiling, 1..=1, "one argument"),
            "min" => (Self::Least, 1..=limits::STEPS, "at least one argument"),
            "max" => (Self::Greatest, 1..=limits::STEPS, "at least one argument"),
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::SquareRoot => "sqrt",
            Self::Absolute => "abs",
            Self::Round => "round",
            Self::Floor => "floor",
            Self::Ceiling => "ceil",
            Self::Least => "min",
            Self::Greatest => "max",
        }
    }
}

/// The digits of a constant, the last 39 of them after the point; the 40th is followed by others.
fn constant(name: &str) -> Option<&'static str> {
    match name {
        "pi" | "π" => Some("3141592653589793238462643383279502884197"),
        "e" => Some("2718281828459045235360287471352662497757"),
        _ => None,
    }
}

/// The program that calculates what `tokens` say.
pub(super) fn program(tokens: &[Placed]) -> Result<Vec<Step>, CalculatorError> {
    let mut parser = Parser { tokens, next: 0, depth: 0, program: Vec::new() };
    parser.sum()?;
    match parser.peek() {
        None => Ok(parser.program),
        Some(_) => Err(parser.unexpected("an operator or the end")),
    }
}

#[derive(Debug)]
struct Parser<'t> {
    tokens: &'t [Placed],
    next: usize,
    depth: usize,
    program: Vec<Step>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|placed| &placed.token)
    }

    /// Where the next token begins, or where the expression ends.
    fn at(&self) -> usize {
        let end = || self.tokens.last().map_or(1, |last| last.at + 1);
        self.tokens.get(self.next).map_or_else(end, |placed| placed.at)
    }

    fn take(&mut self, token: &Token) -> bool {
        let is_next = self.peek() == Some(token);
        self.next += usize::from(is_next);
        is_next
    }

    fn push(&mut self, step: Step) -> Result<(), CalculatorError> {
        if self.program.len() == limits::STEPS {
            return Err(CalculatorError::TooManySteps { limit: limits::STEPS });
        }
        self.program.push(step);
        Ok(())
    }

    fn unexpected(&self, expected: &'static str) -> CalculatorError {
        CalculatorError::Syntax { at: self.at(), found: found(self.peek()), expected }
    }

    /// Parses with `part` one level deeper.
    fn nested(
        &mut self,
        part: fn(&mut Self) -> Result<(), CalculatorError>,
    ) -> Result<(), CalculatorError> {
        if self.depth == limits::DEPTH {
            return Err(CalculatorError::TooDeep { limit: limits::DEPTH });
        }
        self.depth += 1;
        part(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn sum(&mut self) -> Result<(), CalculatorError> {
        self.product()?;
        loop {
            let operator = match self.peek() {
                Some(Token::Plus) => Binary::Plus,
                Some(Token::Minus) => Binary::Minus,
                _ => return Ok(()),
            };
            self.next += 1;
            self.product()?;
            self.push(Step::Binary(operator))?;
        }
    }

    fn product(&mut self) -> Result<(), CalculatorError> {
        self.signed()?;
        loop {
            let operator = match self.peek() {
                Some(Token::Times) => Binary::Times,
                Some(Token::Name(name)) if name == "x" => Binary::Times,
                Some(Token::Divide) => Binary::Divide,
                Some(Token::Percent) => Binary::Remainder,
                _ => return Ok(()),
            };
            self.next += 1;
            self.signed()?;
            self.push(Step::Binary(operator))?;
        }
    }

    fn signed(&mut self) -> Result<(), CalculatorError> {
        let mut is_negative = false;
        loop {
            match self.peek() {
                Some(Token::Minus) => is_negative = !is_negative,
                Some(Token::Plus) => {}
                _ => break,
            }
            self.next += 1;
        }
        self.power()?;
        if is_negative { self.push(Step::Negate) } else { Ok(()) }
    }

    fn power(&mut self) -> Result<(), CalculatorError> {
        self.percent()?;
        if self.take(&Token::Power) {
            self.nested(Self::signed)?;
            self.push(Step::Binary(Binary::Power))?;
        }
        Ok(())
    }

    fn percent(&mut self) -> Result<(), CalculatorError> {
        self.primary()?;
        while self.peek() == Some(&Token::Percent) {
            match self.tokens.get(self.next + 1).map(|placed| &placed.token) {
                Some(Token::Minus) => {
                    return Err(CalculatorError::AmbiguousPercent { at: self.at() });
                }
                Some(Token::Name(name)) if name != "x" => return Ok(()),
                Some(Token::Number(_) | Token::Open) => return Ok(()),
                _ => self.next += 1,
            }
            self.push(Step::Hundredth)?;
        }
        Ok(())
    }

    fn primary(&mut self) -> Result<(), CalculatorError> {
        match self.peek() {
            Some(Token::Number(number)) => {
                let number = number.clone();
                self.next += 1;
                self.push(Step::Push(number))
            }
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.name(&name)
            }
            Some(Token::Open) => {
                self.next += 1;
                self.nested(Self::sum)?;
                self.close("an operator or `)`")
            }
            _ => Err(self.unexpected("a number, a function or `(`")),
        }
    }

    fn close(&mut self, expected: &'static str) -> Result<(), CalculatorError> {
        if self.take(&Token::Close) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    fn name(&mut self, name: &str) -> Result<(), CalculatorError> {
        let at = self.at();
        if let Some(digits) = constant(name) {
            self.next += 1;
            return self.push(Step::Push(Number {
                doubt: Doubt::ten_to(-39),
                ..Number::read(digits, 39)?
            }));
        }
        let Some((function, takes, words)) = Function::named(name) else {
            let name = name.chars().take(32).collect();
            return Err(CalculatorError::UnknownName { at, name });
        };
        self.next += 1;
        if !self.take(&Token::Open) {
            return Err(self.unexpected("`(` after the name of a function"));
        }
        let given = self.arguments()?;
        if !takes.contains(&given) {
            let function = function.name();
            return Err(CalculatorError::Arguments { at, function, takes: words, given });
        }
        self.push(Step::Call(function, given))
    }

    /// Parses arguments and the closing bracket, and says how many there were.
    fn arguments(&mut self) -> Result<usize, CalculatorError> {
        if self.take(&Token::Close) {
            return Ok(0);
        }
        let mut given = 1;
        self.nested(Self::sum)?;
        while self.take(&Token::Comma) {
            self.nested(Self::sum)?;
            given += 1;
        }
        self.close("an operator, `,` or `)`")?;
        Ok(given)
    }
}

/// A token in the words of an error.
fn found(token: Option<&Token>) -> String {
    let sign = match token {
        None => return "the end".to_owned(),
        Some(Token::Number(_)) => return "a number".to_owned(),
        Some(Token::Name(name)) => {
            return format!("`{}`", name.chars().take(32).collect::<String>());
        }
        Some(Token::Plus) => "+",
        Some(Token::Minus) => "-",
        Some(Token::Times) => "*",
        Some(Token::Divide) => "/",
        Some(Token::Percent) => "%",
        Some(Token::Power) => "**",
        Some(Token::Open) => "(",
        Some(Token::Close) => ")",
        Some(Token::Comma) => ",",
    };
    format!("`{sign}`")
}
