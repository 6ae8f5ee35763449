//! The quick start of most libraries in one program: a chatbot with a tool, a person who reviews what it says, a thread that
//! remembers, and time travel: back to the question, which is answered the other way; the first way stays in the history.

use hanok::{
    BoxError, Context, END, Graph, Message, Messages, Outcome, START, Snapshot, State, ThreadKey,
    agent::{Conversation, ToolNode, ToolRegistry, ToolRunner, tools_condition},
    checkpoint::Select,
    model::{
        ChatModel, ChatRequest, Exchange, FnTool, ScriptedModel, SharedModel, SharedTool, Tool,
    },
    sqlite::Sqlite,
};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(State, Clone, Default)]
struct Chat {
    messages: Messages,
    verdict: String,
}

/// Where the calls that the tools' node makes are, and their results go.
impl Conversation for Chat {
    fn messages(&self) -> &Messages {
        &self.messages
    }

    fn add(update: ChatUpdate, message: Message) -> ChatUpdate {
        update.message(message)
    }
}

#[derive(Deserialize, JsonSchema)]
struct Search {
    query: String,
}

type Services = (SharedModel, SharedTool);

async fn chatbot(chat: Snapshot<Chat>, cx: Context<Services>) -> Result<ChatUpdate, BoxError> {
    let (model, search) = cx.services();
    let request = ChatRequest::new(chat.messages.iter().cloned()).tools([search.spec().clone()]);
    Ok(Chat::update().message(model.chat(request, &cx.call("model", "chat", "")).await?.message))
}

async fn review(chat: Snapshot<Chat>, cx: Context<Services>) -> Result<ChatUpdate, BoxError> {
    let answer = chat.messages.answer().ok_or("the model said nothing")?;
    let right: bool = cx.ask(&format!("{answer} Is that right?"), None).await?;
    Ok(Chat::update().verdict(if right { "right" } else { "wrong" }))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let search =
        SharedTool::new(FnTool::new("search", "Searches", |with: Search, _| async move {
            Ok(format!("{}: born in 2026", with.query).into())
        })?);
    let tools = ToolNode::new(ToolRunner::new(ToolRegistry::new([search.clone()])?));
    let graph = Graph::<Chat, Services>::builder("chat")
        .node("chatbot", chatbot)
        .node("tools", tools)
        .node("review", review)
        .edge(START, "chatbot")
        .branch(
            "chatbot",
            |chat: &Chat| if tools_condition(chat) == END { "review" } else { "tools" },
            ["tools", "review"],
        )
        .edge("tools", "chatbot")
        .edge("review", END)
        .build()?;
    let model = SharedModel::new(ScriptedModel::new([
        Exchange::call("search", serde_json::json!({ "query": "hanok" })),
        Exchange::says("hanok was born in 2026.").contains("hanok: born in 2026"),
        Exchange::says("Yes, as I said: 2026.").contains("born in 2026.").contains("Really?"),
    ]));
    let services = (model, search);
    let app = graph.checkpointer(Sqlite::in_memory().await?);
    let thread = app.thread(ThreadKey::named("t")?);

    for text in ["When was hanok born?", "Really?"] {
        let input = Chat::update().message(text);
        let Outcome::Interrupted(asked) = thread.invoke(input, services.clone()).await? else {
            return Err("nobody was asked".into());
        };
        asked.iter().for_each(|question| println!("{}", question.payload));
        let chat = thread.reply(&true, services.clone()).await?.done()?;
        println!("{} after {} messages", chat.verdict, chat.messages.len());
    }
    let checkpoints = thread.log().checkpoints(Select::all()).await?;
    let before = checkpoints.iter().find(|it| it.next == ["review"]).ok_or("not in the log")?;
    thread.rewind(before.position).await?;
    thread.resume(services.clone()).await?;
    let chat = thread.reply(&false, services).await?.done()?;
    println!("back at position {}: {}", before.position, chat.verdict);
    Ok(())
}
