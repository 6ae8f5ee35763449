//! Token counts: the estimate against the vocabularies of OpenAI's models.
#![cfg(feature = "tiktoken")]

use hanok_model::{ChatRequest, TokenCounter};
use hanok_state::{Arguments, Message, ToolCall};

const SAMPLES: [(&str, &str); 9] = [
    (
        "Korean rules",
        "제12조(연차 휴가) ① 회사는 1년간 80퍼센트 이상 출근한 직원에게 15일의 유급 휴가를 준다. ② 근속 기간이 1년 \
         미만인 직원에게는 1개월 개근할 때마다 1일의 유급 휴가를 준다. ③ 3년 이상 계속 근로한 직원에게는 최초 1년을 \
         초과하는 계속 근로 연수 매 2년에 대하여 1일을 더한 휴가를 주되, 총 휴가 일수는 25일을 한도로 한다.",
    ),
    (
        "Korean talk",
        "안녕하세요! 다음 주 화요일에 부산으로 출장을 가는데요, 기차표는 제가 먼저 결제하고 나중에 청구하면 되나요? \
         그리고 저녁에 팀원들이랑 밥 먹은 것도 같이 올려도 되는지 궁금해요. 지난번에는 영수증을 잃어버려서 고생했거든요 ㅠㅠ",
    ),
    (
        "Korean and English",
        "RAG 에이전트가 search_knowledge_base 도구를 호출하면 Observation으로 문서 3개가 돌아옵니다. 이때 LLM은 Final \
         Answer를 쓰기 전에 출처(source)를 반드시 확인해야 하고, timeout은 30초, retry는 최대 3회입니다.",
    ),
    (
        "English prose",
        "The old carpenter never used a nail. Every beam in the house was cut so that it held its neighbour, and when the \
         wind came down from the mountain in late autumn the whole frame leaned, creaked a little and settled again. \
         Visitors asked him why he took such trouble; he would only shrug and hand them a plane.",
    ),
    (
        "English, technical",
        "Retries use exponential backoff with full jitter: the client waits for a random duration between zero and the \
         current ceiling, which doubles after every unsuccessful attempt. Non-idempotent operations aren't retried \
         automatically, because a timed-out acknowledgement doesn't imply that the transaction was rolled back.",
    ),
    (
        "Rust code",
        "impl<'a> Iterator for Pieces<'a> {\n    type Item = &'a str;\n\n    fn next(&mut self) -> Option<&'a str> {\n        \
         if self.rest.is_empty() {\n            return None;\n        }\n        let (piece, rest) = \
         self.rest.split_at(self.cut());\n        self.rest = rest;\n        Some(piece)\n    }\n}\n",
    ),
    (
        "Python code",
        "def overdue(loans: list[Loan], today: date) -> dict[str, int]:\n    late = {}\n    for loan in loans:\n        \
         if loan.returned_at is None and loan.due < today:\n            late[loan.member] = late.get(loan.member, 0) + \
         1\n    return late\n",
    ),
    (
        "JSON",
        "{\"name\":\"search\",\"parameters\":{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\",\"description\":\
         \"찾을 말\"},\"limit\":{\"type\":\"integer\",\"minimum\":1}},\"required\":[\"query\"]}}",
    ),
    (
        "Japanese and Chinese",
        "有給休暇は入社から半年後に十日付与されます。申請は前日までに上司へお願いします。员工入职满一年后，每年可享受十五天带薪年假，\
         须提前三天向主管提出申请。",
    ),
];

#[test]
fn the_estimate_is_not_below_the_exact_count_and_at_most_twice_it() {
    let estimate = TokenCounter::estimate();
    let mut wrong = Vec::new();
    for model in ["gpt-4o", "gpt-4"] {
        let exact = TokenCounter::for_model(model);
        assert!(exact.is_exact() && !estimate.is_exact());
        for (what, text) in SAMPLES {
            let (exact, estimate) = (exact.text(text), estimate.text(text));
            println!("{model:8} {what:22} {exact:4} {estimate:4}");
            if estimate < exact || estimate > 2 * exact {
                wrong.push((model, what, exact, estimate));
            }
        }
    }
    assert_eq!(wrong, []);
}

#[test]
fn a_model_is_counted_by_its_name_and_any_other_is_estimated() {
    for (model, exact) in [
        ("gpt-4o-mini", true),
        ("gpt-4.1", true),
        ("o3", true),
        ("openai/gpt-oss-20b", true),
        ("gpt-3.5-turbo", true),
        ("text-embedding-3-small", true),
        ("qwen2.5-coder-1.5b-instruct", false),
        ("", false),
    ] {
        assert_eq!(TokenCounter::for_model(model).is_exact(), exact, "{model}");
    }
}

/// The rule of OpenAI's cookbook: 3 tokens a message, 1 for a name, 3 for the reply.
#[test]
fn a_conversation_costs_its_texts_and_the_overhead_of_its_messages() {
    let counter = TokenCounter::for_model("gpt-4o");
    let (hello, role) = (counter.text("안녕하세요"), counter.text("user"));
    assert_eq!(counter.messages(&[Message::user("안녕하세요")]), 3 + role + hello + 3);
    let named = Message::user("안녕하세요").with_name("김하늘");
    assert_eq!(counter.message(&named), 3 + role + hello + counter.text("김하늘") + 1);
}

#[test]
fn calls_and_tools_are_counted() {
    let counter = TokenCounter::estimate();
    let arguments = Arguments::new(r#"{"query":"휴가"}"#);
    let call = ToolCall { id: "c1".into(), name: "search".into(), arguments };
    let plain = ChatRequest::new([Message::assistant("")]);
    let calling = ChatRequest::new([Message::assistant("").with_tool_calls([call])]);
    assert!(counter.request(&calling) > counter.request(&plain));
}

/// Long runs are the worst case of the vocabularies: their time grows with the square, and their expression gives up.
#[test]
fn a_long_run_is_counted_in_linear_time_and_does_not_panic() {
    for counter in [
        TokenCounter::for_model("gpt-4o"),
        TokenCounter::for_model("gpt-4"),
        TokenCounter::estimate(),
    ] {
        for run in ["a", "가", " ", "\n", "!", "\u{0}", "👍", " \n"] {
            let text = run.repeat(100_000);
            assert!(counter.text(&text) > 0, "{run:?}");
        }
    }
}

#[test]
fn without_a_model_texts_are_counted_by_the_vocabulary_of_the_current_models() {
    let (default, current) = (TokenCounter::default(), TokenCounter::for_model("gpt-4o"));
    for (what, text) in SAMPLES {
        assert_eq!(default.text(text), current.text(text), "{what}");
    }
    // Whose they are is not known, so it is not said to be exact.
    assert_eq!((default.is_exact(), current.is_exact()), (false, true));
}
