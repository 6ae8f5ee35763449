//! Which articles to read next.

use hanok_agent::ToolHistory;
use hanok_state::{Arguments, Message, ToolCall};
use serde_json::{Value, json};

use crate::{
    ContractState, Expert, Origin,
    previous::question_before,
    prompt, question,
    tools::{BY_INDEX, BY_TITLE, HYBRID_SEARCH, LOOKUP_STANDARD, WHOLE},
};

/// How many titles are proposed at once.
const TITLES: usize = 3;

/// The calls that rules propose: the articles that the question names by number or title, a search unless it names them so, and the standard contract
/// where that is asked for. Only what the user wrote stands in them.
pub(crate) fn suggested(expert: &Expert, state: &ContractState) -> Vec<ToolCall> {
    let (question, contract) = (&state.question, &expert.book.user.contract);
    let before = question_before(state).filter(|_| state.needs_previous);
    let asked = before.as_ref().map_or(question.clone(), |before| format!("{before} {question}"));
    let of_standard = question::articles(question, Origin::Standard);
    let numbers = question::articles(question, Origin::Contract);
    let by_number = !numbers.is_empty() || !of_standard.is_empty();
    let mut titled = contract.titled_in(question);
    if !by_number && titled.is_empty() {
        titled = contract.titled_in(&asked);
    }
    let numbers = numbers.iter().map(|it| (BY_INDEX, json!({ "article": it.key() })));
    let titles = titled.iter().filter_map(|article| article.title.as_deref()).take(TITLES);
    let titles = titles.map(|title| (BY_TITLE, json!({ "title": title })));
    let mut wanted: Vec<(&str, Value)> = numbers.chain(titles).collect();
    // `해지 조항` asks for that article, and a title alone may be a word of a question about another one.
    let by_name = by_number || !titled.is_empty() && question.contains("조항");
    let compares = of_standard.is_empty() && question::asks_standard(question);
    let is_whole = compares && wanted.is_empty() && before.is_none();
    if !by_name && !is_whole {
        wanted.push((HYBRID_SEARCH, json!({ "query": asked })));
    }
    let topics = of_standard.iter().map(|it| json!({ "topic": it.to_string() }));
    let all = if is_whole { json!({ "topic": WHOLE }) } else { json!({}) };
    let topics = topics.chain(compares.then_some(all));
    wanted.extend(topics.map(|topic| (LOOKUP_STANDARD, topic)));
    let call = |(at, (name, arguments)): (usize, (&str, Value))| {
        ToolCall::new(format!("rule-{}", at + 1), name, arguments.to_string())
    };
    wanted.into_iter().enumerate().map(call).collect()
}

/// `calls` with those that rules propose: an article that the question names is read, whatever the model says, and a model that
/// reads nothing is not believed, unless what was read for the last answer may be enough.
pub(crate) fn with_suggested(
    calls: Vec<ToolCall>,
    suggested: Vec<ToolCall>,
    state: &ContractState,
) -> Vec<ToolCall> {
    let rest = state.needs_previous && !state.previous_sources.is_empty();
    let certain = |call: &ToolCall| match call.name.as_str() {
        HYBRID_SEARCH => false,
        LOOKUP_STANDARD => calls.iter().all(|made| made.name != LOOKUP_STANDARD),
        _ => true,
    };
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
pub(crate) fn asks_standard(state: &ContractState) -> bool {
    let before = question_before(state).filter(|_| state.needs_previous);
    let answered = state.previous_sources.iter().any(|it| it.origin == Origin::Standard);
    let asked = [&state.question].into_iter().chain(&before).chain(&state.planning.missing);
    state.needs_previous && answered || asked.into_iter().any(|text| question::asks_standard(text))
}

/// Whether a call takes what the others find.
pub(crate) fn needs_others(call: &ToolCall) -> bool {
    let arguments = call.arguments.decode::<Value>().unwrap_or_default();
    let topic = arguments.get("topic").and_then(Value::as_str).unwrap_or_default();
    call.name == LOOKUP_STANDARD && topic.trim().is_empty()
}

/// A comparison without a topic is one with the articles that were read; those of this round are not read yet.
pub(crate) fn completed(call: ToolCall, state: &ContractState) -> ToolCall {
    let of_contract = state.collected.iter().filter(|it| it.origin == Origin::Contract);
    let titled = of_contract.filter_map(|it| it.label.split_once('('));
    let titles: Vec<&str> = titled.filter_map(|(_, title)| title.strip_suffix(')')).collect();
    if titles.is_empty() || !needs_others(&call) {
        return call;
    }
    let arguments = json!({ "topic": titles.join("\n") });
    ToolCall { arguments: Arguments::new(arguments.to_string()), ..call }
}

/// The conversation that the planner's model reads.
pub(crate) fn planning(state: &ContractState, suggested: &[ToolCall]) -> Vec<Message> {
    let mut told: Vec<String> = prompt::found(state).into_iter().collect();
    if let Some(mark) = &state.mark {
        told.extend(prompt::listed("아직 읽지 않은 조", &state.unexplored, mark));
        told.extend(prompt::listed("아직 부족한 것", &state.planning.missing, mark));
    }
    if !suggested.is_empty() {
        let lines = suggested.iter().map(|call| format!("- 제안: {}", shown(call)));
        let lines: Vec<_> = lines.collect();
        let rules = "규칙이 고른 호출입니다. 맞으면 그대로 부르세요.";
        told.push(format!("{rules}\n{}", lines.join("\n")));
    }
    let told = [told.join("\n\n"), state.question.clone()].map(Message::user);
    prompt::previous(state).into_iter().chain(told).collect()
}

/// A call as it is shown.
pub(crate) fn shown(call: &ToolCall) -> String {
    format!("{} {}", call.name, call.arguments.as_str())
}
