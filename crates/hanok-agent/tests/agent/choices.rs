//! The choice of tools, and the choices of a log.

use std::time::Duration;

use hanok_agent::{
    Choice, ChoiceEntry, ChoiceKind, ChoiceResult, Choices, ChosenBy, Language, ToolRegistry,
    ToolSelector,
};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{BoxError, Budget, Effect, ThreadKey, Timestamp};
use hanok_graph::{Context, END, Graph, Outcome, START, Snapshot};
use hanok_model::{Exchange, FnTool, ModelError, ScriptedModel, SharedTool, ToolSpec};
use hanok_state::State;
use serde_json::json;

#[derive(State, Clone, Debug, Default)]
struct Asked {
    #[reduce(append)]
    choices: Vec<ChoiceEntry>,
}

fn tools() -> ToolRegistry {
    let tool = |name: &str, effect| {
        let spec = ToolSpec::new(name, format!("Knows {name}"), json!({})).unwrap();
        let tool = FnTool::untyped(spec, |_, _| async { Ok("".into()) });
        SharedTool::new(tool.effect(effect))
    };
    let pure = ["law", "market", "loans"].map(|name| tool(name, Effect::Pure));
    let pay = tool("pay", Effect::AtMostOnce);
    ToolRegistry::new(pure.into_iter().chain([pay])).unwrap()
}

fn graph(selector: ToolSelector) -> Graph<Asked> {
    let choose = move |_: Snapshot<Asked>, context: Context| {
        let selector = selector.clone();
        async move {
            let choice = selector.select(&context, "May the rent rise?", &tools()).await?;
            let _: Option<bool> = context.memoised("unused")?;
            context
                .step("slow", || async {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    Ok::<_, BoxError>(())
                })
                .await?;
            Ok::<_, BoxError>(Asked::update().push_choices(ChoiceEntry::Made(choice)))
        }
    };
    let graph = Graph::<Asked>::builder("ask").node("choose", choose);
    graph.edge(START, "choose").edge("choose", END).build().unwrap()
}

async fn chosen(script: Vec<Exchange>) -> (Choice, ScriptedModel) {
    let model = ScriptedModel::new(script);
    let selector = ToolSelector::new("search", model.clone()).unavailable("market", "no data");
    let asked = graph(selector).invoke(Asked::update(), ()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    let [ChoiceEntry::Made(choice)] = &asked.choices[..] else { panic!("{asked:?}") };
    (choice.clone(), model)
}

fn says(tools: &[&str], confidence: f64) -> Exchange {
    let reply = json!({"tools": tools, "reason": "because", "confidence": confidence});
    Exchange::says(reply.to_string())
}

/// Names are taken exactly, each once; what is none, or cannot be had now, is dropped and noted. A claim is kept as claimed.
#[tokio::test(start_paused = true)]
async fn a_model_chooses_among_the_tools_that_there_are_now() {
    let named = ["law", "Law", "market", "law", "gone", "pay"];
    let reply = says(&named, 7.5).contains("Knows law").contains("cannot be had now: no data");
    let (choice, _) = chosen(vec![reply]).await;
    assert_eq!(choice.chosen, ["law", "pay"]);
    assert_eq!(choice.dropped, ["Law", "market", "gone"]);
    assert_eq!((choice.confidence, choice.kind), (7.5, ChoiceKind::Tools));
    assert!(matches!(&choice.by, ChosenBy::Model { .. }));
    let unavailable: Vec<_> = choice.options.iter().filter(|it| it.unavailable.is_some()).collect();
    assert_eq!((choice.options.len(), unavailable.len()), (4, 1));
}

/// No tool is a choice, and no fallback.
#[tokio::test(start_paused = true)]
async fn an_empty_choice_is_a_choice() {
    let (choice, _) = chosen(vec![says(&[], 1.0)]).await;
    assert!(choice.chosen.is_empty() && matches!(&choice.by, ChosenBy::Model { .. }));
}

/// What changes the world is never chosen by the rule, and neither is what cannot be had.
#[tokio::test(start_paused = true)]
async fn without_a_choice_that_can_be_used_all_tools_that_only_read_are_taken() {
    let scripts = [
        (vec![says(&["gone", "market"], 0.9)], "gone, market"),
        (vec![Exchange::says("the law"), Exchange::says("the law, I said")], "JSON"),
        (
            vec![Exchange::fails(ModelError::Server {
                status: 500,
                retry_after: None,
                source: Some("down".into()),
            })],
            "down",
        ),
    ];
    for (script, cause) in scripts {
        let (choice, _) = chosen(script).await;
        assert_eq!(
            (&choice.chosen[..], choice.confidence),
            (&["law".to_owned(), "loans".to_owned()][..], 0.3)
        );
        let ChosenBy::Fallback { cause: told } = &choice.by else { panic!("{choice:?}") };
        assert!(told.contains(cause), "{told}");
    }
}

/// The choice is stored before what follows, and made once, whatever becomes of the run.
#[tokio::test(start_paused = true)]
async fn a_choice_is_made_once() {
    let model = ScriptedModel::new([says(&["law"], 0.9)]);
    let selector = ToolSelector::new("search", model.clone()).language(Language::Korean);
    let app = graph(selector).checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("t").unwrap());
    let run = thread.invoke(Asked::update(), ());
    tokio::time::timeout(Duration::from_millis(500), run).await.unwrap_err();
    let asked = thread.resume(()).await.unwrap().done().unwrap();
    assert_eq!((asked.choices.len(), model.requests().len()), (1, 1));
}

/// A budget that is spent is no lack of a choice: the run ends with that limit.
#[tokio::test(start_paused = true)]
async fn a_spent_budget_is_no_fallback() {
    let model = ScriptedModel::new([]);
    let app = graph(ToolSelector::new("search", model)).checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("t").unwrap());
    let thread = thread.budget(Budget { model_calls: Some(0), ..Budget::default() });
    let outcome = thread.invoke(Asked::update(), ()).await.unwrap();
    assert!(matches!(outcome, Outcome::LimitReached { .. }), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn choices_are_looked_through_with_what_came_of_them() {
    let (first, _) = chosen(vec![says(&["law", "loans"], 0.9)]).await;
    let (mut second, _) = chosen(vec![says(&["gone"], 0.9)]).await;
    assert_eq!(first.inputs, second.inputs, "equal questions and options");
    second.id = "second".into();
    second.at = Timestamp(first.at.0 + 10);
    let of_first = ChoiceResult::of(first.id.as_str())
        .used("law", Duration::from_millis(30), None)
        .used("loans", Duration::from_millis(12), Some("no table"));
    let of_second = ChoiceResult::of("second").used("law", Duration::from_millis(1), None);
    let (id, at) = (first.id.clone(), first.at);
    let entries = [
        ChoiceEntry::Ended(ChoiceResult::of("nobody's")),
        ChoiceEntry::Made(first.clone()),
        ChoiceEntry::Made(first),
        ChoiceEntry::Made(second),
        ChoiceEntry::Ended(of_first),
        ChoiceEntry::Ended(of_second),
    ];
    let all = || Choices::of(&entries);
    let ids =
        |choices: Choices<'_>| choices.iter().map(|(it, _)| it.id.clone()).collect::<Vec<_>>();
    let second = || vec!["second".to_owned()];
    assert_eq!(ids(all()), [id.clone(), "second".into()]);
    assert_eq!(ids(all().succeeded(false)), std::slice::from_ref(&id));
    assert_eq!(ids(all().succeeded(true)), second());
    assert_eq!(ids(all().fallbacks()), second());
    assert_eq!(ids(all().confidence(0.5)), std::slice::from_ref(&id));
    assert_eq!(ids(all().between(at, Timestamp(at.0 + 10))), [id]);
    assert_eq!(ids(all().option("loans").agent("search").kind(ChoiceKind::Tools)).len(), 2);
    assert!(ids(all().agent("other")).is_empty() && ids(all().kind(ChoiceKind::Plan)).is_empty());
    let (_, result) = all().iter().next().unwrap();
    assert_eq!(result.map(ChoiceResult::millis), Some(42));
}
