//! Every way through the drawing, as the events that a turn tells, on a scripted model.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use contract::PreviousTurn;
use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_model::{Exchange, ScriptedModel};

use crate::contract::support::{CONTRACT, Talk, call, expert, talk};

const ENOUGH: &str = r#"{"sufficient":true,"missing":[],"reason":"자료에 답이 있습니다"}"#;

fn lacks(missing: &str) -> Exchange {
    Exchange::says(format!(
        r#"{{"sufficient":false,"missing":["{missing}"],"reason":"더 찾아야 합니다"}}"#
    ))
}

#[tokio::test]
async fn one_call_is_made_in_turn() {
    let model = ScriptedModel::new([
        Exchange::calls([call("1", "get_article_by_index", r#"{"article":"5"}"#)])
            .contains("- 제안: get_article_by_index {\"article\":\"5\"}"),
        Exchange::says("제5조에 따르면 14일 안에 고치지 않으면 해지할 수 있습니다.")
            .contains("14일 안에"),
    ]);
    let turn = talk(&model).await.ask("제5조를 쉽게 설명해줘").await;
    insta::assert_snapshot!(turn.course);
    model.finished().unwrap();
}

#[tokio::test]
async fn calls_that_only_read_are_made_at_once() {
    let model = ScriptedModel::new([
        Exchange::calls([
            call("1", "get_article_by_title", r#"{"title":"대금"}"#),
            call("2", "lookup_standard_contract", r#"{"topic":"대금"}"#),
        ]),
        Exchange::says(ENOUGH).contains("30일 안에").contains("14일 안에"),
        Exchange::says("제3조에는 30일, 표준계약서 제3조에는 14일입니다.")
            .contains("계약서:\n<data-")
            .contains("표준계약서:\n<data-"),
    ]);
    let turn = talk(&model).await.ask("대금 지급을 표준계약서와 비교해줘").await;
    insta::assert_snapshot!(turn.course);
    model.finished().unwrap();
}

#[tokio::test]
async fn a_call_that_needs_what_another_finds_is_made_after_it() {
    let model = ScriptedModel::new([
        Exchange::calls([
            call("1", "hybrid_search", r#"{"query":"해지"}"#),
            call("2", "lookup_standard_contract", "{}"),
        ]),
        Exchange::says(ENOUGH),
        Exchange::says("제5조는 14일, 표준계약서 제6조는 30일입니다."),
    ]);
    let turn = talk(&model).await.ask("계약을 언제 그만둘 수 있는지 표준과 비교해줘").await;
    insta::assert_snapshot!(turn.course);
    model.finished().unwrap();
}

/// What was read for the last answer is enough for this one.
#[tokio::test]
async fn without_a_call_the_answer_is_written_at_once() {
    let model = ScriptedModel::new([
        Exchange::calls([call("1", "get_article_by_index", r#"{"article":"5"}"#)]),
        Exchange::says("제5조에 따르면 14일 안에 고치지 않으면 해지할 수 있습니다."),
        Exchange::says("없음"),
        Exchange::says("14일입니다.").contains("앞의 답:\n<data-").contains("계약서:\n<data-"),
    ]);
    let talk = talk(&model).await;
    talk.ask("제5조를 쉽게 설명해줘").await;
    let turn = talk.ask("방금 답을 짧게 다시 말해줘").await;
    insta::assert_snapshot!(turn.course);
    model.finished().unwrap();
}

/// A model that reads nothing is not believed.
#[tokio::test]
async fn an_answer_is_not_written_without_a_look() {
    let model = ScriptedModel::new([
        Exchange::says("없음"),
        Exchange::says(ENOUGH),
        Exchange::says("제20조에 따라 위약금은 10퍼센트입니다."),
    ]);
    let turn = talk(&model).await.ask("계약 지체상금은 얼마야?").await;
    assert!(turn.course.contains("get_article_by_title"), "{}", turn.course);
    let answer = turn.state.answer.unwrap();
    assert!(answer.contains("답에 나온 계약서 제20조는 없는 조입니다."), "{answer}");
    assert!(answer.contains("근거: 계약서 제4조(지체상금)"), "{answer}");
    model.finished().unwrap();
}

#[tokio::test]
async fn whose_article_it_is_and_all_that_is_asked_is_looked_up() {
    for (question, calls, absent) in [
        ("표준계약서 제6조 알려줘", vec!["표준계약서 제6조(계약의 해지)"], ""),
        ("표준계약서 제99조 알려줘", vec![], "제99조는 표준계약서에 없습니다"),
        (
            "제5조부터 제3조까지, 제1조와 해지",
            vec!["계약서 제5조(해지)", "계약서 제3조(대금)", "계약서 제1조(목적)"],
            "",
        ),
        (
            "제1조, 해지, 그리고 지체상금 알려줘",
            vec!["계약서 제1조(목적)", "계약서 제4조(지체상금)", "계약서 제5조(해지)"],
            "",
        ),
        ("제99조와 제5조 알려줘", vec!["계약서 제5조(해지)"], "제99조는 이 계약서에 없습니다"),
        ("제7조의3은?", vec![], "제7조의3은 이 계약서에 없습니다"),
    ] {
        let turn = talk(&kit::OfflineModel::new()).await.ask(question).await;
        for call in &calls {
            assert!(turn.course.contains(call), "{question}: {}", turn.course);
        }
        assert_eq!(turn.state.collected.len(), calls.len(), "{question}: {}", turn.course);
        assert!(
            turn.state.answer.as_deref().unwrap().contains(absent),
            "{question}: {}",
            turn.course
        );
        assert_eq!(turn.state.planning.round, 1, "{question}: {}", turn.course);
    }
}

/// Completed, the comparison is the call that was made before it.
#[tokio::test]
async fn a_call_that_became_another_is_not_made_twice() {
    let model = ScriptedModel::new([
        Exchange::calls([
            call("1", "get_article_by_index", r#"{"article":"3"}"#),
            call("2", "lookup_standard_contract", r#"{"topic":"대금"}"#),
            call("3", "lookup_standard_contract", "{}"),
        ]),
        Exchange::says("제3조는 30일, 표준계약서 제3조는 14일입니다."),
    ]);
    let turn = talk(&model).await.ask("제3조를 표준과 비교해줘").await;
    assert_eq!(turn.course.matches("tool_finished").count(), 2, "{}", turn.course);
    model.finished().unwrap();
}

#[tokio::test]
async fn a_thread_that_goes_on_with_another_contract_begins_anew() {
    let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let model = kit::OfflineModel::new();
    let first = Talk::on(expert(&model, CONTRACT, 4).await, store.clone());
    first.ask("제5조를 쉽게 설명해줘").await;
    let other = CONTRACT.replace("14일", "15일");
    let second = Talk::on(expert(&model, &other, 4).await, store);
    let turn = second.ask("그럼 대금은?").await;
    assert!(!turn.state.needs_previous, "{}", turn.course);
    let turn = second.ask("그럼 해지는?").await;
    assert!(turn.state.needs_previous && turn.state.about_others == 2, "{}", turn.course);
    assert!(turn.state.answer.unwrap().contains("15일"));
}

#[tokio::test]
async fn what_is_missing_is_looked_for_and_what_was_called_is_not_called_again() {
    let search = || call("1", "hybrid_search", r#"{"query":"호랑이"}"#);
    let model = ScriptedModel::new([
        Exchange::calls([search()]),
        // Nothing was found, which needs no model.
        Exchange::calls([search(), call("2", "get_article_by_title", r#"{"title":"지체상금"}"#)])
            .contains("질문과 맞는 조항\n</data-"),
        lacks("대금의 액수"),
        Exchange::calls([call("3", "get_article_by_title", r#"{ "title" : "지체상금" }"#)])
            .contains("대금의 액수\n</data-")
            .contains("제1조(목적)"),
        // All was called before: straight to the evaluator.
        Exchange::says(ENOUGH),
        Exchange::says("제4조에 따라 하루에 대금의 1,000분의 2입니다."),
    ]);
    let turn = talk(&model).await.ask("늦으면 돈을 얼마나 계약상 내야 해?").await;
    insta::assert_snapshot!(turn.course);
    model.finished().unwrap();
}

#[tokio::test]
async fn after_the_last_round_the_answer_is_written_from_what_there_is() {
    let read = |id: &str| {
        Exchange::calls([call(id, "get_article_by_index", &format!(r#"{{"article":"{id}"}}"#))])
    };
    let model = ScriptedModel::new([
        read("1"),
        lacks("지급 시기"),
        read("2"),
        lacks("지급 시기"),
        Exchange::says("제2조에는 기간만 있습니다."),
    ]);
    let talk = Talk::with(expert(&model, CONTRACT, 2).await);
    let turn = talk.ask("계약에서 돈은 언제 받아?").await;
    insta::assert_snapshot!(turn.course);
    assert!(turn.state.planning.forced);
    model.finished().unwrap();
}

#[tokio::test]
async fn a_question_about_something_else_is_refused() {
    let model =
        ScriptedModel::new([Exchange::says(r#"{"subject":"other","reason":"날씨를 묻습니다"}"#)
            .contains("제5조(해지)")]);
    let turn = talk(&model).await.ask("내일 비가 올까?").await;
    insta::assert_snapshot!(turn.course);
    model.finished().unwrap();
}

#[tokio::test]
async fn an_article_that_is_not_there_is_said_not_to_be_there() {
    let model = ScriptedModel::new([Exchange::says("제99조에는 위약금이 있습니다.")]);
    let turn = talk(&model).await.ask("제99조 알려줘").await;
    insta::assert_snapshot!(turn.course);
    model.finished().unwrap();
}

/// What a model looks for by itself and does not find is not told to people who never asked for it.
#[tokio::test]
async fn an_article_that_only_the_model_looked_for_is_not_spoken_of() {
    let read = |id: &str, article: &str| {
        call(id, "get_article_by_index", &format!(r#"{{"article":"{article}"}}"#))
    };
    let model = ScriptedModel::new([
        Exchange::calls([read("1", "120"), read("2", "3")]),
        Exchange::says(ENOUGH),
        Exchange::says("제3조에 따라 검수가 끝난 날부터 30일 안입니다."),
    ]);
    let turn = talk(&model).await.ask("계약에서 돈은 언제 받아?").await;
    let answer = turn.state.answer.unwrap();
    assert!(answer.contains("30일") && !answer.contains("120"), "{answer}");
    model.finished().unwrap();
}

#[tokio::test]
async fn a_question_that_goes_on_is_read_with_what_was_said() {
    let model = ScriptedModel::new([
        Exchange::calls([call("1", "get_article_by_title", r#"{"title":"계약기간"}"#)]),
        Exchange::says(ENOUGH),
        Exchange::says("제2조에 따라 2026년 말까지입니다."),
        Exchange::calls([call("1", "get_article_by_title", r#"{"title":"해지"}"#)])
            .contains("2026년 말까지입니다")
            .contains("- 제안: get_article_by_title {\"title\":\"해지\"}"),
        Exchange::says(ENOUGH),
        Exchange::says("제5조에 따라 해지할 수 있습니다.").contains("2026년 말까지입니다"),
    ]);
    let talk = talk(&model).await;
    talk.ask("계약 기간은?").await;
    let turn = talk.ask("그럼 해지는?").await;
    insta::assert_snapshot!(turn.course);
    model.finished().unwrap();
}

/// A turn of elsewhere is handed in, and the question goes on from it.
#[tokio::test]
async fn a_turn_that_is_handed_in_is_gone_on_from() {
    let expert = expert(&kit::OfflineModel::new(), CONTRACT, 4).await;
    let before = talk(&kit::OfflineModel::new()).await.ask("제5조 알려줘").await.state;
    let previous = PreviousTurn {
        question: "제5조 알려줘".to_owned(),
        answer: before.answer.unwrap(),
        sources: before.sources,
    };
    let input = expert.ask_after(previous, "그건 며칠 안에 고쳐야 해?");
    let outcome = expert.graph().unwrap().invoke(input, ()).await.unwrap();
    let state = outcome.done().unwrap();
    assert!(state.needs_previous);
    assert!(state.answer.as_deref().unwrap().contains("14일"), "{:?}", state.answer);
    assert_eq!(state.messages.len(), 4);
}

/// A word that asks is about what was asked before, and is not refused: in a thread, and where the turn before is handed in.
#[tokio::test]
async fn a_bare_word_goes_on_from_the_turn_before() {
    let talk = talk(&kit::OfflineModel::new()).await;
    let first = talk.ask("제3조 알려줘").await.state;
    let then = talk.ask("언제까지?").await.state;
    assert_eq!((then.in_scope, then.needs_previous), (Some(true), true), "{:?}", then.answer);
    let previous = PreviousTurn {
        question: "제3조 알려줘".to_owned(),
        answer: first.answer.unwrap(),
        sources: first.sources,
    };
    let expert = expert(&kit::OfflineModel::new(), CONTRACT, 4).await;
    let outcome = expert.graph().unwrap().invoke(expert.ask_after(previous, "언제까지?"), ()).await;
    let state = outcome.unwrap().done().unwrap();
    assert_eq!((state.in_scope, state.needs_previous), (Some(true), true), "{:?}", state.answer);
}
