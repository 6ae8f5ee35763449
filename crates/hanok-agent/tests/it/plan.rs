//! Planning, acting and evaluating.

use std::{sync::Mutex, time::Duration};

use hanok_agent::{
    Approval, Decision, Evaluation, Language, MadePlan, Observation, PlanAgent, PlanError,
    PlanLoop, PlanMode, PlanTask, Planned, Planning, Protocol, StopReason, ToolCallError,
    ToolRegistry, ToolRunner,
};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Effect, Tenant, ThreadKey};
use hanok_graph::{Context, END, Graph, Outcome, START, Thread};
use hanok_model::{Exchange, FnTool, ModelError, ScriptedModel, SharedTool, ToolError, ToolSpec};
use hanok_state::{State, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::support::{Ledger, call};

#[derive(State, Debug, Clone, Default, Serialize, Deserialize)]
struct Report {
    results: Vec<String>,
    planning: Planning,
    plans: Vec<String>,
    /// What tools write.
    #[reduce(append)]
    #[serde(default)]
    marks: Vec<String>,
    #[serde(default)]
    head: String,
}

impl Planned for Report {
    fn planning(&self) -> &Planning {
        &self.planning
    }

    fn set_planning(update: ReportUpdate, planning: Planning) -> ReportUpdate {
        update.planning(planning)
    }
}

/// Proposes the calls of its script, round by round, and judges by it: what is missing, or nothing where it is enough.
struct Script(Vec<(Vec<&'static str>, Option<&'static [&'static str]>)>);

impl Script {
    fn round(&self, round: u32) -> &(Vec<&'static str>, Option<&'static [&'static str]>) {
        &self.0[round as usize - 1]
    }
}

/// `look a` is a call of `look` with `a`.
fn planned(id: usize, written: &str) -> ToolCall {
    let (tool, of) = written.split_once(' ').unwrap();
    ToolCall::new(id.to_string(), tool, json!({ "q": of }).to_string())
}

impl PlanTask for Script {
    type State = Report;
    type Services = ();
    type Error = ToolCallError;

    async fn propose(
        &self,
        _: &Report,
        round: u32,
        _: &Context,
    ) -> Result<Vec<ToolCall>, ToolCallError> {
        let calls = self.round(round).0.iter().enumerate();
        Ok(calls.map(|(id, written)| planned(id, written)).collect())
    }

    /// `last` is the last result.
    fn complete(&self, call: ToolCall, state: &Report) -> ToolCall {
        match (self.depends(&call), state.results.last()) {
            (true, Some(last)) => ToolCall { arguments: json!({ "q": last }).into(), ..call },
            _ => call,
        }
    }

    fn depends(&self, call: &ToolCall) -> bool {
        call.arguments.as_str().contains("last")
    }

    fn planned(&self, state: &Report, plan: &MadePlan, _: &Context) -> ReportUpdate {
        let mut plans = state.plans.clone();
        plans.push(format!("{:?} {}+{}", plan.mode, plan.calls.len(), plan.skipped.len()));
        Report::update().plans(plans)
    }

    fn observe(&self, state: &mut Report, _: &ToolCall, observation: Observation, _: &Context) {
        state.results.push(observation.text);
    }

    fn observed(&self, state: Report) -> ReportUpdate {
        Report::update().results(state.results)
    }

    async fn evaluate(&self, state: &Report, _: &Context) -> Result<Evaluation, ToolCallError> {
        Ok(match self.round(state.planning.round).1 {
            Some(missing) => Evaluation::lacks(missing.iter().copied(), "not yet"),
            None => Evaluation::enough("done"),
        })
    }
}

/// `look` is pure and slow where it looks for `slow`, `pay` must not be repeated, and `shaky` fails the first time.
fn tools(ledger: &Ledger) -> ToolRegistry {
    let tool = |name: &'static str, effect| {
        let (ledger, first) = (ledger.clone(), Mutex::new(true));
        let spec = json!({"properties": {"q": {"type": "string"}}, "required": ["q"]});
        let run = move |with: hanok_state::Arguments, _| {
            let with: serde_json::Value = with.decode().unwrap();
            let of = with["q"].as_str().unwrap().to_owned();
            ledger.lock().unwrap().push(format!("{name} {of}"));
            let fails = name == "shaky" && std::mem::take(&mut *first.lock().unwrap());
            async move {
                if of == "slow" {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                match fails {
                    true => Err(ToolError::failed("not now")),
                    false => Ok(format!("{name}({of})").into()),
                }
            }
        };
        let tool = FnTool::untyped(ToolSpec::new(name, "A tool", spec).unwrap(), run);
        SharedTool::new(tool.effect(effect))
    };
    let tools =
        [tool("look", Effect::Pure), tool("shaky", Effect::Pure), tool("pay", Effect::AtMostOnce)];
    ToolRegistry::new(tools).unwrap()
}

fn graph(script: Script, ledger: &Ledger) -> Graph<Report> {
    let rounds = PlanLoop::of_rounds(script, ToolRunner::new(tools(ledger)), 3);
    let graph = Graph::<Report>::builder("report").edge(START, "planner");
    rounds.add_to(graph, END).build().unwrap()
}

fn key() -> ThreadKey {
    ThreadKey::new(Tenant::default(), "t").unwrap()
}

#[tokio::test]
async fn a_loop_makes_no_call_twice_and_ends_whatever_is_proposed() {
    type Case = (
        Vec<(Vec<&'static str>, Option<&'static [&'static str]>)>,
        &'static [&'static str],
        &'static [&'static str],
        bool,
    );
    let cases: Vec<Case> = vec![
        // What is proposed, round by round, and what is missing then; what is planned, what is made, whether the end is forced.
        (vec![(vec![], None)], &["NoTools 0+0"], &[], false),
        (vec![(vec!["look a"], None)], &["ExecuteSequential 1+0"], &["look a"], false),
        (
            vec![(vec!["look a", "look b", "look a"], None)],
            &["ExecuteParallel 2+1"],
            &["look a", "look b"],
            false,
        ),
        (
            vec![(vec!["look a", "pay b"], None)],
            &["ExecuteSequential 2+0"],
            &["look a", "pay b"],
            false,
        ),
        // One that takes what another gives is made behind it.
        (
            vec![(vec!["look a", "look last"], None)],
            &["ExecuteSequential 2+0"],
            &["look a", "look look(a)"],
            false,
        ),
        (
            vec![(vec!["look a"], Some(&["b"])), (vec!["look a", "look b"], None)],
            &["ExecuteSequential 1+0", "ExecuteSequential 1+1"],
            &["look a", "look b"],
            false,
        ),
        // A call that failed may be made again.
        (
            vec![(vec!["shaky a"], Some(&["a"])), (vec!["shaky a"], None)],
            &["ExecuteSequential 1+0", "ExecuteSequential 1+0"],
            &["shaky a", "shaky a"],
            false,
        ),
        // Neither a call nor a judgement is new.
        (
            vec![(vec!["look a"], Some(&["b"])), (vec!["look a"], Some(&["b"]))],
            &["ExecuteSequential 1+0", "SkipToEvaluator 0+1"],
            &["look a"],
            true,
        ),
        // The rounds are over, and what is missing need not be named.
        (
            vec![
                (vec!["look a"], Some(&["b"])),
                (vec!["look a"], Some(&["c"])),
                (vec!["look d"], Some(&[])),
            ],
            &["ExecuteSequential 1+0", "SkipToEvaluator 0+1", "ExecuteSequential 1+0"],
            &["look a", "look d"],
            true,
        ),
        (
            vec![(vec!["look a"], Some(&[])), (vec!["look b"], None)],
            &["ExecuteSequential 1+0", "ExecuteSequential 1+0"],
            &["look a", "look b"],
            false,
        ),
    ];
    for (script, plans, made, forced) in cases {
        let ledger = Ledger::default();
        let report = graph(Script(script), &ledger).invoke(Report::update(), ()).await;
        let report = report.unwrap().done().unwrap();
        assert_eq!(report.plans, plans);
        let mut called = ledger.lock().unwrap().clone();
        called.sort();
        let mut made = made.to_vec();
        made.sort_unstable();
        assert_eq!(called, made, "{plans:?}");
        assert_eq!(report.planning.forced, forced, "{plans:?}");
        assert_eq!(report.planning.round as usize, plans.len());
        assert!(report.planning.calls.is_empty());
    }
}

/// P14: what was finished before the crash is not made again, in turn or at once.
#[tokio::test(start_paused = true)]
async fn a_lost_run_repeats_no_finished_call() {
    for calls in [vec!["look a", "look slow"], vec!["look a", "pay b", "look slow"]] {
        let ledger = Ledger::default();
        let graph = graph(Script(vec![(calls.clone(), None)]), &ledger);
        let thread: Thread<Report> = graph.checkpointer(InMemoryCheckpointer::new()).thread(key());
        let run = thread.invoke(Report::update(), ());
        tokio::time::timeout(Duration::from_millis(500), run).await.unwrap_err();
        let report = thread.resume(()).await.unwrap().done().unwrap();
        assert_eq!(report.results.len(), calls.len());
        let mut want = calls.clone();
        want.push("look slow");
        assert_eq!(*ledger.lock().unwrap(), want);
    }
}

fn judges(sufficient: bool, missing: &str) -> Exchange {
    let judgement = json!({"sufficient": sufficient, "missing": [missing], "reason": "r"});
    Exchange::says(judgement.to_string())
}

fn agent(model: &ScriptedModel, ledger: &Ledger) -> hanok_agent::PlanAgentBuilder {
    let mut agent = PlanAgent::builder("clerk", "Knows things", model.clone());
    for name in ["look", "pay"] {
        let ledger = ledger.clone();
        let spec = json!({"properties": {"q": {"type": "string"}}, "required": ["q"]});
        let spec = ToolSpec::new(name, "A tool", spec).unwrap();
        let run = move |with: hanok_state::Arguments, _| {
            ledger.lock().unwrap().push(format!("{name} {with}"));
            async move { Ok(format!("found {with}").into()) }
        };
        agent = agent.tool(FnTool::untyped(spec, run).effect(Effect::Pure));
    }
    agent
}

#[tokio::test]
async fn an_agent_plans_calls_judges_and_answers_in_both_protocols_and_languages() {
    for (protocol, language) in
        [(Protocol::Native, Language::English), (Protocol::Text, Language::Korean)]
    {
        let ledger = Ledger::default();
        let plan = |calls: &[(&str, &str)]| match protocol {
            Protocol::Native => {
                let calls = calls
                    .iter()
                    .map(|(id, of)| ToolCall::new(*id, "look", json!({ "q": of }).to_string()));
                Exchange::calls(calls.collect::<Vec<_>>())
            }
            _ => Exchange::says(
                calls
                    .iter()
                    .map(|(_, of)| call("look", &json!({ "q": of }).to_string()))
                    .collect::<String>(),
            ),
        };
        let model = ScriptedModel::new([
            plan(&[("1", "a"), ("2", "b")]),
            judges(false, "the third").contains("found {\"q\":\"a\"}"),
            plan(&[("1", "a"), ("3", "c")]).contains("the third"),
            judges(true, "").contains("found {\"q\":\"c\"}"),
            Exchange::says("<think>hm</think>a, b and c").contains("<data-"),
        ]);
        let agent = agent(&model, &ledger).protocol(protocol).language(language).build().unwrap();
        let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
        assert_eq!(state.answer.as_deref(), Some("a, b and c"));
        assert_eq!((state.stopped, state.planning.round), (Some(StopReason::Answered), 2));
        assert_eq!(state.planning.mode, Some(PlanMode::ExecuteSequential));
        assert_eq!(state.results.len(), 3);
        assert_eq!(ledger.lock().unwrap().len(), 3);
        assert_eq!(state.messages.iter().count(), 2);
        model.finished().unwrap();
    }
}

/// B116: its calls are approved as those of any agent, and a turn begins anew.
#[tokio::test]
async fn a_call_waits_for_a_person_and_the_next_turn_begins_with_nothing() {
    let ledger = Ledger::default();
    let pay = || ToolCall::new("1", "pay", r#"{"q":"kim"}"#);
    let model = ScriptedModel::new([
        Exchange::calls([pay()]),
        judges(true, "").contains("a person rejected it"),
        Exchange::says("not paid"),
        Exchange::says("none"),
        Exchange::says("hello").contains("No call has a result yet."),
    ]);
    let agent = agent(&model, &ledger).intercept(Approval::new().tool("pay")).build().unwrap();
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key());
    let outcome = thread.invoke(agent.ask("pay kim"), ()).await.unwrap();
    assert!(matches!(outcome, Outcome::Interrupted(asked) if asked.len() == 1));
    let reject = Decision::Reject { message: None };
    let state = thread.reply(&reject, ()).await.unwrap().done().unwrap();
    assert_eq!(state.answer.as_deref(), Some("not paid"));
    assert!(ledger.lock().unwrap().is_empty());

    let state = thread.invoke(agent.ask("hi"), ()).await.unwrap().done().unwrap();
    assert_eq!((state.answer.as_deref(), state.results.len()), (Some("hello"), 0));
    assert_eq!(state.planning.evaluations, []);
    model.finished().unwrap();
}

#[tokio::test]
async fn a_judgement_that_cannot_be_read_ends_the_rounds_and_a_dead_model_the_run() {
    let ledger = Ledger::default();
    let look = || Exchange::calls([ToolCall::new("1", "look", r#"{"q":"a"}"#)]);
    let model = ScriptedModel::new([
        look(),
        Exchange::says("hm"),
        Exchange::says("hm"),
        Exchange::says("it is a"),
    ]);
    assert_eq!(agent(&model, &ledger).build().unwrap().run("?").await.unwrap(), "it is a");

    let model =
        ScriptedModel::new([look(), Exchange::fails(ModelError::QuotaExceeded { source: None })]);
    let error = agent(&model, &ledger).build().unwrap().run("?").await.unwrap_err();
    let causes: Vec<_> = hanok_core::Chain(&error).causes().map(ToString::to_string).collect();
    let model = hanok_core::Chain(&error)
        .causes()
        .find_map(|cause| cause.downcast_ref::<PlanError>().map(ToString::to_string));
    assert_eq!(model.as_deref(), Some("the model `scripted` did not answer"), "{causes:?}");

    let model = ScriptedModel::new([Exchange::says("none"), Exchange::says("")]);
    let error = agent(&model, &ledger).build().unwrap().run("?").await.unwrap_err();
    assert!(error.to_string().contains("`empty_reply`"), "{error}");
}

/// Tools of a loop see its state, and what they write is merged with the step: at once as if each were a node, in turn one on
/// the other. Where the run goes on is for the plan to say.
#[tokio::test]
async fn tools_of_a_loop_see_and_write_its_state() {
    let tool = |name: &'static str| {
        let spec = ToolSpec::new(name, "A tool", json!({"properties": {"q": {"type": "string"}}}));
        let run = move |with: hanok_state::Arguments, call: hanok_core::Call| async move {
            let with: serde_json::Value = with.decode().map_err(ToolError::arguments)?;
            let of = with["q"].as_str().unwrap_or_default().to_owned();
            let seen = call.provided::<Report>().map_or(0, |report| report.marks.len());
            let update = Report::update().push_marks(format!("{of} after {seen}")).head(of);
            let output = hanok_model::ToolOutput::new("marked").update(&update)?;
            Ok(if name == "leaps" { output.end() } else { output })
        };
        SharedTool::new(FnTool::untyped(spec.unwrap(), run).effect(Effect::Pure))
    };
    for (proposed, marks, head, told) in [
        (vec!["mark a", "mark b"], vec!["a after 0"], "a", "marked\n[it was made, and nothing"),
        (vec!["mark a", "mark last"], vec!["a after 0", "marked after 1"], "marked", "marked"),
        (vec!["leaps a"], vec![], "", "what is next is for the plan to say."),
    ] {
        let registry = ToolRegistry::new([tool("mark"), tool("leaps")]).unwrap();
        let rounds = PlanLoop::new(Script(vec![(proposed, None)]), ToolRunner::new(registry));
        let graph = Graph::<Report>::builder("report").edge(START, "planner");
        let graph = rounds.add_to(graph, END).build().unwrap();
        let report = graph.invoke(Report::update(), ()).await.unwrap().done().unwrap();
        assert_eq!(
            (report.marks, report.head.as_str()),
            (marks.into_iter().map(String::from).collect(), head)
        );
        assert!(report.results.last().unwrap().contains(told), "{:?}", report.results);
    }
}
