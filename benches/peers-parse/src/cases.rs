//! What parsers make of texts: how many they read right, and in how many they call what was not called.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    process::Command,
};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Result, attacks, readers};

/// A text, the format that its model writes, the tools, and the calls that are right.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) format: Option<String>,
    /// As Chat Completions has them, without `function` around them.
    pub(crate) tools: Vec<Value>,
    pub(crate) calls: Vec<(String, Value)>,
}

/// Calls that were read: names and arguments.
pub(crate) type Calls = Vec<(String, Value)>;

/// Reads a case; nothing where the parser has none for its format.
pub(crate) type Reads = fn(&Case) -> Option<Calls>;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/agent_tool_parser_cases.py");

/// What came of some cases.
#[derive(Debug, Default)]
struct Counts {
    all: usize,
    right: usize,
    unsafe_ones: usize,
}

impl Counts {
    fn of(cases: &[Case], read: impl Fn(usize, &Case) -> Option<Calls>) -> Self {
        let mut counts = Self::default();
        for (at, case) in cases.iter().enumerate() {
            // A panic reads nothing.
            let calls = catch_unwind(AssertUnwindSafe(|| read(at, case)));
            let Some(calls) = calls.unwrap_or_else(|_panic| Some(Calls::new())) else { continue };
            let want = &case.calls;
            let is_right = calls.len() == want.len() && calls.iter().zip(want).all(same);
            let was_called = |call: &(String, Value)| want.iter().any(|want| same((call, want)));
            counts.all += 1;
            counts.right += usize::from(is_right);
            counts.unsafe_ones += usize::from(!calls.iter().all(was_called));
        }
        counts
    }
}

/// Prints a line for each parser: the cases in `file`, and the attacks.
pub(crate) fn print(file: &str, python: Option<&str>) -> Result<()> {
    let lines = fs::read_to_string(file)?;
    let cases: Vec<Case> = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let attacks = attacks::all();
    println!(
        "\n{:<20}{:>10}{:>8}{:>8}{:>10}{:>8}",
        "parser", "fixtures", "right", "unsafe", "attacks", "ran"
    );
    std::panic::set_hook(Box::new(|_| {}));
    for (name, reads) in readers::ALL {
        let (fixtures, attacks) = (
            Counts::of(&cases, |_, case| reads(case)),
            Counts::of(&attacks, |_, case| reads(case)),
        );
        line(name, &fixtures, &attacks);
    }
    if let Some(python) = python {
        let read = |cases: &[Case]| -> Result<Counts> {
            let replies = by_python(python, cases)?;
            Ok(Counts::of(cases, |at, _| Some(replies.get(at).cloned().unwrap_or_default())))
        };
        line("agent-tool-parser", &read(&cases)?, &read(&attacks)?);
    }
    let _hook = std::panic::take_hook();
    Ok(())
}

fn line(name: &str, fixtures: &Counts, attacks: &Counts) {
    println!(
        "{name:<20}{:>10}{:>8}{:>8}{:>10}{:>8}",
        fixtures.all, fixtures.right, fixtures.unsafe_ones, attacks.all, attacks.unsafe_ones
    );
}

/// What agent-tool-parser reads, which finds out the format.
fn by_python(python: &str, cases: &[Case]) -> Result<Vec<Calls>> {
    let file = std::env::temp_dir().join(format!("hanok-{}-cases.jsonl", std::process::id()));
    let lines = cases.iter().map(|case| json!(case.text).to_string() + "\n");
    fs::write(&file, lines.collect::<String>())?;
    let output = Command::new(python).arg(SCRIPT).arg(&file).output()?;
    fs::remove_file(&file)?;
    let said = String::from_utf8(output.stdout)?;
    let replies: Vec<Calls> = said.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    if replies.len() != cases.len() {
        return Err(format!("agent-tool-parser: {} of {} cases", replies.len(), cases.len()).into());
    }
    Ok(replies)
}

fn same((left, right): (&(String, Value), &(String, Value))) -> bool {
    left.0 == right.0 && equal(&left.1, &right.1)
}

/// Whether two values are equal, where 1 is 1.0.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let has = |(key, value): (&String, &Value)| {
                right.get(key).is_some_and(|other| equal(value, other))
            };
            left.len() == right.len() && left.iter().all(has)
        }
        _ => left == right,
    }
}
