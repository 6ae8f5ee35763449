//! What a run decides: prompts, models and tools by its state and services, tools that nobody registered, pictures.

use hanok_agent::{AgentError, Interceptor, NextTool, Protocol, ReactAgent, ToolRequest, Verdict};
use hanok_core::Call;
use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_model::{
    Exchange, FnTool, ScriptedModel, SharedModel, SharedTool, ToolError, ToolOutput, ToolSpec,
};
use hanok_state::{Content, Part, Role, State, ToolCall};
use serde_json::json;

use crate::support::desk::{App, Desk, desk, native, results, tool, turn};

#[tokio::test]
async fn prompt_model_and_tools_are_those_of_the_state_and_the_services() {
    let large = ScriptedModel::new([
        Exchange::calls([native("1", "secret", "")]).contains("You serve Kim for Lee."),
        Exchange::says("done").contains("the safe is open"),
    ]);
    let (small, at_large) = (ScriptedModel::new([]), SharedModel::new(large.clone()));
    let own = small.clone();
    let agent = desk(&small)
        .prompt_by(|desk, app| format!("You serve {} for {}.", desk.customer, app.user))
        .model_by(move |_, app| match app.user.as_str() {
            "Lee" => at_large.clone(),
            _ => SharedModel::new(own.clone()),
        })
        .tools_by(|_, app| match app.user.as_str() {
            "Lee" => vec![tool("secret", |_, _| Ok("the safe is open".into()))],
            _ => Vec::new(),
        })
        .build()
        .unwrap();
    let input = agent.ask("?").customer("Kim");
    let state = agent.graph().invoke(input, App::of("Lee")).await.unwrap().done().unwrap();
    assert_eq!(results(&state), ["the safe is open"]);
    assert_eq!((large.requests()[0].tools.len(), small.requests().len()), (4, 0));
    large.finished().unwrap();
}

#[tokio::test]
async fn tools_of_a_run_may_not_have_the_names_of_others() {
    let agent = desk(&ScriptedModel::new([]))
        .tools_by(|_, _| vec![tool("serve", |_, _| Ok("".into()))])
        .build()
        .unwrap();
    let error = agent.graph().invoke(agent.ask("?"), App::default()).await.unwrap_err();
    let error = error.downcast_ref::<AgentError>().unwrap();
    let told = hanok_core::Chain(error).to_string();
    assert!(told.contains("two tools are named `serve`"), "{told}");
}

/// Has a tool for every name that begins with `dyn_`, and looks at how it is called.
#[derive(Debug)]
struct Dynamic;

impl Interceptor for Dynamic {
    async fn unregistered(
        &self,
        call: &ToolCall,
        _: &Call,
    ) -> Result<Option<SharedTool>, ToolError> {
        match call.name.as_str() {
            "dyn_refused" => return Err(ToolError::refused("not today")),
            name if name.starts_with("dyn_") => {}
            _ => return Ok(None),
        }
        let schema = json!({"properties": {"name": {"type": "string", "minLength": 1}}});
        let spec = ToolSpec::new(call.name.as_str(), "", schema).map_err(ToolError::failed)?;
        Ok(Some(SharedTool::new(FnTool::untyped(spec, |arguments, call| async move {
            let app = call.provided::<App>().map(|app| app.user.clone()).unwrap_or_default();
            Ok(format!("{arguments} of {app}").into())
        }))))
    }

    async fn admit(&self, request: &ToolRequest<'_>, _: &Call) -> Result<Verdict, ToolError> {
        Ok(match request.call.arguments.as_str().contains("stop") {
            true => Verdict::Refuse("stop".into()),
            false => Verdict::Make,
        })
    }

    async fn around_tool(
        &self,
        request: &ToolRequest<'_>,
        call: &Call,
        next: NextTool<'_>,
    ) -> Result<ToolOutput, ToolError> {
        let made = next.run(call).await?;
        Ok(ToolOutput::new(format!("[{}] {}", request.call.name, made.text)))
    }
}

/// A call of a tool that nobody has registered comes to the interceptors first, and is checked and judged like every other.
#[tokio::test]
async fn an_interceptor_has_a_tool_for_a_call_of_none() {
    let calls = [
        native("1", "dyn_a", "x"),
        native("2", "dyn_b", ""),
        native("3", "dyn_c", "stop"),
        native("4", "dyn_refused", "x"),
        native("5", "gone", "x"),
        native("6", "whoami", ""),
    ];
    let (state, _) = turn(|agent| agent.intercept(Dynamic), &calls).await;
    let results = results(&state);
    assert_eq!(results[0], r#"[dyn_a] {"name":"x"} of Lee"#);
    assert!(results[1].starts_with("The arguments do not fit `dyn_b`"), "{}", results[1]);
    assert_eq!(results[2], "The call of `dyn_c` was not made: stop");
    assert_eq!(results[3], "The call of `dyn_refused` was not made: refused: not today");
    assert!(results[4].starts_with("There is no tool `gone`. The tools are: `whoami`"));
    assert_eq!(results[5], "[whoami] You are Lee.");
}

/// By the text protocol too, where the parser does not know the tool; without one the model reads what the parser says.
#[tokio::test]
async fn an_interceptor_has_a_tool_for_a_call_in_text() {
    let model = ScriptedModel::new([
        Exchange::says("Action: dyn_a\nAction Input: {\"name\": \"x\"}"),
        Exchange::says("Action: gone\nAction Input: {}")
            .contains("[dyn_a] {\u{2060}\"name\":\"x\"} of Lee"),
        Exchange::says("Final Answer: done").contains("gone"),
    ]);
    let agent = desk(&model).protocol(Protocol::Text).intercept(Dynamic).build().unwrap();
    let state = agent.graph().invoke(agent.ask("?"), App::of("Lee")).await.unwrap().done().unwrap();
    model.finished().unwrap();
    let told = &results(&state)[1];
    assert!(told.contains("There is no tool") && told.contains("`whoami`"), "{told}");
}

/// An interceptor's own result writes like a tool's.
#[tokio::test]
async fn what_an_interceptor_gives_in_place_of_a_call_may_write() {
    #[derive(Debug)]
    struct Gives;
    impl Interceptor for Gives {
        async fn admit(&self, request: &ToolRequest<'_>, _: &Call) -> Result<Verdict, ToolError> {
            match request.call.name.as_str() {
                "serve" => {
                    let output =
                        ToolOutput::new("given").update(&Desk::update().customer("Choi"))?;
                    Ok(Verdict::Give(output))
                }
                _ => Ok(Verdict::Make),
            }
        }
    }
    let (state, _) = turn(|agent| agent.intercept(Gives), &[native("1", "serve", "Park")]).await;
    assert_eq!((state.customer.as_str(), results(&state)), ("Choi", vec!["given".into()]));
}

const DOT: &str = "data:image/png;base64,AAAA";

fn photo() -> SharedTool {
    tool("photo", |_, _| Ok(ToolOutput::new("a dot").image(DOT)))
}

/// The model sees the pictures of a result: behind the results by native calls, and in the observation by the text protocol.
#[tokio::test]
async fn a_result_has_pictures() {
    let (state, model) =
        turn(|agent| agent.tool(photo()), &[native("1", "photo", ""), native("2", "whoami", "")])
            .await;
    assert_eq!(results(&state), ["a dot", "You are Lee."]);
    let [.., first, second, pictures] = &model.requests()[1].messages[..] else { panic!() };
    assert_eq!((first.role(), second.role()), (Role::Tool, Role::Tool));
    assert_eq!(first.content(), &Content::from("a dot"));
    assert_eq!(pictures.role(), Role::User);
    assert_eq!(pictures.content(), &Content::Parts(vec![Part::Image { url: DOT.into() }]));

    let model = ScriptedModel::new([
        Exchange::says("Action: photo\nAction Input: {}"),
        Exchange::says("Final Answer: a dot"),
    ]);
    let agent = ReactAgent::builder("t", "", model.clone())
        .protocol(Protocol::Text)
        .tool(photo())
        .build()
        .unwrap();
    agent.run("?").await.unwrap();
    let last = model.requests()[1].messages.last().cloned().unwrap();
    let Content::Parts(parts) = last.content() else { panic!("{last:?}") };
    let [Part::Text { text }, Part::Image { url }] = &parts[..] else { panic!("{parts:?}") };
    assert!(text.starts_with("Observation:\n<data-") && text.contains("a dot"), "{text}");
    assert_eq!(url, DOT);
}

/// What is too large for a log is left out, and the model knows.
#[tokio::test]
async fn a_picture_that_is_too_large_is_left_out() {
    let large = tool("large", |_, _| {
        let huge = format!("data:image/png;base64,{}", "A".repeat(9 * 1024 * 1024));
        Ok(ToolOutput::new("two").image(huge).image(DOT))
    });
    let (state, model) = turn(|agent| agent.tool(large), &[native("1", "large", "")]).await;
    assert_eq!(results(&state), ["two\n[1 pictures are too large and are not shown]"]);
    let pictures = model.requests()[1].messages.last().cloned().unwrap();
    assert_eq!(pictures.content(), &Content::Parts(vec![Part::Image { url: DOT.into() }]));
}

/// A runner in a node of one's own hands the wishes of tools on to it.
#[tokio::test]
async fn a_runner_hands_on_what_a_tool_wants() {
    #[derive(State, Clone, Debug, Default)]
    struct Own {
        said: String,
    }
    let wants = tool("wants", |_, _| {
        ToolOutput::new("x").goto("there").update(&Own::update().said("written"))
    });
    let runner = hanok_agent::ToolRunner::new(hanok_agent::ToolRegistry::new([wants]).unwrap());
    let node = move |state: Snapshot<Own>, cx: Context| {
        let runner = runner.clone();
        async move {
            let result = runner.run(&cx, &native("1", "wants", "")).await?;
            assert_eq!((result.observation.fault, result.target.is_some()), (None, true));
            let write = result.update.ok_or("no write")?;
            let update = write.read(&*state, cx.earlier_states(), &"a".into())?;
            Ok::<_, hanok_core::BoxError>(update)
        }
    };
    let graph = Graph::<Own>::builder("own").node("a", node).edge(START, "a").edge("a", END);
    let state = graph.build().unwrap().invoke(Own::update(), ()).await.unwrap().done().unwrap();
    assert_eq!(state.said, "written");
}
