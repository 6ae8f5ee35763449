//! Writes the answer.

use hanok_agent::{ContentCapture, Protocol, ask_model};
use hanok_graph::{Context, Snapshot};
use hanok_model::{ChatReply, ModelError};
use hanok_parse::{Declared, Parser};
use hanok_state::State;

use crate::{
    ContractEvent, ContractState, ContractStateUpdate, Expert,
    answer::{answered, show},
    cite,
    failure::NodeFailure,
    prompt,
};

/// The most tokens of an answer.
const LONGEST: u32 = 1_000;

const PROMPT: &str = "당신은 계약서를 설명하는 전문가입니다. 자료에 있는 내용만으로 사용자의 질문에 짧고 정확하게 답합니다. \
    답에는 근거가 된 조를 `제5조`처럼 밝힙니다. 표준계약서의 내용은 계약서의 내용과 나누어 `표준계약서 제5조`처럼 씁니다. \
    자료에 없으면 없다고 답하고, 법률 자문을 하지 않습니다.";

const NOTHING: &str = "계약서에서 이 질문에 답할 조항을 찾지 못했습니다.";

const FORCED: &str = "찾아볼 수 있는 횟수를 다 써서, 지금까지 찾은 조항으로만 답했습니다.";

/// Writes the answer out of what was read. What is not there is said by this program, whatever the model writes, and so are
/// the articles that the answer is taken from.
pub(crate) async fn respond(
    expert: Expert,
    state: Snapshot<ContractState>,
    context: Context,
) -> Result<ContractStateUpdate, NodeFailure> {
    context.custom(&ContractEvent::Generating { materials: state.collected.len() });
    let looked = !state.tool_history.is_empty();
    let mut text = opening(&state);
    if !text.is_empty() {
        show(&context, &text);
    }
    let mut sources = Vec::new();
    if !state.collected.is_empty() || !looked {
        let said = written(&expert, &state, &context, &text).await?;
        sources = cite::of(&said, &state.collected);
        text.push_str(&said);
    } else if text.is_empty() {
        text.push_str(NOTHING);
        show(&context, NOTHING);
    }
    let mut rest = Vec::new();
    rest.extend(state.forced.then(|| FORCED.to_owned()));
    let told = sources.iter().all(|source| text.contains(&source.label));
    rest.extend(cite::line(&sources).filter(|_| !told));
    for line in rest {
        let line = format!("\n\n{line}");
        show(&context, &line);
        text.push_str(&line);
    }
    Ok(answered(ContractState::update(), &context, &text, sources))
}

/// What the model writes.
async fn written(
    expert: &Expert,
    state: &ContractState,
    context: &Context,
    opening: &str,
) -> Result<String, NodeFailure> {
    let data = state.mark.as_ref().and_then(|mark| prompt::found(state, mark));
    let request = prompt::request(PROMPT, state, data).temperature(0.0).max_tokens(LONGEST);
    let call = context.call("model", "respond", opening);
    let parser = Parser::new(Declared::new());
    let asked = || async {
        let reading = (&parser, Protocol::Native);
        ask_model(&expert.model, request, &call, reading, ContentCapture::default()).await
    };
    let reply: ChatReply = context.step::<_, ModelError, _>("answer", asked).await?;
    let read = parser.parse(&reply.message.text());
    let said = read.answer.unwrap_or(read.content);
    Ok(said.trim().to_owned())
}

/// What is said before the model writes: which articles are not there.
fn opening(state: &ContractState) -> String {
    let named: Vec<&str> = state
        .absent
        .iter()
        .map(String::as_str)
        .filter(|text| text.starts_with('제') || text.starts_with("비교할"))
        .collect();
    match (named.is_empty(), state.collected.is_empty()) {
        (true, _) => String::new(),
        (false, true) => named.join("\n"),
        (false, false) => named.join("\n") + "\n\n",
    }
}
