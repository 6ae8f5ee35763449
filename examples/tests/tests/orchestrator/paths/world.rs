//! An orchestrator, a desk, and the people who are asked.

use std::{fmt::Write as _, fs};

use clap::Parser;
use example_tests::{program::command, thursday};
use futures::StreamExt as _;
use hanok_agent::{ApprovalRequest, Gate, GateRequest};
use hanok_core::ThreadKey;
use hanok_graph::{EventKind, Input, Outcome, Pending, RunError, Thread};
use hanok_mcp::{Change, McpClient, McpConfig};
use orchestrator::{
    Opened, Options,
    events::{OrchestratorEvent, Status},
    open, sample_server,
    state::{OrchestratorState, asking},
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// An orchestrator with a desk of its own, and the thread of the test.
pub(crate) struct World {
    pub(crate) opened: Opened,
    pub(crate) client: McpClient,
    pub(crate) thread: Thread<OrchestratorState>,
    pub(crate) folder: TempDir,
    /// What happened.
    pub(crate) story: String,
    pub(crate) open: Vec<Pending>,
}

impl World {
    pub(crate) async fn new(arguments: &[&str]) -> Self {
        Self::of(arguments, json!({})).await
    }

    /// With the operator's words on the desk's tools.
    pub(crate) async fn of(arguments: &[&str], tools: Value) -> Self {
        Self::approved(arguments, tools, |change| change.hash().is_some()).await
    }

    /// With those of the desk's tools that somebody has approved.
    pub(crate) async fn approved(
        arguments: &[&str],
        tools: Value,
        is_approved: impl Fn(&Change) -> bool,
    ) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), arguments, tools, is_approved).await
    }

    /// With what the desk has in `folder`.
    pub(crate) async fn in_folder(
        folder: TempDir,
        arguments: &[&str],
        tools: Value,
        is_approved: impl Fn(&Change) -> bool,
    ) -> Self {
        let program = command("orchestrator", &[]).get_program().to_owned();
        let env = json!({
            desk::NOW: "2026-11-26T01:00:00Z", desk::REPORT_MILLIS: "0",
            desk::FOLDER: folder.path().join("desk"),
        });
        let mut server = sample_server(program.as_ref(), &env);
        for (tool, settings) in tools.as_object().unwrap() {
            let known = server["tools"][tool].as_object_mut().unwrap();
            known.extend(settings.as_object().unwrap().clone());
        }
        let config = json!({"mcpServers": {"desk": server}});
        let config = McpConfig::reader().parse(&config.to_string()).unwrap();
        let client = McpClient::connect(config).await.unwrap();
        client.approve(client.pending().iter().filter(|change| is_approved(change))).unwrap();
        // A path is what the gates make of it, and none asks unless it is said.
        let gates: &[&str] =
            if arguments.contains(&"--gates") { &[] } else { &["--gates", "none"] };
        let options = Options::parse_from([&["orchestrator"], gates, arguments].concat());
        let opened = open(thursday::offline(), client.clone(), &options).await.unwrap();
        let app = opened.app();
        let thread = app.thread(ThreadKey::named("t").unwrap());
        Self { opened, client, thread, folder, story: String::new(), open: Vec::new() }
    }

    pub(crate) fn desk(&self, file: &str) -> std::path::PathBuf {
        self.folder.path().join("desk").join(file)
    }

    pub(crate) fn on(&self, thread: &str) -> Thread<OrchestratorState> {
        let app = self.opened.app();
        app.thread(ThreadKey::named(thread).unwrap())
    }

    pub(crate) fn ledger(&self) -> Vec<String> {
        let text = fs::read_to_string(self.desk("ledger.txt")).unwrap_or_default();
        text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    }

    pub(crate) async fn asks(&mut self, text: &str) -> &mut Self {
        writeln!(self.story, "> {text}").unwrap();
        self.run(Input::New(asking(text))).await
    }

    /// Answers the one open question.
    pub(crate) async fn decides(&mut self, answer: Value) -> &mut Self {
        writeln!(self.story, "! {answer}").unwrap();
        let answer = hanok_core::Stored::encode(&answer).unwrap();
        let id = self.open[0].id.clone();
        self.run(Input::Answers(vec![(id, answer)])).await
    }

    pub(crate) async fn run(&mut self, input: Input<OrchestratorState>) -> &mut Self {
        let mut events = self.thread.stream(input, ());
        while let Some(event) = events.next().await {
            match &event.kind {
                EventKind::TaskStarted { .. } if event.path.is_root() => {
                    writeln!(self.story, "{}", event.node.as_deref().unwrap()).unwrap();
                }
                EventKind::Custom(item) => {
                    if let Ok(event) = item.decode::<OrchestratorEvent>() {
                        self.event(event);
                    }
                }
                _ => {}
            }
        }
        let outcome = match events.outcome().await {
            Err(RunError::WrongAnswer { .. }) => {
                writeln!(self.story, "  refused: the question stays open").unwrap();
                return self;
            }
            Err(error) => panic!("{error}: {}", self.story),
            Ok(outcome) => outcome,
        };
        match outcome {
            Outcome::Done(state) => {
                let state = state.answer.unwrap();
                writeln!(self.story, "< {}", state.replace('\n', "\n  ")).unwrap();
            }
            Outcome::Interrupted(open) => {
                open.iter().for_each(|question| self.question(question));
                self.open = open.requests;
            }
            other => panic!("{other:?}"),
        }
        self
    }

    pub(crate) fn event(&mut self, event: OrchestratorEvent) {
        let line = match event {
            OrchestratorEvent::Status(Status::Planned { steps, original }) => {
                let steps: Vec<_> = steps.iter().map(|step| step.task.as_str()).collect();
                let was =
                    original.map_or(String::new(), |steps| format!(" (was {} steps)", steps.len()));
                format!("planned: {}{was}", steps.join(" / "))
            }
            OrchestratorEvent::Status(Status::Passed { gate, reason }) => {
                format!("the gate {gate} is passed: {reason}")
            }
            OrchestratorEvent::Status(Status::Completed { step, result, failure }) => {
                format!(
                    "step {step}: {result:?}{}",
                    failure.map(|it| format!(", {it}")).unwrap_or_default()
                )
            }
            OrchestratorEvent::End { end, statistics } => {
                let rate =
                    statistics.success_rate.map_or("none".to_owned(), |rate| format!("{rate:.2}"));
                format!("ends: {end:?}, {} skipped, rate {rate}", statistics.skipped)
            }
            _ => return,
        };
        writeln!(self.story, "  {line}").unwrap();
    }

    pub(crate) fn question(&mut self, question: &Pending) {
        if let Ok(gate) = question.payload::<GateRequest>() {
            let allowed: Vec<_> = gate.allowed.iter().map(|kind| format!("{kind:?}")).collect();
            let mut shown = match gate.gate {
                Gate::Elicitation => gate.shown.0["message"].clone(),
                // What the server is, is the program and its hash.
                Gate::Definitions => {
                    let changes = gate.shown.0["changes"].as_array().unwrap().clone();
                    changes.into_iter().map(|change| change["change"].clone()).collect()
                }
                _ => gate.shown.0,
            };
            // The hash of the program that serves differs from build to build.
            if let Some(fields) = shown.as_object_mut() {
                fields.remove("definition");
            }
            writeln!(self.story, "? {}: {shown} [{}]", gate.gate, allowed.join(", ")).unwrap();
            if !gate.missing.is_empty() {
                writeln!(self.story, "  missing: {}", gate.missing.join(", ")).unwrap();
            }
        } else if let Ok(call) = question.payload::<ApprovalRequest>() {
            writeln!(self.story, "? tool: {}{}", call.tool, call.arguments.as_str()).unwrap();
        } else {
            panic!("{question:?}");
        }
    }

    /// What happened, and the calls that the desk has seen.
    pub(crate) async fn ends(self) -> String {
        let ledger = self.ledger();
        self.client.close().await;
        drop(self.opened);
        format!("{}ledger: {ledger:?}", self.story)
    }
}
