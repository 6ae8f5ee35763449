//! Which articles to read next.

use hanok_agent::{AgentState, ToolHistory};
use hanok_graph::{Context, Snapshot};
use hanok_state::{Arguments, Message, State, ToolCall};
use serde_json::Value;

use crate::{
    ContractEvent, ContractState, Expert, Origin,
    failure::NodeFailure,
    previous::question_before,
    prompt, question, suggest,
    tools::{HYBRID_SEARCH, LOOKUP_STANDARD},
};

/// The most calls of one round.
const CALLS: usize = 16;

/// Asks the model which tools to call, with what rules propose in the first round.
pub(crate) async fn proposed(
    expert: &Expert,
    state: &ContractState,
    iteration: u32,
    context: &Context,
) -> Result<Vec<ToolCall>, NodeFailure> {
    let suggested = match iteration {
        1 => expert.suggested(state),
        _ => Vec::new(),
    };
    let missing = state.planning.missing.clone();
    let proposed = suggested.iter().map(shown_of).collect();
    context.custom(&ContractEvent::Planning { iteration, suggested: proposed, missing });

    let messages = expert.planning(state, &suggested);
    let asked = AgentState { messages: messages.into_iter().collect(), ..AgentState::default() };
    let planner = match asks_standard(state) {
        true => &expert.comparing,
        false => &expert.reading,
    };
    let update = planner.call_model(Snapshot::new(asked), context.clone()).await?;
    let mut planned = AgentState::default();
    planned.reduce(vec![("planner".into(), update)])?;

    let mut calls = planned.pending_tool_calls;
    calls.truncate(CALLS);
    Ok(if iteration == 1 { with_suggested(calls, suggested, state) } else { calls })
}

/// `calls` with those that rules propose: an article that the question names is read, whatever the model says, and a model that
/// reads nothing is not believed, unless what was read for the last answer may be enough.
fn with_suggested(
    calls: Vec<ToolCall>,
    suggested: Vec<ToolCall>,
    state: &ContractState,
) -> Vec<ToolCall> {
    let rest = state.needs_previous && !state.previous_sources.is_empty();
    let certain = |call: &ToolCall| call.name != HYBRID_SEARCH;
    let all = calls.is_empty() && (!rest || suggested.iter().any(certain));
    let mut made = ToolHistory::default();
    calls.iter().for_each(|call| {
        made.note(call);
    });
    let added = suggested.into_iter().filter(|call| (all || certain(call)) && !made.has(call));
    let added: Vec<ToolCall> = added.collect();
    calls.into_iter().chain(added).collect()
}

/// Whether the standard contract is asked for: by the question, the one it goes on from or its answer, or by what is missing.
fn asks_standard(state: &ContractState) -> bool {
    let before = || question_before(state).is_some_and(|before| question::asks_standard(&before));
    let answer = || state.previous_sources.iter().any(|it| it.origin == Origin::Standard);
    question::asks_standard(&state.question)
        || !question::articles(&state.question, Origin::Standard).is_empty()
        || state.needs_previous && (before() || answer())
        || state.planning.missing.iter().any(|missing| question::asks_standard(missing))
}

/// A call as it is shown.
pub(crate) fn shown_of(call: &ToolCall) -> String {
    format!("{} {}", call.name, call.arguments.as_str())
}

/// Whether a call takes what the others find.
pub(crate) fn needs_others(call: &ToolCall) -> bool {
    call.name == LOOKUP_STANDARD && topic(call).is_none()
}

fn topic(call: &ToolCall) -> Option<String> {
    let arguments: Value = call.arguments.decode().ok()?;
    let topic = arguments.get("topic")?.as_str()?.trim();
    (!topic.is_empty()).then(|| topic.to_owned())
}

/// A comparison without a topic is one with the articles that were read; those of this round are not read yet.
pub(crate) fn completed(call: ToolCall, state: &ContractState) -> ToolCall {
    let read: Vec<&str> = titles(state);
    if !needs_others(&call) || read.is_empty() {
        return call;
    }
    let arguments = serde_json::json!({ "topic": read.join("\n") });
    ToolCall { arguments: Arguments::new(arguments.to_string()), ..call }
}

/// The titles of the contract's articles that were read, without their numbers.
fn titles(state: &ContractState) -> Vec<&str> {
    let of_contract = state.collected.iter().filter(|it| it.origin == Origin::Contract);
    let titled = of_contract.filter_map(|it| it.label.split_once('('));
    titled.filter_map(|(_, title)| title.strip_suffix(')')).collect()
}

impl Expert {
    /// What rules propose.
    fn suggested(&self, state: &ContractState) -> Vec<ToolCall> {
        let before = state.needs_previous.then(|| question_before(state)).flatten();
        suggest::calls(&state.question, before.as_deref(), &self.book.user.contract)
    }

    /// The conversation that the planner's model reads.
    fn planning(&self, state: &ContractState, suggested: &[ToolCall]) -> Vec<Message> {
        let mut told = Vec::new();
        if let Some(mark) = &state.mark {
            told.extend(prompt::found(state, mark));
            let absent: Vec<String> = state.absent.iter().map(|it| it.text.clone()).collect();
            told.extend(prompt::listed("없는 것", &absent, mark));
            told.extend(prompt::listed("아직 읽지 않은 조", &state.unexplored, mark));
            told.extend(prompt::listed("아직 부족한 것", &state.planning.missing, mark));
        }
        if !suggested.is_empty() {
            let lines = suggested.iter().map(|call| format!("- 제안: {}", shown_of(call)));
            let lines: Vec<_> = lines.collect();
            told.push(format!(
                "규칙이 고른 호출입니다. 맞으면 그대로 부르세요.\n{}",
                lines.join("\n")
            ));
        }
        let told = Message::user(told.join("\n\n"));
        let question = Message::user(state.question.as_str());
        prompt::previous(state).into_iter().chain([told, question]).collect()
    }
}
