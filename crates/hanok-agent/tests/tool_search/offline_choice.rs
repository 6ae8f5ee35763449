//! The tool that a model of rules calls out of those that were found.

use hanok_core::Call;
use hanok_model::{ChatModel, ChatRequest, ToolSpec};
use hanok_state::Message;
use offline::OfflineModel;

use crate::data::{Question, kind, server};

/// What was called.
#[derive(Default)]
struct Choices {
    right: usize,
    sibling: usize,
    other: usize,
    none: usize,
}

/// How often the offline model calls the right tool, a sibling of it, another, and none: questions with one right tool that has
/// siblings, where that tool was found.
pub(crate) async fn table(questions: &[Question], found: &[Vec<ToolSpec>]) -> String {
    let mut choices = Choices::default();
    for (question, found) in questions.iter().zip(found) {
        let [right] = &question.right[..] else { continue };
        let Some(kind_of_right) = kind(server(right)) else { continue };
        if !found.iter().any(|spec| spec.name() == right) {
            continue;
        }
        let request = ChatRequest::new([Message::user(question.text.as_str())]);
        let request = request.tools(found.iter().cloned());
        let reply = OfflineModel::new().chat(request, &Call::detached()).await.unwrap();
        match reply.message.tool_calls().first() {
            None => choices.none += 1,
            Some(call) if call.name == *right => choices.right += 1,
            Some(call) => {
                let called = server(&call.name);
                match called != server(right) && kind(called) == Some(kind_of_right) {
                    true => choices.sibling += 1,
                    false => choices.other += 1,
                }
            }
        }
    }
    let Choices { right, sibling, other, none } = choices;
    format!(
        "The offline model, of five tools found by keywords, for {} questions whose one right tool is among them and has siblings: \
         {right} called it, {sibling} a sibling of another server, {other} another tool, {none} none\n",
        right + sibling + other + none
    )
}
