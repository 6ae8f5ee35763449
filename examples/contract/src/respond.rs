//! Writes the answer.

use hanok_graph::{Context, Snapshot};
use hanok_model::{ChatModel, ChatReply, ModelError};
use hanok_state::State;

use crate::{
    ContractEvent, ContractState, ContractStateUpdate, Expert, Material, Origin,
    answer::{answered, show},
    cite,
    failure::NodeFailure,
    prompt,
};

/// The most tokens of an answer.
const LONGEST: u32 = 1_000;

const PROMPT: &str = "당신은 계약서를 설명하는 전문가입니다. 자료에 있는 내용만으로 사용자의 질문에 짧고 정확하게 답합니다. \
    답에는 근거가 된 조의 번호를 자료의 `제목`에 있는 그대로 밝힙니다. 자료에 없으면 없다고 답하고, 법률 자문을 하지 않습니다.";

/// What is said beside it where there is a standard contract in the data: a small model writes of what its rules name.
const COMPARE: &str =
    "표준계약서의 내용은 계약서의 내용과 나누어, 조의 번호 앞에 `표준계약서`를 붙여 씁니다.";

const NOTHING: &str = "계약서에서 이 질문에 답할 조항을 찾지 못했습니다.";

const FORCED: &str = "찾아볼 수 있는 횟수를 다 써서, 지금까지 찾은 조항으로만 답했습니다.";

/// The most characters of the nearest article that are quoted.
const NEAREST: usize = 300;

/// What stands nearest to the question where the model wrote no answer.
fn related(collected: &[Material]) -> Option<String> {
    let is_article = |it: &&Material| it.origin == Origin::Contract && it.article.is_some();
    let Material { label, text, .. } = collected.iter().find(is_article)?;
    let text = text.trim();
    let end = text.char_indices().nth(NEAREST).map(|(at, _)| at);
    let quoted = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
    let cut = if end.is_some() { "…" } else { "" };
    Some(format!("관련 조항: {label}\n{quoted}{cut}"))
}

/// Writes the answer out of what was read. What is not there is said by this program, whatever the model writes, and so are
/// the articles that the answer is taken from.
pub(crate) async fn respond(
    expert: Expert,
    state: Snapshot<ContractState>,
    context: Context,
) -> Result<ContractStateUpdate, NodeFailure> {
    context.custom(&ContractEvent::Generating { materials: state.collected.len() });
    let mut text = String::new();
    let absent = state.absent.iter().filter(|it| it.is_told(&state.question));
    let absent: Vec<&str> = absent.map(|it| it.text.as_str()).collect();
    if !absent.is_empty() {
        let end = if state.collected.is_empty() { "" } else { "\n\n" };
        text = absent.join("\n") + end;
        show(&context, &text);
    }
    let said = match state.collected.is_empty() {
        true => String::new(),
        false => written(&expert, &state, &context).await?,
    };
    if !said.is_empty() {
        text.push_str(&said);
    } else if !state.collected.is_empty() || text.is_empty() {
        // What may answer stands there, and is not said to be missing.
        let words = related(&state.collected).unwrap_or_else(|| NOTHING.to_owned());
        show(&context, &words);
        text.push_str(&words);
    }
    let sources = match said.is_empty() {
        true => Vec::new(),
        false => cite::of(&said, &state.collected),
    };
    let invented = cite::invented(&said, &expert.book);
    let nothing = said.is_empty() || sources.is_empty() && cite::finds_nothing(&said);
    let told = sources.iter().all(|source| text.contains(&source.label));
    let rest = [
        (!invented.is_empty())
            .then(|| format!("답에 나온 {}는 없는 조입니다.", invented.join(", "))),
        (state.planning.forced && !nothing).then(|| FORCED.to_owned()),
        cite::line(&sources).filter(|_| !told),
    ];
    for line in rest.into_iter().flatten() {
        let line = format!("\n\n{line}");
        show(&context, &line);
        text.push_str(&line);
    }
    Ok(answered(ContractState::update(), &context, &text, sources))
}

/// What the model writes, as it writes it: it quotes a contract, in which nothing is a label or a call.
async fn written(
    expert: &Expert,
    state: &ContractState,
    context: &Context,
) -> Result<String, NodeFailure> {
    let data = state.mark.as_ref().and_then(|mark| prompt::found(state, mark));
    let compares = state.collected.iter().any(|it| it.origin == Origin::Standard);
    let rules = if compares { format!("{PROMPT} {COMPARE}") } else { PROMPT.to_owned() };
    let request = prompt::request(&rules, state, data).temperature(0.0).max_tokens(LONGEST);
    let call = context.call("model", "respond", "");
    let asked = || expert.model.chat(request, &call);
    let reply: ChatReply = context.step::<_, ModelError, _>("answer", asked).await?;
    let text = reply.message.text();
    // Some servers leave what the model thought in the text, at its beginning.
    let said = match text.trim_start().strip_prefix("<think>") {
        Some(thought) => thought.split_once("</think>").map_or("", |(_, said)| said),
        None => &text,
    };
    Ok(said.trim().to_owned())
}
