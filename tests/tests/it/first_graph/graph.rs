use hanok::{BoxError, Context, END, Graph, Message, Messages, START, Snapshot, State, model::*};

#[derive(State, Clone, Default)]
struct Chat {
    messages: Messages, // append; same id replaces
}

async fn call_model(chat: Snapshot<Chat>, cx: Context<(SharedModel, SharedTool)>) -> Result<ChatUpdate, BoxError> {
    let (model, tool) = cx.services();
    let request = ChatRequest::new(chat.messages.iter().cloned()).tools([tool.spec().clone()]);
    Ok(Chat::update().message(model.chat(request, &cx.call("model", "chat", "")).await?.message))
}

async fn call_tool(chat: Snapshot<Chat>, cx: Context<(SharedModel, SharedTool)>) -> Result<ChatUpdate, BoxError> {
    let mut update = Chat::update();
    for call in chat.messages.last().into_iter().flat_map(|message| message.tool_calls()) {
        let output = cx.services().1.run(&call.arguments, &cx.call("tool", &call.name, &call.id)).await?;
        update = update.message(Message::tool(&call.id, output.text));
    }
    Ok(update)
}

fn graph() -> Result<Graph<Chat, (SharedModel, SharedTool)>, hanok::graph::BuildError> {
    let calls = |chat: &Chat| chat.messages.last().is_some_and(|message| !message.tool_calls().is_empty());
    let graph = Graph::builder("chat").node("model", call_model).node("tool", call_tool);
    let graph = graph.edge(START, "model").edge("tool", "model");
    graph.branch("model", move |chat: &Chat| if calls(chat) { "tool" } else { END }, ["tool", END]).build()
}
