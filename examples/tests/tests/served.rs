//! The examples against a model's server, well and ill: what a person is shown, what is stored, and the exit.

mod ill;
mod prompts;

use std::{path::Path, process::Command};

use example_tests::program::command;
use kit::OfflineModel;

/// An example, with a question that it answers.
#[derive(Debug, Clone, Copy)]
struct Example {
    name: &'static str,
    arguments: &'static [&'static str],
    question: &'static str,
}

const ALL: [Example; 5] = [
    Example { name: "rag", arguments: &[], question: "연차는 며칠이야?" },
    Example { name: "chat", arguments: &[], question: "연차는 며칠이야?" },
    Example { name: "contract", arguments: &[], question: "대금은 언제 지급해?" },
    Example {
        name: "real-estate",
        arguments: &[],
        question: "전세금을 3억에서 10억으로 올려 달래요. 가능한가요?",
    },
    Example {
        name: "orchestrator",
        arguments: &["--gates", "none"],
        question: "우유 사기 메모해 줘",
    },
];

impl Example {
    /// The program, with its thread in `db`, to be asked on its command line or in its input.
    fn on(&self, url: &str, db: &Path) -> Command {
        let mut command = command(self.name, self.arguments);
        command.env("OPENAI_BASE_URL", url).env("OPENAI_MODEL", "m").env("OPENAI_TIMEOUT", "20");
        command.arg("--db").arg(db);
        command
    }

    /// The model of rules, told by which words the example's tools are asked for.
    fn model(&self) -> OfflineModel {
        match self.name {
            "real-estate" => real_estate::app::rules(),
            _ => OfflineModel::new().aliases(kit::aliases(desk::CUES)),
        }
    }
}
