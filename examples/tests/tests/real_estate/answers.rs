//! What is answered to a question, and what is not: the offline model fills the arguments, a scripted one is checked.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::sync::{Arc, Mutex};

use clap::Parser;
use hanok_core::Call;
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError, ResponseFormat, SharedModel};
use hanok_state::Message;
use real_estate::{Options, app};
use serde_json::{Value, json};

/// The offline model, with another selection where one is given; it notes the names of what it is asked for.
#[derive(Debug, Clone)]
struct Scripted {
    model: SharedModel,
    selection: Option<Value>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        let name = match &request.response_format {
            ResponseFormat::JsonSchema { name, .. } => name.clone(),
            _ => "response".to_owned(),
        };
        self.asked.lock().unwrap().push(name.clone());
        match &self.selection {
            Some(selection) if name == "tool_selection" => {
                Ok(ChatReply::new(Message::assistant(selection.to_string()), "scripted"))
            }
            _ => self.model.chat(request, call).await,
        }
    }
}

/// The answer to `question`, and what the model was asked for.
async fn answer(question: &str, selection: Option<Value>) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("documents");
    let options = Options::parse_from(["real-estate", "--out", out.to_str().unwrap()]);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let model = SharedModel::new(app::rules());
    let model = Scripted { model, selection, asked: asked.clone() };
    let opened = app::open(SharedModel::new(model), &options).await.unwrap();
    let supervisor = opened.supervisor;
    let state = supervisor.graph().invoke(supervisor.ask(question), ()).await.unwrap();
    let asked = asked.lock().unwrap().clone();
    (state.done().unwrap().answer.unwrap(), asked)
}

/// Each question with words of its answer; figures are exact.
#[tokio::test]
async fn questions_are_answered_with_exact_figures() {
    for (question, wants) in [
        ("전세금을 3에서 3.3억으로 올려 달래요", &["10.0% 오릅니다", "3억 1,500만원"][..]),
        ("전세금 3억을 10억으로 올리겠다는데 이게 돼?", &["233.3%"]),
        ("월세를 50만원에서 60만원으로 올린대요", &["20.0% 오릅니다"]),
        ("전세 3억인데 집주인이 10% 올려 달래요", &["3억 3,000만원", "10.0%"]),
        ("갱신하면서 전세금을 3억에서 2억 9천으로 내리면 몇 퍼센트야?", &["3.3% 내립니다"]),
        ("삼억을 삼억 이천으로 올려 달래", &["6.7%"]),
        ("전세 4억을 월세로 바꾸면 보증금 1억에 월세 얼마까지 돼?", &["월세 112만 5,000원"]),
        ("1억 5천만원을 연 3.6%로 25년 빌리면 매달 얼마 갚아?", &["75만 9,004원"]),
        ("집값 10억 중 6억을 대출받으면 금리 3.85%, 40년, 원금균등 상환액은?", &["317만 5,000원"]),
        ("주담대 4억 연 4.2% 만기일시면 한 달 이자가 얼마야?", &["전체 기간"]),
        (
            "매매가 4억, 월세 120만원, 대출 2억을 연 4.2%로 받으면 수익률은?",
            &["연 3.60%", "연 3.00%"],
        ),
        ("은평구 전세 3억 이하 매물 있어?", &["모두 6건", "L167"]),
        ("보증금 1억 이상 3억 이하 전세 빌라 매물", &["빌라"]),
        ("노원구랑 은평구 집값 알려줘", &["서울 노원구", "서울 은평구", "매매가"]),
        ("강남구 전세가율 분석해줘", &["전세가율 48.3%"]),
        ("전세자금대출 상품 있나요? 만 29세이고 연소득은 4,500만원입니다", &["다솜은행 청년 전세"]),
        ("부산 강서구 시세는?", &["서울의 구"]),
        ("시세 알려줘", &["다음을 알려 주시면"]),
        (
            "매도인 박서준, 매수인 최유리. 서울특별시 마포구 월드컵로 12 101동 1203호를 8억원에 파는 매매계약서 작성해줘",
            &["문서의 초안을 만들었습니다"],
        ),
        ("묵시적 갱신이 뭐야?", &["관련 조항을 옮깁니다", "제6조"]),
    ] {
        let (answer, _) = answer(question, None).await;
        for want in wants {
            assert!(answer.contains(want), "{question}: {want}\n{answer}");
        }
        assert!(answer.matches("출처:").count() <= 1, "{answer}");
    }
}

/// A model may not put an amount into the user's mouth: what it made up is left out and said, or asked for.
#[tokio::test]
async fn what_a_model_makes_up_is_not_used() {
    let selection = |arguments: Value| {
        Some(
            json!({"keywords": [], "tools": ["contract_analysis"], "arguments": {"contract_analysis": arguments},
            "reason": "", "confidence": 0.9}),
        )
    };
    let question = "전세금을 3에서 3.3억으로 올려 달래요";
    let right = selection(json!({"before": "3억", "after": 330_000_000}));
    assert!(answer(question, right).await.0.contains("10.0% 오릅니다"));
    let wrong = selection(json!({"before": "3억", "after": "4억"}));
    let (said, _) = answer(question, wrong).await;
    assert!(!said.contains("33.3%") && said.contains("알려 주시면"), "{said}");
}

/// Two teams take five requests: intent, plan, one for each team, and the response.
#[tokio::test]
async fn a_question_takes_at_most_five_requests() {
    let question = "전세금을 3억에서 3.3억으로 올려 달라는데 올려 줘야 해? 마포구 시세도 보여줘";
    let (_, asked) = answer(question, None).await;
    assert_eq!(asked, ["intent", "plan", "tool_selection", "tool_selection", "response"]);
    let (_, asked) = answer("강남구 전세 시세 알려줘", None).await;
    assert_eq!(asked, ["intent", "plan", "tool_selection", "response"]);
}
