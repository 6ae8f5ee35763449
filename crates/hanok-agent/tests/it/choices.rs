//! The choice of tools, and the choices of a log.

use std::time::Duration;

use hanok_agent::{
    Choice, ChoiceEntry, ChoiceKind, ChoiceRecord, ChoiceResult, Choices, ChosenBy, Language,
    LeftOut, PersonalData, Redaction, RedactionStrategy, ToolRegistry, ToolSelector, choices_of,
};
use hanok_checkpoint::{Consumer, InMemoryCheckpointer, Keep, SharedCheckpointer};
use hanok_core::{BoxError, Budget, Call, Effect, Secret, ThreadKey, Timestamp};
use hanok_graph::{App, Context, END, Graph, Outcome, START, Snapshot};
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
        // By these the rule would take all but the loans.
        let spec = if name == "loans" { spec } else { spec.with_aliases(["RENT rise", "lease"]) };
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

/// The rule takes what the question names, and nothing that changes the world or cannot be had.
#[tokio::test(start_paused = true)]
async fn without_a_choice_that_can_be_used_the_tools_that_the_question_names_are_taken() {
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
        assert_eq!((&choice.chosen[..], choice.confidence), (&["law".to_owned()][..], 0.3));
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
    assert_eq!(model.requests()[0].max_tokens, Some(1_000));
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
    assert_eq!(ids(all().option("law").agent("search").kind(ChoiceKind::Tools)).len(), 2);
    assert!(ids(all().agent("other")).is_empty() && ids(all().kind(ChoiceKind::Plan)).is_empty());
    let (_, result) = all().iter().next().unwrap();
    assert_eq!(result.map(ChoiceResult::millis), Some(42));
}

/// The choices of a turn, which the next one begins without.
#[derive(State, Clone, Debug, Default)]
struct Turn {
    question: String,
    choices: Vec<ChoiceEntry>,
}

const QUESTION: &str = "kim@example.com, 010-1234-5678: may the rent of K-77 rise?";

fn turns(selector: ToolSelector) -> Graph<Turn> {
    let choose = move |turn: Snapshot<Turn>, context: Context| {
        let selector = selector.clone();
        async move {
            let choice = selector.select(&context, &turn.question, &tools()).await?;
            let used = Duration::from_millis(5);
            let result =
                choice.chosen.iter().fold(ChoiceResult::of(&*choice.id), |result, name| {
                    result.used(name, used, (name == "loans").then_some("no table"))
                });
            if turn.question == "fail" {
                return Err(BoxError::from("it failed"));
            }
            let entries = vec![ChoiceEntry::Made(choice), ChoiceEntry::Ended(result)];
            Ok(Turn::update().choices(entries))
        }
    };
    let graph = Graph::<Turn>::builder("turns").node("choose", choose);
    graph.edge(START, "choose").edge("choose", END).build().unwrap()
}

fn ask(question: &str) -> TurnUpdate {
    Turn::update().question(question).choices(Vec::new())
}

fn app(script: Vec<Exchange>) -> App<Turn> {
    turns(ToolSelector::new("search", ScriptedModel::new(script)))
        .checkpointer(InMemoryCheckpointer::new())
}

/// A state holds the choices of its last turn, and the history those of all: also of one that failed behind its choice, and of one
/// that was rewound.
#[tokio::test]
async fn the_choices_of_all_turns_are_read_from_a_history() {
    let app = app(vec![
        says(&["law"], 0.9),
        says(&["law", "loans"], 0.8),
        says(&[], 0.7),
        says(&["market"], 0.6),
    ]);
    let thread = app.thread(ThreadKey::named("t").unwrap());
    thread.invoke(ask("one"), ()).await.unwrap().done().unwrap();
    let first_turn = thread.history(None, 1).await.unwrap()[0].position;
    let state = thread.invoke(ask("two"), ()).await.unwrap().done().unwrap();
    assert_eq!(state.choices.len(), 2);
    thread.invoke(ask("fail"), ()).await.unwrap_err();
    let questions = async || {
        let entries = choices_of(&thread.log()).await.unwrap();
        let choices = Choices::of(&entries);
        let of = |(choice, result): (&Choice, Option<&ChoiceResult>)| {
            (choice.question.clone(), result.map(ChoiceResult::succeeded))
        };
        choices.iter().map(of).collect::<Vec<_>>()
    };
    let all = ["one", "two", "fail"].map(str::to_owned);
    let want = |ends: &[Option<bool>]| all.iter().cloned().zip(ends.to_vec()).collect::<Vec<_>>();
    assert_eq!(questions().await, want(&[Some(true), Some(false), None]));

    thread.rewind(first_turn).await.unwrap();
    assert_eq!(thread.state(None).await.unwrap().unwrap().choices.len(), 2);
    assert_eq!(questions().await, want(&[Some(true), Some(false), None]));

    // Erased with the thread.
    assert!(thread.delete().await.unwrap());
    assert_eq!(choices_of(&thread.log()).await.unwrap(), []);
    thread.invoke(ask("four"), ()).await.unwrap().done().unwrap();
    assert_eq!(questions().await.len(), 1);
}

/// What is cut off is gone, and what the state holds is there; a fork has what the state held where it began.
#[tokio::test]
async fn a_pruned_thread_and_a_fork_have_the_choices_of_their_state() {
    let app = app(vec![says(&["law"], 0.9), says(&["loans"], 0.8), says(&[], 0.8)]);
    let thread = app.thread(ThreadKey::named("t").unwrap());
    for question in ["one", "two"] {
        thread.invoke(ask(question), ()).await.unwrap().done().unwrap();
    }
    let key = ThreadKey::named("fork").unwrap();
    thread.fork(None, &key).await.unwrap();
    let fork = app.thread(key);
    fork.invoke(ask("three"), ()).await.unwrap().done().unwrap();
    thread.log().prune(Keep::Newest).await.unwrap();
    for (log, want) in [(thread.log(), &["two"][..]), (fork.log(), &["two", "three"])] {
        let entries = choices_of(&log).await.unwrap();
        let questions: Vec<_> =
            Choices::of(&entries).iter().map(|(choice, _)| choice.question.clone()).collect();
        assert_eq!(questions, want);
    }
}

/// Personal data that the redaction knows reaches neither the model nor the log. A [`Secret`] cannot be written into a choice: it
/// implements no `Serialize` and no `Display`, and what shows it for debugging hides it.
#[tokio::test]
async fn what_is_redacted_is_in_no_choice() {
    let reply = json!({"tools": ["law", "lee@example.com"], "reason": "for park@example.com and K-77", "confidence": 1});
    let model = ScriptedModel::new([
        Exchange::says(reply.to_string()).contains("[EMAIL]"),
        Exchange::says("no choice for park@example.com"),
        Exchange::says("none, park@example.com"),
    ]);
    let key = Secret::new("a key of the service".to_owned());
    let redaction = Redaction::new()
        .kind(PersonalData::Mobile, RedactionStrategy::Hash(key.clone()))
        .pattern("CONTRACT", r"K-\d+", RedactionStrategy::Block)
        .unwrap();
    let selector = ToolSelector::new("search", model.clone()).redaction(redaction);
    let app = turns(selector).checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("t").unwrap());
    for _ in 0..2 {
        thread.invoke(Turn::update().question(QUESTION), ()).await.unwrap().done().unwrap();
    }
    let entries = choices_of(&thread.log()).await.unwrap();
    let choices = Choices::of(&entries);
    assert_eq!((choices.iter().len(), choices.clone().fallbacks().iter().len()), (2, 1));
    let mut lines = Vec::new();
    choices.write_jsonl(&mut lines).unwrap();
    let requests = format!("{:?}", model.requests());
    for text in [String::from_utf8(lines).unwrap(), requests] {
        for data in ["kim@example", "1234-5678", "K-77", key.expose()] {
            assert!(!text.contains(data), "{data}: {text}");
        }
    }
    let written = serde_json::to_string(&entries).unwrap();
    assert!(!written.contains("@example.com"), "{written}");
    assert!(written.contains("[EMAIL]") && written.contains("[MOBILE_"), "{written}");
    let shown = Choice::new("c", Timestamp(0), ChoiceKind::Intent, "a", format!("{key:?}"));
    assert_eq!(shown.question, "Secret(…)");
}

/// A reader of the topic has the choices of all threads, each once by its id, however often the task ran.
#[tokio::test(start_paused = true)]
async fn choices_are_handed_out_across_threads() {
    let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let collector = Consumer::new(store.clone(), "decisions", "choices");
    collector.register().await.unwrap();
    let model = ScriptedModel::new([says(&["law"], 0.9), says(&[], 0.5)]);
    let selector = ToolSelector::new("search", model).hand_out("choices");
    let app = graph(selector).checkpointer(store);
    for name in ["one", "two"] {
        let thread = app.thread(ThreadKey::named(name).unwrap());
        let run = thread.invoke(Asked::update(), ());
        tokio::time::timeout(Duration::from_millis(500), run).await.unwrap_err();
        assert_eq!(collector.next(10).await.unwrap().len(), usize::from(name == "two"));
        thread.resume(()).await.unwrap().done().unwrap();
    }
    let deliveries = collector.next(10).await.unwrap();
    let entry = |at: usize| {
        let item = deliveries[at].item.as_ref().unwrap();
        item.payload.decode::<ChoiceEntry>().unwrap()
    };
    let threads: Vec<_> = deliveries.iter().map(|it| it.thread.thread().to_owned()).collect();
    assert_eq!(threads, ["one", "two"]);
    let entries = [entry(0), entry(1)];
    assert_eq!(Choices::of(&entries).nothing().iter().len(), 1);
    assert_eq!(Choices::of(&entries).option("law").iter().len(), 1);
}

/// A line is what the schema says, and is read again.
#[test]
fn a_line_fits_its_schema() {
    let choice = Choice::new("c-1", Timestamp(7), ChoiceKind::Replan, "plan", "May the rent rise?");
    let choice = choice.chosen(["law"]).reason("it failed", 0.5, ChosenBy::Person).inputs("d");
    let result = ChoiceResult::of("c-1").used("law", Duration::from_millis(3), Some("down"));
    let entries = [ChoiceEntry::Made(choice), ChoiceEntry::Ended(result)];
    let schema = ChoiceRecord::json_schema();
    insta::assert_snapshot!("choice_record_schema", serde_json::to_string_pretty(&schema).unwrap());
    let validator = jsonschema::validator_for(schema.as_value()).unwrap();
    for count in 1..=2 {
        let mut lines = Vec::new();
        Choices::of(&entries[..count]).write_jsonl(&mut lines).unwrap();
        let line: serde_json::Value = serde_json::from_slice(&lines).unwrap();
        assert!(validator.is_valid(&line), "{line}");
        let record: ChoiceRecord = serde_json::from_value(line).unwrap();
        assert_eq!(record.total.map(|total| total.failed), (count == 2).then_some(1));
    }
    for kind in ChoiceKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
    }
}

/// B128: tools are chosen again of the question, the tools and what could not be had then, by another model and other instructions; what a
/// person chose, and what is described otherwise now, is left out. What was redacted stays so.
#[tokio::test(start_paused = true)]
async fn tools_are_chosen_again_of_what_the_log_holds() {
    let select = async |selector: ToolSelector, question: &'static str| {
        let choose = move |_: Snapshot<Asked>, context: Context| {
            let selector = selector.clone();
            async move {
                let choice = selector.select(&context, question, &tools()).await?;
                Ok::<_, hanok_graph::StepError>(
                    Asked::update().push_choices(ChoiceEntry::Made(choice)),
                )
            }
        };
        let graph = Graph::<Asked>::builder("ask").node("choose", choose).edge(START, "choose");
        let graph = graph.edge("choose", END).build().unwrap();
        graph.invoke(Asked::update(), ()).await.unwrap().done().unwrap().choices
    };
    let own = |script: Vec<Exchange>| ToolSelector::new("search", ScriptedModel::new(script));
    let redaction = Redaction::new().only([PersonalData::Email]);
    let mut entries: Vec<ChoiceEntry> = Vec::new();
    let first =
        own(vec![says(&["law"], 0.9)]).unavailable("market", "no data").redaction(redaction);
    entries.extend(select(first, "May a@b.kr rise?").await.iter().cloned());
    entries.extend(select(own(vec![says(&["loans"], 0.5)]), "And loans?").await.iter().cloned());
    entries.extend(select(own(vec![]).instead(["law"]), "By hand").await.iter().cloned());

    let model = ScriptedModel::new([
        says(&["loans", "market"], 0.2)
            .contains("cannot be had now: no data")
            .contains("Be brief."),
        says(&["loans"], 0.4).contains("And loans?"),
    ]);
    let other = ToolSelector::new("search", model.clone()).instructions("Be brief.");
    let choices = Choices::of(&entries);
    let test = other.choose_again(&choices, &tools(), &Call::detached()).await.unwrap();
    model.finished().unwrap();
    let differing: Vec<_> = test.differing().collect();
    let [differing] = &differing[..] else { panic!("{test}") };
    let (before, after) = (differing.before.as_ref().unwrap(), differing.after.as_ref().unwrap());
    assert_eq!(
        (&before.chosen[..], &after.chosen[..]),
        (&["law".to_owned()][..], &["loans".to_owned()][..])
    );
    assert_eq!(
        (before.confidence, after.confidence, &after.dropped[..]),
        (0.9, 0.2, &["market".to_owned()][..])
    );
    assert_eq!(before.inputs, after.inputs);
    assert!(!test.to_string().contains("a@b.kr"), "{test}");
    let left_out: Vec<_> = test.left_out.iter().map(|it| it.reason).collect();
    assert_eq!((test.compared.len(), left_out), (2, vec![LeftOut::NoModel]));

    let spec = ToolSpec::new("law", "Knows another law", json!({})).unwrap();
    let changed = SharedTool::new(FnTool::untyped(spec, |_, _| async { Ok("".into()) }));
    let changed = ToolRegistry::new([changed]).unwrap();
    let test = other.choose_again(&choices, &changed, &Call::detached()).await.unwrap();
    let reasons: Vec<_> = test.left_out.iter().map(|it| it.reason).collect();
    assert_eq!(reasons, [LeftOut::OtherInputs, LeftOut::OtherInputs, LeftOut::NoModel]);
}
