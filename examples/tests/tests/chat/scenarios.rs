//! The five scenarios, each with its number of model calls, on a scripted model; then the restart and a calculation that fails.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use chat::Route;
use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_memory::{Compaction, Overflow};
use hanok_model::{Exchange, ScriptedModel};
use hanok_parse::Language;
use hanok_sqlite::Sqlite;

use crate::chat::support::{self, Talk, call, routed, talk};

/// A model that chooses `route` and then says these.
fn script(route: &str, rest: impl IntoIterator<Item = Exchange>) -> ScriptedModel {
    ScriptedModel::new(std::iter::once(routed(route)).chain(rest))
}

fn memory(model: &ScriptedModel) -> Talk {
    talk(
        model,
        SharedCheckpointer::new(InMemoryCheckpointer::new()),
        Compaction::new().language(Language::Korean),
    )
}

#[tokio::test]
async fn plain_talk_takes_two_calls() {
    let model = script("agent", [Exchange::says("안녕하세요! 무엇을 도와드릴까요?")]);
    let said = memory(&model).say("안녕하세요").await;
    insta::assert_snapshot!(said.course(), @r"
    router -> Agent
    memory
    agent
    answer: 안녕하세요! 무엇을 도와드릴까요?
    model calls: 2, tool calls: 0
    ");
    model.finished().unwrap();
}

#[tokio::test]
async fn a_calculation_takes_three_calls() {
    let model = script(
        "agent",
        [
            Exchange::calls([call("calculator", r#"{"expression":"123 * 456"}"#)]),
            Exchange::says("123 × 456 = 56088입니다.").contains("56088"),
        ],
    );
    let said = memory(&model).say("123 * 456 계산해줘").await;
    insta::assert_snapshot!(said.course(), @r#"
    router -> Agent
    memory
    agent
    tools: calculator({"expression":"123 * 456"}) -> 123 * 456 = 56088
    agent
    answer: 123 × 456 = 56088입니다.
    model calls: 3, tool calls: 1
    "#);
    model.finished().unwrap();
}

#[tokio::test]
async fn an_answer_out_of_documents_takes_two_calls() {
    let model = script(
        "rag",
        [Exchange::says("연차는 1년 이상 근속하면 연 15일입니다. (인사규정.md)")
            .contains("[참고 문서]")
            .contains("연 15일")],
    );
    let said = memory(&model).say("회사 휴가 정책이 뭐야?").await;
    insta::assert_snapshot!(said.course(), @r"
    router -> Rag
    rag: 인사규정.md, 인사규정.md, 인사규정.md, 인사규정.md, 인사규정.md
    memory
    agent
    answer: 연차는 1년 이상 근속하면 연 15일입니다. (인사규정.md)
    model calls: 2, tool calls: 0
    ");
    // What was found is data in a message of its own, and not in the system prompt.
    let sent = &model.requests()[1].messages;
    assert!(!sent[0].text().contains("연 15일"));
    let data = sent.iter().position(|message| message.text().contains("연 15일")).unwrap();
    assert!(sent[data].text().starts_with("<data-"), "{}", sent[data].text());
    assert_eq!(data + 2, sent.len(), "right before the question");
    model.finished().unwrap();
}

/// Ten messages, five of which become a summary: what was said in them is still known.
#[tokio::test]
async fn a_long_talk_takes_a_third_call_for_its_summary() {
    let told =
        ["내 이름은 철수야", "프로젝트 마감은 3월 15일이야", "예산은 1억원이야", "좋아", "그렇군"];
    let before = told
        .iter()
        .flat_map(|_| [routed("agent"), Exchange::says("네, 알겠습니다. 기억해 두겠습니다.")]);
    let last = [
        routed("agent"),
        Exchange::says("사용자 이름: 철수, 프로젝트 마감: 3월 15일, 예산: 1억원")
            .contains("[user] 내 이름은 철수야")
            .contains("[user] 예산은 1억원이야")
            .lacks("그렇군"),
        Exchange::says("프로젝트 마감일은 3월 15일이라고 말씀하셨습니다.")
            .contains("[대화 기록 1]\n사용자 이름: 철수, 프로젝트 마감: 3월 15일, 예산: 1억원")
            .contains("- 프로젝트 마감은 3월 15일이야"),
    ];
    let model = ScriptedModel::new(before.chain(last));
    let talk = memory(&model);
    for text in told {
        assert_eq!(talk.say(text).await.calls(), 2);
    }
    let said = talk.say("아까 말한 프로젝트 마감일이 언제라고 했지?").await;
    insta::assert_snapshot!(said.course(), @r"
    router -> Agent
    memory: summarise, 5 messages left
    agent
    answer: 프로젝트 마감일은 3월 15일이라고 말씀하셨습니다.
    model calls: 3, tool calls: 0
    ");
    model.finished().unwrap();
    let state = talk.state().await;
    assert_eq!(state.agent.memory.summaries().count(), 1);
    assert_eq!(state.agent.messages.len(), 6);
}

#[tokio::test]
async fn documents_and_a_calculation_take_three_calls() {
    let model = script(
        "rag",
        [
            Exchange::calls([call("calculator", r#"{"expression":"15 * 8"}"#)]).contains("연 15일"),
            Exchange::says("연차 15일은 120시간입니다.").contains("120").contains("연 15일"),
        ],
    );
    let said = memory(&model).say("회사 휴가 정책대로면 연차 휴가는 모두 몇 시간이야?").await;
    assert_eq!(said.route, Some(Route::Rag));
    assert_eq!((said.calls(), said.spent.tool_calls), (3, 1), "{}", said.course());
    assert_eq!(said.answer.as_deref(), Some("연차 15일은 120시간입니다."));
    model.finished().unwrap();
}

/// The sixth: after a restart the name is still known, with two calls a turn.
#[tokio::test]
async fn a_new_process_knows_the_name() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.db");
    let model = ScriptedModel::new([
        routed("agent"),
        Exchange::says("안녕하세요 철수님! 반갑습니다."),
        routed("agent"),
        Exchange::says("철수님이라고 하셨습니다.").contains("내 이름은 철수야"),
    ]);
    for (text, answer) in [
        ("내 이름은 철수야", "안녕하세요 철수님! 반갑습니다."),
        ("내 이름이 뭐라고 했지?", "철수님이라고 하셨습니다."),
    ] {
        // Nothing but the file outlives a turn.
        let store = SharedCheckpointer::new(Sqlite::open(&file).await.unwrap());
        let talk = talk(&model, store, Compaction::new().language(Language::Korean));
        let said = talk.say(text).await;
        assert_eq!((said.answer.as_deref(), said.calls()), (Some(answer), 2));
    }
    model.finished().unwrap();
}

#[tokio::test]
async fn a_calculation_that_is_none_is_said_to_be_none() {
    let model = script(
        "agent",
        [
            Exchange::calls([call("calculator", r#"{"expression":"abc"}"#)]),
            Exchange::says("죄송합니다. 계산식이 올바르지 않습니다.").contains("`calculator`"),
        ],
    );
    let said = memory(&model).say("잘못된 계산식 abc를 계산해줘").await;
    let course = said.course();
    assert!(
        course.contains("tools: calculator({\"expression\":\"abc\"}) -> `calculator`"),
        "{course}"
    );
    assert_eq!(said.answer.as_deref(), Some("죄송합니다. 계산식이 올바르지 않습니다."));
    assert_eq!(said.calls(), 3);
    model.finished().unwrap();
}

/// A small model asks for one call again and again, in one reply: eight are made, and it is told of the others.
#[tokio::test]
async fn a_call_that_is_repeated_without_end_is_made_a_few_times() {
    let repeated = (0..20).map(|n| {
        let mut call = call("calculator", r#"{"expression":"1 + 1"}"#);
        call.id = n.to_string();
        call
    });
    let model = script("agent", [Exchange::calls(repeated), Exchange::says("2입니다.")]);
    let said = memory(&model).say("1 + 1은?").await;
    assert_eq!((said.spent.tool_calls, said.calls()), (8, 3), "{}", said.course());
    model.finished().unwrap();
}

/// The router's model writes no JSON, is told so, and writes none again: the agent answers.
#[tokio::test]
async fn a_router_that_cannot_choose_leaves_it_to_the_agent() {
    let model = ScriptedModel::new([
        Exchange::says("음, 잘 모르겠네요."),
        Exchange::says("여전히 모르겠어요."),
        Exchange::says("네?"),
    ]);
    let said = memory(&model).say("안녕").await;
    assert_eq!((said.route, said.calls()), (Some(Route::Agent), 3));
    model.finished().unwrap();
}

/// By the library's default the oldest of four summaries goes; the example folds, and what was stated is pinned.
#[tokio::test]
async fn a_fact_of_the_third_turn_is_in_the_prompt_of_the_fortieth() {
    for (overflow, summaries) in [(Overflow::DropOldest, 3), (Overflow::Fold, 3)] {
        let model = support::Answering::default();
        let policy = Compaction::new().overflow(overflow).language(Language::Korean);
        let talk = talk(&model, SharedCheckpointer::new(InMemoryCheckpointer::new()), policy);
        for turn in 1..=40 {
            let text = match turn {
                3 => "예산은 1억원이야".to_owned(),
                turn => format!("{turn}번째 이야기를 해 봅시다, 무엇이든 좋습니다"),
            };
            talk.say(&text).await;
        }
        let state = talk.state().await;
        assert_eq!(state.agent.memory.summaries().count(), summaries, "{overflow:?}");
        let first = state.agent.memory.summaries().next().unwrap();
        let covers_the_beginning = first.messages > 6;
        assert_eq!(covers_the_beginning, overflow == Overflow::Fold, "{first:?}");
        let prompt = model.last();
        assert!(prompt.contains("- 예산은 1억원이야"), "{overflow:?}: {prompt}");
        assert!(!prompt.contains("2번째 이야기를"), "{prompt}");
    }
}
