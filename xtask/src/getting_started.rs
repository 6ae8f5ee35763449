//! The first guide, followed to the letter: its dependencies, its program and its runs in a package outside the workspace.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::command::Tool;
use crate::guides::{self, Added};
use crate::metadata::Metadata;
use crate::neighbours;
use crate::report::Outcome;
use crate::result::Result;

const GUIDE: &str = "docs/guides/getting-started.md";

/// The name of its package.
const NAME: &str = "trip";

/// No run of the program may take longer.
const LIMIT: Duration = Duration::from_secs(60);

/// What a reader does, in the words of the page.
#[derive(Debug, Default, PartialEq, Eq)]
struct Steps {
    /// The packages that are added, each with its features.
    added: Vec<Added>,
    program: String,
    /// The arguments of each run, and its output.
    runs: Vec<(Vec<String>, String)>,
}

/// Makes the package of the page, builds it, and compares what its runs print with the page.
pub(crate) fn stage(metadata: &Metadata) -> Result<Outcome> {
    let steps = Steps::read(&fs::read_to_string(metadata.workspace_root.join(GUIDE))?);
    if steps.added.is_empty() || steps.program.is_empty() || steps.runs.is_empty() {
        return Ok(Outcome::Failed(format!("{GUIDE}: no dependencies, no program or no runs")));
    }
    let folder = package(metadata, &steps)?;
    let build = Tool::cargo()
        .arguments(["build", "--quiet", "--manifest-path"])
        .arguments([folder.join("Cargo.toml")])
        .variable("CARGO_TARGET_DIR", &metadata.target_directory);
    let built = build.run()?;
    if !built.succeeded() {
        return Ok(Outcome::Failed(built.output));
    }
    let program = metadata.target_directory.join("debug").join(format!("{NAME}{EXE_SUFFIX}"));
    for (arguments, shown) in &steps.runs {
        let run = Tool::named(&program).arguments(arguments).within(&folder).limit(LIMIT).run()?;
        if !run.succeeded() || run.output != *shown {
            let printed = run.output;
            let what =
                format!("{NAME} {arguments:?} prints\n{printed}\nand the page says\n{shown}");
            return Ok(Outcome::Failed(what));
        }
    }
    let lines = steps.program.lines().filter(|line| !line.trim().is_empty()).count();
    Ok(Outcome::Passed(format!("{lines} lines, {} runs as the page shows them", steps.runs.len())))
}

impl Steps {
    fn read(page: &str) -> Self {
        let mut steps = Self::default();
        let mut fence: Option<&str> = None;
        for line in page.lines() {
            match (fence, line.strip_prefix("```")) {
                (Some(_), Some(_)) => fence = None,
                (None, Some(language)) => fence = Some(language),
                (Some("console"), None) => steps.console(line),
                (Some(language), None) if language.starts_with("rust") => {
                    steps.program += line;
                    steps.program.push('\n');
                }
                _ => {}
            }
        }
        steps
    }

    /// Takes a line of a terminal: a command, or what the last one prints.
    fn console(&mut self, line: &str) {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        if let Some(added) = guides::added(line) {
            self.added.extend(added);
        } else if let Some(arguments) = line.strip_prefix("$ cargo run") {
            let arguments = arguments.trim_start().trim_start_matches("--");
            self.runs.push((words(arguments), String::new()));
        } else if let (false, Some((_, shown))) = (line.starts_with('$'), self.runs.last_mut()) {
            *shown += line;
            shown.push('\n');
        }
    }
}

/// Makes the package anew, with the lock of the workspace.
fn package(metadata: &Metadata, steps: &Steps) -> Result<PathBuf> {
    let before = neighbours::folder(metadata, NAME);
    if before.exists() {
        fs::remove_dir_all(before)?;
    }
    let dependencies: Vec<_> = steps.added.iter().map(guides::dependency).collect();
    let source = ("main.rs", steps.program.as_str());
    let dependencies = dependencies.join("\n");
    neighbours::locked_program(metadata, NAME, &dependencies, source, &metadata.workspace_root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_its_reader_follows_it() {
        let page = "# One\n\n```console\n$ cargo new trip && cd trip\n$ cargo add hanok -F a,b\n$ cargo add x y\n```\n\n\
            ```rust,no_run\nfn main() {}\n```\n\n```console\n$ cargo run\none\ntwo\n$ cargo run -- yes\nthree\n```\n";
        let (none, text) = (Vec::new(), str::to_owned);
        let added = vec![
            (text("hanok"), vec![text("a"), text("b")]),
            (text("x"), none.clone()),
            (text("y"), none),
        ];
        let runs = vec![(Vec::new(), text("one\ntwo\n")), (vec![text("yes")], text("three\n"))];
        assert_eq!(Steps::read(page), Steps { added, program: text("fn main() {}\n"), runs });
    }
}
