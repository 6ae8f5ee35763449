//! The branches of a turn, as the stream of its events: which nodes of which teams ran, what was chosen, how the steps stood.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at what it did not expect"
)]

use std::path::Path;

use clap::Parser;
use futures::StreamExt;
use hanok_core::{Call, Stored};
use hanok_graph::{Event, EventKind, Input, Mode, Outcome, ThreadKey};
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError, SharedModel};
use hanok_state::Message;
use hanok_team::{StepStatus, TeamEvent, TeamState};
use real_estate::{Options, app};
use serde_json::{Value, json};

const LEASE: &str = "임대인은 김철수, 임차인은 이영희입니다. 서울특별시 마포구 월드컵로 12 101동 1203호를 보증금 3억원에 월세 50만원으로 \
    빌립니다. 전용면적 84.97㎡, 계약금 3천만원, 월세는 매달 25일, 잔금일 2026년 3월 2일, 기간은 2026년 3월 2일부터 2028년 3월 1일까지.";

/// Words of what the search team asks its model.
const SEARCH: &str = "필요한 검색 도구를 고르고";

/// What is done with a request that holds these words.
#[derive(Debug, Clone)]
enum Instead {
    Says(Value),
    Panics,
}

/// The offline model, but for some requests.
#[derive(Debug, Clone)]
struct But {
    model: SharedModel,
    instead: Vec<(&'static str, Instead)>,
}

impl ChatModel for But {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        let all: String = request.messages.iter().map(|it| it.text().into_owned() + "\n").collect();
        // A small model that repeats itself would write for ever.
        assert!(request.max_tokens.is_some(), "a reply without an end: {all}");
        match self.instead.iter().find(|(words, _)| all.contains(words)) {
            Some((_, Instead::Says(value))) => {
                Ok(ChatReply::new(Message::assistant(value.to_string()), "scripted"))
            }
            Some((_, Instead::Panics)) => panic!("it is out of order"),
            None => self.model.chat(request, call).await,
        }
    }
}

/// A run of the program, whose documents and, if it lasts, whose database are in a folder.
struct Program {
    opened: real_estate::app::Opened,
}

impl Program {
    async fn start(folder: &Path, lasts: bool, instead: &[(&'static str, Instead)]) -> Self {
        let (out, db) = (folder.join("documents"), folder.join("t.db"));
        let mut options = vec!["real-estate", "--out", out.to_str().unwrap()];
        if lasts {
            options.extend(["--db", db.to_str().unwrap()]);
        }
        let model = But { model: SharedModel::new(app::rules()), instead: instead.to_vec() };
        let options = Options::parse_from(options);
        Self { opened: app::open(SharedModel::new(model), &options).await.unwrap() }
    }

    fn ask(&self, question: &str) -> Input<TeamState> {
        Input::New(self.opened.supervisor.ask(question))
    }

    /// The stream of a run, and its outcome.
    async fn run(&self, input: Input<TeamState>) -> (String, Outcome<TeamState>) {
        let app = self.opened.supervisor.graph().checkpointer(self.opened.threads.clone());
        let thread = app.thread(ThreadKey::named("t").unwrap());
        let thread = thread.modes([Mode::Custom, Mode::Tools, Mode::Tasks]);
        let mut events = thread.stream(input, ());
        let mut lines = Vec::new();
        while let Some(event) = events.next().await {
            lines.extend(line(&event));
        }
        (lines.join("\n"), events.outcome().await.unwrap())
    }
}

/// What a person would see of `event`, without times and ids.
fn line(event: &Event) -> Option<String> {
    let step = event.path.segments().next().and_then(|it| it.split_once(':')).map(|it| it.1);
    let within = step.map_or_else(String::new, |step| format!("  [{step}] "));
    if let EventKind::TaskStarted { .. } = &event.kind {
        let node = event.node.as_deref()?;
        return Some(if step.is_some() { format!("{within}{node}") } else { node.to_owned() });
    }
    Some(match TeamEvent::of(event)? {
        TeamEvent::PhaseChanged { .. } => return None,
        TeamEvent::TodoUpdated { execution_steps } => {
            let step =
                |it: &hanok_team::ExecutionStep| format!("{}={}", it.step_id, status(it.status));
            let steps: Vec<_> = execution_steps.iter().map(step).collect();
            format!("  steps: {}", steps.join(" "))
        }
        TeamEvent::TeamStarted { step, team } => format!("  {step} begins (team {team})"),
        TeamEvent::TeamFinished { step, status: end, error, .. } => {
            let error = error.map(|error| format!(": {error}")).unwrap_or_default();
            format!("  {step} is {}{error}", status(end))
        }
        TeamEvent::ToolStarted { tool, .. } => format!("{within}{tool}…"),
        TeamEvent::ToolFinished { tool, error, .. } => {
            format!("{within}{tool} {}", if error.is_some() { "failed" } else { "done" })
        }
        TeamEvent::Decision { choice } => {
            format!("  {} of {}: {}", choice.kind.as_str(), choice.agent, choice.chosen.join(", "))
        }
        _ => return None,
    })
}

fn status(status: StepStatus) -> String {
    serde_json::to_value(status).unwrap().as_str().unwrap().to_owned()
}

/// The stream of one question, which is answered.
async fn stream(question: &str, instead: &[(&'static str, Instead)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(folder.path(), false, instead).await;
    let (stream, outcome) = program.run(program.ask(question)).await;
    outcome.done().unwrap();
    stream
}

#[tokio::test]
async fn one_tool_is_called() {
    insta::assert_snapshot!(stream("강남구 전세 시세 알려줘", &[]).await);
}

#[tokio::test]
async fn several_tools_are_called_at_once() {
    let question = "강남구 전세 시세 알려줘. 그리고 전세자금대출 상품도 보여줘";
    insta::assert_snapshot!(stream(question, &[]).await);
}

/// A search of which no tool is chosen is skipped.
#[tokio::test]
async fn a_search_is_skipped() {
    let none = Instead::Says(
        json!({"keywords": [], "tools": [], "arguments": {}, "reason": "nothing to look up", "confidence": 0.9}),
    );
    let instead = [(SEARCH, none)];
    insta::assert_snapshot!(stream("강남구 전세 시세 알려줘", &instead).await);
}

#[tokio::test]
async fn a_document_needs_no_review() {
    insta::assert_snapshot!(stream(&format!("{LEASE} 임대차계약서 써줘"), &[]).await);
}

#[tokio::test]
async fn a_document_is_reviewed() {
    // A year is less than the law gives.
    let question = format!("{} 임대차계약서 써줘", LEASE.replace("2028년", "2027년"));
    insta::assert_snapshot!(stream(&question, &[]).await);
}

/// A team that fails; what takes its results if they are there works without them.
#[tokio::test]
async fn a_team_fails() {
    let instead = [(SEARCH, Instead::Panics)];
    let question = "전세금을 3억에서 3.3억으로 올려 달라는데 올려 줘야 해? 마포구 시세도 보여줘";
    insta::assert_snapshot!(stream(question, &instead).await);
}

/// What failed is planned anew, once.
#[tokio::test]
async fn what_failed_is_planned_anew() {
    let task = "전세금을 3억에서 3.3억으로 올리면 몇 퍼센트인지 계산";
    let step =
        json!({"id": "again", "team": "analysis", "task": task, "description": "", "needs": []});
    let plan = json!({"steps": [step], "reason": "the analysis can do it", "confidence": 0.6});
    let instead = [
        (SEARCH, Instead::Panics),
        ("끝내지 못한 일이 있습니다. 다른 팀이나", Instead::Says(plan)),
    ];
    insta::assert_snapshot!(
        stream("마포구 전세 시세 알려줘. 지금 3억인데 3.3억이래", &instead).await
    );
}

#[tokio::test]
async fn a_compound_question_is_planned_in_parts() {
    let question = "전세금을 3억에서 3.3억으로 올려 달라는데 올려 줘야 해? 마포구 시세도 보여줘";
    insta::assert_snapshot!(stream(question, &[]).await);
}

/// What a lease lacks is asked, and answered in another process.
#[tokio::test]
async fn a_missing_field_is_asked_and_answered_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(folder.path(), true, &[]).await;
    let question = program.ask("임대인 김철수, 임차인 이영희. 전세 계약서 작성해줘");
    let (asked, outcome) = program.run(question).await;
    let Outcome::Interrupted(questions) = outcome else { panic!("{outcome:?}") };
    drop(program);

    let answer = json!({
        "address": "서울특별시 마포구 월드컵로 12 101동 1203호", "area": "84.97㎡", "deposit": 300_000_000,
        "down_payment": 30_000_000, "balance_date": "2026-03-02", "from": "2026-03-02", "until": "2028-03-01",
    });
    let answer = Stored::encode(&answer).unwrap();
    let elsewhere = Program::start(folder.path(), true, &[]).await;
    let answers = Input::Answers(vec![(questions[0].id.clone(), answer)]);
    let (answered, outcome) = elsewhere.run(answers).await;
    outcome.done().unwrap();
    insta::assert_snapshot!(format!("{asked}\n\n-- another process\n\n{answered}"));
}
