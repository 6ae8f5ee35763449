//! A conversation with the teams of a `hanok-team` supervisor: its progress, its plan, and the log of its decisions.

use hanok_agent::{Choice, ChoiceResult, Choices, ChosenBy, StopReason};
use hanok_core::{Chain, Stored, ThreadKey};
use hanok_graph::{Event, Thread};
use hanok_state::Messages;
use hanok_team::{
    Compared, StepStatus, Strategy, TeamEvent, TeamState, TeamStateUpdate, TeamSupervisor, WhatIf,
    WhatIfSide, steps_of,
};
use kit::{Ended, Lane, Talk, failure::Failure, progress::short};
use serde_json::Value;

use crate::{learning, memory::EstateMemory};

/// A conversation with the teams, and what is remembered of its user.
#[derive(Debug)]
pub struct Talking {
    supervisor: TeamSupervisor,
    memory: Option<EstateMemory>,
}

impl Talking {
    /// A conversation with the teams of `supervisor`.
    #[must_use]
    pub fn new(supervisor: TeamSupervisor, memory: Option<EstateMemory>) -> Self {
        Self { supervisor, memory }
    }
}

impl Talk for Talking {
    type State = TeamState;

    fn ask(&self, question: &str) -> TeamStateUpdate {
        self.supervisor.ask(question)
    }

    fn ended(&self, state: &TeamState) -> Ended {
        // What rules have found is not the model's answer.
        let stopped = match state.unanswered {
            Some(_) => Some(StopReason::EmptyReply),
            None => state.answer.is_some().then_some(StopReason::Answered),
        };
        Ended { answer: state.answer.clone(), stopped }
    }

    fn messages<'s>(&self, state: &'s TeamState) -> &'s Messages {
        &state.messages
    }

    fn drawing(&self) -> String {
        self.supervisor.drawing().mermaid()
    }

    fn is_answer(&self, event: &Event) -> bool {
        event.path.is_root() && event.node.as_deref() == Some("generate_response")
    }

    fn line(&self, item: &Stored) -> Option<String> {
        match item.decode::<TeamEvent>().ok()? {
            TeamEvent::Decision { choice } => Some(chosen(&choice)),
            TeamEvent::TeamStarted { step, .. } => Some(format!("[{step}] 시작")),
            TeamEvent::TeamFinished { step, status, error, .. } => {
                let error = error.map(|error| format!(": {}", short(&error))).unwrap_or_default();
                Some(format!("[{step}] {}{error}", name_of(status)))
            }
            _ => None,
        }
    }

    fn lane(&self, event: &Event) -> Option<Lane> {
        Some(match TeamEvent::of(event)? {
            TeamEvent::TeamStarted { step, .. } => Lane::Begins(step),
            TeamEvent::TeamFinished { step, .. } => Lane::Ends(step),
            // The run of a team is named by its step.
            TeamEvent::ToolStarted { tool, .. } => Lane::Does(step_of(event)?, tool),
            _ => return None,
        })
    }

    fn told(&self, item: &Stored) -> Option<Value> {
        told(&item.decode().ok()?)
    }

    fn told_call(&self, event: &Event) -> Option<Value> {
        told(&TeamEvent::of(event)?)
    }

    async fn act(
        &self,
        name: &str,
        rest: &str,
        thread: &Thread<TeamState>,
    ) -> Result<Option<String>, Failure> {
        let state = thread.state(None).await?.unwrap_or_default();
        Ok(Some(match (name, rest) {
            ("plan", "") => plan(&state),
            ("steps", "") => steps(&state, &thread.views(None).await?),
            ("decisions", "") => decisions(&state),
            ("why", number) => why(&state, number)?,
            ("what-if", rest) => self.what_if(&state, rest, thread).await?,
            ("report", "") => report(&state),
            ("memory" | "forget", rest) => {
                learning::command(self.memory.as_ref(), name, rest, thread.key().thread()).await?
            }
            _ => return Ok(None),
        }))
    }

    fn commands(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("/plan", "앞의 질문의 계획"),
            ("/steps", "그 단계들과 지금 상태"),
            ("/decisions", "그때의 선택"),
            ("/why N", "N번째 선택의 까닭"),
            ("/what-if N 이름…", "N번째 선택을 다르게 했다면"),
            ("/report", "팀마다의 결과"),
            ("/memory", "이 사용자에 대해 기억하는 것"),
            (
                "/forget 무엇",
                "그 선호를(이름), 선호를 모두(선호), 이 대화에서 배운 것을(대화), 모두(모두) 잊기",
            ),
        ]
    }
}

/// An event, as programs are told it.
fn told(event: &TeamEvent) -> Option<Value> {
    let Value::Object(mut event) = serde_json::to_value(event).ok()? else { return None };
    let kind = event.remove("type")?;
    event.insert("event".to_owned(), kind);
    Some(Value::Object(event))
}

/// The step in whose run `event` is.
fn step_of(event: &Event) -> Option<String> {
    let (_, step) = event.path.segments().next()?.split_once(':')?;
    Some(step.to_owned())
}

impl Talking {
    /// Tries other tools, or other teams, for the choice of this number.
    async fn what_if(
        &self,
        state: &TeamState,
        rest: &str,
        thread: &Thread<TeamState>,
    ) -> Result<String, Failure> {
        let mut words = rest.split_whitespace();
        let choices = Choices::of(&state.choices);
        let at = words.next().and_then(|number| number.parse::<usize>().ok());
        let choice = at.and_then(|at| choices.iter().nth(at.checked_sub(1)?));
        let Some((choice, _)) = choice else {
            return Err(Failure::Usage(
                "몇 번째 선택을 무엇으로 바꿀지 쓰세요: /what-if 3 market_data".to_owned(),
            ));
        };
        let here = thread.key();
        let fork = ThreadKey::new(here.tenant().clone(), &format!("{}~what-if", here.thread()));
        let fork = fork.map_err(Failure::Thread)?;
        // One that was left behind by a run that died.
        let failed = |error| Failure::Log(Box::new(error));
        thread.app().thread(fork.clone()).delete().await.map_err(failed)?;
        let what_if = WhatIf::choose(choice.id.as_str(), words);
        let compared = self.supervisor.what_if(thread, &fork, what_if, ()).await;
        thread.app().thread(fork).delete().await.map_err(failed)?;
        let compared = compared.map_err(|error| Failure::Usage(Chain(&error).to_string()))?;
        Ok(compared_lines(&compared))
    }
}

fn name_of(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "대기",
        StepStatus::Running => "진행 중",
        StepStatus::Completed => "완료",
        StepStatus::Failed => "실패",
        _ => "건너뜀",
    }
}

fn plan(state: &TeamState) -> String {
    let Some(plan) = &state.plan else { return "아직 계획이 없습니다.".to_owned() };
    let mut lines = vec![format!("의도: {} (확신 {:.1})", plan.intent, plan.confidence)];
    if plan.parts.len() > 1 {
        lines.extend(plan.parts.iter().map(|part| format!("  부분: {}", part.text)));
    }
    for step in &plan.steps {
        let needs = match step.needs.is_empty() {
            true => String::new(),
            false => format!(" ← {}", step.needs.join(", ")),
        };
        lines.push(format!("- {} ({}){needs}: {}", step.id, step.team, short(&step.task)));
    }
    let made = if plan.by_rules { "규칙이 만든 계획" } else { "모델이 만든 계획" };
    let seconds = plan.estimated_millis / 1_000;
    let order = match plan.strategy {
        Strategy::Sequential => "차례로",
        Strategy::Parallel => "한꺼번에",
        _ => "나누어 차례로",
    };
    lines.push(format!("{made}, {order}, 예상 {seconds}초"));
    lines.extend(plan.validation_errors.iter().map(|fault| format!("고친 것: {fault}")));
    lines.join("\n")
}

fn steps(state: &TeamState, views: &[hanok_graph::GraphView]) -> String {
    let lines = steps_of(state, views).into_iter().map(|step| {
        let cause = step.error.map(|error| format!(": {}", short(&error))).unwrap_or_default();
        format!("{:<12}{}{cause}", step.step_id, name_of(step.status))
    });
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() { "단계가 없습니다.".to_owned() } else { lines.join("\n") }
}

fn decisions(state: &TeamState) -> String {
    let choices = Choices::of(&state.choices);
    let lines = choices.iter().enumerate().map(|(at, (choice, result))| {
        let end = result.map(|result| match result.succeeded() {
            true => " → 성공",
            false => " → 일부 실패",
        });
        format!("{:>3} {}{}", at + 1, chosen(choice), end.unwrap_or_default())
    });
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() { "선택이 없습니다.".to_owned() } else { lines.join("\n") }
}

/// A choice in one line.
fn chosen(choice: &Choice) -> String {
    let chosen = match choice.chosen.is_empty() {
        true => "없음".to_owned(),
        false => choice.chosen.join(", "),
    };
    let kind = serde_json::to_value(choice.kind).ok();
    let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
    let by = match &choice.by {
        ChosenBy::Fallback { .. } => " (규칙으로 대신함)",
        _ => "",
    };
    format!("[{}·{kind}] {chosen} (확신 {:.1}){by}", choice.agent, choice.confidence)
}

fn why(state: &TeamState, number: &str) -> Result<String, Failure> {
    let choices = Choices::of(&state.choices);
    let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let choice = at.and_then(|at| choices.iter().nth(at));
    let Some((choice, result)) = choice else {
        let most = choices.iter().len();
        return Err(Failure::Usage(format!("선택은 {most}개입니다: /why 1")));
    };
    let mut lines = vec![chosen(choice), format!("질문: {}", short(&choice.question))];
    let options = choice.options.iter().map(|option| match &option.unavailable {
        Some(reason) => format!("{} (쓸 수 없음: {reason})", option.name),
        None => option.name.clone(),
    });
    lines.push(format!("후보: {}", options.collect::<Vec<_>>().join(", ")));
    if !choice.reason.is_empty() {
        lines.push(format!("까닭: {}", short(&choice.reason)));
    }
    lines.push(match &choice.by {
        ChosenBy::Model { name } => format!("정한 이: 모델 {name}"),
        ChosenBy::Fallback { cause } => {
            format!("정한 이: 규칙(모델의 선택을 쓸 수 없어서: {})", short(cause))
        }
        ChosenBy::Person => "정한 이: 사람".to_owned(),
        _ => "정한 이: 규칙".to_owned(),
    });
    lines.extend(result.into_iter().flat_map(used));
    Ok(lines.join("\n"))
}

fn used(result: &ChoiceResult) -> Vec<String> {
    let line = |(name, of): (&String, &hanok_agent::Outcomes)| {
        let error = of.error.as_ref().map(|error| format!(", 오류: {}", short(error)));
        format!("{name}: {}회, {}밀리초{}", of.count, of.millis, error.unwrap_or_default())
    };
    result.of.iter().map(line).collect()
}

/// What another choice came to.
fn compared_lines(compared: &Compared) -> String {
    let Compared { before, after, differing, .. } = compared;
    let answer = |side: &WhatIfSide| side.answer.clone().unwrap_or_default();
    let cost = |side: &WhatIfSide| format!("{}밀리초, 토큰 {}", side.millis, side.spent.tokens());
    let differing = match differing.is_empty() {
        true => "없음".to_owned(),
        false => differing.join(", "),
    };
    format!(
        "## 실제 ({})\n{}\n\n## 바꾸었다면 ({})\n{}\n\n달라진 단계: {differing}",
        cost(before),
        answer(before),
        cost(after),
        answer(after)
    )
}

fn report(state: &TeamState) -> String {
    let parts = state.results().map(|(step, result)| {
        let text = result.text.as_deref().or(result.error.as_deref()).unwrap_or_default();
        format!("## {} ({})\n{text}", step.id, name_of(result.status))
    });
    let parts: Vec<_> = parts.collect();
    if parts.is_empty() { "결과가 없습니다.".to_owned() } else { parts.join("\n\n") }
}
