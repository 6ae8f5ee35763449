//! The tools of a team with their arguments, chosen in one request.

use std::sync::{Arc, Mutex};

use hanok_agent::ChosenBy;
use hanok_graph::{Context, END, Graph, START, Snapshot, StepError};
use hanok_model::{Exchange, ScriptedModel};
use hanok_state::{Message, State};
use hanok_team::{ToolOption, ToolPlan, ToolPlanner};
use serde_json::json;

#[derive(State, Clone, Debug, Default)]
struct Nothing {
    done: bool,
}

fn option(name: &str, reads: bool) -> ToolOption {
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    ToolOption { name: name.to_owned(), description: "A tool".to_owned(), schema, reads }
}

/// The plan of `planner`, made in a node.
async fn plan(planner: ToolPlanner, instead: Option<Vec<String>>) -> ToolPlan {
    let kept = Arc::new(Mutex::new(None));
    let keep = kept.clone();
    let choose = move |_: Snapshot<Nothing>, context: Context| {
        let (planner, instead, keep) = (planner.clone(), instead.clone(), keep.clone());
        async move {
            let messages = vec![Message::user("Is it raining in Seoul?")];
            let plan = planner.plan(&context, "rain", messages, instead.as_deref()).await?;
            *keep.lock().unwrap() = Some(plan);
            Ok::<_, StepError>(Nothing::update())
        }
    };
    let graph = Graph::<Nothing>::builder("ask").node("choose", choose);
    let graph = graph.edge(START, "choose").edge("choose", END).build().unwrap();
    graph.invoke(Nothing::update(), ()).await.unwrap().done().unwrap();
    let plan = kept.lock().unwrap().take();
    plan.unwrap()
}

fn says(tools: serde_json::Value) -> ScriptedModel {
    let arguments = json!({"weather": {"city": "Seoul"}, "write": null});
    let reply = json!({"keywords": ["Seoul"], "tools": tools, "arguments": arguments, "reason": "it asks", "confidence": 0.9});
    ScriptedModel::new([Exchange::says(reply.to_string())])
}

#[tokio::test]
async fn tools_are_chosen_with_their_arguments() {
    let options = [option("weather", true), option("write", false)];
    let planner = ToolPlanner::new("search", "Choose.", says(json!(["weather", "write"])), options);
    let plan = plan(planner, None).await;
    let calls: Vec<_> = plan.calls.iter().map(|(name, it)| (name.as_str(), json!(it))).collect();
    assert_eq!(calls, [("weather", json!({"city": "Seoul"})), ("write", json!({}))]);
    assert_eq!((plan.keywords, plan.choice.chosen.len()), (vec!["Seoul".to_owned()], 2));
    assert!(matches!(plan.choice.by, ChosenBy::Model { .. }));
}

/// What a model names twice is called once, with the arguments that it wrote.
#[tokio::test]
async fn a_tool_that_is_named_twice_is_called_once() {
    let options = [option("weather", true), option("write", false)];
    let says = says(json!(["weather", "write", "weather"]));
    let plan = plan(ToolPlanner::new("search", "Choose.", says, options), None).await;
    assert_eq!(plan.choice.chosen, ["weather", "write"]);
    let calls: Vec<_> = plan.calls.iter().map(|(name, it)| (name.as_str(), json!(it))).collect();
    assert_eq!(calls, [("weather", json!({"city": "Seoul"})), ("write", json!({}))]);
}

/// Where the model does not answer, the rules choose, and nothing that does more than read.
#[tokio::test]
async fn a_fallback_chooses_only_what_reads() {
    let options = || [option("weather", true), option("write", false)];
    let silent = || ScriptedModel::new([Exchange::says("no idea"), Exchange::says("none")]);
    let planner = ToolPlanner::new("search", "Choose.", silent(), options());
    let nothing = plan(planner.clone(), None).await;
    assert_eq!((nothing.calls.len(), nothing.choice.confidence), (0, 0.3));
    let planner = ToolPlanner::new("search", "Choose.", silent(), options());
    let planner = planner.fallback(says(json!(["write", "weather"])));
    let plan = plan(planner, None).await;
    assert_eq!(plan.choice.chosen, ["weather"]);
    assert!(matches!(plan.choice.by, ChosenBy::Fallback { .. }));
}

/// What a person chose is called, with the arguments that the model writes for it.
#[tokio::test]
async fn a_person_chooses_instead() {
    let options = [option("weather", true), option("write", false)];
    let planner = ToolPlanner::new("search", "Choose.", says(json!([])), options);
    let plan = plan(planner, Some(vec!["weather".to_owned(), "cook".to_owned()])).await;
    assert_eq!((plan.calls.len(), &plan.choice.dropped[..]), (1, &["cook".to_owned()][..]));
    assert_eq!(plan.choice.by, ChosenBy::Person);
}
