//! A model that invents, and an agent that has its figures looked up.

use hanok_agent::{AgentState, Language, Protocol, ReactAgent, StopReason};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Effect, ThreadKey};
use hanok_grounding::{Grounding, Unsupported, UnsupportedFigures};
use hanok_model::{Exchange, FnTool, ScriptedModel, SharedTool, ToolOutput, ToolSpec};
use hanok_state::ToolCall;
use serde_json::json;

fn tool() -> SharedTool {
    let spec = ToolSpec::new("limit", "The limit of a loan", json!({})).unwrap();
    let tool = FnTool::untyped(spec, |_, _| async {
        // What the words say and the data does not is no source.
        Ok(ToolOutput::from("한도는 9억 9,000만원").data(json!({"limit_won": 630_000_000})))
    });
    SharedTool::new(tool.effect(Effect::Pure))
}

fn call() -> Exchange {
    Exchange::calls([ToolCall::new("1", "limit", "{}")])
}

fn agent(script: Vec<Exchange>, policy: Unsupported) -> (ReactAgent, ScriptedModel) {
    let model = ScriptedModel::new(script);
    let grounding = Grounding::new().unsupported(policy).language(Language::Korean);
    let agent = ReactAgent::builder("loans", "Loans", model.clone())
        .tools([tool()])
        .max_iterations(4)
        .hook(grounding);
    (agent.build().unwrap(), model)
}

async fn state(script: Vec<Exchange>, policy: Unsupported) -> AgentState {
    let (agent, model) = agent(script, policy);
    let outcome = agent.graph().invoke(agent.ask("연봉은 7,200만원인데요?"), ()).await;
    let state = outcome.unwrap().done().unwrap();
    model.finished().unwrap();
    state
}

/// What stands in the tool's data or in the user's words passes, and nothing else: not the words of the tool, and no invention.
#[tokio::test]
async fn an_agent_marks_what_its_tools_and_its_user_do_not_say() {
    let says = "연봉 7,200만원이면 6억 3,000만원까지, 넉넉히는 9억 9,000만원, 금리는 4.1%입니다.";
    let state = state(vec![call(), Exchange::says(says)], Unsupported::Mark).await;
    let want = format!("{says}\n\n※ 확인되지 않은 수치: 9억 9,000만원, 4.1%");
    assert_eq!(state.answer.as_deref(), Some(&*want));
    assert_eq!(state.messages.last().unwrap().text(), want);
    assert_eq!(state.stopped, Some(StopReason::Answered));
}

/// A model that always invents is asked once more, and then marked: its own words and the note are no source.
#[tokio::test]
async fn a_model_that_always_invents_never_gets_a_figure_past_unmarked() {
    let script = vec![
        Exchange::says("한도는 8억원입니다."),
        Exchange::says("아니, 8억 1,000만원입니다. 처음에는 8억원이라고 했습니다.")
            .contains("8억원"),
    ];
    let state = state(script, Unsupported::AskAgain).await;
    let answer = state.answer.unwrap();
    assert_eq!(answer.lines().last(), Some("※ 확인되지 않은 수치: 8억 1,000만원, 8억원"));
}

/// In the text protocol the last message keeps its form, and what a tool said earlier is no source of a later turn.
#[tokio::test]
async fn a_turn_has_the_data_of_its_own_tools() {
    let model = ScriptedModel::new([
        Exchange::says("Action: limit\nAction Input: {}"),
        Exchange::says("Final Answer: 6.3억원까지입니다."),
        Exchange::says("Final Answer: 앞에서 말한 6.3억원, 연봉 7,200만원입니다."),
    ]);
    let agent = ReactAgent::builder("loans", "Loans", model.clone())
        .tools([tool()])
        .protocol(Protocol::Text)
        .hook(Grounding::new().language(Language::Korean));
    let agent = agent.build().unwrap();
    let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("t").unwrap());
    let mut answers = Vec::new();
    for question in ["연봉 7,200만원인데요?", "그럼 얼마라고요?"] {
        let state = thread.invoke(agent.ask(question), ()).await.unwrap().done().unwrap();
        let last = state.messages.last().unwrap().text().into_owned();
        answers.push((state.answer.unwrap(), last));
    }
    model.finished().unwrap();
    assert_eq!(answers[0].0, "6.3억원까지입니다.");
    let mark = "\n\n※ 확인되지 않은 수치: 6.3억원";
    let (answer, last) = &answers[1];
    assert_eq!(*answer, format!("앞에서 말한 6.3억원, 연봉 7,200만원입니다.{mark}"));
    assert!(last.ends_with(answer.as_str()), "{last}");
}

/// The second time the model may look it up.
#[tokio::test]
async fn a_model_that_is_asked_again_can_call_a_tool() {
    let script = vec![
        Exchange::says("한도는 8억원입니다."),
        call(),
        Exchange::says("한도는 6.3억원입니다."),
    ];
    let state = state(script, Unsupported::AskAgain).await;
    assert_eq!(state.answer.as_deref(), Some("한도는 6.3억원입니다."));
}

/// At the limit of its calls the model is not asked, and the answer is marked all the same.
#[tokio::test]
async fn at_the_limit_of_calls_the_answer_is_marked() {
    let model = ScriptedModel::new([Exchange::says("한도는 8억원입니다.")]);
    let agent = ReactAgent::builder("loans", "Loans", model)
        .max_iterations(1)
        .hook(Grounding::new().unsupported(Unsupported::AskAgain))
        .build()
        .unwrap();
    let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    let answer = state.answer.unwrap();
    assert!(answer.ends_with("Figures that no source confirms: 8억원"), "{answer}");
}

#[tokio::test]
async fn an_agent_refuses_by_the_policy() {
    let (agent, _) = agent(vec![Exchange::says("한도는 8억원입니다.")], Unsupported::Refuse);
    let error = agent.graph().invoke(agent.ask("?"), ()).await.unwrap_err();
    let mut cause: Option<&dyn std::error::Error> = Some(&error);
    let mut refused = None;
    while let Some(error) = cause {
        refused = refused.or_else(|| error.downcast_ref::<UnsupportedFigures>());
        cause = error.source();
    }
    assert_eq!(refused.unwrap().0.unsupported().count(), 1);
}
