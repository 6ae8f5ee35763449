//! The examples, run end to end as a reader would run them, without a model server.
//!
//! To add one, add a [`Run`] to [`RUNS`].

use std::time::Duration;

use crate::command::{Ended, Tool};

/// No example may take longer; they run on the offline model.
const LIMIT: Duration = Duration::from_secs(120);

/// One run of an example, and what it has to show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// The name after `cargo run --example`.
    pub(crate) example: &'static str,
    /// What stands after `--`.
    pub(crate) arguments: &'static [&'static str],
    /// What is piped in. Nothing: the standard input is empty.
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

/// Every run. One whose example does not exist yet is skipped, and named in the summary.
pub(crate) const RUNS: &[Run] = &[
    Run {
        arguments: &["회사 휴가 정책 알려줘"],
        shows: &["1일", "15일", "20일", "80", "인사규정"],
        ..Run::of("rag")
    },
    Run {
        arguments: &["김하늘 연차 며칠 남았어?"], shows: &["김하늘"], ..Run::of("rag")
    },
    Run { arguments: &["123 * 456은?"], shows: &["56,088"], ..Run::of("rag") },
    Run {
        arguments: &["--graph"],
        shows: &["rag_agent", "internal_agent", "external_agent"],
        ..Run::of("rag")
    },
    Run {
        arguments: &["화성 기지의 산소 배급 절차는?"], shows: &["찾지 못"], ..Run::of("rag")
    },
    Run { input: "1 + 1은?\n2 * 21은?\n", shows: &["42"], ..Run::of("rag") },
    Run { arguments: &["--no-such-option"], exit: 2, ..Run::of("rag") },
    Run { arguments: &["123 * 456 계산해줘"], shows: &["56,088"], ..Run::of("chat") },
    Run {
        arguments: &["회사 휴가 정책이 뭐야?"], shows: &["15일", "인사규정"], ..Run::of("chat")
    },
    Run {
        arguments: &["--max-messages", "4"],
        input: "내 이름은 철수야\n우리 예산은 3억원이야\n안녕하세요\n내 이름이 뭐라고 했지?\n/summary\n/tokens\n",
        shows: &["- 내 이름은 철수야", "[대화 기록 1]", "토큰"],
        ..Run::of("chat")
    },
    Run { arguments: &["--max-messages", "1"], exit: 2, ..Run::of("chat") },
    Run {
        arguments: &["--json", "1 + 1은?"],
        shows: &[r#""event":"token""#, r#""event":"answer""#],
        ..Run::of("chat")
    },
    Run {
        arguments: &["제5조 내용이 뭐야?"],
        shows: &["제5조(계약기간)", "2026년 11월 30일"],
        ..Run::of("contract")
    },
    Run {
        input: "계약 기간은?\n그럼 해지는?\n제99조는?\n오늘 날씨 어때?\n",
        shows: &["제5조", "제21조", "제99조는 이 계약서에 없습니다", "계약서에 관한 질문에만"],
        ..Run::of("contract")
    },
    Run {
        arguments: &["--json", "대금의 지급 조항을 표준계약서와 비교해줘"],
        shows: &[r#""event":"tool_selected""#, r#""origin":"standard""#, r#""event":"answer""#],
        ..Run::of("contract")
    },
    Run {
        arguments: &["--contract", "no-such-file.docx", "제1조는?"],
        shows: &["계약서를 읽을 수 없습니다"],
        exit: 1,
        ..Run::of("contract")
    },
    Run {
        arguments: &["전세금을 3억에서 3.3억으로 올려 달라는데 올려 줘야 해? 마포구 시세도 보여줘"],
        shows: &["10.0% 오릅니다", "주택임대차보호법 제7조", "마포구"],
        hides: &["panicked at", "확인되지 않은 수치"],
        ..Run::of("real-estate")
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
        arguments: &["--json", "임대차계약서 써줘"],
        shows: &[r#""event":"todo_updated""#, r#""event":"question""#],
        exit: 5,
        ..Run::of("real-estate")
    },
    Run {
        input: "우유 사기 메모해 줘\n메모 목록 보여 줘\n보고서 만들어 줘\n/why\n/servers\n",
        shows: &["우유 사기", "보고서를 다 만들었습니다", "desk/build_report", "2026-07-28"],
        ..Run::of("orchestrator")
    },
    Run {
        arguments: &["--gates", "plan", "--json", "내일 오후 3시에 회의 일정 잡아 줘"],
        shows: &[r#""event":"start""#, r#""event":"human_input_required""#, "desk__add_event"],
        exit: 5,
        ..Run::of("orchestrator")
    },
    Run {
        arguments: &["--tool", "find"],
        input: "Thought: look\nAction: find\nAction Input: {'q': 12345678901234567890,}\n",
        shows: &[r#""name":"find""#, "12345678901234567890", r#"{"event":"finished"}"#],
        ..Run::of("parse")
    },
    Run {
        arguments: &["--jsonl", "--split", "3"],
        input: "{\"id\": 1, \"text\": \"Final Answer: 네\"}\n{\"id\": 2}\n",
        shows: &[
            r#"{"id":1,"calls":[],"final":"네","error":null,"rejected":[]}"#,
            "line 2: no case",
        ],
        exit: 1,
        ..Run::of("parse")
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
    /// The command a reader would type, silent about the build.
    pub(crate) fn tool(&self) -> Tool {
        Tool::cargo()
            .arguments(["run", "--quiet", "--example", self.example, "--"])
            .arguments(self.arguments)
            .input(self.input)
            .limit(LIMIT)
    }

    /// What is wrong with the way the run ended; empty when nothing is.
    pub(crate) fn faults(&self, ended: &Ended) -> Vec<String> {
        let mut faults = Vec::new();
        if ended.late {
            faults.push(format!("not done after {} s", LIMIT.as_secs()));
        } else if ended.code != Some(self.exit) {
            let code = ended.code.map_or_else(|| "a signal".to_owned(), |code| code.to_string());
            faults.push(format!("ended with {code}, not with {}", self.exit));
        }
        let shown = |text: &&&str| ended.output.contains(**text);
        faults.extend(
            self.shows
                .iter()
                .filter(|text| !shown(text))
                .map(|text| format!("does not show {text:?}")),
        );
        faults.extend(self.hides.iter().filter(shown).map(|text| format!("shows {text:?}")));
        faults
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
        assert_eq!(Run::of("rag").to_string(), "cargo run --example rag");
    }
}
