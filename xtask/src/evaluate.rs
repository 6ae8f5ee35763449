//! `cargo xtask evaluate`: builds what asks questions, and runs it.
//!
//! Without a name these are questions about the sample documents; `team`, `law`, `figures`, `memory` and `tools` are tests
//! that print their table. `tools --encoder FOLDER` also finds by the files of an encoder.
//! `cargo xtask questions EXAMPLE` asks an example its questions, with the same options; `--held-out` asks `rag`, `chat` and
//! `contract` those for which no rule was made, and prints nothing but the table.
//! `team` and `tools` with `--model [--cache FOLDER]` ask the server that the environment names (`OPENAI_BASE_URL`, `OPENAI_API_KEY`, `OPENAI_MODEL`)
//! a fixed sample; its replies are kept in FOLDER, else among the temporary files, and a second run asks nothing.

use crate::command::Tool;
use crate::result::Result;

/// The tests of the examples.
const EXAMPLES: &str = "example-tests";

/// What has a table of its own: its name, and the package, the program and the module of the tests that print it.
const TABLES: [(&str, &str, &str, &str); 5] = [
    ("team", EXAMPLES, "real_estate", "team::"),
    ("law", EXAMPLES, "real_estate", "law::"),
    ("figures", "hanok-supervisor", "it", "grounding::"),
    ("memory", "hanok-memory", "it", "evaluation::"),
    ("tools", "hanok-agent", "it", "tool_search::"),
];

/// What asks an example questions: its name, and the program and the module of the tests that print what came of them.
const QUESTIONS: [(&str, &str, &str); 5] = [
    ("orchestrator", "orchestrator", "requests::"),
    ("real-estate", "real_estate", "team::"),
    ("rag", "rag", "asked::"),
    ("chat", "chat", "asked::"),
    ("contract", "contract", "asked::"),
];

/// What the names of tests begin with that ask the questions for which no rule was made.
const HELD_OUT: &str = "held_out";

/// The variable that names the folder of a server's replies.
const CACHE: &str = "HANOK_EVALUATE_CACHE";

/// The variable that names the folder of an encoder's files.
const ENCODER: &str = "HANOK_TEST_ENCODER";

/// What is asked of a table besides its name.
#[derive(Debug, Default, PartialEq)]
struct TableOptions {
    model: bool,
    cache: Option<String>,
    encoder: Option<String>,
    held_out: bool,
}

impl TableOptions {
    fn read(options: &[String]) -> Result<Self> {
        let (mut asked, mut options) = (Self::default(), options.iter());
        while let Some(option) = options.next() {
            match option.as_str() {
                "--model" => asked.model = true,
                "--held-out" => asked.held_out = true,
                "--cache" => {
                    let folder = options.next().ok_or("`--cache` takes a folder")?;
                    asked.cache = Some(folder.clone());
                }
                "--encoder" => {
                    let folder = options.next().ok_or("`--encoder` takes a folder")?;
                    asked.encoder = Some(folder.clone());
                }
                option => {
                    let fault = format!(
                        "`{option}` is none of `--model`, `--cache FOLDER`, `--encoder FOLDER`, `--held-out`"
                    );
                    return Err(fault.into());
                }
            }
        }
        Ok(asked)
    }
}

/// Hands `arguments` on and says whether all of it could be measured.
///
/// # Errors
///
/// Cargo could not be started.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let named =
        |(name, ..): &&(&str, &str, &str, &str)| arguments.first().is_some_and(|it| it == name);
    if let Some((_, package, program, module)) = TABLES.iter().find(named) {
        let options = arguments.get(1..).unwrap_or_default();
        return table(&["--package", package, "--test", program], module, options);
    }
    Tool::cargo()
        .arguments(["run", "--release", "--quiet", "--package", "hanok-bench-retrieval", "--"])
        .arguments(arguments)
        .shown()
}

/// Asks the example that `arguments` name its questions, and says whether enough of them were answered as they have to be.
///
/// # Errors
///
/// There is no such example, or Cargo could not be started.
pub(crate) fn questions(arguments: &[String]) -> Result<bool> {
    let named = |(name, ..): &&(&str, &str, &str)| arguments.first().is_some_and(|it| it == name);
    let Some((example, program, module)) = QUESTIONS.iter().find(named) else {
        let names: Vec<_> = QUESTIONS.iter().map(|(name, ..)| *name).collect();
        return Err(format!("say which example is asked: {}", names.join(", ")).into());
    };
    // Its test runs the example's program, which a test alone does not build.
    let targets = ["--package", EXAMPLES, "--package", example, "--examples", "--test", program];
    table(&targets, module, arguments.get(1..).unwrap_or_default())
}

/// Runs what prints a table: the tests of `module` in `targets`.
fn table(targets: &[&str], module: &str, options: &[String]) -> Result<bool> {
    let asked = TableOptions::read(options)?;
    // All questions, where a test takes a sample.
    let tests = Tool::cargo()
        .variable("HANOK_TEST_FULL", "1")
        .arguments(["test", "--quiet"])
        .arguments(targets)
        .arguments(["--", "--nocapture", "--test-threads", "1"]);
    let tests = match asked.held_out {
        true => tests.arguments([format!("{module}{HELD_OUT}")]),
        false => tests.arguments([module, "--skip", HELD_OUT]),
    };
    let tests = if asked.model { tests.arguments(["--ignored"]).with_model() } else { tests };
    let folders = [(CACHE, asked.cache), (ENCODER, asked.encoder)];
    let tests = folders.into_iter().try_fold(tests, |tests, (variable, folder)| {
        Ok::<_, std::io::Error>(match folder {
            Some(folder) => tests.variable(variable, std::path::absolute(folder)?),
            None => tests,
        })
    })?;
    tests.shown()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_s_options_are_read_and_what_is_none_is_named() {
        let read = |line: &str| {
            let options: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            TableOptions::read(&options).map_err(|error| error.to_string())
        };
        let cache = Some("/tmp/replies".to_owned());
        assert_eq!(read(""), Ok(TableOptions::default()));
        assert_eq!(
            read("--model --cache /tmp/replies"),
            Ok(TableOptions { model: true, cache, ..TableOptions::default() })
        );
        let encoder = Some("files".to_owned());
        assert_eq!(
            read("--encoder files"),
            Ok(TableOptions { encoder, ..TableOptions::default() })
        );
        let held_out = TableOptions { held_out: true, ..TableOptions::default() };
        assert_eq!(read("--held-out"), Ok(held_out));
        assert_eq!(read("--cache"), Err("`--cache` takes a folder".to_owned()));
        assert!(read("--modle").is_err_and(|error| error.contains("--modle")));
    }
}
