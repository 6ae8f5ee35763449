//! The conversation, as the terminal shows it.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use hanok_agent::{
    AuditEvent, AuditKey, AuditRecord, RecommendedTool, StandingScope, StopReason, ToolQuery,
    audit_of,
};
use hanok_checkpoint::Log;
use hanok_core::{Answerer, Clock as _, Stored, Tenant, Timestamp};
use hanok_graph::{Event, Graph, RunError, Thread, TokioClock};
use hanok_learning::{
    BehaviourMemory, ClarificationMemory, Forget, Learner, PlanMemory, ToolMemory, WorkflowMemory,
};
use hanok_mcp::{Change, ChangeKind, OfferedTool};
use hanok_state::Messages;
use kit::{Ended, Talk, failure::Failure, progress::short};
use serde_json::Value;

use crate::{
    events::{OrchestratorEvent, Status},
    opened::{Opened, usage},
    orchestrator::Orchestrator,
    state::{OrchestratorState, OrchestratorStateUpdate, PlanStep, StepStatus, TurnEnd, asking},
    wording,
};

/// The variable whose value is the key of the audit's hashes.
const AUDIT_KEY: &str = "HANOK_AUDIT_KEY";

/// A conversation with the orchestrator.
#[derive(Debug)]
pub struct Talking {
    parts: Orchestrator,
    graph: Graph<OrchestratorState>,
    learner: Option<Learner>,
    scope: StandingScope,
    /// The differences that were shown: those, and no others, are accepted.
    shown: Mutex<Vec<Change>>,
}

impl Talking {
    /// A conversation with what was opened.
    #[must_use]
    pub fn new(opened: &Opened) -> Self {
        Self {
            parts: opened.parts.clone(),
            graph: opened.graph.clone(),
            learner: opened.learner.clone(),
            scope: opened.scope.clone(),
            shown: Mutex::default(),
        }
    }
}

fn now() -> Timestamp {
    TokioClock.now()
}

/// All lines, or what is said where there is none.
fn lines(all: impl IntoIterator<Item = String>, none: &str) -> String {
    let all: Vec<_> = all.into_iter().collect();
    if all.is_empty() { none.to_owned() } else { all.join("\n") }
}

impl Talk for Talking {
    type State = OrchestratorState;

    fn ask(&self, question: &str) -> OrchestratorStateUpdate {
        asking(question)
    }

    fn ended(&self, state: &OrchestratorState) -> Ended {
        let stopped = match state.end {
            Some(TurnEnd::NoAnswer) => Some(StopReason::EmptyReply),
            // The answer says why, and the exit code that it is none.
            Some(TurnEnd::AllFailed | TurnEnd::EmptyPlan) => Some(StopReason::NoToolCall),
            _ => state.answer.is_some().then_some(StopReason::Answered),
        };
        Ended { answer: state.answer.clone(), stopped }
    }

    fn messages<'s>(&self, state: &'s OrchestratorState) -> &'s Messages {
        &state.messages
    }

    fn drawing(&self) -> String {
        self.graph.drawing().mermaid()
    }

    fn is_answer(&self, event: &Event) -> bool {
        event.path.is_root() && event.node.as_deref() == Some("synthesis")
    }

    fn line(&self, item: &Stored) -> Option<String> {
        match item.decode::<OrchestratorEvent>() {
            Ok(OrchestratorEvent::Status(status)) => status_line(status),
            Ok(_) => None,
            Err(_) => kit::progress::line(item),
        }
    }

    fn told(&self, item: &Stored) -> Option<Value> {
        serde_json::to_value(item.decode::<OrchestratorEvent>().ok()?).ok()
    }

    fn question_event(&self) -> &'static str {
        "human_input_required"
    }

    async fn always(
        &self,
        tool: &str,
        definition: Option<String>,
        answerer: Option<Answerer>,
    ) -> Result<String, Failure> {
        let offered = || Some(self.parts.offer().get(tool)?.hash.to_string());
        let Some(definition) = definition.or_else(offered) else {
            return Ok(format!("`{tool}` 도구가 없어 늘 그렇게 하도록 할 수 없습니다."));
        };
        let always = &self.parts.always;
        let allowed = always.allow(self.scope.clone(), tool, &definition, answerer, now()).await;
        let allowed = allowed.map_err(Failure::wiring)?;
        Ok(format!("30일 동안, 도구가 달라지지 않는 한 묻지 않습니다: {allowed}"))
    }

    async fn act(
        &self,
        name: &str,
        rest: &str,
        thread: &Thread<OrchestratorState>,
    ) -> Result<Option<String>, Failure> {
        let state = thread.state(None).await?.unwrap_or_default();
        Ok(Some(match (name, rest) {
            ("plan", "") => plan(&state),
            ("tools", query) => self.tools(query).await?,
            ("why", "") => why(&state),
            ("approvals", "") => self.approvals(thread).await?,
            ("always", "") => {
                let all = self.parts.always.all(now()).await.map_err(Failure::wiring)?;
                lines(all.iter().map(ToString::to_string), "묻지 않기로 한 도구가 없습니다.")
            }
            ("ask-again", tool) if !tool.is_empty() => {
                let revoked = self.parts.always.revoke(&self.scope, tool, now()).await;
                revoked.map_err(Failure::wiring)?;
                format!("`{tool}`을(를) 다시 묻습니다.")
            }
            ("memory", "") => self.remembered().await?,
            ("forget", what) => self.forget(what, thread.key().thread()).await?,
            ("not-that", "") => self.not_that(&state, thread).await?,
            ("servers", "") => self.servers(),
            ("diff", of) => self.diff(of),
            ("accept", server) => self.accept(server).await?,
            _ => return Ok(None),
        }))
    }

    fn commands(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("/plan", "앞의 요청의 계획과 단계들"),
            ("/why", "앞의 요청이 왜 그렇게 되었는지: 판단, 결정, 도구"),
            ("/tools [말]", "쓸 수 있는 도구; 말이 있으면 그 말에 맞는 것과 점수"),
            ("/servers", "서버들과 그 상태"),
            ("/diff [서버]", "승인한 것과 달라진 도구; 서버나 서버/도구를 쓰면 그 정의 전체"),
            ("/accept [서버]", "/diff가 보인 것을 승인하기"),
            ("/approvals", "이 대화에서 물은 것과 답한 것(해시로 이어진 기록)"),
            ("/always", "묻지 않기로 한 도구"),
            ("/ask-again 도구", "그 도구를 다시 묻기"),
            ("/not-that", "묻지 않고 쓴 지난 답을 무르기: 그 차례로 되돌리고, 다음에는 묻습니다"),
            ("/memory", "이 사용자에게서 배운 것"),
            (
                "/forget 무엇",
                "이 대화에서 배운 것을(대화), 이 사용자에게서 배운 것을 모두(모두), 어느 서버의 도구에서 모든 사용자에게서 배운 것을(서버 이름) 잊기",
            ),
        ]
    }
}

impl Talking {
    async fn tools(&self, query: &str) -> Result<String, Failure> {
        let offer = self.parts.offer();
        if query.is_empty() {
            let line = |(name, offered): (&String, &OfferedTool)| {
                let risk = wording::risk(offered.risk);
                format!("{name} ({risk}): {}", short(offered.spec().description()))
            };
            return Ok(lines(offer.iter().map(line), "쓸 수 있는 도구가 없습니다."));
        }
        let found = self.parts.servers.index().recommend(&ToolQuery::new(query), now()).await;
        let found = found.map_err(Failure::wiring)?;
        let line = |tool: &RecommendedTool| {
            let (name, score) = (tool.name(), tool.score);
            let (exact, keywords) = (score.exact, score.keywords);
            let (meaning, experience, total) = (score.meaning, score.experience, score.total());
            format!(
                "{total:.3} {name} = 이름 {exact:.2} + 말 {keywords:.3} + 뜻 {meaning:.3} + 경험 {experience:+.3}"
            )
        };
        let all = found.pinned.iter().chain(&found.tools);
        let all = all.filter(|tool| offer.contains_key(tool.name()));
        Ok(lines(all.map(line), "맞는 도구가 없습니다."))
    }

    async fn approvals(&self, thread: &Thread<OrchestratorState>) -> Result<String, Failure> {
        let log = Log::new(thread.app().store().clone(), thread.key().clone());
        let key = std::env::var(AUDIT_KEY).ok().filter(|key| !key.is_empty());
        let key = key.as_deref().map(AuditKey::new);
        let records = audit_of(&log, key.as_ref()).await.map_err(Failure::wiring)?;
        if records.is_empty() {
            return Ok("물은 것이 없습니다.".to_owned());
        }
        let mut lines: Vec<_> = records.iter().map(approval_line).collect();
        lines.push(format!(
            "기록 {}개가 해시로 이어집니다. 전체는 hanok audit가 JSON으로 보입니다.",
            records.len()
        ));
        if key.is_none() {
            lines.push(format!("({AUDIT_KEY}가 없으면 실수만 드러나고, 저장소를 고칠 수 있는 사람의 손은 드러나지 않습니다.)"));
        }
        Ok(lines.join("\n"))
    }

    async fn remembered(&self) -> Result<String, Failure> {
        let Some(user) = &self.parts.memory.user else { return Ok(NO_USER.to_owned()) };
        let of = self.parts.memory.all.of(Tenant::default(), user);
        let mut all = Vec::new();
        macro_rules! all {
            ($($kind:ty: $name:expr),*) => {$(
                for record in of.all::<$kind>(now()).await.map_err(Failure::wiring)? {
                    all.push(format!("[{}] {}", $name, short(&record.text)));
                }
            )*};
        }
        all!(PlanMemory: "계획", ToolMemory: "도구", ClarificationMemory: "되물음", BehaviourMemory: "결정", WorkflowMemory: "흐름");
        Ok(lines(all, "배운 것이 없습니다."))
    }

    async fn forget(&self, what: &str, thread: &str) -> Result<String, Failure> {
        let (Some(user), Some(learner)) = (&self.parts.memory.user, &self.learner) else {
            return Ok(NO_USER.to_owned());
        };
        let of = self.parts.memory.all.of(Tenant::default(), user);
        let mut whose = "";
        let gone = match what {
            "" => return Err(Failure::Usage(FORGET.to_owned())),
            "모두" => learner.forget(&of, &Forget::Everything, now()).await,
            "대화" => learner.forget(&of, &Forget::Thread(thread.to_owned()), now()).await,
            server => {
                whose = "모든 사용자의 기억에서 ";
                // A server may be called what stands for something else.
                let server = server.strip_prefix("서버 ").unwrap_or(server).trim();
                learner.forget_server(&Tenant::default(), server, now()).await
            }
        };
        Ok(match gone.map_err(Failure::wiring)?.evidence {
            0 => "잊을 것이 없었습니다.".to_owned(),
            count => format!("{whose}{count}가지를 잊었습니다."),
        })
    }

    /// Takes back the answer of before that the last turn used without asking, and the turn with it.
    async fn not_that(
        &self,
        state: &OrchestratorState,
        thread: &Thread<OrchestratorState>,
    ) -> Result<String, Failure> {
        let clarity = state.clarity.as_ref();
        let reused = clarity.and_then(|it| Some((it.before.as_deref()?, it.reused.as_ref()?)));
        let Some((query, reused)) = reused else {
            return Ok("앞의 차례는 지난 답을 묻지 않고 쓰지 않았습니다.".to_owned());
        };
        let refuted = self.parts.memory.refute(thread.key(), query, &reused.answer, now()).await;
        refuted.map_err(Failure::wiring)?;
        match thread.rewind_turns(1).await {
            // Nothing stands before the first turn.
            Err(RunError::NoSuchTurn { .. }) => {}
            rewound => drop(rewound?),
        }
        Ok(format!(
            "지난 답 ‘{}’을(를) 무르고 그 앞의 차례로 갔습니다. 다음에는 묻습니다. 한 일 자체는 되돌리지 않습니다.",
            short(&reused.answer)
        ))
    }

    fn servers(&self) -> String {
        let line = |status: hanok_mcp::ServerStatus| {
            let state = if status.is_connected { "연결됨" } else { "연결 안 됨" };
            let version = status.version.unwrap_or_default();
            let tools = status.tools.map(|tools| format!(", 도구 {tools}개")).unwrap_or_default();
            let error = status.error.map(|error| format!("\n  {error}")).unwrap_or_default();
            format!("{}: {state} {version}{tools}{error}", status.server)
        };
        lines(self.parts.servers.client().status().into_iter().map(line), "서버가 없습니다.")
    }

    fn shown(&self) -> MutexGuard<'_, Vec<Change>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The differences, a line each under their servers; of the server or the tool `of`, whole.
    fn diff(&self, of: &str) -> String {
        let pending = self.parts.servers.client().pending();
        if !of.is_empty() {
            let is_of = |it: &&Change| it.tool().server() == of || it.tool().to_string() == of;
            let whole = pending.iter().filter(is_of);
            let whole = whole.map(|change| format!("{change}\n{}", change.difference()));
            return lines(whole, &format!("`{of}`에는 승인한 것과 다른 도구가 없습니다."));
        }
        let mut all = Vec::new();
        let servers: BTreeSet<_> = pending.iter().map(|change| change.tool().server()).collect();
        for server in servers {
            let changes = pending.iter().filter(|change| change.tool().server() == server);
            all.push(format!("{server}: {}가지", changes.clone().count()));
            all.extend(changes.map(change_line));
        }
        if all.is_empty() {
            return "승인한 것과 다른 도구가 없습니다.".to_owned();
        }
        all.push(
            "정의 전체: /diff 서버, /diff 서버/도구. 승인: /accept(모두), /accept 서버.".to_owned(),
        );
        *self.shown() = pending;
        all.join("\n")
    }

    /// Accepts what was shown, or that of one server.
    async fn accept(&self, server: &str) -> Result<String, Failure> {
        let is_of = |change: &Change| server.is_empty() || change.tool().server() == server;
        let (of, left): (Vec<_>, Vec<_>) = self.shown().iter().cloned().partition(is_of);
        if of.is_empty() {
            return Err(Failure::Usage(match left.is_empty() {
                true => "먼저 /diff로 무엇이 달라졌는지 보세요.".to_owned(),
                false => format!("/diff가 보인 것 가운데 `{server}`의 것은 없습니다."),
            }));
        }
        self.parts.servers.client().approve(&of).map_err(|error| usage(&error))?;
        *self.shown() = left;
        self.parts.servers.look(now()).await.map_err(Failure::wiring)?;
        Ok(format!("{}가지를 승인했습니다.", of.len()))
    }
}

/// A difference in a line: what it is, and what the tool says that it does.
fn change_line(change: &Change) -> String {
    let what = match change.kind() {
        ChangeKind::Added => "새 도구".to_owned(),
        ChangeKind::Changed => "달라짐".to_owned(),
        ChangeKind::Renamed { from } | ChangeKind::Moved { from } => format!("전에는 {from}"),
        ChangeKind::Removed => "없어짐".to_owned(),
        _ => change.to_string(),
    };
    let about = change.description().map(|about| format!(" — {}", short(about)));
    format!("  {} ({what}){}", change.tool().tool(), about.unwrap_or_default())
}

/// A record of the approvals in a line.
fn approval_line(record: &AuditRecord) -> String {
    let by = |by: &Option<Answerer>| {
        let by = by.as_ref().map(|by| format!(", {} ({})", by.name.escape_debug(), by.channel));
        by.unwrap_or_default()
    };
    let what = match &record.event {
        AuditEvent::Requested { shown, rule, .. } => {
            let rule = rule.as_ref().map(|rule| format!(" (규칙 {rule})")).unwrap_or_default();
            format!("물음{rule}: {}", short(&shown.to_string()))
        }
        AuditEvent::Passed { about, reasons, .. } => {
            let reasons: Vec<_> = reasons.iter().map(|it| it.reason.as_str()).collect();
            format!("묻지 않음: {} — {}", short(about), reasons.join("; "))
        }
        AuditEvent::Answered { decision, answer, changed, by: who, took, .. } => {
            let decided = decision.clone().unwrap_or_else(|| short(&answer.to_string()));
            let took = took.map(|took| format!(", {}초 뒤", took / 1_000)).unwrap_or_default();
            let changed = (!changed.is_empty()).then(|| format!(", 고친 곳 {}", changed.len()));
            format!("답: {decided}{}{took}{}", by(who), changed.unwrap_or_default())
        }
        AuditEvent::Settled { tool, resolution, by: who, .. } => {
            format!("확인: {tool} {resolution}{}", by(who))
        }
        AuditEvent::Late { by: who, .. } => format!("늦은 답(정하지 않음){}", by(who)),
        AuditEvent::Reopened { reason } => format!("다시 물음: {}", short(reason)),
        other => short(&serde_json::to_string(other).unwrap_or_default()),
    };
    format!("#{} [{}] {what}", record.position, record.node)
}

/// What can be forgotten.
const FORGET: &str = "무엇을 잊을지 쓰세요: /forget 대화(이 대화에서 배운 것), /forget 모두(이 사용자에게서 배운 것), /forget 서버 이름(그 서버의 도구에서 모든 사용자에게서 배운 것)";

/// What is said where nobody is remembered.
const NO_USER: &str = "--user 없이 실행해서 아무것도 기억하지 않습니다.";

fn status_line(status: Status) -> Option<String> {
    Some(match status {
        Status::Routed { complexity } => format!("[판단] {}", wording::complexity(complexity)),
        Status::Reused { query } => format!("[지난 답을 씀] {}", short(&query)),
        Status::Planned { steps, original } => {
            let tasks = |steps: &[PlanStep]| {
                steps.iter().map(|step| short(&step.task)).collect::<Vec<_>>().join(" → ")
            };
            let before = original.map(|steps| format!(" (처음: {})", tasks(&steps)));
            format!("[계획] {}{}", tasks(&steps), before.unwrap_or_default())
        }
        Status::Passed { reason, .. } if reason == "off" => return None,
        Status::Passed { gate, reason } => format!("[{gate} 통과] {}", short(&reason)),
        Status::Prepared { step, task, tools } => {
            format!("[{step}] {} ← {}", short(&task), tools.join(", "))
        }
        Status::Completed { step, result, failure } => {
            let failure = failure.map(|failure| format!(": {}", short(&failure)));
            format!("[{step}] {}{}", name_of(result), failure.unwrap_or_default())
        }
        Status::Progress { over, total } => format!("{over}/{total} 완료"),
    })
}

fn name_of(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Done => "완료",
        StepStatus::Failed => "실패",
        StepStatus::Skipped => "건너뜀",
    }
}

fn plan(state: &OrchestratorState) -> String {
    let steps = state.steps().iter().enumerate().map(|(at, step)| {
        let ended = state.results.get(at).map(|result| format!(" — {}", name_of(result.status)));
        let tool = step.tool.as_ref().map(|tool| format!(" ({tool})")).unwrap_or_default();
        format!("{}. {}{tool}{}", at + 1, short(&step.task), ended.unwrap_or_default())
    });
    let mut all: Vec<_> = steps.collect();
    let plan = state.plan.clone().unwrap_or_default();
    if let Some(original) = &plan.original {
        all.push("처음 계획:".to_owned());
        all.extend(original.iter().map(|step| format!("  - {}", short(&step.task))));
    }
    all.extend(plan.faults.iter().map(|fault| format!("고친 것: {fault}")));
    lines(all, "아직 계획이 없습니다.")
}

/// Why the last turn went as it did.
fn why(state: &OrchestratorState) -> String {
    let routed = state.complexity.map(|it| format!("판단: {}", wording::complexity(it)));
    let mut all: Vec<_> = routed.into_iter().collect();
    if let Some(clarity) = &state.clarity {
        let before = clarity.before.as_ref().map(|before| format!(", 처음 말: {}", short(before)));
        all.push(format!("분명함: {:.1}{}", clarity.confidence, before.unwrap_or_default()));
        all.extend(clarity.questions.iter().map(|it| format!("  물음: {}", short(it))));
    }
    for entry in &state.decisions {
        let step = entry.step.map(|step| format!(" {step}")).unwrap_or_default();
        let by = match &entry.automatic {
            Some(reason) => format!("묻지 않음: {}", short(reason)),
            None => "사람".to_owned(),
        };
        all.push(format!("{}{step}: {} ({by})", entry.gate, wording::decision(entry.decision)));
    }
    for step in &state.results {
        all.push(format!("[{}] {}: {}", step.number, name_of(step.status), short(&step.text)));
        all.extend(step.calls.iter().map(|call| {
            let ended = match (call.unmade, call.succeeded) {
                (true, _) => "하지 않음",
                (false, true) => "성공",
                (false, false) => "실패",
            };
            let arguments = short(&call.arguments.0.to_string());
            format!("  {}({arguments}): {ended}, {}밀리초", call.of, call.millis)
        }));
    }
    all.extend(state.end.map(|end| format!("끝: {}", wording::end(end))));
    lines(all, "아직 요청이 없습니다.")
}
