//! `cargo xtask evaluate`, `questions` and `prompts`: start what asks questions.
//!
//! Without a name `evaluate` runs the program of `benches/retrieval`; `team`, `law`, `figures`, `memory` and `tools` are tests
//! that print their table, and so are the questions to an example and its prompts. Their options reach them as variables.

use crate::command::Tool;
use crate::options::misuse;
use crate::result::Result;

/// The name of a table, and the package, the program and the module of tests that print it.
type Table = (&'static str, &'static str, &'static str, &'static str);

/// The tests of the examples.
const EXAMPLES: &str = "example-tests";

const TABLES: [Table; 5] = [
    ("team", EXAMPLES, "assistants", "real_estate::team::"),
    ("law", EXAMPLES, "assistants", "real_estate::law::"),
    ("figures", "hanok-grounding", "it", "evaluation::"),
    ("memory", "hanok-learning", "it", "evaluation::"),
    ("tools", "hanok-agent", "it", "tool_search::"),
];

const QUESTIONS: [Table; 5] = [
    ("orchestrator", EXAMPLES, "assistants", "orchestrator::requests::"),
    ("real-estate", EXAMPLES, "assistants", "real_estate::team::"),
    ("rag", EXAMPLES, "documents", "rag::asked::"),
    ("chat", EXAMPLES, "documents", "chat::asked::"),
    ("contract", EXAMPLES, "documents", "contract::asked::"),
];

const OPTIONS: &str = "`--model`, `--cache FOLDER`, `--encoder FOLDER`";

/// Prints the table that `arguments` name, or measures how documents are found. Returns false if something failed.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    if let Some(table) = named(&TABLES, arguments) {
        return print(table, arguments, false);
    }
    let run = ["run", "--release", "--quiet", "--package", "hanok-bench-retrieval", "--"];
    Tool::cargo().arguments(run).arguments(arguments).shown()
}

/// Asks the example that `arguments` name its questions. Returns true if enough of them were answered as they have to be.
pub(crate) fn questions(arguments: &[String]) -> Result<bool> {
    let names = || QUESTIONS.map(|(name, ..)| name).join(", ");
    let table = named(&QUESTIONS, arguments);
    let table = table.ok_or_else(|| misuse(format!("say which example is asked: {}", names())))?;
    // The tests run the example's program, which a test alone does not build.
    print(table, arguments, true)
}

/// Records what the example that `arguments` name asks of a model, one request of each kind, and prints it.
pub(crate) fn prompts(arguments: &[String]) -> Result<bool> {
    let names = QUESTIONS.map(|(name, ..)| name);
    let [name] = arguments else {
        return Err(misuse(format!("say whose prompts: {}", names.join(", "))));
    };
    if !names.contains(&name.as_str()) {
        return Err(misuse(format!("`{name}` is none of {}", names.join(", "))));
    }
    let test = format!("served::prompts::{}", name.replace('-', "_"));
    // What was recorded before is replaced: a reader looks at the difference.
    let tests = Tool::cargo().variable("INSTA_UPDATE", "always");
    let tests = tests.arguments(["test", "--quiet", "--package", EXAMPLES, "--package", name]);
    let tests = tests.arguments(["--all-features", "--examples", "--test", "assistants"]);
    tests.arguments(["--", "--nocapture", "--exact", test.as_str()]).shown()
}

fn named<'t>(tables: &'t [Table], arguments: &[String]) -> Option<&'t Table> {
    tables.iter().find(|(name, ..)| arguments.first().is_some_and(|it| it == name))
}

fn print(table: &Table, arguments: &[String], with_examples: bool) -> Result<bool> {
    let (name, package, program, module) = *table;
    let examples: &[&str] = if with_examples { &["--package", name, "--examples"] } else { &[] };
    // All questions, where a test takes a sample.
    let mut tests = Tool::cargo()
        .variable("HANOK_TEST_FULL", "1")
        .arguments(["test", "--quiet", "--package", package])
        .arguments(examples)
        .arguments(["--test", program, "--", "--nocapture", "--test-threads", "1"]);
    let mut options = arguments.iter().skip(1);
    while let Some(option) = options.next() {
        let variable = match option.as_str() {
            "--model" => {
                tests = tests.arguments(["--ignored"]).with_model();
                continue;
            }
            "--cache" => "HANOK_EVALUATE_CACHE",
            "--encoder" => "HANOK_TEST_ENCODER",
            _ => return Err(misuse(format!("`{option}` is none of {OPTIONS}"))),
        };
        let folder = options.next().ok_or_else(|| format!("`{option}` takes a folder"))?;
        tests = tests.variable(variable, std::path::absolute(folder)?);
    }
    tests.arguments([module]).shown()
}
