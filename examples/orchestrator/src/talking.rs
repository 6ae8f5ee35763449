//! The conversation, as the terminal shows it.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use hanok_agent::{AuditEvent, AuditKey, AuditRecord, StopReason, audit_of};
use hanok_checkpoint::Log;
use hanok_core::{Answerer, Chain, Stored, Tenant};
use hanok_graph::{Event, Graph, RunError, Thread};
use hanok_learning::{
    BehaviourMemory, ClarificationMemory, Forget, Memories, PlanMemory, ToolMemory, WorkflowMemory,
};
use hanok_mcp::{Change, ChangeKind};
use hanok_state::Messages;
use kit::{Ended, Talk, failure::Failure, progress::short};
use serde_json::Value;

use crate::{
    Options,
    events::{OrchestratorEvent, Status},
    opened::{Opened, Pupil, scope},
    orchestrator::Orchestrator,
    servers::{now, tool_query},
    state::{OrchestratorState, OrchestratorStateUpdate, StepStatus, TurnEnd, asking},
    wording,
};

/// The variable whose value is the key of the audit's hashes.
const AUDIT_KEY: &str = "HANOK_AUDIT_KEY";

/// A conversation with the orchestrator.
#[derive(Debug)]
pub struct Talking {
    parts: Orchestrator,
    graph: Graph<OrchestratorState>,
    memories: Memories,
    learner: Pupil,
    user: Option<String>,
    scope: hanok_agent::StandingScope,
    /// The differences that were shown: those, and no others, are accepted.
    shown: Mutex<Vec<Change>>,
}

impl Talking {
    /// A conversation with what was opened.
    #[must_use]
    pub fn new(opened: &Opened, options: &Options) -> Self {
        Self {
            parts: opened.parts.clone(),
            graph: opened.graph.clone(),
            memories: opened.memories.clone(),
            learner: opened.learner.clone(),
            user: opened.parts.memory.user().map(str::to_owned),
            scope: scope(options),
            shown: Mutex::default(),
        }
    }
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
        let event = serde_json::to_value(item.decode::<OrchestratorEvent>().ok()?).ok()?;
        let Value::Object(mut event) = event else { return None };
        let kind = event.remove("orchestrator")?;
        event.insert("event".to_owned(), kind);
        Some(Value::Object(event))
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
        let offered = self.parts.servers.offer().get(tool).map(|tool| tool.definition.clone());
        let Some(definition) = definition.or(offered) else {
            return Ok(format!("`{tool}` 도구가 없어 늘 그렇게 하도록 할 수 없습니다."));
        };
        let (scope, always) = (self.scope.clone(), &self.parts.always);
        let allowed = always.allow(scope, tool, &definition, answerer, now());
        let allowed = allowed.await.map_err(Failure::wiring)?;
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
            ("always", "") => self.standing().await?,
            ("ask-again", tool) if !tool.is_empty() => {
                self.parts
                    .always
                    .revoke(&self.scope, tool, now())
                    .await
                    .map_err(Failure::wiring)?;
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
        let offer = self.parts.servers.offer();
        if query.is_empty() {
            let line = |(name, offered): (&String, &crate::servers::Offered)| {
                let risk = wording::risk(offered.risk);
                format!("{name} ({risk}): {}", short(offered.spec().description()))
            };
            let lines: Vec<_> = offer.iter().map(line).collect();
            let none = "쓸 수 있는 도구가 없습니다.".to_owned();
            return Ok(if lines.is_empty() { none } else { lines.join("\n") });
        }
        let query = tool_query(query);
        let found = self.parts.servers.index().recommend(&query, now()).await;
        let found = found.map_err(Failure::wiring)?;
        let all =
            found.pinned.iter().chain(&found.tools).filter(|tool| offer.get(tool.name()).is_some());
        let line = |tool: &hanok_agent::RecommendedTool| {
            let score = tool.score;
            format!(
                "{:.3} {} = 이름 {:.2} + 말 {:.3} + 뜻 {:.3} + 경험 {:+.3}",
                score.total(),
                tool.name(),
                score.exact,
                score.keywords,
                score.meaning,
                score.experience
            )
        };
        let lines: Vec<_> = all.map(line).collect();
        Ok(if lines.is_empty() {
            "맞는 도구가 없습니다.".to_owned()
        } else {
            lines.join("\n")
        })
    }

    async fn approvals(&self, thread: &Thread<OrchestratorState>) -> Result<String, Failure> {
        let store = thread.app().store().clone();
        let log = Log::new(store, thread.key().clone());
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

    async fn standing(&self) -> Result<String, Failure> {
        let all = self.parts.always.all(now()).await.map_err(Failure::wiring)?;
        let lines: Vec<_> = all.iter().map(ToString::to_string).collect();
        let none = "묻지 않기로 한 도구가 없습니다.".to_owned();
        Ok(if lines.is_empty() { none } else { lines.join("\n") })
    }

    async fn remembered(&self) -> Result<String, Failure> {
        let Some(user) = &self.user else { return Ok(NO_USER.to_owned()) };
        let of = self.memories.of(Tenant::default(), user);
        let mut lines = Vec::new();
        macro_rules! all {
            ($($kind:ty: $name:expr),*) => {$(
                for record in of.all::<$kind>(now()).await.map_err(Failure::wiring)? {
                    lines.push(format!("[{}] {}", $name, short(&record.text)));
                }
            )*};
        }
        all!(PlanMemory: "계획", ToolMemory: "도구", ClarificationMemory: "되물음", BehaviourMemory: "결정", WorkflowMemory: "흐름");
        Ok(if lines.is_empty() {
            "배운 것이 없습니다.".to_owned()
        } else {
            lines.join("\n")
        })
    }

    async fn forget(&self, what: &str, thread: &str) -> Result<String, Failure> {
        let (Some(user), Some(learner)) = (&self.user, self.learner.learner()) else {
            return Ok(NO_USER.to_owned());
        };
        let of = self.memories.of(Tenant::default(), user);
        // A server may be called what stands for something else.
        let named = what.strip_prefix("서버 ").map(str::trim).filter(|server| !server.is_empty());
        let (gone, whose) = match (named, what) {
            (None, "") => return Err(Failure::Usage(FORGET.to_owned())),
            (None, "모두") => (learner.forget(&of, &Forget::Everything, now()).await, ""),
            (None, "대화") => {
                (learner.forget(&of, &Forget::Thread(thread.to_owned()), now()).await, "")
            }
            (named, what) => {
                let server = named.unwrap_or(what);
                let gone = learner.forget_server(&Tenant::default(), server, now()).await;
                (gone, "모든 사용자의 기억에서 ")
            }
        };
        let gone = gone.map_err(Failure::wiring)?;
        Ok(match gone.evidence {
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
        let reused = state.clarity.as_ref().and_then(|clarity| {
            Some((clarity.before.as_deref()?, clarity.reused.as_ref()?.answer.as_str()))
        });
        let Some((query, answer)) = reused else {
            return Ok("앞의 차례는 지난 답을 묻지 않고 쓰지 않았습니다.".to_owned());
        };
        let store = thread.app().store();
        self.parts.memory.refute(store, query, answer).await.map_err(Failure::wiring)?;
        if let Some(learner) = self.learner.learner() {
            learner.drain(now()).await.map_err(Failure::wiring)?;
        }
        match thread.rewind_turns(1).await {
            // Nothing stands before the first turn.
            Err(RunError::NoSuchTurn { .. }) => {}
            rewound => drop(rewound?),
        }
        Ok(format!(
            "지난 답 ‘{}’을(를) 무르고 그 앞의 차례로 갔습니다. 다음에는 묻습니다. 한 일 자체는 되돌리지 않습니다.",
            short(answer)
        ))
    }

    fn servers(&self) -> String {
        let lines = self.parts.servers.client().status().into_iter().map(|status| {
            let state = if status.is_connected { "연결됨" } else { "연결 안 됨" };
            let version = status.version.unwrap_or_default();
            let tools = status.tools.map(|tools| format!(", 도구 {tools}개")).unwrap_or_default();
            let error = status.error.map(|error| format!("\n  {error}")).unwrap_or_default();
            format!("{}: {state} {version}{tools}{error}", status.server)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The differences, a line each under their servers; of the server or the tool `of`, whole.
    fn diff(&self, of: &str) -> String {
        let pending = self.parts.servers.client().pending();
        if !of.is_empty() {
            let is_of =
                |change: &&Change| change.tool().server() == of || change.tool().to_string() == of;
            let whole = pending.iter().filter(is_of);
            let whole: Vec<_> =
                whole.map(|change| format!("{change}\n{}", change.difference())).collect();
            let none = format!("`{of}`에는 승인한 것과 다른 도구가 없습니다.");
            return if whole.is_empty() { none } else { whole.join("\n") };
        }
        if pending.is_empty() {
            return "승인한 것과 다른 도구가 없습니다.".to_owned();
        }
        let mut lines = Vec::new();
        let servers: BTreeSet<_> = pending.iter().map(|change| change.tool().server()).collect();
        for server in servers {
            let changes = pending.iter().filter(|change| change.tool().server() == server);
            let changes: Vec<_> = changes.collect();
            lines.push(format!("{server}: {}가지", changes.len()));
            lines.extend(changes.into_iter().map(change_line));
        }
        lines.push(
            "정의 전체: /diff 서버, /diff 서버/도구. 승인: /accept(모두), /accept 서버.".to_owned(),
        );
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = pending;
        lines.join("\n")
    }

    /// Accepts what was shown, or that of one server.
    async fn accept(&self, server: &str) -> Result<String, Failure> {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if shown.is_empty() {
            return Err(Failure::Usage("먼저 /diff로 무엇이 달라졌는지 보세요.".to_owned()));
        }
        if !server.is_empty() {
            shown.retain(|change| change.tool().server() == server);
        }
        if shown.is_empty() {
            return Err(Failure::Usage(format!(
                "/diff가 보인 것 가운데 `{server}`의 것은 없습니다."
            )));
        }
        let approved = self.parts.servers.client().approve(&shown);
        approved.map_err(|error| Failure::Usage(Chain(&error).to_string()))?;
        let is_left = |change: &Change| shown.iter().all(|it| it.tool() != change.tool());
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).retain(is_left);
        self.parts.servers.look(now()).await.map_err(Failure::wiring)?;
        Ok(format!("{}가지를 승인했습니다.", shown.len()))
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
            let changed = match changed.len() {
                0 => String::new(),
                count => format!(", 고친 곳 {count}"),
            };
            format!("답: {decided}{}{took}{changed}", by(who))
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
            let tasks = |steps: &[crate::state::PlanStep]| {
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
    let Some(plan) = &state.plan else { return "아직 계획이 없습니다.".to_owned() };
    let mut lines: Vec<_> = plan
        .steps
        .iter()
        .enumerate()
        .map(|(at, step)| {
            let ended =
                state.results.get(at).map(|result| format!(" — {}", name_of(result.status)));
            let tool = step.tool.as_ref().map(|tool| format!(" ({tool})")).unwrap_or_default();
            format!("{}. {}{tool}{}", at + 1, short(&step.task), ended.unwrap_or_default())
        })
        .collect();
    if let Some(original) = &plan.original {
        lines.push("처음 계획:".to_owned());
        lines.extend(original.iter().map(|step| format!("  - {}", short(&step.task))));
    }
    lines.extend(plan.faults.iter().map(|fault| format!("고친 것: {fault}")));
    lines.join("\n")
}

/// Why the last turn went as it did.
fn why(state: &OrchestratorState) -> String {
    let mut lines = Vec::new();
    if let Some(complexity) = state.complexity {
        lines.push(format!("판단: {}", wording::complexity(complexity)));
    }
    if let Some(clarity) = &state.clarity {
        let before = clarity.before.as_ref().map(|before| format!(", 처음 말: {}", short(before)));
        lines.push(format!("분명함: {:.1}{}", clarity.confidence, before.unwrap_or_default()));
        lines.extend(
            clarity.questions.iter().map(|question| format!("  물음: {}", short(question))),
        );
    }
    for entry in &state.decisions {
        let step = entry.step.map(|step| format!(" {step}")).unwrap_or_default();
        let by = match &entry.automatic {
            Some(reason) => format!(" (묻지 않음: {})", short(reason)),
            None => " (사람)".to_owned(),
        };
        lines.push(format!("{}{step}: {}{by}", entry.gate, entry.decision));
    }
    for step in &state.results {
        lines.push(format!("[{}] {}: {}", step.number, name_of(step.status), short(&step.text)));
        for call in &step.calls {
            let ended = match (call.unmade, call.succeeded) {
                (true, _) => "하지 않음",
                (false, true) => "성공",
                (false, false) => "실패",
            };
            let arguments = call.arguments.0.to_string();
            lines.push(format!(
                "  {}({}): {ended}, {}밀리초",
                call.of,
                short(&arguments),
                call.millis
            ));
        }
    }
    if let Some(end) = state.end {
        lines.push(format!("끝: {}", wording::end(end)));
    }
    if lines.is_empty() { "아직 요청이 없습니다.".to_owned() } else { lines.join("\n") }
}
