//! The offline model with the example's own agents, tools and documents: where a question goes, and what is answered.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use std::{fs, path::Path};

use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Tenant, ThreadKey};
use hanok_graph::Outcome;
use hanok_model::{Exchange, ScriptedModel, SharedModel};
use hanok_supervisor::Supervisor;
use kit::brain::{Brain, offline};
use rag::agents::{Tools, sample_documents, supervisor};

/// The example's supervisor on the offline model, over the documents in a folder.
async fn house(documents: &Path) -> Supervisor {
    supervisor(&offline(), &Tools::open(Some(documents), None).await.unwrap()).unwrap()
}

/// The first agent that a question went to, and the answer.
async fn ask(house: &Supervisor, question: &str) -> (String, String) {
    let outcome = house.graph().invoke(house.ask(question), ()).await.unwrap();
    let Outcome::Done(state) = outcome else { panic!("{question}: {outcome:?}") };
    let first = state.messages.iter().find_map(|message| message.name().map(str::to_owned));
    (first.unwrap_or_default(), state.answer.unwrap_or_default())
}

fn says_nothing(answer: &str) -> bool {
    ["찾지 못했습니다", "확실하지 않습니다", "Nothing was found", "nothing was found"]
        .iter()
        .any(|words| answer.contains(words))
}

#[tokio::test]
async fn an_edited_number_is_the_new_answer() {
    let folder = tempfile::tempdir().unwrap();
    let name = "인사규정.md";
    let text = fs::read_to_string(sample_documents().join(name)).unwrap();
    let edited = text.replace("연 15일", "연 17일").replace("80%", "75%");
    assert_ne!(text, edited);
    fs::write(folder.path().join(name), edited).unwrap();

    let (_, answer) = ask(&house(folder.path()).await, "회사 휴가 정책 알려줘").await;
    assert!(answer.contains("17일") && answer.contains("75%"), "{answer}");
    assert!(!answer.contains("15일") && !answer.contains("80%"), "{answer}");
}

#[tokio::test]
async fn other_documents_of_other_subjects_are_answered_from_as_well() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("lighthouse.md"),
        "# Lighthouse manual\n\n## The lamp\n\nThe lamp is lit at sunset and put out at sunrise. It turns once every \
         12 seconds. Its range is 19 nautical miles in clear weather.\n\n## The keeper\n\nA keeper serves four weeks \
         and then has two weeks ashore. Provisions arrive by boat on the first Monday of the month:\n\n\
         - 40 kg of flour\n- 12 litres of lamp oil\n\n## Fog\n\nThe horn sounds every 30 seconds while the far buoy \
         cannot be seen.\n",
    )
    .unwrap();
    fs::write(
        folder.path().join("양봉일지.txt"),
        "양봉 안내\n\n벌통은 남쪽을 보게 놓고 바닥에서 30cm 띄운다. 꿀은 6월과 8월에 두 번 뜬다.\n\n\
         겨울나기: 벌통마다 설탕물 5리터를 10월 말까지 준다. 온도가 영하 10도 아래로 내려가면 짚으로 덮는다.\n",
    )
    .unwrap();
    let house = house(folder.path()).await;
    for (question, facts) in [
        ("How often does the lamp turn?", ["12 seconds", "Source: lighthouse.md"]),
        ("How long does a keeper serve?", ["four weeks", "Source: lighthouse.md"]),
        ("What provisions arrive by boat?", ["12 litres of lamp oil", "Source: lighthouse.md"]),
        ("When does the horn sound?", ["every 30 seconds", "Source: lighthouse.md"]),
        ("꿀은 언제 떠?", ["6월과 8월", "출처: 양봉일지.txt"]),
        ("겨울에 설탕물을 얼마나 줘야 해?", ["5리터", "출처: 양봉일지.txt"]),
        ("벌통은 어느 쪽을 보게 놓아?", ["남쪽", "출처: 양봉일지.txt"]),
    ] {
        let (agent, answer) = ask(&house, question).await;
        assert_eq!(agent, "rag_agent", "{question}");
        assert!(facts.iter().all(|fact| answer.contains(fact)), "{question}\n{answer}");
    }
    let (_, nothing) = ask(&house, "회사 휴가 정책 알려줘").await;
    assert!(says_nothing(&nothing), "{nothing}");
    let (_, nothing) = ask(&house, "How do I bake bread?").await;
    assert!(says_nothing(&nothing), "{nothing}");
}

#[tokio::test]
async fn two_questions_in_one_message_are_both_answered() {
    let house = house(&sample_documents()).await;
    let (_, answer) = ask(&house, "김하늘 연차 며칠 남았어? 그리고 123 * 456은?").await;
    assert!(answer.contains("12.5일") && answer.contains("56,088"), "{answer}");
}

#[tokio::test]
async fn a_conversation_goes_on_from_what_was_said() {
    let house = house(&sample_documents()).await;
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = house.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
    let mut answers = Vec::new();
    for question in [
        "부산 출장 숙박비 알려줘",
        "그럼 영수증을 잃어버리면?",
        "내 이름은 민수야",
        "내 이름이 뭐라고 했지?",
    ] {
        let outcome = thread.invoke(house.ask(question), ()).await.unwrap();
        let Outcome::Done(state) = outcome else { panic!("{question}: {outcome:?}") };
        answers.push(state.answer.unwrap_or_default());
    }
    let [lodging, receipt, noted, name] = &answers[..] else { panic!("{answers:?}") };
    assert!(lodging.contains("12만 원"), "{lodging}");
    assert!(receipt.contains("지출 확인서"), "{receipt}");
    assert!(!says_nothing(noted), "{noted}");
    assert!(name.contains("민수") && !name.contains("영수증"), "{name}");
}

/// A model that answers out of nothing is asked once more, and its answer says that nobody was asked.
#[tokio::test]
async fn an_answer_for_which_no_agent_was_asked_says_so() {
    let own = "Final Answer: 네, 넣어도 됩니다.";
    let model = ScriptedModel::new([
        Exchange::says(own).lacks("묻지 않았습니다"),
        Exchange::says(own).contains("아직 어느 에이전트에게도 묻지 않았습니다"),
    ]);
    let brain = Brain { model: SharedModel::new(model), offline: false };
    let house = supervisor(&brain, &Tools::open(None, None).await.unwrap()).unwrap();
    let (agent, answer) = ask(&house, "ChatGPT에 고객 정보 넣어도 돼?").await;
    assert_eq!(agent, "");
    assert!(answer.ends_with("(이 답은 어느 에이전트에게도 묻지 않고 쓴 것입니다.)"), "{answer}");
}

/// An agent that calls nothing and says that it has looked it up is not believed.
#[tokio::test]
async fn an_agent_that_called_no_tool_has_no_answer() {
    let pretended = "Final Answer: 조회하고 남은 연차를 계산했습니다. 3일입니다.";
    let model = ScriptedModel::new([
        Exchange::says("Delegate: internal_agent\nTask: 김하늘의 남은 연차"),
        Exchange::says(pretended),
        Exchange::says(pretended),
        Exchange::says("Final Answer: 찾지 못했습니다.").lacks("3일입니다"),
    ]);
    let brain = Brain { model: SharedModel::new(model), offline: false };
    let house = supervisor(&brain, &Tools::open(None, None).await.unwrap()).unwrap();
    let (_, answer) = ask(&house, "김하늘 연차 며칠 남았어?").await;
    assert_eq!(answer, "찾지 못했습니다.");
}

/// A text without headings is answered from like any other: nothing of how a search shows it comes into the answer.
#[tokio::test]
async fn a_text_without_headings_is_answered_from() {
    let folder = tempfile::tempdir().unwrap();
    let text = "체육관은 아침 6시에 연다. 수영장은 월요일에 쉰다.\n회원 카드는 접수대에서 받는다.\n잃어버린 물건은 열흘 동안 보관한다.\n";
    fs::write(folder.path().join("안내.txt"), text).unwrap();
    let house = house(folder.path()).await;
    for (question, fact) in [
        ("잃어버린 물건은 며칠 보관해?", "열흘"),
        ("회원 카드는 어디서 받아?", "접수대"),
        ("체육관 알려줘", "6시"),
    ] {
        let (_, answer) = ask(&house, question).await;
        assert!(answer.contains(fact) && answer.contains("안내.txt"), "{question}: {answer}");
        assert!(!answer.contains("검색 결과") && !answer.contains("제목:"), "{question}: {answer}");
    }
}

/// Of a thousand documents that are built alike, the one that is asked about is answered from, and of its sections the one.
#[tokio::test]
async fn one_of_a_thousand_documents_is_answered_from() {
    let folder = tempfile::tempdir().unwrap();
    for number in 1..=1_000 {
        let text = format!(
            "# 제품 {number} 안내\n\n## 가격\n\n제품 {number}의 가격은 {}원이다. 부가세는 따로 낸다.\n\n## 보증\n\n제품 {number}의 보증 \
             기간은 {}개월이다.\n",
            number * 1_000,
            number % 24 + 1,
        );
        fs::write(folder.path().join(format!("제품{number}.md")), text).unwrap();
    }
    let house = house(folder.path()).await;
    for (question, fact, other) in [
        ("제품 5 가격 알려줘", "5000원", "개월"),
        ("제품 777의 가격은 얼마야?", "777000원", "개월"),
        ("제품 321의 보증 기간은?", "10개월", "원이다"),
    ] {
        let (_, answer) = ask(&house, question).await;
        assert!(answer.contains(fact) && !answer.contains(other), "{question}: {answer}");
    }
}
