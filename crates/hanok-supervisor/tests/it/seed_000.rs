//! The walk from a question to its answer: supervisor, agent, tool, agent, supervisor. The state after each super-step.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::fmt::Write as _;

use futures::StreamExt;
use hanok_agent::{AgentState, AgentStateUpdate, Language, ReactAgent};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Tenant, ThreadKey};
use hanok_graph::{Event, EventKind, Input};
use hanok_model::{Exchange, FnTool, ScriptedModel, ToolOutput};
use hanok_state::{Message, Messages, Role, StateUpdate};
use hanok_supervisor::{Supervisor, SupervisorState, SupervisorStateUpdate};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// 찾을 내용
    query: String,
}

const RULE: &str = "[문서 1] 출처: 인사규정\n연차휴가는 근속 기간에 따라 준다. 1년이 안 되면 월 1일, 1년부터 15일, 3년부터 20일이다. \
    출근율이 80 % 이상이어야 전부 받는다.";

const ANSWER: &str = "연차휴가는 근속 기간에 따라 다릅니다.\n\n- 1년 미만: 월 1일\n- 1년 이상: 15일\n- 3년 이상: 20일\n\n\
    출근율 80 % 이상이면 전부 받습니다. 출처: 인사규정";

/// The replies, in the seed's order, each with what the model has to have been sent.
fn script() -> ScriptedModel {
    ScriptedModel::new([
        Exchange::says(
            "휴가 규정은 사내 문서에 있습니다.\n\nDelegate: rag_agent\nTask: 휴가 규정을 찾아 정리하기",
        )
        .contains("- internal_agent: 직원과 회의실을 찾는다")
        .contains("회사 휴가 정책 알려줘"),
        Exchange::says(
            "Thought: 휴가 규정을 문서에서 찾아야 한다.\nAction: search_knowledge_base\nAction Input: {\"query\": \"휴가 정책\"}",
        )
        .contains("- search_knowledge_base: 사내 문서를 찾는다")
        .contains("맡은 일: 휴가 규정을 찾아 정리하기")
        .lacks("Delegate: rag_agent"),
        Exchange::says(format!("Thought: 규정을 찾았으니 정리한다.\nFinal Answer: {ANSWER}"))
            .contains("출근율이 80 % 이상이어야"),
        Exchange::says(format!("에이전트가 규정을 찾았습니다.\n\nFinal Answer: {ANSWER}"))
            .contains("결\u{2060}과: 연차휴가는 근속 기간에 따라 다릅니다.")
            .lacks("출근율이 80 % 이상이어야"),
    ])
}

fn supervisor(model: &ScriptedModel) -> Supervisor {
    let search = FnTool::new(
        "search_knowledge_base",
        "사내 문서를 찾는다",
        |search: Search, _| async move {
            assert_eq!(search.query, "휴가 정책");
            Ok(ToolOutput::from(RULE))
        },
    );
    let agent = |name, description| {
        ReactAgent::builder(name, description, model.clone()).language(Language::Korean)
    };
    Supervisor::builder(model.clone())
        .agent(
            agent("rag_agent", "사내 문서에서 답을 찾는다").tool(search.unwrap()).build().unwrap(),
        )
        .agent(agent("external_agent", "날짜와 계산을 맡는다").build().unwrap())
        .agent(agent("internal_agent", "직원과 회의실을 찾는다").build().unwrap())
        .language(Language::Korean)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_question_goes_through_supervisor_agent_and_tool_and_back() {
    let model = script();
    let supervisor = supervisor(&model);
    let app = supervisor.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::new(Tenant::default(), "user-session-123").unwrap());

    let input = Input::New(supervisor.ask("회사 휴가 정책 알려줘"));
    let mut events = thread.stream(input, ());
    let mut walk = String::new();
    while let Some(event) = events.next().await {
        show(&mut walk, &event);
    }
    let state = events.outcome().await.unwrap().done().unwrap();
    model.finished().unwrap();

    assert_eq!(state.messages.last().unwrap().text(), ANSWER);
    assert_eq!(state.agent_outputs.get("rag_agent").unwrap(), ANSWER);
    assert_eq!(thread.state(None).await.unwrap().unwrap(), state);
    insta::assert_snapshot!(walk);
}

/// Adds to `walk` what a node wrote, and the state after the super-step.
fn show(walk: &mut String, event: &Event) {
    let whose = if event.path.is_root() { "supervisor" } else { "    agent" };
    match &event.kind {
        EventKind::Updates(update) => {
            let changes = match update.downcast_ref::<SupervisorStateUpdate>() {
                Some(update) => update.to_changes(),
                None => update.downcast_ref::<AgentStateUpdate>().unwrap().to_changes(),
            };
            let fields: Vec<_> =
                changes.unwrap().0.iter().map(|(field, _)| field.to_string()).collect();
            let node = event.node.as_deref().unwrap();
            writeln!(walk, "{whose} · node {node} writes {}", fields.join(", ")).unwrap();
        }
        EventKind::Values(state) => {
            let shown = match state.downcast_ref::<SupervisorState>() {
                Some(state) => supervisor_state(state),
                None => agent_state(state.downcast_ref().unwrap()),
            };
            writeln!(walk, "{whose} · state\n{shown}").unwrap();
        }
        _ => {}
    }
}

fn supervisor_state(state: &SupervisorState) -> String {
    let SupervisorState { current_agent, agent_outputs, iteration, max_iterations, .. } = state;
    let outputs: Vec<_> =
        agent_outputs.iter().map(|(agent, text)| (agent, first_line(text))).collect();
    let end = (state.answer.as_deref().map(first_line), state.stopped);
    messages(&state.messages, "    ")
        + &format!("    current_agent: {current_agent:?}, task: {:?}\n", state.task)
        + &format!("    agent_outputs: {outputs:?}\n")
        + &format!("    iteration: {iteration} of {max_iterations}, answer and end: {end:?}\n")
}

fn agent_state(state: &AgentState) -> String {
    let AgentState { iteration, max_iterations, agent_name, should_stop, .. } = state;
    let calls = state.pending_tool_calls.iter();
    let calls: Vec<_> = calls.map(|call| format!("{} {}", call.name, call.arguments)).collect();
    let end = (state.answer.as_deref().map(first_line), state.stopped);
    messages(&state.messages, "        ")
        + &format!("        agent_name: {agent_name:?}, pending_tool_calls: {calls:?}\n")
        + &format!(
            "        iteration: {iteration} of {max_iterations}, should_stop: {should_stop}, answer and end: {end:?}\n"
        )
}

fn messages(messages: &Messages, indent: &str) -> String {
    let line = |message: &Message| {
        let role = match (message.role(), message.name()) {
            (role, Some(name)) => format!("{role} {name}"),
            (Role::User, None) if message.tool_call_id().is_some() => "user, of a call".to_owned(),
            (role, None) => role.to_string(),
        };
        format!("{indent}{role}: {:?}\n", message.text())
    };
    messages.iter().map(line).collect()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
