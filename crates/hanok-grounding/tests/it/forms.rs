//! Which forms of a figure are one, and which are not.

use hanok_agent::Language;
use hanok_grounding::{
    DataUnit, Grounding, GroundingError, Source, Sources, Unsupported, UnsupportedFigures,
};
use serde_json::{Value, json};

/// The figures of `answer` that `data` does not support.
fn unsupported(answer: &str, data: &Value) -> Vec<String> {
    let grounded = Grounding::new().check(answer, &Sources::new().tool("t", data));
    grounded.unsupported().map(|it| it.text.clone()).collect()
}

/// Each answer has at least one figure, and it is supported, or not, as the last column says.
#[test]
fn a_figure_is_supported_by_its_value_in_a_unit_that_fits() {
    for (data, answer, is_supported) in [
        // Units by keys.
        (json!({"rent_won": 5000}), "5,000원", true),
        (json!({"rent": 5000}), "5,000원", false),
        (json!({"rent": 50000}), "5만원", true),
        (json!({"limit": 5}), "5%", false),
        (json!({"limit_percent": 5}), "5퍼센트", true),
        (json!({"limitPercent": 5}), "5％", true),
        (json!({"limit_rate": 0.05}), "5%", true),
        (json!({"limit_rate": 0.05}), "0.05%", false),
        (json!({"limit_fraction": 2.5}), "250%", true),
        (json!({"limit_fraction": 2.5}), "2.5배", true),
        (json!({"months": 24_000}), "24,000원", false),
        (json!({"months": 24_000}), "24,000개월", true),
        (json!({"id": 350_000_000}), "3.5억원", false),
        (json!({"rent_won_per_month": 700_000}), "70만원", true),
        (json!({"price_manwon": "82,500"}), "8억 2,500만원", true),
        (json!({"value": 82_500, "unit": "만원"}), "8.25억", true),
        (json!({"price": 82_500, "price_unit": "만원"}), "8억2,500만원", true),
        (json!({"price": 82_500, "unit": "USD"}), "82,500원", false),
        (json!({"면적": [84.97, 59.4]}), "59.4㎡", true),
        (json!({"전세가율": 66.7}), "66.7%", true),
        (json!({"percent": {"min": 3.5}}), "3.5%", true),
        (json!({"change_percent": -3.2}), "3.2%", true),
        (json!({"change_percent": 3.2}), "(-3.2%)", false),
        (json!({"change_percent": 0.25}), "0.25%p", true),
        (json!({"low_percent": 3, "high_percent": 5}), "3~5%", true),
        (json!({"high_percent": 5}), "3~5%", false),
        (json!({"high_percent": 5}), "3 내지 5%", false),
        (json!({"won": [300_000_000, 400_000_000]}), "3~4억", true),
        (json!({"won": [30_000_000, 40_000_000]}), "3 ~ 4천만 원", true),
        (json!({"won": [400_000_000]}), "3~4억", false),
        (json!({"won": [3, 400_000_000]}), "3-4억원", false),
        (json!("차임의 20분의 1을 넘지 못한다"), "5%", true),
        (json!({"percent": 5}), "100분의 5", true),
        (json!({"percent": 5}), "2025 - 5%", true),
        (json!({"percent": 5}), "2-5%", false),
        (json!({"percent": 5}), "100분의 7", false),
        (json!({"percent": 5}), "5 percent", true),
        // Roundings.
        (json!({"ratio_percent": 233.333_333}), "233.3%", true),
        (json!({"ratio_percent": 233.333_333}), "233.4%", false),
        (json!({"ratio_percent": 233.35}), "233.3%", false),
        (json!({"ratio_percent": 233.35}), "233.4%", true),
        (json!({"won": 329_999_999}), "3.3억", true),
        (json!({"won": 334_999_999}), "3.30억", false),
        (json!({"won": 329_999_999}), "3억 3,000만원", false),
        (json!({"won": 329_999_999}), "약 3억 3,000만원", true),
        (json!({"won": 329_999_999}), "3억 3,000만원 정도", true),
        (json!({"won": 329_999_999}), "약 3억원", false),
        (json!({"won": 0.1 + 0.2}), "0.3원", true),
        (json!({"rate": 1.0 / 3.0}), "33.3%", true),
        (json!({"won": 1.2e9}), "12억원", true),
        // Areas.
        (json!({"m2": 84.97}), "25.7평", true),
        (json!({"m2": 84.97}), "26평", true),
        (json!({"m2": 84.97}), "25평", false),
        (json!({"평": 25}), "82.64㎡", true),
        (json!({"평": 25}), "82.7㎡", false),
        // Days.
        (json!("2026-03-02"), "2026년 3월 2일", true),
        (json!("2026-03-02"), "2026년 3월", true),
        (json!("2026-03-02"), "3월 2일", true),
        (json!("2026-03-02"), "03월 02일", true),
        (json!("2026-03-02"), "26.03.02", true),
        (json!("2026-03-02"), "26.03.03.", false),
        (json!("26.03.02"), "2026년 3월 2일", true),
        (json!("2026-03-02T09:00:00Z"), "2026. 3. 2.", true),
        (json!("2026-03"), "2026년 3월 2일", false),
        (json!("2026-03"), "2026년 3월", true),
        (json!({"deal_ymd": 20_260_302}), "2026/03/02", true),
        (json!({"dealYear": 2026, "dealMonth": "3", "dealDay": 2}), "2026-3-2", true),
        (json!("2026-03-02"), "2026년 3월 3일", false),
        (json!("2026-03-02"), "2026년 2월 30일", false),
        (json!("2026-03-02"), "2026-13-02", false),
        (json!("2026-03-02"), "13월 2일", false),
        // Articles.
        (json!("제7조"), "제7조", true),
        (json!("제7조"), "제7조의2", false),
        (json!("제7조의2"), "제7조", false),
        (json!("제7조"), "제7조의0", false),
        (json!({"law": "민법", "article": 618}), "민법 제618조", true),
        (json!({"law": "민법", "article": 618}), "상법 제618조", false),
        (json!({"law": "민법", "article": "7의2"}), "제7조의2", true),
        (json!({"law": "민법", "article": 7, "branch": 2}), "제7조의2", true),
        (json!({"law": "민법", "articles": [{"article": "제7조"}]}), "상법 제7조", false),
        (json!({"article": 7, "text": "① 가 ② 나"}), "제7조제2항", true),
        (json!({"article": 7, "text": "① 가 ② 나"}), "제7조 제3항", false),
        (json!("제7조 ① 가\n1. 나\n2. 다"), "제7조제1항제2호", true),
        (json!("제7조 ① 가\n1. 나\n2. 다"), "제7조제1항제3호", false),
        (json!("상가건물 임대차보호법 제10조"), "「상가건물 임대차보호법」 제10조", true),
        (json!("상가건물 임대차보호법 제10조"), "주택임대차보호법 제10조", false),
        (json!("주택임대차보호법 제10조"), "상가건물 임대차보호법 제10조", false),
        (json!("주택임대차보호법 시행령 제8조"), "주택임대차보호법 제8조", false),
        (json!("주택임대차보호법 시행령 제8조"), "주택임대차보호법 시행령 제8조", true),
        // Of no certain value.
        (json!("3억 5천원"), "3억 5천원", true),
        (json!({"won": 350_000_000}), "3억 5천원", false),
        (json!({"won": 350_000_000}), "삼억 오천원", false),
        (json!({"won": 5_000_000_000_000_i64}), "5조", false),
        (json!({"won": 100_000_000}), "1~2억", false),
        (json!({"won": 5}), "제5조항", false),
        (json!({"won": 5}), "₩0,500", false),
        // Plain numbers.
        (json!({"households": 12_000}), "12,000세대", true),
        (json!({"households": 12_000}), "13,000세대", false),
        (json!({}), "경쟁률은 2.5대 1", false),
    ] {
        let marked = unsupported(answer, &data);
        assert_eq!(marked.is_empty(), is_supported, "{data} / {answer}: {marked:?}");
        let figures = Grounding::new().check(answer, &Sources::new()).figures;
        assert!(!figures.is_empty(), "{answer} has no figure");
    }
}

#[test]
fn what_counts_things_years_and_lines_is_no_figure() {
    let text = "1. 방 3개, 2년 계약 (1990년 준공)\n1.2 문의: 010-1234-5678, 12:30, 101동 1203호\n3.3㎡당, 천원 단위, \
                만약 천만에 A4 2부 v1.2.3, 이 원룸은 3 원룸 중";
    let grounded = Grounding::new().check(text, &Sources::new());
    assert!(grounded.figures.is_empty(), "{:?}", grounded.figures);
}

/// `같은 법` is the law that was named last, and its decree is another text.
#[test]
fn a_reference_to_a_law_is_the_last_one() {
    let data = json!(["주택임대차보호법 제7조", "주택임대차보호법 시행령 제8조", "상법 제9조"]);
    let answer = "주택임대차보호법 제7조와 같은 법 시행령 제8조에 따릅니다.";
    assert_eq!(unsupported(answer, &data), [""; 0]);
    assert_eq!(unsupported("주택임대차보호법 제7조와 같은 법 제8조", &data), ["제8조"]);
    assert_eq!(unsupported("주택임대차보호법 제7조와 동법 제9조", &data), ["제9조"]);
}

/// A source says which tool and where in its data.
#[test]
fn a_supported_figure_has_its_source() {
    let sources = Sources::new()
        .user("보증금 2억원")
        .tool("prices", &json!({"a/b": [{"won": 300_000_000}]}))
        .unit("score", DataUnit::Percent)
        .tool("scores", &json!({"score": 7}));
    let grounded = Grounding::new().check("2억원, 3억원, 7%, 9%", &sources);
    let tool = |name: &str, path: &str| Some(Source::Tool { name: name.into(), path: path.into() });
    let found: Vec<_> = grounded.figures.iter().map(|it| it.source.clone()).collect();
    let want = [Some(Source::User), tool("prices", "/a~1b/0/won"), tool("scores", "/score"), None];
    assert_eq!(found, want);
    assert_eq!(&grounded.answer[grounded.figures[1].at.clone()], "3억원");
    assert_eq!(
        grounded.marked(Language::English).lines().last(),
        Some("Figures that no source confirms: 9%")
    );
    let read = serde_json::to_value(&grounded).unwrap();
    assert_eq!(serde_json::from_value::<hanok_grounding::Grounded>(read).unwrap(), grounded);
}

#[tokio::test]
async fn the_policy_marks_asks_again_or_refuses() {
    let sources = Sources::new().user("3억원");
    let again = |answer: &'static str| {
        async move |note: String| {
            assert!(note.contains("4억원"), "{note}");
            Ok::<_, std::io::Error>((answer.to_owned(), None))
        }
    };
    let mut settled = Vec::new();
    for (policy, second) in [
        (Unsupported::Mark, "?"),
        (Unsupported::AskAgain, "3억원"),
        (Unsupported::AskAgain, "5억원"),
        (Unsupported::Refuse, "?"),
    ] {
        let grounding = Grounding::new().unsupported(policy).language(Language::Korean);
        settled.push(match grounding.settle("4억원, 4억원", &sources, again(second)).await {
            Err(GroundingError::Refused(UnsupportedFigures(grounded))) => {
                format!("refused {}", grounded.figures.len())
            }
            other => other.unwrap(),
        });
    }
    let mark = "※ 확인되지 않은 수치";
    let want = [
        format!("4억원, 4억원\n\n{mark}: 4억원"),
        "3억원".to_owned(),
        format!("5억원\n\n{mark}: 5억원"),
        "refused 2".to_owned(),
    ];
    assert_eq!(settled, want);
    let grounding = Grounding::new().unsupported(Unsupported::AskAgain);
    let fails = async |_| Err::<(String, Option<Sources>), _>(std::io::Error::other("down"));
    let error = grounding.settle("4억원", &sources, fails).await.unwrap_err();
    assert!(matches!(error, GroundingError::Model(_)), "{error}");
}
