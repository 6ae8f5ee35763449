//! The tool that a model calls out of those that were found.

use hanok_core::Call;
use hanok_model::{ChatModel, ChatRequest, SharedModel, ToolSpec};
use hanok_state::Message;

use crate::tool_search::data::{Question, kind, server};

/// What was called.
#[derive(Default)]
struct Choices {
    right: usize,
    sibling: usize,
    other: usize,
    none: usize,
}

/// How often `model` calls the right tool, a sibling of it, another, and none: at most `most` questions with one right tool that has
/// siblings, where that tool was found.
pub(crate) async fn table(
    model: &SharedModel,
    questions: &[Question],
    found: &[Vec<ToolSpec>],
    most: usize,
) -> String {
    let asked = questions.iter().zip(found).filter_map(|(question, found)| {
        let [right] = &question.right[..] else { return None };
        let is_found = found.iter().any(|spec| spec.name() == right);
        Some((question, found, right, kind(server(right)).filter(|_| is_found)?))
    });
    let asked: Vec<_> = asked.collect();
    let mut choices = Choices::default();
    for (question, found, right, kind_of_right) in
        asked.iter().step_by(asked.len().div_ceil(most).max(1))
    {
        let request = ChatRequest::new([Message::user(question.text.as_str())]);
        let request = request.tools(found.iter().cloned());
        let reply = model.chat(request, &Call::detached()).await.unwrap();
        match reply.message.tool_calls().first() {
            None => choices.none += 1,
            Some(call) if call.name == **right => choices.right += 1,
            Some(call) => {
                let called = server(&call.name);
                match called != server(right) && kind(called) == Some(*kind_of_right) {
                    true => choices.sibling += 1,
                    false => choices.other += 1,
                }
            }
        }
    }
    let Choices { right, sibling, other, none } = choices;
    format!(
        "{}, of five tools found by keywords, for {} questions whose one right tool is among them and has siblings: \
         {right} called it, {sibling} a sibling of another server, {other} another tool, {none} none\n",
        model.name(),
        right + sibling + other + none
    )
}
