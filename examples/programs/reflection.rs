//! Reflection: one node writes, another one criticises, in a loop that a branch ends when the critic is content. The writer
//! sees the whole conversation, the critic only the last draft.

use hanok::{
    BoxError, Context, END, Graph, Message, Messages, START, Snapshot, State,
    model::{ChatModel, ChatRequest, Exchange, ScriptedModel, SharedModel},
};

#[derive(State, Clone, Default)]
struct Essay {
    messages: Messages,
    drafts: u32,
    content: bool,
}

async fn write(essay: Snapshot<Essay>, cx: Context<SharedModel>) -> Result<EssayUpdate, BoxError> {
    let request = ChatRequest::new(essay.messages.iter().cloned());
    let draft = cx.services().chat(request, &cx.call("model", "write", "")).await?.message;
    Ok(Essay::update().message(draft).drafts(essay.drafts + 1))
}

async fn criticise(
    essay: Snapshot<Essay>,
    cx: Context<SharedModel>,
) -> Result<EssayUpdate, BoxError> {
    let draft = essay.messages.answer().ok_or("nothing was written")?;
    let request = ChatRequest::new([Message::system("You grade essays."), Message::user(draft)]);
    let grade = cx.services().chat(request, &cx.call("model", "criticise", "")).await?.message;
    let content = grade.text() == "good";
    Ok(Essay::update().message(Message::user(grade.text())).content(content))
}

fn again(essay: &Essay) -> &'static str {
    if essay.content || essay.drafts == 5 { END } else { "write" }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let graph = Graph::<Essay, SharedModel>::builder("essay")
        .node("write", write)
        .node("criticise", criticise)
        .edge(START, "write")
        .edge("write", "criticise")
        .branch("criticise", again, ["write", END])
        .build()?;
    let model = ScriptedModel::new([
        Exchange::says("Tea is hot."),
        Exchange::says("more depth").contains("grade").contains("Tea is hot."),
        Exchange::says("Tea is a hot leaf.").contains("more depth"),
        Exchange::says("good").contains("Tea is a hot leaf."),
    ]);
    let input = Essay::update().message("Write about tea.");
    let essay = graph.invoke(input, SharedModel::new(model)).await?.done()?;
    for message in essay.messages.iter() {
        println!("{}: {}", message.role(), message.text());
    }
    println!("{} drafts", essay.drafts);
    Ok(())
}
