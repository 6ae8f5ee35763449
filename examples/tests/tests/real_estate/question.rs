//! Questions as people write them: what is read of them, and that the arguments of every tool fit it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::sync::Arc;

use hanok_core::Call;
use hanok_model::{SharedTool, Tool};
use hanok_testkit::shortened;
use hanok_tools::state::Arguments;
use proptest::prelude::*;
use real_estate::data::Data;
use real_estate::documents::ContractRules;
use real_estate::question::{Keywords, Missing, arguments};
use real_estate::tools::{analysis_tools, document_tools, search_tools};

const NAMES: [&str; 10] = [
    "market_data",
    "real_estate_search",
    "loan_data",
    "market_analysis",
    "policy_matcher",
    "legal_search",
    "contract_analysis",
    "roi_calculator",
    "loan_simulator",
    "lease_contract_generator",
];

const QUESTIONS: &str = include_str!("questions.txt");

fn questions() -> impl Iterator<Item = &'static str> {
    QUESTIONS.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

/// The tools that there are: all but `legal_search`.
fn tools(folder: &std::path::Path) -> Vec<SharedTool> {
    let data = Data::bundled().unwrap();
    let rules = Arc::new(ContractRules::shipped().unwrap());
    let mut tools = search_tools(&data).unwrap();
    tools.extend(analysis_tools(&data, &rules).unwrap());
    tools.extend(document_tools(&data, &rules, folder.to_owned()).unwrap());
    tools
}

#[test]
fn questions_are_read_as_they_were() {
    let mut all = String::new();
    for question in questions() {
        let keywords = serde_json::to_string(&Keywords::stated(question)).unwrap();
        all += &format!("{question}\n  {keywords}\n");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn arguments_are_as_they_were_or_say_what_is_missing() {
    let mut all = String::new();
    for question in questions() {
        let keywords = Keywords::stated(question);
        all += &format!("{question}\n");
        for name in
            NAMES.iter().filter(|name| !["lease_contract_generator", "legal_search"].contains(name))
        {
            match arguments(name, &keywords, question) {
                Ok(order) => all += &format!("  {name} {order}\n"),
                Err(missing) => all += &format!("  {name} - {missing}\n"),
            }
        }
    }
    insta::assert_snapshot!(all);
}

#[tokio::test]
async fn the_arguments_of_every_tool_fit_it() {
    let folder = tempfile::tempdir().unwrap();
    let tools = tools(folder.path());
    let mut runs = std::collections::BTreeMap::new();
    for question in questions() {
        let keywords = Keywords::stated(question);
        for tool in &tools {
            let name = tool.spec().name().to_owned();
            match arguments(&name, &keywords, question) {
                Ok(order) => {
                    let order = Arguments::new(order.to_string());
                    let output = tool.run(&order, &Call::detached()).await;
                    let output = output.unwrap_or_else(|error| {
                        panic!("{name}: {question}\n{}\n{}", order.as_str(), error.report())
                    });
                    assert!(output.data.is_some() && !output.text.is_empty());
                    *runs.entry(name).or_insert(0) += 1;
                }
                Err(Missing::Lacking { lacking }) => assert!(!lacking.is_empty()),
                Err(missing) => panic!("{missing}"),
            }
        }
    }
    for tool in &tools {
        assert!(runs.get(tool.spec().name()).is_some_and(|runs| *runs >= 3), "{runs:?}");
    }
}

#[test]
fn what_is_missing_is_said_in_korean() {
    let empty = Keywords::default();
    for (tool, want) in [
        ("market_data", "다음을 알려 주시면 답할 수 있습니다: 서울의 어느 구인지(예: 강남구)."),
        (
            "loan_simulator",
            "다음을 알려 주시면 답할 수 있습니다: 대출금, 연 이율(퍼센트), 대출 기간(몇 년인지).",
        ),
        ("legal_search", "다음을 알려 주시면 답할 수 있습니다: 궁금하신 내용."),
        ("rm -rf\n", "\"rm -rf\"이라는 도구는 없습니다."),
    ] {
        assert_eq!(arguments(tool, &empty, "  ").unwrap_err().to_string(), want);
    }
}

#[test]
fn a_contract_in_the_question_is_analysed() {
    let question = "이 계약서 좀 봐 주세요.\n제1조(보증금) 보증금은 3억원으로 한다.\n제2조(기간) 기간은 2년으로 한다.";
    let order = arguments("contract_analysis", &Keywords::stated(question), question).unwrap();
    assert_eq!(order["contract"], question);
}

#[test]
fn a_long_or_hostile_question_is_read_in_bounds() {
    for text in [
        "강남구 전세 3억 ".repeat(60_000),
        "\0\u{1b}[31m\r\t강남구\u{202e} 3억".to_owned(),
        "9".repeat(1_000_000),
        "억".repeat(350_000),
        "방 ".repeat(300_000),
        "3억에서".repeat(80_000),
        "🏠".repeat(250_000),
        String::new(),
    ] {
        let keywords = Keywords::stated(&text);
        let written = serde_json::to_string(&keywords).unwrap();
        assert!(written.len() < 2_000, "{written}");
        for name in NAMES {
            let order = arguments(name, &keywords, &text);
            assert!(order.is_ok_and(|order| order.is_object()) || name != "policy_matcher");
        }
    }
}

/// A value that a model may put where an amount, an area or a word belongs.
fn anything() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        any::<i64>().prop_map(|number| serde_json::json!(number)),
        (0..2_000_000_000_i64).prop_map(|number| serde_json::json!(number)),
        Just(serde_json::json!({"least": "3억", "most": 1})),
        Just(serde_json::json!({"least": "3억"})),
        "(강남구|3억|84㎡|4%|sale|jeonse|apartment|true|\\PC{0,5})"
            .prop_map(|text| serde_json::json!(text)),
        any::<bool>().prop_map(|flag| serde_json::json!(flag)),
        Just(serde_json::json!(["노원구", ""])),
    ]
}

const FIELDS: [&str; 16] = [
    "districts",
    "deal",
    "price",
    "deposit",
    "monthly_rent",
    "area",
    "rooms",
    "loan_purpose",
    "loan_amount",
    "rate",
    "months",
    "age",
    "income",
    "children",
    "increase_from",
    "increase_to",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(u32::try_from(shortened(256)).unwrap()))]

    #[test]
    fn keywords_of_a_model_end_in_an_answer_or_a_typed_error(
        fields in proptest::collection::vec((proptest::sample::select(FIELDS.to_vec()), anything()), 0..10)
    ) {
        let object: serde_json::Map<String, serde_json::Value> =
            fields.into_iter().map(|pair| (pair.0.to_owned(), pair.1)).collect();
        // What is no keyword is refused when it is read.
        let kept = object.into_iter().filter(|pair| {
            let one = serde_json::Map::from_iter([pair.clone()]);
            serde_json::from_value::<Keywords>(one.into()).is_ok()
        });
        let keywords: Keywords =
            serde_json::from_value(kept.collect::<serde_json::Map<_, _>>().into()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for tool in tools(folder.path()) {
            let Ok(order) = arguments(tool.spec().name(), &keywords, "") else { continue };
            let order = Arguments::new(order.to_string());
            match runtime.block_on(tool.run(&order, &Call::detached())) {
                Ok(output) => prop_assert!(!output.text.is_empty()),
                Err(error) => prop_assert!(
                    matches!(error, hanok_model::ToolError::Arguments(_)),
                    "{} {:?}", order.as_str(), error
                ),
            }
        }
    }

    #[test]
    fn no_question_panics_and_keywords_survive_json(
        text in "(강남|구|전세|월세|보증금|매매|대출|에서|으로|올려|이하|이상|~|대|억|만원|천|%|년|개월|평|㎡|방|자녀|세|[0-9]{1,4}|[ .,?\n]|.){0,40}"
    ) {
        let keywords = Keywords::stated(&text);
        let written = serde_json::to_string(&keywords).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Keywords>(&written).unwrap(), &keywords);
        for name in NAMES {
            let order = arguments(name, &keywords, &text);
            let is_unknown = matches!(order, Err(Missing::NoTool { .. }));
            prop_assert!(!is_unknown);
        }
    }
}
