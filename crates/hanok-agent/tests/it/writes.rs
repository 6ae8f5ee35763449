//! Tools that see the run and write to its state.

use hanok_agent::{AgentBuildError, AgentError, AgentState, HasAgent, ReactAgent, StopReason};
use hanok_core::{BoxError, Need};
use hanok_graph::{Context, END, Graph, NodeExt, RunError, START, Snapshot};
use hanok_model::{
    Exchange, FnTool, ScriptedModel, SharedTool, Tool, ToolError, ToolOutput, ToolSpec,
};
use hanok_state::{Message, State, StateUpdate};
use serde_json::json;

use crate::support::desk::{App, Desk, desk, native, order, results, serve, tool, turn};

/// B119: a tool is given the services, the state and nothing of them reaches the model's schema.
#[tokio::test]
async fn a_tool_sees_the_services_and_the_state_of_its_run() {
    let calls = [native("1", "whoami", ""), native("2", "order", "tea")];
    let (state, model) = turn(|agent| agent, &calls).await;
    assert_eq!(results(&state), ["You are Lee.", "ordered tea for Kim"]);
    let shown = &model.requests()[0].tools;
    assert!(shown.iter().all(|spec| !spec.schema().to_string().contains("user")));
}

/// The agent's part is there under its own type too, for tools that are written for plain agents.
#[tokio::test]
async fn a_tool_of_a_plain_agent_works_in_one_with_a_state_of_its_own() {
    let count = tool("count", |_, call| {
        let state = call.provided::<AgentState>().ok_or_else(|| ToolError::failed("no state"))?;
        let update = AgentState::update().message(Message::user("counted"));
        ToolOutput::new(format!("{} messages", state.messages.len())).update(&update)
    });
    let (state, _) = turn(|agent| agent.tool(count), &[native("1", "count", "")]).await;
    assert_eq!(results(&state), ["2 messages"]);
    assert!(state.agent.messages.iter().any(|message| message.text() == "counted"));
}

#[tokio::test]
async fn a_tool_writes_a_field_once_and_with_the_step() {
    let (state, model) = turn(|agent| agent, &[native("1", "serve", "Park")]).await;
    assert_eq!((state.customer.as_str(), results(&state)), ("Park", vec!["serving Park".into()]));
    model.finished().unwrap();
}

/// B120: writes of one reply are joined in the order of the calls, each on the state that the reply was made in.
#[tokio::test]
async fn writes_of_several_calls_are_joined_in_their_order() {
    let calls =
        [native("1", "order", "tea"), native("2", "serve", "Park"), native("3", "order", "rice")];
    let (state, _) = turn(|agent| agent, &calls).await;
    assert_eq!(state.orders, ["tea for Kim", "rice for Kim"]);
    assert_eq!(state.customer, "Park");
}

/// B120: of two that set one value the first has set it: the model is told of the later, whose call was made.
#[tokio::test]
async fn the_later_of_two_that_set_one_value_is_told_so() {
    let both = tool("both", |name, _| {
        let update = Desk::update().customer(name).push_orders("never");
        ToolOutput::new("both").update(&update)
    });
    let calls = [native("1", "serve", "Park"), native("2", "both", "Choi")];
    let (state, _) = turn(|agent| agent.tool(both), &calls).await;
    assert_eq!((state.customer.as_str(), state.orders.len()), ("Park", 0));
    let told = &results(&state)[1];
    assert!(told.starts_with("both\n[it was made, and nothing of it was written"), "{told}");
    assert!(told.contains("field `customer`: written by"), "{told}");
    let fault = state.agent.messages.iter().find(|it| it.tool_call_id() == Some("2")).unwrap();
    assert_eq!(fault.metadata()["fault"].0, json!("not_applied"));
}

/// The fields by which an agent steers itself are its own.
#[tokio::test]
async fn a_tool_cannot_take_the_agents_own_fields() {
    let steer = tool("steer", |_, _| {
        ToolOutput::new("x").update(&AgentState::update().pending_tool_calls(Vec::new()))
    });
    let (state, _) = turn(|agent| agent.tool(steer), &[native("1", "steer", "")]).await;
    assert!(results(&state)[0].contains("agent.pending_tool_calls"), "{:?}", results(&state));
}

/// Exactly one result for each call, whatever a tool writes.
#[tokio::test]
async fn a_write_holds_no_second_result() {
    let double = tool("double", |_, _| {
        ToolOutput::new("one").update(&AgentState::update().message(Message::tool("1", "two")))
    });
    let stray = tool("stray", |_, _| {
        ToolOutput::new("one").update(&AgentState::update().message(Message::tool("9", "two")))
    });
    for tool in [double, stray] {
        let name = tool.spec().name().to_owned();
        let (state, _) = turn(|agent| agent.tool(tool), &[native("1", &name, "")]).await;
        let [told] = results(&state).try_into().unwrap();
        assert!(told.contains("every call has exactly one result"), "{told}");
    }
}

/// A tool may empty the conversation, and the call goes with its result.
#[tokio::test]
async fn a_tool_may_clear_the_conversation() {
    let forget = tool("forget", |_, _| {
        let update = AgentState::update().clear_messages().message(Message::user("afresh"));
        ToolOutput::new("forgotten").update(&update)
    });
    let (state, model) = turn(|agent| agent.tool(forget), &[native("1", "forget", "")]).await;
    let texts: Vec<_> = state.agent.messages.iter().map(|it| it.text().into_owned()).collect();
    assert_eq!(texts, ["afresh", "done"]);
    assert_eq!(model.requests()[1].messages.len(), 2);
}

/// A field that the agent's state has not is told, and what it has is not touched.
#[tokio::test]
async fn a_write_of_another_state_is_told() {
    #[derive(State, Clone, Debug, Default)]
    struct Other {
        weather: String,
    }
    let other = tool("other", |_, _| ToolOutput::new("x").update(&Other::update().weather("sun")));
    let (state, _) = turn(|agent| agent.tool(other), &[native("1", "other", "")]).await;
    assert!(results(&state)[0].contains("no field `weather`"), "{:?}", results(&state));
}

#[tokio::test]
async fn a_result_may_be_the_answer() {
    let model = ScriptedModel::new([Exchange::calls([
        native("1", "order", "tea"),
        native("2", "whoami", ""),
    ])]);
    let agent = desk(&model).ends_turn("order").build().unwrap();
    let state = agent.graph().invoke(agent.ask("?"), App::of("Lee")).await.unwrap();
    let state = state.done().unwrap();
    assert_eq!(state.agent.answer.as_deref(), Some("ordered tea for "));
    assert_eq!((state.agent.stopped, results(&state).len()), (Some(StopReason::ToolResult), 2));
    assert_eq!(state.orders, ["tea for "]);
}

/// A call that failed does not end the turn: the model corrects it.
#[tokio::test]
async fn a_fault_does_not_end_the_turn() {
    let broken = tool("broken", |_, _| Err(ToolError::failed("no paper")));
    let (state, model) =
        turn(|agent| agent.tool(broken).ends_turn("broken"), &[native("1", "broken", "")]).await;
    assert_eq!(state.agent.answer.as_deref(), Some("done"));
    model.finished().unwrap();
}

#[tokio::test]
async fn targets_are_declared() {
    let leave = || tool("leave", |_, _| Ok(ToolOutput::new("bye").end()));
    let model = ScriptedModel::new([Exchange::calls([native("1", "leave", "")])]);
    let agent = desk(&model).tool(leave()).build().unwrap();
    let error = agent.graph().invoke(agent.ask("?"), App::default()).await.unwrap_err();
    let error = error.downcast_ref::<AgentError>().unwrap().to_string();
    assert_eq!(
        error,
        "tool `leave` of agent `desk` goes on at `__end__`, which the agent does not declare; there are none"
    );

    let model = ScriptedModel::new([Exchange::calls([native("1", "leave", "")])]);
    let agent = desk(&model).tool(leave()).targets([END]).build().unwrap();
    let state = agent.graph().invoke(agent.ask("?"), App::default()).await.unwrap();
    assert_eq!(state.done().unwrap().agent.answer.as_deref(), Some("bye"));
}

/// Of two that name two targets the first is taken, and nothing of the later is applied.
#[tokio::test]
async fn the_later_of_two_targets_is_told_so() {
    let leave = tool("leave", |_, _| Ok(ToolOutput::new("bye").end()));
    let stay = tool("stay", |_, _| {
        ToolOutput::new("here").goto("call_model").update(&Desk::update().customer("Choi"))
    });
    let calls = [native("1", "leave", ""), native("2", "stay", "")];
    let model = ScriptedModel::new([Exchange::calls(calls)]);
    let agent = desk(&model).tools([leave, stay]).targets([END]).build().unwrap();
    let input = agent.ask("?").customer("Kim");
    let state = agent.graph().invoke(input, App::default()).await.unwrap().done().unwrap();
    assert_eq!((state.customer.as_str(), state.agent.answer.as_deref()), ("Kim", Some("bye")));
    assert!(results(&state)[1].contains("the call of `leave` in the same reply"));
}

/// A tool lets the graph that called the agent go on at one of its nodes.
#[tokio::test]
async fn a_tool_goes_on_in_the_calling_graph() {
    async fn refund(
        _: Snapshot<Desk>,
        _: Context<App>,
    ) -> Result<<Desk as State>::Update, BoxError> {
        Ok(Desk::update().push_orders("refunded"))
    }
    let to_refund =
        tool("to_refund", |_, _| Ok(ToolOutput::new("to the till").goto_parent("refund")));
    let model = ScriptedModel::new([Exchange::calls([native("1", "to_refund", "")])]);
    let agent = desk(&model).tool(to_refund).targets(["refund"]).build().unwrap();
    let front = agent.clone();
    let front = move |state: Snapshot<Desk>, cx: Context<App>| {
        let agent = front.clone();
        async move {
            let app = App::of(&cx.services().user);
            let outcome = cx
                .run(agent.graph(), agent.ask("?").customer(state.customer.as_str()), app)
                .await?;
            Ok::<_, BoxError>(Desk::update().customer(outcome.done()?.customer))
        }
    };
    let graph = Graph::<Desk, App>::builder("shop")
        .node("front", front.goto(["refund"]))
        .node("refund", refund)
        .edge(START, "front")
        .edge("front", END)
        .edge("refund", END)
        .build()
        .unwrap();
    let state = graph.invoke(Desk::update(), App::default()).await.unwrap().done().unwrap();
    assert_eq!(state.orders, ["refunded"]);
}

/// B119: what a tool needs is checked when the agent is built.
#[tokio::test]
async fn an_agent_without_what_its_tools_need_is_not_built() {
    #[derive(Debug)]
    struct Greedy(ToolSpec);
    impl Tool for Greedy {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }
        fn effect(&self) -> hanok_core::Effect {
            hanok_core::Effect::Pure
        }
        fn needs(&self) -> Vec<Need> {
            vec![Need::of::<App>()]
        }
        async fn run(
            &self,
            _: &hanok_state::Arguments,
            call: &hanok_core::Call,
        ) -> Result<ToolOutput, ToolError> {
            Ok(call.provided::<App>().map_or("", |_| "here").into())
        }
    }
    let greedy = || SharedTool::new(Greedy(ToolSpec::new("greedy", "", json!({})).unwrap()));
    let plain = ReactAgent::builder("plain", "", ScriptedModel::new([])).tools([greedy()]).build();
    let error = plain.unwrap_err();
    assert!(matches!(error, AgentBuildError::Need { .. }), "{error}");
    assert!(error.to_string().starts_with("tool `greedy` of agent `plain` needs "), "{error}");

    let model = ScriptedModel::new([]);
    desk(&model).tool(greedy()).build().unwrap();

    // A runner in a graph of one's own finds it out when it makes the call, and that is no word for a model.
    let runner = hanok_agent::ToolRunner::new(hanok_agent::ToolRegistry::new([greedy()]).unwrap());
    let node = move |_: Snapshot<Desk>, cx: Context| {
        let runner = runner.clone();
        async move {
            let result = runner.run(&cx, &native("1", "greedy", "")).await?;
            Ok::<_, BoxError>(Desk::update().customer(result.observation.text))
        }
    };
    let graph = Graph::<Desk>::builder("own").node("a", node).edge(START, "a").edge("a", END);
    let error = graph.build().unwrap().invoke(Desk::update(), ()).await.unwrap_err();
    assert!(matches!(error, RunError::Node { .. }), "{error}");
}

impl hanok_agent::Conversation for Desk {
    fn messages(&self) -> &hanok_state::Messages {
        &self.agent.messages
    }
    fn add(update: <Desk as State>::Update, message: Message) -> <Desk as State>::Update {
        update.and(Self::wrap(AgentState::update().message(message)))
    }
}

/// The same tools write in a graph of one's own, by the node for tools.
#[tokio::test]
async fn tools_write_in_graphs_of_ones_own() {
    let stop = tool("stop", |_, _| Ok(ToolOutput::new("stopped").goto("after")));
    let registry = hanok_agent::ToolRegistry::new([serve(), order(), stop]).unwrap();
    let tools = hanok_agent::ToolNode::new(hanok_agent::ToolRunner::new(registry));
    async fn after(
        _: Snapshot<Desk>,
        _: Context<App>,
    ) -> Result<<Desk as State>::Update, BoxError> {
        Ok(Desk::update().push_orders("after"))
    }
    let graph = Graph::<Desk, App>::builder("own")
        .node("tools", tools.goto(["after"]))
        .node("after", after)
        .edge(START, "tools")
        .edge("tools", END)
        .edge("after", END)
        .build()
        .unwrap();
    let calls =
        [native("1", "serve", "Park"), native("2", "order", "tea"), native("3", "stop", "")];
    let asked = Message::assistant("").with_tool_calls(calls);
    let input = Desk::wrap(AgentState::update().message(asked)).customer("Kim");
    let state = graph.invoke(input, App::default()).await.unwrap().done().unwrap();
    assert_eq!(state.customer, "Park");
    assert_eq!(state.orders, ["tea for Kim", "after"]);
}

#[test]
fn a_turn_can_be_ended_by_tools_that_are_there() {
    let model = ScriptedModel::new([]);
    let error = desk(&model).ends_turn("gone").build().unwrap_err();
    assert_eq!(error.to_string(), "agent `desk` ends its turn with `gone`, and has no such tool");
    let spec = ToolSpec::new("now", "", json!({})).unwrap();
    let now = FnTool::untyped(spec, |_, _| async { Ok("".into()) });
    desk(&model).tool(now).ends_turn("now").build().unwrap();
}

/// What a person says of a call in doubt is a result, and no write: nobody knows what the tool would have written.
#[tokio::test(start_paused = true)]
async fn the_answer_to_a_doubt_writes_nothing() {
    let slow = FnTool::untyped(ToolSpec::new("slow", "", json!({})).unwrap(), |_, _| async {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        ToolOutput::new("served").update(&Desk::update().customer("Park"))
    });
    let model = ScriptedModel::new([
        Exchange::calls([native("1", "slow", "")]),
        Exchange::says("done").contains("by hand"),
    ]);
    let agent = desk(&model).tool(slow).build().unwrap();
    let app = agent.graph().checkpointer(hanok_checkpoint::InMemoryCheckpointer::new());
    let thread = app.thread(hanok_core::ThreadKey::named("t").unwrap());
    let run = thread.invoke(agent.ask("?"), App::default());
    tokio::time::timeout(std::time::Duration::from_millis(500), run).await.unwrap_err();
    let hanok_graph::Outcome::InDoubt(asked) = thread.resume(App::default()).await.unwrap() else {
        panic!()
    };
    let made = hanok_graph::Resolution::made("by hand").unwrap();
    let settled = thread.settle(asked[0].id.clone(), made, App::default()).await.unwrap();
    let state = settled.done().unwrap();
    assert_eq!((state.customer.as_str(), results(&state)), ("", vec!["by hand".to_owned()]));
}
