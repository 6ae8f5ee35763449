//! The examples and the first guide, run end to end as a reader would run them, without a model server. The programs are those
//! that the tests have built: nothing is compiled again.
//!
//! To add one, add a [`Run`] to [`RUNS`].

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command::{Ended, Tool};
use crate::report::Outcome;
use crate::result::Result;
use crate::work::Work;

/// No example may take longer; they run on the offline model.
const LIMIT: Duration = Duration::from_secs(120);

/// The first guide, and the example that is its program.
const GUIDE: &str = "docs/guides/getting-started.md";
const OF_GUIDE: (&str, &str) = ("trip", "examples/programs/trip.rs");

/// One run of an example, and what it has to show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// The name after `cargo run --example`.
    pub(crate) example: &'static str,
    /// The arguments after `--`.
    pub(crate) arguments: &'static [&'static str],
    /// The standard input.
    pub(crate) input: &'static str,
    /// Text that the output, standard error included, has to contain.
    pub(crate) shows: &'static [&'static str],
    /// Text that it must not contain.
    pub(crate) hides: &'static [&'static str],
    /// The exit code that it has to end with.
    pub(crate) exit: i32,
}

impl Run {
    /// `example` run without arguments and input, ending well, whatever it prints.
    const fn of(example: &'static str) -> Self {
        Self { example, arguments: &[], input: "", shows: &[], hides: &["panicked at"], exit: 0 }
    }
}

/// Every run. What the tests of an example repeat (`tests/program.rs`) is not here.
pub(crate) const RUNS: &[Run] = &[
    Run { input: "1 + 1은?\n2 * 21은?\n", shows: &["42"], ..Run::of("rag") },
    Run {
        arguments: &["--max-messages", "4"],
        input: "내 이름은 철수야\n우리 예산은 3억원이야\n안녕하세요\n내 이름이 뭐라고 했지?\n/summary\n/tokens\n",
        shows: &["- 내 이름은 철수야", "[대화 기록 1]", "토큰"],
        ..Run::of("chat")
    },
    Run {
        input: "3억을 4%로 30년 빌리면 매달 얼마씩 갚아?\n/plan\n/decisions\n오늘 날씨 어때?\n",
        shows: &[
            "143만 2,245원",
            "모델이 만든 계획",
            "loan_simulator",
            "다룰 수 있는 일이 아닙니다",
        ],
        ..Run::of("real-estate")
    },
    Run {
        input: "우유 사기 메모해 줘\n메모 목록 보여 줘\n보고서 만들어 줘\n/why\n/servers\n",
        shows: &["우유 사기", "보고서를 다 만들었습니다", "desk/build_report", "2026-07-28"],
        ..Run::of("orchestrator")
    },
    Run {
        shows: &["asked: pay 40", "refused:", "at `/amount`", "done: paid 35"],
        ..Run::of("approval")
    },
    Run {
        shows: &["failed: node `weather`", "a map, Seoul: sunny, Busan: sunny", "calls: 4"],
        ..Run::of("fan_out")
    },
    Run {
        shows: &["trip > research: reading 1 pages", "trains to Gyeongju, a good inn; bags packed"],
        ..Run::of("nested")
    },
    Run {
        shows: &["billing (1 hops): Invoice 7", "billing (0 hops): It was paid in May."],
        ..Run::of("hand_off")
    },
    Run { shows: &["hanok은 러스트로 쓴"], ..Run::of("teams") },
    Run {
        shows: &["Lions cannot play poker", "the shortest of 3: It yaks too much."],
        ..Run::of("map_reduce")
    },
    Run {
        shows: &["find the winner: Sinner\nfind the home of Sinner: Sesto\nanswer: Sesto"],
        ..Run::of("plan_and_execute")
    },
    Run {
        shows: &["user: more depth\nassistant: Tea is a hot leaf.\nuser: good\n2 drafts"],
        ..Run::of("reflection")
    },
    Run { shows: &["billing: It is on its way.\nbilling: In three days."], ..Run::of("swarm") },
    Run {
        shows: &[
            "first build: Some(Account { owner: \"Ada\", euros: 10 })",
            "second build: Account { holder: \"Ada\", cents: 1500 }",
            "first build: the state was stored in version 2",
        ],
        ..Run::of("evolve")
    },
    Run {
        shows: &[
            "fetch again: the connection was reset\nfetch …\nfetch again: it took longer than 100ms",
            "count: counting words",
            "before [\"write\"]\nwrite …\nTea is fine.\ndone\n5 words",
            "turn 2\nfetch …\nfetch from the cache\ncounting …",
            "Tea is good.",
        ],
        ..Run::of("resilience")
    },
    Run {
        shows: &[
            "\"hanok was born in 2026. Is that right?\"\nright after 4 messages",
            "\"Yes, as I said: 2026. Is that right?\"\nright after 6 messages\nback at position",
            ": wrong",
        ],
        ..Run::of("quick_start")
    },
];

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cargo run --example {}", self.example)?;
        if !self.arguments.is_empty() {
            write!(f, " --")?;
        }
        self.arguments.iter().try_for_each(|argument| write!(f, " {argument:?}"))
    }
}

impl Run {
    /// What is wrong with the way the run ended; empty when nothing is.
    pub(crate) fn faults(&self, ended: &Ended) -> Vec<String> {
        let mut faults = Vec::new();
        if ended.late {
            faults.push(format!("not done after {} s", LIMIT.as_secs()));
        } else if ended.code != Some(self.exit) {
            let code = ended.code.map_or_else(|| "a signal".to_owned(), |code| code.to_string());
            faults.push(format!("ended with {code}, not with {}", self.exit));
        }
        let is_shown = |text: &&&str| ended.output.contains(**text);
        let missing = self.shows.iter().filter(|text| !is_shown(text));
        faults.extend(missing.map(|text| format!("does not show {text:?}")));
        faults.extend(self.hides.iter().filter(is_shown).map(|text| format!("shows {text:?}")));
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
        let tool = Tool::named(program(run.example)).arguments(run.arguments).input(run.input);
        let ended = tool.limit(LIMIT).run()?;
        let faults = run.faults(&ended);
        if !faults.is_empty() {
            failures.push_str(&format!("{run}: {}\n{}\n", faults.join("; "), ended.output));
        }
    }
    let steps = Steps::read(&fs::read_to_string(work.metadata.workspace_root.join(GUIDE))?);
    failures.extend(steps.faults(&program(OF_GUIDE.0), &work.metadata.target_directory)?);
    Ok(match failures.is_empty() {
        true => {
            Outcome::Passed(format!("{} runs, {} of the first guide", RUNS.len(), steps.runs.len()))
        }
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

    /// Reads a line of a terminal: a run, or what the last one prints.
    fn console(&mut self, line: &str) {
        if let Some(arguments) = line.strip_prefix("$ cargo run") {
            let arguments = arguments.trim_start().trim_start_matches("--").split_whitespace();
            self.runs.push((arguments.map(str::to_owned).collect(), String::new()));
        } else if let (false, Some((_, shown))) = (line.starts_with('$'), self.runs.last_mut()) {
            *shown += line;
            shown.push('\n');
        }
    }

    /// The differences between the page, the file of its program, and what the built `program` prints.
    fn faults(&self, program: &Path, target: &Path) -> Result<Option<String>> {
        let (name, file) = OF_GUIDE;
        let source = fs::read_to_string(file)?;
        let code = source.lines().skip_while(|line| line.starts_with("//!") || line.is_empty());
        if !code.eq(self.program.lines()) || self.runs.is_empty() {
            return Ok(Some(format!(
                "{file} is not the program of {GUIDE}, or the page runs none"
            )));
        }
        let folder: PathBuf = target.join("first-guide");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        for (arguments, shown) in &self.runs {
            let tool = Tool::named(program).arguments(arguments).within(&folder);
            let run = tool.limit(LIMIT).run()?;
            if !run.succeeded() || run.output != *shown {
                let printed = run.output;
                return Ok(Some(format!(
                    "{name} {arguments:?} prints\n{printed}\nand {GUIDE} says\n{shown}"
                )));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(output: &str, code: Option<i32>) -> Ended {
        Ended { output: output.into(), code, late: false }
    }

    #[test]
    fn a_run_names_everything_that_went_wrong() {
        let run = Run { shows: &["15일", "인사규정"], ..Run::of("rag") };

        for (ended, want) in [
            (ended("연차는 15일 (인사규정)", Some(0)), vec![]),
            (ended("연차는 16일 (인사규정)", Some(0)), vec!["does not show \"15일\""]),
            (
                ended("thread main panicked at x", Some(101)),
                vec![
                    "ended with 101, not with 0",
                    "does not show \"15일\"",
                    "does not show \"인사규정\"",
                    "shows \"panicked at\"",
                ],
            ),
            (ended("15일 인사규정", None), vec!["ended with a signal, not with 0"]),
        ] {
            assert_eq!(run.faults(&ended), want, "{ended:?}");
        }
    }

    #[test]
    fn a_run_reads_as_the_command_that_a_reader_types() {
        let run = Run { arguments: &["휴가는?"], ..Run::of("rag") };
        assert_eq!(run.to_string(), "cargo run --example rag -- \"휴가는?\"");
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
