//! An agent, its tools and its limits.

use std::time::Duration;

use hanok::{
    Budget, InMemoryCheckpointer, ThreadKey,
    agent::{Protocol, ReactAgent},
    core::Effect,
    model::{Exchange, FnTool, ScriptedModel, ToolSpec},
    state::{Arguments, ToolCall},
};
use serde_json::json;

use crate::runtime_mistakes::Page;

fn tool(name: &str) -> FnTool {
    let spec =
        ToolSpec::new(name, "Waits", json!({ "properties": { "for": { "type": "string" } } }));
    FnTool::untyped(spec.unwrap(), |_: Arguments, _| async {
        std::future::pending::<()>().await;
        Ok("never".into())
    })
    .effect(Effect::Pure)
}

fn agent(exchanges: Vec<Exchange>) -> hanok::agent::ReactAgentBuilder {
    ReactAgent::builder("clerk", "Looks things up", ScriptedModel::new(exchanges))
        .protocol(Protocol::Native)
}

fn call(id: &str) -> Exchange {
    Exchange::calls([ToolCall::new(id, "look_up", json!({ "for": "tea" }))])
}

#[tokio::test]
async fn an_agent_and_its_limits() {
    let mut page = Page::default();
    let said = || vec![Exchange::says("Tea.")];
    let twice = agent(said()).tool(tool("look_up")).tool(tool("look_up")).build();
    page.tell("two tools of one name", &twice.map(|_| ()).unwrap_err());
    let unnamed = ReactAgent::builder("", "Looks things up", ScriptedModel::new(said())).build();
    page.tell("an agent without a name", &unnamed.map(|_| ()).unwrap_err());
    let schema = ToolSpec::new("look_up", "Waits", json!("a text"));
    page.tell("a schema that is none", &schema.map(|_| ()).unwrap_err());

    // What the model is told, and asked for another way.
    let slow = vec![call("1"), Exchange::says("It is slow.")];
    let slow = agent(slow).tool(tool("look_up").timeout(Duration::from_millis(1))).build().unwrap();
    let ended = slow.graph().invoke(slow.ask("tea?"), ()).await.unwrap().done().unwrap();
    let messages: Vec<_> =
        ended.messages.iter().map(|message| message.text().into_owned()).collect();
    page.say("a tool that takes too long, as the model is told", &messages[messages.len() - 2]);

    let dear =
        agent(vec![call("1"), call("2")]).tool(tool("look_up").timeout(Duration::from_millis(1)));
    let dear = dear.build().unwrap();
    let app = dear.graph().checkpointer(InMemoryCheckpointer::new());
    let budget = Budget { model_calls: Some(1), ..Budget::default() };
    let thread = app.thread(ThreadKey::named("t").unwrap()).budget(budget);
    let ended = thread.invoke(dear.ask("tea?"), ()).await.unwrap().done().unwrap_err();
    page.tell("a budget that is spent", &ended);

    let silent = agent(Vec::new()).build().unwrap();
    let error = silent.graph().invoke(silent.ask("tea?"), ()).await.unwrap_err();
    page.tell("a script that is too short", &error);
    insta::assert_snapshot!(page.0, @r#"
    # two tools of one name
    agent `clerk` cannot be built: the tools cannot be registered
    - two tools are named `look_up`
    # an agent without a name
    an agent cannot be named "": it takes 1 to 64 characters without control characters, and not `__end__`
    # a schema that is none
    the arguments of tool `look_up` are no object with named fields; take a struct
    # a tool that takes too long, as the model is told
    The tool `look_up` did not finish within 1ms and was stopped. Ask for less, or take another way.
    # a budget that is spent
    the turn reached its limit of 1 model call: give the turn a larger `budget` and `resume` it
    # a script that is too short
    HNK-201 node `call_model` failed in super-step 0: the model of agent `clerk` did not answer: the model failed: the script ends after 0 exchanges
    the model was sent:
    [system] Looks things up
    [user] tea?
    "#);
}
