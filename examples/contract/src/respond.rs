//! Writes the answer.

use hanok_agent::StopReason;
use hanok_core::{BoxError, Token};
use hanok_documents::ArticleMention;
use hanok_graph::{Context, Snapshot};
use hanok_model::{ChatModel, ChatReply, ModelError};
use hanok_state::{Message, State};
use kit::progress::short;

use crate::{
    ContractEvent, ContractState, ContractStateUpdate, Expert, Material, Origin, cite,
    event::Cited, prompt, question,
};

/// The most tokens of an answer.
const LONGEST: u32 = 1_000;

const PROMPT: &str = "당신은 계약서를 설명하는 전문가입니다. 자료에 있는 내용만으로 사용자의 질문에 짧고 정확하게 답합니다. \
    답에는 근거가 된 조의 번호를 자료의 `제목`에 있는 그대로 밝힙니다. 자료에 없으면 없다고 답하고, 법률 자문을 하지 않습니다.";

/// What is said beside it where there is a standard contract in the data: a small model writes of what its rules name.
const COMPARE: &str =
    "표준계약서의 내용은 계약서의 내용과 나누어, 조의 번호 앞에 `표준계약서`를 붙여 씁니다.";

const NOTHING: &str = "계약서에서 이 질문에 답할 조항을 찾지 못했습니다.";

const NO_STANDARD: &str = "비교할 표준계약서가 없습니다.";

const NO_COUNTERPART: &str = "표준계약서에는 이에 대응하는 조항이 없습니다.";

const FORCED: &str = "찾아볼 수 있는 횟수를 다 써서, 지금까지 찾은 조항으로만 답했습니다.";

/// Writes the answer out of what was read. What is not there is said by this program, whatever the model writes, and so are
/// the articles that the answer is taken from.
pub(crate) async fn respond(
    expert: Expert,
    state: Snapshot<ContractState>,
    context: Context,
) -> Result<ContractStateUpdate, BoxError> {
    context.custom(&ContractEvent::Generating { materials: state.collected.len() });
    let absent = absent(&expert, &state).join("\n");
    let mut text = match absent.is_empty() || state.collected.is_empty() {
        true => absent,
        false => absent + "\n\n",
    };
    show(&context, &text);
    let said = match state.collected.is_empty() {
        true => String::new(),
        false => written(&expert, &state, &context).await?,
    };
    text.push_str(&said);
    let sources = if said.is_empty() { Vec::new() } else { cite::of(&said, &state.collected) };
    let rest = said_by_rules(&expert, &state, &text, &said, &sources);
    text.push_str(&rest);
    Ok(answered(ContractState::update(), &context, &text, &rest, sources))
}

/// What the question asks for by name and neither contract has.
fn absent(expert: &Expert, state: &ContractState) -> Vec<String> {
    let book = &expert.book;
    let named = ArticleMention::all(&state.question).into_iter().filter(|it| book.lacks(it));
    let mut absent: Vec<String> = named
        .map(|it| match book.paper(Origin::of(&it)) {
            Some(paper) => paper.without(it.number),
            None => NO_STANDARD.to_owned(),
        })
        .collect();
    let compared = state.collected.iter().any(|it| it.origin == Origin::Standard);
    if absent.is_empty() && !compared && question::asks_standard(&state.question) {
        let why = if book.standard.is_some() { NO_COUNTERPART } else { NO_STANDARD };
        absent.push(why.to_owned());
    }
    absent
}

/// What follows what the model `said` in `text`: what is nearest, where it said nothing, and what a reader has to know of the rest.
fn said_by_rules(
    expert: &Expert,
    state: &ContractState,
    text: &str,
    said: &str,
    sources: &[Material],
) -> String {
    let articles = |it: &&Material| it.origin == Origin::Contract && it.article.is_some();
    let nearest = state.collected.iter().find(articles);
    let nearest = nearest.map(|it| format!("관련 조항: {}\n{}", it.label, short(&it.text)));
    // What may answer stands there, and is not said to be missing.
    let nearest = nearest.or_else(|| text.is_empty().then(|| NOTHING.to_owned()));
    let nothing = said.is_empty() || sources.is_empty() && cite::finds_nothing(said);
    let invented = cite::invented(said, &expert.book);
    let told = sources.iter().all(|source| text.contains(&source.label));
    let notes = [
        (!invented.is_empty())
            .then(|| format!("답에 나온 {}는 없는 조입니다.", invented.join(", "))),
        (state.planning.forced && !nothing).then(|| FORCED.to_owned()),
        cite::line(sources).filter(|_| !told),
    ];
    let nearest = nearest.filter(|_| said.is_empty()).unwrap_or_default();
    notes.into_iter().flatten().fold(nearest, |text, note| format!("{text}\n\n{note}"))
}

/// What the model writes, as it writes it: it quotes a contract, in which nothing is a label or a call.
async fn written(
    expert: &Expert,
    state: &ContractState,
    context: &Context,
) -> Result<String, BoxError> {
    let compares = state.collected.iter().any(|it| it.origin == Origin::Standard);
    let rules = if compares { format!("{PROMPT} {COMPARE}") } else { PROMPT.to_owned() };
    let request = prompt::request(&rules, state, prompt::found(state)).max_tokens(LONGEST);
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

/// Shows a piece of the answer that no model wrote.
fn show(context: &Context, text: &str) {
    if let Some(sink) = context.call("answer", "words", text).sink().filter(|_| !text.is_empty()) {
        sink.token(Token::Text(text.to_owned()));
    }
}

/// Ends the turn with `text`, of which the end `rest` is not shown yet, and which was taken from `sources`.
pub(crate) fn answered(
    update: ContractStateUpdate,
    context: &Context,
    text: &str,
    rest: &str,
    sources: Vec<Material>,
) -> ContractStateUpdate {
    show(context, rest);
    context.custom(&ContractEvent::Sources { sources: sources.iter().map(Cited::from).collect() });
    update
        .message(Message::assistant(text))
        .answer(Some(text.to_owned()))
        .sources(sources)
        .stopped(Some(StopReason::Answered))
}
