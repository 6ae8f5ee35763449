//! The examples and the first guide, run end to end as a reader would run them, without a model server. The programs are those
//! that the tests have built: nothing is compiled again.
//!
//! To add one, add a [`Run`] to [`RUNS`].

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::command::{Ended, Tool};
use crate::pages;
use crate::report::{Outcome, Work};
use crate::result::Result;

/// No example may take longer; they run on the offline model.
const LIMIT: Duration = Duration::from_secs(120);

/// The first guide, and the example that is its program.
const GUIDE: &str = "docs/guides/getting-started.md";
const OF_GUIDE: (&str, &str) = ("trip", "examples/programs/trip.rs");

/// One run of an example. It has to end well, and to show some text, standard error included.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// The name after `cargo run --example`, and the arguments after `--`.
    example: &'static str,
    arguments: &'static [&'static str],
    /// The standard input.
    input: &'static str,
    shows: &'static [&'static str],
}

/// A run without arguments and input.
const fn run(example: &'static str, shows: &'static [&'static str]) -> Run {
    Run { example, arguments: &[], input: "", shows }
}

/// Every run. What the tests of an example repeat (`tests/program.rs`) is not here.
const RUNS: &[Run] = &[
    Run { input: "1 + 1은?\n2 * 21은?\n", ..run("rag", &["42"]) },
    Run {
        arguments: &["--max-messages", "4"],
        input: "내 이름은 철수야\n우리 예산은 3억원이야\n안녕하세요\n내 이름이 뭐라고 했지?\n/summary\n/tokens\n",
        ..run("chat", &["- 내 이름은 철수야", "[대화 기록 1]", "토큰"])
    },
    Run {
        input: "3억을 4%로 30년 빌리면 매달 얼마씩 갚아?\n/plan\n/decisions\n오늘 날씨 어때?\n",
        ..run(
            "real-estate",
            &["143만 2,245원", "모델이 만든 계획", "loan_simulator", "다룰 수 있는 일이 아닙니다"],
        )
    },
    Run {
        // Nobody is there to be asked.
        arguments: &["--gates", "none"],
        input: "우유 사기 메모해 줘\n메모 목록 보여 줘\n보고서 만들어 줘\n/why\n/servers\n",
        ..run(
            "orchestrator",
            &["우유 사기", "보고서를 다 만들었습니다", "desk/build_report", "2026-07-28"],
        )
    },
    run("approval", &["asked: pay 40", "refused:", "at `/amount`", "done: paid 35"]),
    run("fan_out", &["failed: node `weather`", "a map, Seoul: sunny, Busan: sunny", "calls: 4"]),
    run(
        "nested",
        &["trip > research: reading 1 pages", "trains to Gyeongju, a good inn; bags packed"],
    ),
    run("hand_off", &["billing (1 hops): Invoice 7", "billing (0 hops): It was paid in May."]),
    run("teams", &["hanok은 러스트로 쓴"]),
    run("map_reduce", &["Lions cannot play poker", "the shortest of 3: It yaks too much."]),
    run(
        "plan_and_execute",
        &["find the winner: Sinner\nfind the home of Sinner: Sesto\nanswer: Sesto"],
    ),
    run("reflection", &["user: more depth\nassistant: Tea is a hot leaf.\nuser: good\n2 drafts"]),
    run("swarm", &["billing: It is on its way.\nbilling: In three days."]),
    run(
        "evolve",
        &[
            "first build: Some(Account { owner: \"Ada\", euros: 10 })",
            "second build: Account { holder: \"Ada\", cents: 1500 }",
            "first build: the state was stored in version 2",
        ],
    ),
    run(
        "resilience",
        &[
            "fetch again: the connection was reset\nfetch …\nfetch again: it took longer than 100ms",
            "count: counting words",
            "before [\"write\"]\nwrite …\nTea is fine.\ndone\n5 words",
            "turn 2\nfetch …\nfetch from the cache\ncounting …",
            "Tea is good.",
        ],
    ),
    run(
        "quick_start",
        &[
            "\"hanok was born in 2026. Is that right?\"\nright after 4 messages",
            "\"Yes, as I said: 2026. Is that right?\"\nright after 6 messages\nback at position",
            ": wrong",
        ],
    ),
];

impl Run {
    /// What is wrong with the way the run ended; empty when nothing is.
    fn faults(&self, ended: &Ended) -> Vec<String> {
        let mut faults = Vec::new();
        if ended.late {
            faults.push(format!("not done after {} s", LIMIT.as_secs()));
        } else if ended.code != Some(0) {
            faults.push(format!("ended with {:?}", ended.code));
        }
        if ended.output.contains("panicked at") {
            faults.push("panicked".to_owned());
        }
        let missing = self.shows.iter().filter(|text| !ended.output.contains(**text));
        faults.extend(missing.map(|text| format!("does not show {text:?}")));
        faults
    }
}

/// Builds all examples as the tests do, and runs them.
pub(crate) fn stage(work: &Work) -> Result<Outcome> {
    let build = ["build", "--workspace", "--all-features", "--examples"];
    let built = Tool::cargo().arguments(build).run()?;
    if !built.succeeded() {
        return Ok(Outcome::Failed(built.output));
    }
    let programs = work.metadata.target_directory.join("debug").join("examples");
    let program = |name: &str| programs.join(format!("{name}{EXE_SUFFIX}"));
    let mut failures = String::new();
    for run in RUNS {
        let Run { example, arguments, input, .. } = run;
        let ended =
            Tool::named(program(example)).arguments(*arguments).input(input).limit(LIMIT).run()?;
        let faults = run.faults(&ended);
        if !faults.is_empty() {
            let command = format!("cargo run --example {example} -- {}", arguments.join(" "));
            failures.push_str(&format!("{command}: {}\n{}\n", faults.join("; "), ended.output));
        }
    }
    let steps = Steps::read(&fs::read_to_string(GUIDE)?);
    failures.extend(steps.faults(&program(OF_GUIDE.0), &work.metadata.target_directory)?);
    let (runs, of_guide) = (RUNS.len(), steps.runs.len());
    Ok(match failures.is_empty() {
        true => Outcome::Passed(format!("{runs} runs, {of_guide} of the first guide")),
        false => Outcome::Failed(failures),
    })
}

/// The program of a guide, and what its reader does with it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Steps {
    program: String,
    /// The arguments of each run, and its output.
    runs: Vec<(Vec<String>, String)>,
}

impl Steps {
    fn read(page: &str) -> Self {
        let mut steps = Self::default();
        for block in pages::blocks(page) {
            let is_console = block.language == "console";
            for line in block.lines.iter().filter(|_| is_console || block.is_rust()) {
                if block.is_rust() {
                    steps.program += &format!("{line}\n");
                } else if let Some(arguments) = line.strip_prefix("$ cargo run") {
                    let arguments = arguments.trim_start().trim_start_matches("--");
                    let arguments = arguments.split_whitespace().map(str::to_owned).collect();
                    steps.runs.push((arguments, String::new()));
                } else if let (false, Some(run)) = (line.starts_with('$'), steps.runs.last_mut()) {
                    run.1 += &format!("{line}\n");
                }
            }
        }
        steps
    }

    /// The differences between the page, the file of its program, and what the built `program` prints.
    fn faults(&self, program: &Path, target: &Path) -> Result<Option<String>> {
        let (name, file) = OF_GUIDE;
        let source = fs::read_to_string(file)?;
        let code = source.lines().skip_while(|line| line.starts_with("//!") || line.is_empty());
        if !code.eq(self.program.lines()) || self.runs.is_empty() {
            return Ok(Some(format!("{file} is not the program of {GUIDE}, or nothing runs it")));
        }
        let folder = target.join("first-guide");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        for (arguments, shown) in &self.runs {
            let tool = Tool::named(program).arguments(arguments).within(&folder);
            let run = tool.limit(LIMIT).run()?;
            if !run.succeeded() || run.output != *shown {
                let printed = format!("{name} {arguments:?} prints\n{}", run.output);
                return Ok(Some(format!("{printed}\nand {GUIDE} says\n{shown}")));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_names_everything_that_went_wrong() {
        let run = run("rag", &["15일", "인사규정"]);
        for (output, code, want) in [
            ("연차는 15일 (인사규정)", Some(0), vec![]),
            ("연차는 16일 (인사규정)", Some(0), vec!["does not show \"15일\""]),
            ("15일 인사규정 panicked at x", Some(101), vec!["ended with Some(101)", "panicked"]),
            ("15일 인사규정", None, vec!["ended with None"]),
        ] {
            let ended = Ended { output: output.into(), code, late: false };
            assert_eq!(run.faults(&ended), want, "{ended:?}");
        }
    }

    #[test]
    fn a_page_is_read_as_its_reader_follows_it() {
        let page = "# One\n\n```console\n$ cargo new trip && cd trip\n```\n\n```rust,no_run\nfn main() {}\n```\n\n\
            ```console\n$ cargo run\none\ntwo\n$ cargo run -- yes\nthree\n```\n";
        let text = str::to_owned;
        let runs = vec![(Vec::new(), text("one\ntwo\n")), (vec![text("yes")], text("three\n"))];
        assert_eq!(Steps::read(page), Steps { program: text("fn main() {}\n"), runs });
    }
}
