//! What holds for every figure and every text.

use hanok_agent::Language;
use hanok_figures::{Number, Won};
use hanok_grounding::{Grounding, Sources};
use hanok_testkit::sampled;
use proptest::prelude::*;
use serde_json::json;

/// An amount in its written forms.
fn forms(won: i64) -> Vec<String> {
    let amount = Won(Number::from(won));
    let eok = Number::from(won).divide(&Number::from(100_000_000)).unwrap();
    let mut forms = vec![
        amount.to_string(),
        amount.in_units(),
        amount.in_units().replace(' ', ""),
        format!("₩{}", amount.to_string().trim_end_matches('원')),
        format!("{won}원"),
    ];
    // `0.00…` is read, and nothing that is written so.
    if won >= 10_000_000 {
        forms.push(format!("{eok}억원"));
    }
    forms
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// An amount that is not in the data is always reported and marked; one that is there, in none of its forms.
    #[test]
    fn an_invented_amount_is_reported_and_a_true_one_is_not(
        data in prop::collection::vec(10_000_i64..5_000_000_000, 1..20),
        other in 10_000_i64..5_000_000_000,
    ) {
        let sources = Sources::new().tool("t", &json!({"items": data}));
        for won in &data {
            for form in forms(*won) {
                let grounded = Grounding::new().check(format!("보증금은 {form}입니다."), &sources);
                prop_assert!(grounded.figures.len() == 1 && grounded.is_supported(), "{form}: {:?}", grounded.figures);
            }
        }
        prop_assume!(!data.contains(&other));
        for form in forms(other).into_iter().filter(|form| !form.contains('.')) {
            let grounded = Grounding::new().check(format!("보증금은 {form}입니다."), &sources);
            prop_assert!(!grounded.is_supported(), "{form}");
            let marked = grounded.marked(Language::Korean);
            let line = marked.lines().last().unwrap();
            prop_assert!(line.contains(form.as_str()), "{form}: {line}");
        }
    }

    /// The same for per cents, areas, days and articles.
    #[test]
    fn other_figures_are_reported_unless_they_are_there(
        percent in 1_u32..10_000, area in 100_u32..30_000, day in 1_u32..28, article in 1_u32..900,
        shift in 1_u32..7,
    ) {
        let decimal = |hundredths: u32| format!("{}.{:02}", hundredths / 100, hundredths % 100);
        let data = json!({
            "rate_percent": decimal(percent).parse::<f64>().unwrap(),
            "area_m2": decimal(area),
            "date": format!("2026-02-{day:02}"),
            "law": "민법",
            "article": article,
        });
        let sources = Sources::new().tool("t", &data);
        let answer = |by: u32| {
            let day = (day + by - 1) % 27 + 1;
            [
                format!("{}%", decimal(percent + by)),
                format!("{}㎡", decimal(area + by)),
                format!("2026년 2월 {day}일"),
                format!("2026. 2. {day}."),
                format!("민법 제{}조", article + by),
            ]
        };
        for figure in answer(0).into_iter().filter(|_| day < 27) {
            let grounded = Grounding::new().check(figure.as_str(), &sources);
            prop_assert!(grounded.figures.len() == 1 && grounded.is_supported(), "{figure}: {:?}", grounded.figures);
        }
        for figure in answer(shift) {
            let grounded = Grounding::new().check(figure.as_str(), &sources);
            prop_assert_eq!(grounded.unsupported().count(), 1, "{}: {:?}", figure, grounded.figures);
        }
    }

    /// Any text and any data: no panic, and figures in order, on the boundaries of characters.
    #[test]
    fn any_text_is_read(
        text in "[0-9가-힣제조의항억만원천%~., \n①년월일㎡평₩/-]{0,80}|\\PC{0,60}",
        data in "[0-9가-힣제조의항억만원천%~., \n①년월일㎡평₩/-]{0,80}|\\PC{0,60}",
    ) {
        let sources = Sources::new().user(&data).tool("t", &json!({ data.as_str(): text, "x": data }));
        let mut end = 0;
        for figure in Grounding::new().check(text.as_str(), &Sources::new()).figures {
            prop_assert!(end <= figure.at.start && figure.at.start < figure.at.end);
            prop_assert_eq!(&text[figure.at.clone()], figure.text.as_str());
            prop_assert!(figure.source.is_none());
            end = figure.at.end;
        }
        // What was written by the user is theirs in the same words.
        let grounded = Grounding::new().check(text.as_str(), &sources);
        prop_assert!(grounded.is_supported() || !grounded.figures.is_empty());
        let same = Grounding::new().check(data.as_str(), &Sources::new().user(&data));
        prop_assert!(same.is_supported(), "{:?}", same.unsupported().collect::<Vec<_>>());
    }
}

/// Much of anything is read to its end, and no figure of it is lost.
#[test]
fn a_long_answer_is_read_to_its_end() {
    for piece in sampled([
        "3억 5천만원 ",
        "제7조의2 제1항 ",
        "3억 5천원 ",
        "2026년 2월 30일 ",
        "1~2억 ",
        "5%",
        " ",
        "1",
        "제",
        "법 ",
        "일",
        "3.3㎡당 ",
        "「",
        "민법 제7조 같은 법 제8조 ",
        "0,",
        "3월 ",
        "년",
        "9,999,999원",
        "① ",
        "-",
        "1/",
        "만 ",
    ]) {
        // The first one has the whole megabyte.
        let length = if piece == "3억 5천만원 " { 1 << 20 } else { 1 << 17 };
        let text = piece.repeat(length / piece.len());
        let near = piece.repeat((1 << 16) / piece.len());
        let one = Grounding::new().check(piece.repeat(8), &Sources::new()).figures.len() / 8;
        let sources =
            Sources::new().user(&near).tool("t", &json!([near, {"article": 7, "text": near}]));
        let grounded = Grounding::new().check(text, &sources);
        assert!(grounded.figures.len() + 8 >= one * (length / piece.len()), "{piece}");
        assert!(grounded.marked(Language::Korean).len() >= grounded.answer.trim_end().len());
    }
}

/// Data as deep as a value can be built is read without a stack.
#[test]
fn deep_data_is_read() {
    let mut data = json!({"won": 300_000_000});
    for _ in 0..2_000 {
        data = serde_json::Value::Array(vec![data]);
    }
    let sources = Sources::new().tool("t", &data);
    assert!(Grounding::new().check("3억원", &sources).is_supported());
}
