//! Runs a program on a stack of numbers.

use super::error::CalculatorError;
use super::number::Number;
use super::parse::{Binary, Function, Step};
use super::round::Mode;

/// The value that `program` leaves.
pub(super) fn run(program: Vec<Step>) -> Result<Number, CalculatorError> {
    let mut stack = Stack(Vec::new());
    for step in program {
        let value = match step {
            Step::Push(number) => number,
            Step::Negate => stack.pop()?.negated(),
            Step::Hundredth => stack.pop()?.hundredth()?,
            Step::Binary(operator) => {
                let (right, left) = (stack.pop()?, stack.pop()?);
                binary(operator, &left, right)?
            }
            Step::Call(function, given) => call(function, stack.pop_many(given)?)?,
        };
        stack.0.push(value);
    }
    stack.pop()
}

#[derive(Debug)]
struct Stack(Vec<Number>);

impl Stack {
    /// The topmost value. The parser leaves no program that finds none.
    fn pop(&mut self) -> Result<Number, CalculatorError> {
        self.0.pop().ok_or_else(incomplete)
    }

    /// The topmost values, the lowest first.
    fn pop_many(&mut self, count: usize) -> Result<Vec<Number>, CalculatorError> {
        let rest = self.0.len().checked_sub(count).ok_or_else(incomplete)?;
        Ok(self.0.split_off(rest))
    }
}

fn incomplete() -> CalculatorError {
    CalculatorError::Syntax {
        at: 1,
        found: "too few values".into(),
        expected: "a whole expression",
    }
}

fn binary(operator: Binary, left: &Number, right: Number) -> Result<Number, CalculatorError> {
    match operator {
        Binary::Plus => left.plus(&right),
        Binary::Minus => left.plus(&right.negated()),
        Binary::Times => left.times(&right),
        Binary::Divide => left.divided_by(&right),
        Binary::Remainder => left.remainder(&right),
        Binary::Power => left.to_the(&right),
    }
}

fn call(function: Function, arguments: Vec<Number>) -> Result<Number, CalculatorError> {
    let mut arguments = arguments.into_iter();
    let first = arguments.next().ok_or_else(incomplete)?;
    match function {
        Function::SquareRoot => first.square_root(),
        Function::Absolute => Ok(first.absolute()),
        Function::Floor => first.cut_on_request(0, Mode::Down),
        Function::Ceiling => first.cut_on_request(0, Mode::Up),
        Function::Round => {
            let places = arguments.next().map_or(Ok(0), |places| places.as_places())?;
            first.cut_on_request(places, Mode::HalfAway)
        }
        Function::Least => Ok(arguments
            .fold(first, |least, other| if other.compare(&least).is_lt() { other } else { least })),
        Function::Greatest => Ok(arguments.fold(first, |greatest, other| {
            if other.compare(&greatest).is_gt() { other } else { greatest }
        })),
    }
}
