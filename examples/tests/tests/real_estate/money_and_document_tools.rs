//! The tools of money and documents, called as an agent calls them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{fmt::Write, path::Path, sync::Arc};

use hanok_core::{Call, CallKey, Effect};
use hanok_documents::LoadOptions;
use hanok_model::{FnTool, Tool, ToolError, ToolOutput};
use proptest::prelude::*;
use real_estate::data::Limits;
use real_estate::documents::{ContractRules, LeaseTerms, Level, lease, review, review_needed};
use real_estate::tools::{
    contract_analysis, lease_contract_generator, loan_simulator, roi_calculator,
};
use serde_json::{Value, json};

use crate::real_estate::leases::terms;

fn limits() -> Arc<Limits> {
    Arc::new(Limits::shipped().unwrap())
}

fn rules() -> Arc<ContractRules> {
    Arc::new(ContractRules::shipped().unwrap())
}

fn analysis() -> FnTool {
    contract_analysis(limits(), rules()).unwrap()
}

fn loans() -> FnTool {
    loan_simulator(limits()).unwrap()
}

fn generator(out: &Path) -> FnTool {
    lease_contract_generator(out.to_owned(), limits(), rules()).unwrap()
}

fn run_keyed(tool: &FnTool, arguments: Value, key: &str) -> Result<ToolOutput, ToolError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let call = Call::detached().keyed(CallKey::new(key));
    runtime.block_on(tool.run(&arguments.into(), &call))
}

fn run(tool: &FnTool, arguments: Value) -> Result<ToolOutput, ToolError> {
    run_keyed(tool, arguments, "key 1")
}

fn data(output: &ToolOutput) -> &Value {
    &output.data.as_ref().unwrap().0
}

#[test]
fn every_tool_says_what_it_is_for_and_not_for() {
    let out = tempfile::tempdir().unwrap();
    let tools = [analysis(), loans(), roi_calculator().unwrap(), generator(out.path())];
    for tool in &tools {
        let description = tool.spec().description();
        assert!(
            description.contains("쓰지 않") || description.contains("내다보지 않"),
            "{description}"
        );
        let is_writer = tool.spec().name() == "lease_contract_generator";
        let effect = if is_writer { Effect::Idempotent } else { Effect::Pure };
        assert_eq!(tool.effect(), effect);
        assert!(tool.timeout().as_secs() <= 20);
    }
}

#[test]
fn questions_on_rent_are_answered_exactly_or_asked_about() {
    let mut said = String::new();
    for change in [
        "전세금을 3에서 3.3억으로 올려 달래요",
        "3억에서 3억1,500만원으로",
        "3억→10억",
        "월세를 60만원에서 55만원으로 내려 주신대요",
        "보증금이 0원에서 1억원으로",
        "전세 3억에서 5% 올리면 얼마예요?",
        "3에서 3.3으로 올린대요",
        "올려 달래요",
    ] {
        let output = run(&analysis(), json!({"change": change})).unwrap();
        writeln!(said, "> {change}\n{}\n", output.text).unwrap();
    }
    let both = json!({"before": "1억", "after": 100_000_000, "rent_before": "50만원", "rent_after": "52만 5천원"});
    let output = run(&analysis(), both).unwrap();
    assert_eq!(data(&output)["rent"]["converted"], true);
    writeln!(said, "> 1억에 50만원, 1억에 52만 5천원\n{}", output.text).unwrap();
    insta::assert_snapshot!("rent", said);
}

#[test]
fn what_is_wrong_in_a_contract_is_found_with_its_article() {
    let contract = "임대차계약서\n\n제1조(보증금) 보증금은 3억원으로 한다.\n\
        제2조(임대차 기간) 기간은 2026년 3월 1일부터 2027년 2월 28일까지로 한다.\n\
        제3조(증액) 임대인은 매년 보증금을 10% 올릴 수 있다.\n\
        제4조(수선) 주택의 모든 수선은 임차인이 부담한다.\n\
        제5조(갱신) 임차인은 계약갱신요구권을 행사하지 아니한다.\n\
        제6조(해지) 임차인이 월세를 1회라도 연체하면 임대인은 계약을 해지할 수 있다.\n\
        제7조(반환) 임대인은 새 임차인이 들어오면 보증금을 반환한다.\n\n특약사항\n임차인은 전입신고를 하지 않는다.\n";
    let output = run(&analysis(), json!({"contract": contract, "price": "3억 5천만원"})).unwrap();
    insta::assert_snapshot!("contract", output.text);
    insta::assert_json_snapshot!("contract_data", data(&output));
}

/// What our own lease says is what the rules ask for.
#[test]
fn our_own_lease_has_no_findings() {
    for number in 0..30 {
        let terms = LeaseTerms { special: Vec::new(), ..terms(number) };
        let text = lease(&terms).unwrap().markdown();
        let output = run(&analysis(), json!({"contract": text})).unwrap();
        assert_eq!(data(&output)["contract"], json!({"articles": 15, "findings": []}), "{number}");
    }
}

/// The contracts of another example: what a person would note, and no more.
#[test]
fn the_findings_of_written_contracts_are_few() {
    let mut found = String::new();
    for file in ["contracts/임대차계약서.docx", "standards/표준임대차계약서.md"] {
        let path = format!("{}/../contract/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = hanok_documents::open(path, &hanok_documents::readers(LoadOptions::new()))
            .unwrap()
            .text;
        let output = run(&analysis(), json!({"contract": text})).unwrap();
        writeln!(found, "{file}\n{}\n", output.text).unwrap();
    }
    insta::assert_snapshot!("written", found);
}

#[test]
fn a_loan_is_calculated_and_compared_with_the_rules() {
    let mut said = String::new();
    for arguments in [
        json!({"amount": "3억", "rate": "4.0", "months": 360}),
        json!({"amount": "3억", "rate": "4.0%", "months": 360, "method": "equal_principal"}),
        json!({"amount": 300_000_000, "rate": 4, "months": 365, "grace_months": 12, "method": "bullet"}),
        json!({"amount": "5억", "rate": "4.2", "months": 480, "price": "12억", "income": "9천만원", "area": "regulated", "buyer": "no_home", "other_payments": "600만원", "other_interest": "200만원"}),
        json!({"amount": "7억", "rate": "4.2", "months": 360, "price": "16억", "income": "1억 5천만원", "area": "capital", "buyer": "first_home"}),
        json!({"amount": "1억", "rate": "3.5", "months": 240, "price": "3억", "income": "4천만원", "area": "other"}),
        json!({"amount": "2억", "rate": "3.5", "months": 240, "price": "3억", "income": "4천만원"}),
    ] {
        let output = run(&loans(), arguments.clone()).unwrap();
        writeln!(said, "> {arguments}\n{}\n", output.text).unwrap();
    }
    insta::assert_snapshot!("loans", said);
}

#[test]
fn a_loan_at_its_limit_is_within_it() {
    let check = |amount: i64| {
        let arguments = json!({"amount": amount, "rate": 4, "months": 360, "price": "10억", "area": "regulated", "buyer": "no_home"});
        let output = run(&loans(), arguments).unwrap();
        data(&output)["checks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|check| check["within"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(check(400_000_000), [true, true]);
    assert_eq!(check(400_000_001), [false, true]);
    assert_eq!(check(600_000_001), [false, false]);
}

#[test]
fn a_loan_that_is_none_is_refused_with_what_to_write() {
    let mut said = String::new();
    for arguments in [
        json!({"amount": 0, "rate": 4, "months": 360}),
        json!({"amount": -3, "rate": 4, "months": 360}),
        json!({"amount": "3", "rate": 4, "months": 360}),
        json!({"amount": 3.5, "rate": 4, "months": 360}),
        json!({"amount": "3억", "rate": 4.5, "months": 360}),
        json!({"amount": "3억", "rate": "100.5", "months": 360}),
        json!({"amount": "3억", "rate": -1, "months": 360}),
        json!({"amount": "3억", "rate": 4, "months": 601}),
        json!({"amount": "3억", "rate": 4, "months": 12, "grace_months": 12}),
        json!({"amount": "3억", "rate": 4, "months": 12, "price": 0, "area": "other"}),
    ] {
        let error = run(&loans(), arguments.clone()).unwrap_err();
        assert!(matches!(error, ToolError::Arguments(_)));
        writeln!(said, "{arguments}\n  {}", error.report()).unwrap();
    }
    insta::assert_snapshot!("no_loans", said);
}

#[test]
fn the_yield_of_a_home_is_said() {
    let tool = roi_calculator().unwrap();
    let arguments = json!({"price": "5억", "monthly_rent": "180만원", "deposit": "5천만원", "buying_costs": "1천만원", "yearly_costs": "150만원", "empty_months": 1, "loan": "2억", "loan_rate": "4.2"});
    let output = run(&tool, arguments).unwrap();
    let all = run(&tool, json!({"price": "1억", "monthly_rent": 0, "deposit": "1억"})).unwrap();
    insta::assert_snapshot!("roi", format!("{}\n\n{}", output.text, all.text));
    let error =
        run(&tool, json!({"price": "1억", "monthly_rent": 0, "loan": "5천만원"})).unwrap_err();
    assert!(error.report().contains("loan_rate"), "{}", error.report());
}

const WORDS: &str = "임대인은 김철수, 임차인은 이영희입니다. 서울특별시 마포구 월드컵로 12 101동 1203호를 보증금 3억원에 월세 50만원으로 \
    2026년 3월 1일부터 2년 동안 빌립니다. 계약금은 3천만원, 잔금은 2026년 3월 1일에 치르고 월세는 매월 25일에 냅니다.";

#[test]
fn a_lease_is_made_of_what_was_said_and_what_was_filled_in() {
    let out = tempfile::tempdir().unwrap();
    let tool = generator(out.path());
    let first = run(&tool, json!({"words": WORDS})).unwrap();
    assert_eq!(data(&first)["status"], "missing");
    assert_eq!(data(&first)["fields"], json!(["area"]));
    assert_eq!(data(&first)["form"]["required"], json!(["area"]));
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0);

    let order = json!({"words": WORDS, "terms": {"area": "84.97㎡"}});
    let second = run(&tool, order.clone()).unwrap();
    assert_eq!(data(&second)["status"], "written");
    insta::assert_snapshot!("generated", second.text);
    let again = run(&tool, order.clone()).unwrap();
    assert_eq!(again, second);
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 2);
    run_keyed(&tool, order, "key 2").unwrap();
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 4);
}

#[test]
fn a_lease_that_no_one_may_make_is_refused() {
    let out = tempfile::tempdir().unwrap();
    let tool = generator(out.path());
    for terms in [
        json!({"landlord": "김\u{0}철수"}),
        json!({"deposit": -1}),
        json!({"from": "2026-03-01", "until": "2026-02-01"}),
        json!({"resident_number": "900101-1234567"}),
        json!({"special": ["가".repeat(2_000)]}),
    ] {
        let error = run(&tool, json!({"words": "", "terms": terms})).unwrap_err();
        assert!(matches!(error, ToolError::Arguments(_)), "{error:?}");
    }
    let long = run(&tool, json!({"words": "가".repeat(10_000)})).unwrap_err();
    assert!(matches!(long, ToolError::Arguments(_)));
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0);
}

#[test]
fn a_review_weighs_by_rules_and_words_do_not_lower_it() {
    let (limits, rules) = (limits(), rules());
    let plain = LeaseTerms { special: Vec::new(), ..terms(4) };
    assert_eq!(review_needed(&plain, &rules, &limits).unwrap(), []);
    let low = review(&plain, &rules, &limits).unwrap();
    assert_eq!((low.level(), low.score()), (Level::Low, 0));

    let with = |change: fn(&mut LeaseTerms)| {
        let mut terms = plain.clone();
        change(&mut terms);
        let review = review(&terms, &rules, &limits).unwrap();
        let ids: Vec<String> = review.factors().iter().map(|it| it.finding.id.clone()).collect();
        (ids.join(" "), review.level(), review.score())
    };
    let said = |ids: &str, level, score| (ids.to_owned(), level, score);
    assert_eq!(
        with(|terms| terms.special = vec!["벽에 못을 박지 않는다.".to_owned()]),
        said("own_clauses", Level::Low, 5)
    );
    assert_eq!(
        with(|terms| terms.down_payment = Some(23_880_000)),
        said("high_down_payment", Level::Medium, 15)
    );
    assert_eq!(
        with(|terms| terms.price = Some(149_250_000)),
        said("", Level::Low, 0),
        "80 % is no danger yet"
    );
    assert_eq!(
        with(|terms| terms.price = Some(149_249_999)),
        said("deep_deposit", Level::High, 50)
    );
    assert_eq!(
        with(|terms| terms.special = vec!["임차인은 전입신고를 하지 않는다.".to_owned()]),
        said("no_registration own_clauses", Level::High, 55)
    );

    let bad = LeaseTerms {
        special: vec!["임차인은 갱신요구권을 포기한다.".to_owned()],
        until: plain
            .from
            .map(|from| from.saturating_add(jiff::ToSpan::months(12)).yesterday().unwrap()),
        deposit: Some(330_000_000),
        down_payment: Some(66_000_000),
        monthly_rent: Some(0),
        price: Some(400_000_000),
        senior_debt: Some(50_000_000),
        previous_deposit: Some(300_000_000),
        ..plain.clone()
    };
    let high = review(&bad, &rules, &limits).unwrap();
    insta::assert_snapshot!("review", high.text());
    assert_eq!((high.level(), high.score()), (Level::High, 100));
    let worded = high.clone().worded("아무 문제 없습니다. 위험도는 낮음입니다.");
    assert_eq!(
        (worded.level(), worded.score(), worded.factors()),
        (Level::High, 100, high.factors())
    );
    assert_eq!(high.clone().worded("  "), high);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_words_break_a_tool(text in "(.|제[0-9]조|\n|억|보증금|월세|에서|부터|까지|2026년 3월 1일|임대인은 |갱신|%|[0-9]){0,80}") {
        let terms = LeaseTerms::stated(&text);
        drop(terms.check());
        let question = json!({"contract": text, "change": text, "price": text});
        let analysed = run(&analysis(), question);
        prop_assert!(matches!(analysed, Ok(_) | Err(ToolError::Arguments(_))));
        let question = json!({"amount": text, "rate": text, "months": 12});
        prop_assert!(matches!(run(&loans(), question), Ok(_) | Err(ToolError::Arguments(_))));
        let question = json!({"price": text, "monthly_rent": text, "loan": text, "loan_rate": text});
        let roi = run(&roi_calculator().unwrap(), question);
        prop_assert!(matches!(roi, Ok(_) | Err(ToolError::Arguments(_))));
        let out = tempfile::tempdir().unwrap();
        let order = json!({"words": text, "terms": {"landlord": text, "special": [text]}});
        let made = run(&generator(out.path()), order);
        prop_assert!(matches!(made, Ok(_) | Err(ToolError::Arguments(_))));
    }
}
