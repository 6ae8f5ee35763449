//! The five tools that look something up: what they answer, and that no input breaks them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use hanok_core::{Call, Effect};
use hanok_figures::Number;
use hanok_model::{SharedTool, Tool, ToolError, ToolOutput};
use hanok_tools::state::Arguments;
use proptest::prelude::*;
use real_estate::data::deal::Deal;
use real_estate::data::listings::{HomeKind, Listing};
use real_estate::data::{Data, Listings};
use real_estate::documents::ContractRules;
use real_estate::money::StatedWon;
use real_estate::tools::{FilterName, SearchQuestion, analysis_tools, search_homes, search_tools};
use serde_json::{Value, json};

fn tool(name: &str) -> SharedTool {
    let (data, rules) = (Data::bundled().unwrap(), Arc::new(ContractRules::shipped().unwrap()));
    let mut tools = search_tools(&data).unwrap();
    tools.extend(analysis_tools(&data, &rules).unwrap());
    tools.into_iter().find(|tool| tool.spec().name() == name).unwrap()
}

async fn run(tool: &SharedTool, arguments: &Value) -> Result<ToolOutput, ToolError> {
    tool.run(&Arguments::new(arguments.to_string()), &Call::detached()).await
}

async fn text(name: &str, arguments: &Value) -> String {
    match run(&tool(name), arguments).await {
        Ok(output) => output.text,
        Err(error) => format!("! {}", error.report()),
    }
}

async fn data(name: &str, arguments: Value) -> Value {
    let output = run(&tool(name), &arguments).await.unwrap();
    serde_json::to_value(output.data.unwrap()).unwrap()
}

#[test]
fn every_tool_is_pure_and_says_what_it_is_not_for() {
    for tool in search_tools(&Data::bundled().unwrap()).unwrap() {
        assert_eq!(Tool::effect(&tool), Effect::Pure);
        assert!(Tool::timeout(&tool) <= Duration::from_secs(10));
        let description = tool.spec().description();
        assert!(description.contains("쓰지 않습니다"), "{description}");
    }
}

#[tokio::test]
async fn prices_are_answered_as_they_were() {
    let mut all = String::new();
    for arguments in [
        json!({"district": "강남"}),
        json!({"district": "서울 노원구", "deal": "jeonse", "months": 3}),
        json!({"district": "종로구", "deal": "매매"}),
        json!({"district": "마포구", "months": 0}),
    ] {
        all += &format!("{arguments}\n{}\n\n", text("market_data", &arguments).await);
    }
    for arguments in [
        json!({"district": "노원구", "price": "6억", "deposit": "5억 2천만원"}),
        json!({"district": "강남구", "deposit": "1억", "monthly_rent": 3_000_000}),
        json!({"district": "강남구", "deposit": "3"}),
        json!({"district": "강남구", "price": 0}),
        json!({"district": "해운대구"}),
    ] {
        all += &format!("{arguments}\n{}\n\n", text("market_analysis", &arguments).await);
    }
    insta::assert_snapshot!(all);
}

#[tokio::test]
async fn searches_are_answered_as_they_were() {
    let mut all = String::new();
    for arguments in [
        json!({"districts": ["마포구"], "deal": "jeonse", "deposit_to": "5억"}),
        json!({"deal": "monthly_rent", "rent_to": "100만원", "deposit_to": "1억", "area_from": "10평", "limit": 3}),
        json!({"districts": ["강남구"], "deal": "sale", "price_to": "1억", "rooms": 3}),
        json!({"districts": ["종로구"]}),
        json!({"deal": "sale", "price_from": "5억", "price_to": "3억"}),
        json!({"deal": "sale", "deposit_to": "3억"}),
    ] {
        all += &format!("{arguments}\n{}\n\n", text("real_estate_search", &arguments).await);
    }
    for arguments in [
        json!({"purpose": "jeonse", "amount": "2억 5천만원", "person": {"age": 30, "income": "4,500만원"}}),
        json!({"purpose": "sale", "amount": "10억"}),
        json!({"purpose": "월세보증금", "person": {"age": 40, "income": "9000만원", "married": false, "no_home": false}}),
    ] {
        all += &format!("{arguments}\n{}\n\n", text("loan_data", &arguments).await);
    }
    for arguments in [
        json!({"topic": "monthly_rent", "person": {"age": 27, "income": "2,300만원", "no_home": true, "deposit": "1000만원", "monthly_rent": "50만원"}}),
        json!({"topic": "sale", "person": {"first_home": true, "income": "6천만원", "price": "5억", "area": "59㎡"}}),
        json!({}),
        json!({"person": {"age": 999}}),
    ] {
        all += &format!("{arguments}\n{}\n\n", text("policy_matcher", &arguments).await);
    }
    insta::assert_snapshot!(all);
}

#[tokio::test]
async fn ratios_are_exact_and_rounded_once() {
    let answer = data("market_data", json!({"district": "노원구", "deal": "sale"})).await;
    let series = &answer["series"][0];
    let change = &series["change_12"];
    let (before, after) = (change["before"].as_i64().unwrap(), change["after"].as_i64().unwrap());
    assert_eq!(series["newest"], change["after"]);
    assert_eq!(series["months"].as_array().unwrap().len(), 12);
    // In thousandths of the price before, a half away from zero, by integers alone.
    let thousandths = |part: i64, whole: i64| {
        let doubled = part * 1000 * 2;
        (doubled.abs() + whole) / (whole * 2) * doubled.signum()
    };
    let tenths = |text: &Value| text.as_str().unwrap().replace('.', "").parse::<i64>().unwrap();
    assert_eq!(tenths(&change["percent"]), thousandths(after - before, before));
    let answer =
        data("market_analysis", json!({"district": "노원구", "deposit": 500_000_000})).await;
    let ratio = &answer["jeonse_ratio"];
    let share = thousandths(ratio["deposit"].as_i64().unwrap(), ratio["price"].as_i64().unwrap());
    assert_eq!(tenths(&ratio["percent"]), share);
    let one = &answer["comparisons"][0];
    let (stated, average) = (one["stated"].as_i64().unwrap(), one["average"].as_i64().unwrap());
    assert_eq!(tenths(&one["percent"]), thousandths(stated - average, average));
}

#[tokio::test]
async fn every_product_and_policy_is_answered_once() {
    let loans = data("loan_data", json!({"purpose": "jeonse", "amount": "3억"})).await;
    let count = |list: &Value| list.as_array().unwrap().len();
    assert_eq!(count(&loans["offers"]) + count(&loans["excluded"]), 20);
    for loan in loans["excluded"].as_array().unwrap() {
        assert!(count(&loan["reasons"]) > 0, "{loan}");
    }
    let person = json!({"person": {"age": 30, "income": 60_000_000, "no_home": true}});
    let policies = data("policy_matcher", person).await;
    let lists = ["fits", "cannot_tell", "does_not_fit"];
    assert_eq!(lists.iter().map(|list| count(&policies[list])).sum::<usize>(), 12);
    for one in policies["does_not_fit"].as_array().unwrap() {
        assert!(count(&one["unmet"]) > 0, "{one}");
    }
    for one in policies["cannot_tell"].as_array().unwrap() {
        assert!(count(&one["missing"]) > 0 && one.get("unmet").is_none(), "{one}");
    }
}

#[tokio::test]
async fn hostile_inputs_end_in_an_answer_or_a_typed_error() {
    let long = "가".repeat(400_000);
    let words = ["", " ", "\0\u{1b}[2J\r\n", "9".repeat(5_000).as_str(), "-1", "NaN", "{}", &long]
        .map(str::to_owned);
    for tool in search_tools(&Data::bundled().unwrap()).unwrap() {
        for word in &words {
            for arguments in [
                json!({"district": word}),
                json!({"district": "강남구", "price": word, "deposit": word}),
                json!({"districts": [word], "area_from": word}),
                json!({"amount": word, "purpose": "jeonse"}),
                json!({"person": {"income": word, "area": word}}),
                json!({"person": {"age": -1}}),
                json!({"months": 99_999_999_999_u64, "district": "강남구"}),
                json!({"limit": 0}),
                json!({"rooms": 1.5}),
                json!({word: word}),
                json!(word),
            ] {
                match run(&tool, &arguments).await {
                    Ok(output) => {
                        assert!(output.text.len() < 10_000);
                        let is_plain = |c: char| c == '\n' || !c.is_control();
                        assert!(output.text.chars().all(is_plain), "{:?}", output.text);
                    }
                    Err(error) => assert!(matches!(error, ToolError::Arguments(_)), "{error:?}"),
                }
            }
        }
    }
}

fn fits(question: &SearchQuestion, home: &Listing) -> bool {
    let won = |stated: &Option<StatedWon>| stated.as_ref().map(|stated| stated.won().unwrap());
    let within = |amount: Option<i64>, from, to| match (won(from), won(to)) {
        (None, None) => true,
        (from, to) => amount
            .is_some_and(|amount| from.unwrap_or(0) <= amount && amount <= to.unwrap_or(i64::MAX)),
    };
    let area: Number = home.area.parse().unwrap();
    let least = question.area_from.as_ref().map(|area| area.square_metres().unwrap());
    (question.districts.is_empty() || question.districts.contains(&home.district))
        && question.deal.is_none_or(|deal| deal == home.deal)
        && within(home.price, &question.price_from, &question.price_to)
        && within(home.deposit, &question.deposit_from, &question.deposit_to)
        && within(home.monthly_rent, &question.rent_from, &question.rent_to)
        && least.is_none_or(|least| !area.compare(&least).is_lt())
        && question.rooms.is_none_or(|rooms| home.rooms >= rooms)
        && question.rooms_to.is_none_or(|rooms| home.rooms <= rooms)
        && question.kind.is_none_or(|kind| home.kind == kind)
}

fn ends(most: i64) -> impl Strategy<Value = (Option<StatedWon>, Option<StatedWon>)> {
    let end = move || proptest::option::weighted(0.3, 0..most);
    (end(), end()).prop_map(|pair| {
        let (from, to) = match pair {
            (Some(from), Some(to)) => (Some(from.min(to)), Some(from.max(to))),
            pair => pair,
        };
        (from.map(StatedWon::Won), to.map(StatedWon::Won))
    })
}

prop_compose! {
    fn question()(
        districts in proptest::collection::vec(
            proptest::sample::select(vec!["강남구", "노원구", "마포구", "은평구"]), 0..3),
        deal in proptest::option::of(proptest::sample::select(Deal::ALL.to_vec())),
        price in ends(3_000_000_000),
        deposit in ends(1_500_000_000),
        rent in ends(4_000_000),
        area in proptest::option::of(20_i64..120),
        rooms in proptest::option::of(1_u32..5),
        more in proptest::option::weighted(0.3, 0_u32..3),
        kind in proptest::option::weighted(0.2, proptest::sample::select(
            vec![HomeKind::Apartment, HomeKind::Villa, HomeKind::Officetel])),
        limit in proptest::option::of(1_u32..=50),
    ) -> SearchQuestion {
        SearchQuestion {
            districts: districts.into_iter().map(str::to_owned).collect(),
            deal,
            price_from: price.0,
            price_to: price.1,
            deposit_from: deposit.0,
            deposit_to: deposit.1,
            rent_from: rent.0,
            rent_to: rent.1,
            area_from: area.map(|area| serde_json::from_value(json!(area)).unwrap()),
            area_to: None,
            rooms,
            rooms_to: more.map(|more| rooms.unwrap_or(1) + more),
            kind,
            limit,
        }
    }
}

static LISTINGS: LazyLock<Listings> = LazyLock::new(|| Listings::shipped().unwrap());

proptest! {
    #[test]
    fn every_home_that_is_returned_fits_and_none_that_fits_is_missing(question in question()) {
        let listings = &*LISTINGS;
        let answer = search_homes(&question, listings).unwrap();
        let all: Vec<&Listing> = listings.homes().iter().map(|home| &home.listing).collect();
        let fit: Vec<&&Listing> = all.iter().filter(|home| fits(&question, home)).collect();
        let limit = question.limit.unwrap_or(10) as usize;
        prop_assert_eq!(answer.total, fit.len());
        prop_assert_eq!(answer.homes.len(), fit.len().min(limit));
        for home in &answer.homes {
            prop_assert!(fits(&question, home), "{:?}", home);
        }
        let key = |home: &Listing| (home.deal, home.amount(), home.monthly_rent);
        prop_assert!(answer.homes.is_sorted_by_key(key));
        if let Some(last) = answer.homes.last() {
            let cheaper = fit.iter().filter(|home| key(home) < key(last));
            for home in cheaper {
                prop_assert!(answer.homes.contains(home), "{:?} is missing", home);
            }
        }
        // When nothing fits, what is said of each filter is so.
        for one in &answer.excluded {
            prop_assert_eq!(answer.total, 0);
            let mut without = question.clone();
            match one.filter {
                FilterName::Districts => without.districts.clear(),
                FilterName::Deal => without.deal = None,
                FilterName::Price => (without.price_from, without.price_to) = (None, None),
                FilterName::Deposit => (without.deposit_from, without.deposit_to) = (None, None),
                FilterName::Rent => (without.rent_from, without.rent_to) = (None, None),
                FilterName::Area => without.area_from = None,
                FilterName::Rooms => (without.rooms, without.rooms_to) = (None, None),
                FilterName::Kind => without.kind = None,
            }
            let count = all.iter().filter(|home| fits(&without, home)).count();
            prop_assert_eq!(one.fit_without, count);
        }
    }
}
