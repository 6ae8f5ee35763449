//! What goes wrong with calls, as the model reads it.

use hanok_agent::{Approval, Language, NoAnswer, ReactAgent, StopReason};
use hanok_model::{Exchange, ModelError, ScriptedModel};

use crate::support::{Ledger, builder, call, observations, run, tools};

/// P18, P19 in part, P32, B111, B113
#[tokio::test(start_paused = true)]
async fn every_fault_of_a_call_is_an_observation() {
    for (said, english, korean) in [
        (
            call("serch", "{}"),
            "There is no tool `serch`. The tools are: `broken`, `endless`, `find`, `large`, `panic`, `refuse`.",
            "`serch` 도구는 없습니다. 쓸 수 있는 도구: `broken`, `endless`, `find`, `large`, `panic`, `refuse`.",
        ),
        (
            call("find", r#"{"q": 7}"#),
            "The arguments do not fit `find`, so it was not run. `q` has to be of type string, and is 7. Correct them and call it again.",
            "`find`의 인자가 맞지 않아 실행하지 않았습니다. `q`의 형식은 string이어야 하는데 7입니다. 고쳐서 다시 부르세요.",
        ),
        (
            call("find", r#"{"q": "#),
            "Your reply broke off inside the call to `find`, so nothing was run. Write the whole call again, shorter.",
            "답변이 호출 `find` 도중에 끊겨 아무것도 실행하지 않았습니다. 호출 전체를 더 짧게 다시 쓰세요.",
        ),
        (
            call("broken", r#"{"q": "a"}"#),
            "The tool `broken` gave no result: the disk is full",
            "`broken` 도구가 결과를 주지 못했습니다: the disk is full",
        ),
        (
            call("refuse", r#"{"q": "a"}"#),
            "The tool `refuse` gave no result: refused: not on Sundays",
            "`refuse` 도구가 결과를 주지 못했습니다: refused: not on Sundays",
        ),
        (
            call("panic", r#"{"q": "a"}"#),
            "The tool `panic` broke down. Take another way.",
            "`panic` 도구가 내부 오류로 멈췄습니다. 다른 방법을 쓰세요.",
        ),
        (
            call("endless", r#"{"q": "a"}"#),
            "The tool `endless` did not finish within 30s and was stopped. Ask for less, or take another way.",
            "`endless` 도구가 30s 안에 끝나지 않아 중단했습니다. 더 작은 요청이나 다른 방법을 쓰세요.",
        ),
    ] {
        for (language, want) in [(Language::English, english), (Language::Korean, korean)] {
            let exchanges =
                [Exchange::says(&said), Exchange::says("Final Answer: done").contains(want)];
            let model = ScriptedModel::new(exchanges);
            let agent = builder(&model).language(language).build().unwrap();
            let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
            assert_eq!(observations(&state), [format!("Observation: {want}")], "{said}");
            assert_eq!((state.iteration, state.answer.as_deref()), (2, Some("done")), "{said}");
        }
    }
}

#[tokio::test]
async fn a_model_corrects_itself() {
    let state = run([
        Exchange::says(call("find", "{}")),
        Exchange::says(call("find", r#"{"q": "leave"}"#)).contains("`q` is missing."),
        Exchange::says("Final Answer: found").contains("found leave"),
    ])
    .await;
    assert_eq!((state.iteration, state.stopped), (3, Some(StopReason::Answered)));
}

/// P22
#[tokio::test]
async fn a_result_is_shown_up_to_a_bound_and_the_cut_is_marked() {
    let state = run([
        Exchange::says(call("large", r#"{"q": ""}"#)),
        Exchange::says("Final Answer: .").contains("[cut: the first 262143 of 300000 bytes]"),
    ])
    .await;
    let seen = &observations(&state)[0];
    assert!(seen.len() < 263_000 && seen.contains("휴\n[cut:"), "{}", seen.len());
}

/// The loop ends, and what was found is kept.
#[tokio::test]
async fn an_endless_loop_ends_at_the_limit_with_its_observations() {
    let model = ScriptedModel::new(
        (1..=10).map(|n| Exchange::says(call("find", &format!(r#"{{"q": "{n}"}}"#)))),
    );
    let agent = builder(&model).build().unwrap();
    let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    assert_eq!((state.iteration, state.max_iterations, state.should_stop), (10, 10, true));
    let want: Vec<_> = (1..=10).map(|n| format!("Observation: found {n}")).collect();
    assert_eq!(observations(&state), want);
    assert_eq!((state.answer, state.stopped), (None, Some(StopReason::MaxIterations)));
}

#[tokio::test]
async fn who_asks_in_one_line_learns_why_there_is_no_answer() {
    let model = ScriptedModel::new([Exchange::says(call("find", r#"{"q": "1"}"#))]);
    let agent = builder(&model).max_iterations(1).build().unwrap();
    let error = agent.run("?").await.unwrap_err();
    assert!(
        matches!(error, NoAnswer::Stopped { reason: StopReason::MaxIterations, .. }),
        "{error}"
    );
    let error = agent.run("?").await.unwrap_err();
    assert!(matches!(error, NoAnswer::Run(_)), "the script is over: {error}");

    // Nobody can be asked.
    let model = ScriptedModel::new([
        Exchange::says(call("find", r#"{"q": "1"}"#)),
        Exchange::says("Final Answer: I may not.").contains("nobody can be asked here"),
    ]);
    let agent = builder(&model).intercept(Approval::new().tool("find")).build().unwrap();
    assert_eq!(agent.run("?").await.unwrap(), "I may not.");
}

#[tokio::test]
async fn a_reply_that_says_nothing_is_asked_again_once() {
    let empty = "Your reply was empty.";
    let state = run([
        Exchange::says("<think>hm</think>"),
        Exchange::says("Final Answer: a").contains(empty),
    ])
    .await;
    assert_eq!((state.iteration, state.answer.as_deref()), (2, Some("a")));

    let state = run([Exchange::says(""), Exchange::says("\n").contains(empty)]).await;
    assert_eq!((state.iteration, state.stopped), (2, Some(StopReason::EmptyReply)));
}

#[tokio::test]
async fn words_without_a_label_are_the_answer() {
    for (said, want) in
        [("It is 15 days.", "It is 15 days."), ("Thought: it is 15 days", "it is 15 days")]
    {
        let state = run([Exchange::says(said)]).await;
        assert_eq!((state.answer.as_deref(), state.iteration), (Some(want), 1));
        assert_eq!(state.messages.last().unwrap().text(), want);
    }
}

#[tokio::test]
async fn an_observation_that_the_model_invents_is_dropped() {
    let invented =
        call("find", r#"{"q": "a"}"#) + "Observation: a lie\nThought: a lie\nFinal Answer: a lie";
    let state = run([
        Exchange::says(invented),
        Exchange::says("Final Answer: a").contains("found a").lacks("a lie"),
    ])
    .await;
    assert!(!format!("{state:?}").contains("a lie"));
}

#[tokio::test]
async fn a_model_that_fails_fails_the_node_with_its_error_as_the_cause() {
    let model = ScriptedModel::new([Exchange::fails(ModelError::Cancelled)]);
    let agent = builder(&model).build().unwrap();
    let error = agent.graph().invoke(agent.ask("?"), ()).await.unwrap_err();
    let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |e| e.source());
    let causes: Vec<_> = causes.map(ToString::to_string).collect();
    assert_eq!(
        causes[..2],
        [
            "node `call_model` failed in super-step 0".to_owned(),
            "the model of agent `tester` did not answer".to_owned(),
        ]
    );
    assert!(
        std::iter::successors(Some(&error as &dyn std::error::Error), |e| e.source())
            .any(|cause| cause.downcast_ref::<ModelError>().is_some())
    );
}

#[test]
fn an_agent_that_cannot_be_built_is_refused_with_its_fault() {
    let model = ScriptedModel::new([]);
    let named = |name: &str| ReactAgent::builder(name, "", model.clone()).build().map(drop);
    let twice = [tools(&Ledger::default()), tools(&Ledger::default())].concat();
    for (result, want) in [
        (named("__end__"), "an agent cannot be named \"__end__\""),
        (named("a\nb"), "an agent cannot be named \"a\\nb\""),
        (named(""), "an agent cannot be named \"\""),
        (
            builder(&model).max_iterations(0).build().map(drop),
            "agent `tester` may ask its model 0 times",
        ),
        (
            ReactAgent::builder("t", "", model.clone()).tools(twice).build().map(drop),
            "agent `t` cannot be built",
        ),
    ] {
        let error = result.unwrap_err().to_string();
        assert!(error.starts_with(want), "{error}");
    }
    named("법무 검토").unwrap();
}
