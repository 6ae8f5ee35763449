//! A contract is read by its articles, however they are written, and every byte has one place.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, in its helpers too"
)]

use std::ops::Range;

use crate::options;
use hanok_documents::{AppendixKind, ArticleNumber, Clause, Contract, contract_passages};
use hanok_retrieval::Document;
use proptest::{collection::vec, prelude::*, test_runner::TestCaseError};

fn clauses(list: &[Clause]) -> String {
    let each = list.iter().map(|clause| match clauses(&clause.items) {
        inner if inner.is_empty() => clause.to_string(),
        inner => format!("{clause}{{{inner}}}"),
    });
    each.collect::<Vec<_>>().join(" ")
}

/// Articles with their clauses, appendices in angle brackets, in the order of the text.
fn shown(text: &str) -> String {
    let contract = Contract::parse(text);
    let mut parts: Vec<(usize, String)> = Vec::new();
    for article in &contract.articles {
        let inner = clauses(&article.clauses);
        let inner = if inner.is_empty() { inner } else { format!(": {inner}") };
        parts.push((article.span.start, article.label() + &inner));
    }
    for appendix in &contract.appendices {
        parts.push((appendix.span.start, format!("<{}>", appendix.label)));
    }
    parts.sort();
    parts.into_iter().map(|(_, part)| part).collect::<Vec<_>>().join("; ")
}

fn check(cases: &[(&str, &str)]) {
    let got: Vec<_> = cases.iter().map(|(text, _)| shown(text)).collect();
    let wrong: Vec<String> = cases
        .iter()
        .zip(got)
        .filter(|((_, want), got)| want != got)
        .map(|((text, want), got)| format!("{text:?}\n  want {want}\n  got  {got}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_number_and_a_title_are_read_as_they_are_written() {
    check(&[
        ("제1조(목적) 이 계약은", "제1조(목적)"),
        ("제1조 (목적)\n이 계약은", "제1조(목적)"),
        ("제1조[목적]\n이 계약은", "제1조(목적)"),
        ("제1조 【목적】\n이 계약은", "제1조(목적)"),
        ("제1조 〔목적〕 이 계약은", "제1조(목적)"),
        ("제1조<목적> 이 계약은", "제1조(목적)"),
        ("제1조「목적」 이 계약은", "제1조(목적)"),
        ("제1조（목적） 이 계약은", "제1조(목적)"),
        ("제 1 조 ( 목 적 ) 이 계약은", "제1조(목 적)"),
        ("제１조(목적) 이 계약은", "제1조(목적)"),
        ("  제1조(목적) 이 계약은", "제1조(목적)"),
        ("　제1조(목적) 이 계약은", "제1조(목적)"),
        ("제1조\u{a0}(목적) 이 계약은", "제1조(목적)"),
        ("제1조(목적)이 계약은 용역을 정한다.", "제1조(목적)"),
        ("제1조(당사자)은행은 갑에게 돈을 준다.", "제1조(당사자)"),
        ("제1조(손해배상(위약금)의 예정) 갑은", "제1조(손해배상(위약금)의 예정)"),
        ("제1조(계약의\n목적) 이 계약은", "제1조(계약의 목적)"),
        ("제1조\n이 계약은 용역을 정한다.", "제1조"),
        ("제1조 이 계약은 용역의 내용을 정한다.", "제1조"),
        ("제1조. 목적\n이 계약은", "제1조(목적)"),
        ("제1조: 목적\n이 계약은", "제1조(목적)"),
        ("제1조 - 목적\n이 계약은", "제1조(목적)"),
        ("제1조 계약의 목적\n이 계약은", "제1조(계약의 목적)"),
        ("제1조 목적 ① 이 계약은", "제1조(목적): ①"),
        ("제1조\n(목적)\n이 계약은", "제1조(목적)"),
        ("제1조\n\n(목적)\n이 계약은", "제1조(목적)"),
        ("제1조\n목적\n① 이 계약은\n② 갑은", "제1조(목적): ① ②"),
        ("제1조\n목적\n\n이 계약은 용역을 정한다.", "제1조(목적)"),
        ("제1조\n목적\n이 계약은 용역을 정한다.", "제1조(목적)"),
        ("제1조\n집을 보여 주는 일\n이 계약은 용역을 정한다.", "제1조(집을 보여 주는 일)"),
        ("제1조\n갑은 을에게 다음 사항을\n제공한다.", "제1조"),
        ("제1조\n갑은 을에게 다음 각 호의 자료와\n장비를 제공한다.", "제1조"),
        ("제1조 【목적\n이 계약은 용역을 정한다.", "제1조"),
        ("**제1조(목적)** 갑\n**제5조(해지)**에 따라 갑은", "제1조(목적)"),
        ("제1조(목적) 갑\n제2조 삭제\n제3조 <삭제>", "제1조(목적); 제2조(삭제); 제3조(삭제)"),
        ("제1조(목적)(2026. 3. 1. 개정) 이 계약은", "제1조(목적)"),
        ("제1조(목적) <개정 2026. 3. 1.>\n이 계약은", "제1조(목적)"),
        ("제1조\n- 3 -\n(목적)\n이 계약은", "제1조(목적)"),
        ("제1조(목적) 갑\n제2조(용역)\n제1조의 목적을 위하여 을은", "제1조(목적); 제2조(용역)"),
        ("제1조()\n이 계약은 용역을 정한다.", "제1조"),
        ("제1조(목적 이 계약은 용역을 정한다.", "제1조"),
        ("제1조(목적) 갑.\n제1조의2(정의) 을.", "제1조(목적); 제1조의2(정의)"),
        ("제1조(목적) 갑\n제1조의 2 (정의) 을", "제1조(목적); 제1조의2(정의)"),
        ("제1조(목적) 갑\n제1조 의 2(정의) 을", "제1조(목적); 제1조의2(정의)"),
        ("제1조 목적\n갑\n제 1 조의２ 정의\n을", "제1조(목적); 제1조의2(정의)"),
        (
            "제7조(가) 갑\n제7조의2(나) 을\n제7조의3(다) 병\n제8조(라) 정",
            "제7조(가); 제7조의2(나); 제7조의3(다); 제8조(라)",
        ),
        ("# 제1조(목적)\n이 계약은", "제1조(목적)"),
        ("### 제1조 목적\n이 계약은", "제1조(목적)"),
        ("## 제1조(목적) ##\n이 계약은", "제1조(목적)"),
        ("**제1조(목적)** 이 계약은", "제1조(목적)"),
        ("**제1조** (목적) 이 계약은", "제1조(목적)"),
        ("**제1조 목적** 이 계약은 용역을 정한다.", "제1조(목적)"),
        ("## **제1조(목적)**\n이 계약은", "제1조(목적)"),
        ("> 제1조(목적) 이 계약은", "제1조(목적)"),
        ("■ 제1조(목적) 이 계약은", "제1조(목적)"),
        ("- 제1조(목적) 이 계약은", "제1조(목적)"),
        (
            "Article 1 (Purpose)\nThis Agreement\nArticle 2. Term\nOne year.",
            "Article 1 (Purpose); Article 2 (Term)",
        ),
        ("ARTICLE 1: PURPOSE\nThis Agreement", "Article 1 (PURPOSE)"),
        ("Section 1 Purpose\n1.1 This.\n1.2 That.", "Article 1 (Purpose): .1 .2"),
    ]);
}

#[test]
fn a_reference_heads_nothing() {
    let before = "제4조(대금) 갑은 을에게 대금을 준다.\n";
    for line in [
        "제6조 위반의 때에는 해지한다.",
        "제9조 위반",
        "제5조에 따라 해지한다.",
        "제5조 에 따라 해지한다.",
        "제5조의 규정에 따른다.",
        "제5조(해지)에 따라 갑은",
        "제5조(해지)의 사유가 있으면",
        "제5조(해지) 및 제6조(해제)를",
        "제5조, 제6조를 적용한다.",
        "제5조·제6조를 적용한다.",
        "제5조 및 제6조",
        "제5조 또는 제6조",
        "제5조 내지 제8조",
        "제5조부터 제8조까지",
        "제5조~제8조",
        "제5조 제2항에 따른",
        "제5조제2항에 따른",
        "제5조 2항에 따른",
        "제5조 각 호의 사유가",
        "제5조 단서에 따라",
        "제5조 본문의 대금",
        "제5조 중 일부를",
        "제5조는 적용하지 않는다.",
        "제5조를 적용한다.",
        "제5조와 같다.",
        "제5조로 본다.",
        "제5조의2에 따라 갑은",
        "제5조의2 제1항에 따라",
        "제5조의 2개 항목을 적용한다.",
        "제5조\n에 따라 해지한다.",
        "제5조(해지)\n의 사유가 있으면 갑은",
        "(제5조 참조)",
        "“제5조(해지)”를 지운다.",
        "「민법」 제5조에 따라",
        "| 제5조(해지) | 30일 |",
        "제5조(해지) ........ 12",
        "제5조 해지 ………… 3",
        "제5항을 따른다.",
        "제5호에 해당하는",
        "제5조각은 버린다.",
        "제안서를 낸다.",
        "5조 원을 넘는다.",
        "제12345조(해지) 갑은",
        "Article 5 of this Agreement shall survive.",
        "Article 5 shall apply.",
        "the Article 5 (Term)",
    ] {
        assert_eq!(shown(&format!("{before}{line}\n")), "제4조(대금)", "{line:?}");
    }
}

#[test]
fn a_line_that_a_page_broke_is_told_from_a_heading() {
    check(&[
        // The number does not follow, and the line before goes on.
        (
            "제1조(목적) 이 계약의 비밀에 관한 사항 중에서 갑과 을은 이 계약의\n제7조(비밀) 위반 사실을 알린다.\n제2조(정의) 갑",
            "제1조(목적); 제2조(정의)",
        ),
        // The page's number between changes nothing.
        (
            "제1조(목적) 이 계약의 비밀에 관한 사항 중에서 갑과 을은 이 계약의\n\n- 1 -\n\n제7조(비밀) 위반 사실을 알린다.\n제2조(정의) 갑",
            "제1조(목적); 제2조(정의)",
        ),
        (
            "제1조(목적) 갑\n- 1 -\n제2조(정의) 을\nPage 2 of 3\n제3조(대금) 병",
            "제1조(목적); 제2조(정의); 제3조(대금)",
        ),
        // The number follows: a heading, whatever is before it.
        (
            "제1조(목적) 다음 사항을 정한다.\n1. 그 밖에 갑과 을이 협의하여 정하기로 한 사항\n제2조(정의) 갑",
            "제1조(목적): 1.; 제2조(정의)",
        ),
        (
            "제1조(목적) 다음 사항을 정한다.\n1. 그 밖에 갑과 을이 협의하여 정하기로 한 사항\n제2조 용어의 정의\n갑",
            "제1조(목적): 1.; 제2조(용어의 정의)",
        ),
        // Clauses are not begun by the rest of a broken word or date.
        (
            "제1조(기간) ① 계약은 2026.\n3. 1.부터 시작하고 연장할 수 있\n다. 다만 갑은 이를 거절할 수 있다.\n② 을은",
            "제1조(기간): ① ②",
        ),
        ("제1조(대금) 대금은 모두 합하여\n1.5억 원이다.", "제1조(대금)"),
    ]);
}

#[test]
fn clauses_and_items_stand_in_each_other() {
    check(&[
        ("제1조(가) ① 갑\n② 을\n③ 병", "제1조(가): ① ② ③"),
        ("제1조(가) ① 갑은 한다. ② 을은 한다. ③ 끝.", "제1조(가): ① ② ③"),
        ("제1조(가) ① 갑은 제2항의 ②와 같다.\n② 을", "제1조(가): ① ②"),
        ("제1조(가)\n1. 갑\n2. 을\n3. 병", "제1조(가): 1. 2. 3."),
        ("제1조(가)\n(1) 갑\n(2) 을", "제1조(가): (1) (2)"),
        ("제1조(가)\n⑴ 갑\n⑵ 을", "제1조(가): (1) (2)"),
        ("제1조(가)\n1) 갑\n2) 을", "제1조(가): 1) 2)"),
        ("제1조(가)\n제1항 갑은 을에게 준다.\n제2항 을은 받는다.", "제1조(가): 제1항 제2항"),
        ("제1조(가)\n제1항에 따라 갑은\n제2항은 적용하지 않는다.", "제1조(가)"),
        ("제1조(가)\n가. 갑\n나. 을\n다. 병", "제1조(가): 가. 나. 다."),
        ("제1조(가)\n가) 갑\n나) 을", "제1조(가): 가) 나)"),
        ("제1조(가)\n(가) 갑\n(나) 을", "제1조(가): (가) (나)"),
        ("제1조(가) ① 갑\n1. 하나\n가. 둘\n나. 셋\n2. 넷\n② 을", "제1조(가): ①{1.{가. 나.} 2.} ②"),
        ("제1조(가) ① 갑\n 1. 하나\n  1) 둘\n  2) 셋\n 2. 넷", "제1조(가): ①{1.{1) 2)} 2.}"),
        ("제1조(가)\n1. 갑\n① 하나\n② 둘\n2. 을", "제1조(가): 1.{① ②} 2."),
        ("제1조(가) ① 1. 하나\n2. 둘\n② 셋", "제1조(가): ①{1. 2.} ②"),
        ("제1조(가)\n- ① 갑\n- ② 을", "제1조(가): ① ②"),
        ("제1조(가)\n**①** 갑\n**②** 을", "제1조(가): ① ②"),
        ("제1조(가) ① 갑\n1. 하나\n2. 둘\n② 을\n1. 셋\n2. 넷", "제1조(가): ①{1. 2.} ②{1. 2.}"),
        ("제1조(가)\n① 갑\n1. 나\n가. 다\n1) 라\n(1) 마\n(가) 바\n", "제1조(가): ①{1.{가.{1)}}}"),
        ("제1조(가)\n3. 갑은 한다.", "제1조(가)"),
        ("제1조(가)\n| ① | 갑 |\n| ② | 을 |", "제1조(가)"),
        ("제1조(가)\n⑳ 갑\n㉑ 을", "제1조(가): ⑳ ㉑"),
        ("제1조(가) 갑은\n나. 을\n마. 병", "제1조(가)"),
        ("Article 1 (Term)\n(a) One.\n(b) Two.", "Article 1 (Term): (a) (b)"),
    ]);
}

#[test]
fn appendices_end_the_articles_and_keep_their_own() {
    check(&[
        ("제1조(가) 을.\n\n[별표 1] 대금의 지급\n| a | b |", "제1조(가); <[별표 1] 대금의 지급>"),
        ("제1조(가) 을.\n\n별표 1. 대금\n표", "제1조(가); <별표 1. 대금>"),
        ("제1조(가) 을.\n\n<별지 제1호 서식>\n성명", "제1조(가); <<별지 제1호 서식>>"),
        ("제1조(가) 을.\n\n## 첨부 1: 산출내역\n표", "제1조(가); <첨부 1: 산출내역>"),
        (
            "제1조(가) 을.\n부 칙\n제1조(시행일) 오늘부터 한다.\n제2조(경과) 없다.",
            "제1조(가); <부 칙>",
        ),
        ("제1조(가) 을.\n부칙 <2026. 3. 1.>\n① 오늘부터 한다.", "제1조(가); <부칙 <2026. 3. 1.>>"),
        ("제1조(가) 을.\n\n[별표]\n표\n\n제2조(다) 정.", "제1조(가); <[별표]>; 제2조(다)"),
        (
            "제1조(가) 을.\n\n[별지 2] 위탁\n제1조(목적) 무.\n제2조(다) 정.",
            "제1조(가); <[별지 2] 위탁>",
        ),
        ("제1조(가) 을.\n\n별표 1에 따라 준다.", "제1조(가)"),
        ("제1조(가) 을.\n\n별지 제1호 서식에 따른다.", "제1조(가)"),
        ("제1조(가) 을.\n\n첨부서류를 낸다.", "제1조(가)"),
        ("제1조(가) 을.\n\n[별표 1]의 금액을 준다.", "제1조(가)"),
        ("붙임: 조건 1부\n\n제1조(가) 을.", "제1조(가)"),
        ("제1조(가) 을.\n\n[특약사항]\n1. 반려동물", "제1조(가); <[특약사항]>"),
        (
            "제1조(가) 을.\n\n이 계약의 성립을 증명하기 위하여 2부를 쓴다.\n2026년 3월 1일\n\n[별표 1]\n표",
            "제1조(가); <>; <[별표 1]>",
        ),
        (
            "Article 1 (Term)\nOne year.\n\nExhibit A: Fees\n10 won",
            "Article 1 (Term); <Exhibit A: Fees>",
        ),
        (
            "제1조(가) 을.\n[특약사항]\n1. 없다.\n이 계약을 증명하기 위하여 서명한다.\n\n[별지] 목록\n1. 열쇠",
            "제1조(가); <[특약사항]>; <>; <[별지] 목록>",
        ),
        ("제1조(가) 을.\n\nSchedule of the works is free.", "제1조(가)"),
    ]);
}

#[test]
fn a_table_of_contents_has_no_articles() {
    check(&[
        (
            "목차\n제1조 목적\n제2조 정의\n제3조 대금\n부칙\n\n제1조(목적) 갑\n제2조(정의) 을\n제3조(대금) 병\n부칙\n오늘",
            "제1조(목적); 제2조(정의); 제3조(대금); <부칙>",
        ),
        ("목차\n제1조(목적) ..... 1\n제2조(정의) ..... 2\n\n제1조(목적) 갑", "제1조(목적)"),
        (
            "제1장 총칙\n제1조 목적\n제2조 정의\n제3조 대금\n제1장 총칙\n제1조(목적) 갑\n제2조(정의) 을",
            "제1조(목적); 제2조(정의)",
        ),
    ]);
}

#[test]
fn chapters_are_known_and_belong_to_their_first_article() {
    let text = "계약서\n제1장 총칙\n\n제1조(가) 을.\n## 제 2 장 대금\n제1절 지급\n제2조(다) 정.\n제2절 정산\n제3조(마) 기.\n제3장의 규정은 같다.\n";
    let contract = Contract::parse(text);
    let chapters: Vec<_> =
        contract.articles.iter().map(|a| a.chapter.as_deref().unwrap()).collect();
    assert_eq!(chapters, ["제1장 총칙", "제 2 장 대금 > 제1절 지급", "제 2 장 대금 > 제2절 정산"]);
    let starts: Vec<_> =
        contract.articles.iter().map(|a| contract.text(&a.span).lines().next().unwrap()).collect();
    assert_eq!(starts, ["제1장 총칙", "## 제 2 장 대금", "제2절 정산"]);
    assert_eq!(contract.text(&contract.articles[1].heading), "제2조(다)");
    assert_eq!(contract.text(&contract.articles[2].body), "기.\n제3장의 규정은 같다.");
}

#[test]
fn slips_in_the_numbers_are_kept_and_noted() {
    for (text, want) in [
        ("제1조(가) 을\n제2조(다) 정\n제2조의2(마) 기\n제3조(사) 신", vec![]),
        ("제1조(가) 을\n제3조(다) 정", vec!["제3조 follows 제1조"]),
        ("제2조(가) 을\n제3조(다) 정", vec!["the first article is 제2조"]),
        ("제1조(가) 을\n제2조(다) 정\n제2조(마) 기", vec!["제2조 stands more than once"]),
        (
            "제1조(가) 을\n제3조(다) 정\n제2조(마) 기",
            vec!["제3조 follows 제1조", "제2조 stands behind 제3조"],
        ),
        (
            "제1조(가) ① 나\n③ 다\n③ 라",
            vec!["in 제1조, number 3 follows number 1", "in 제1조, number 3 stands twice"],
        ),
        (
            "제1조 목적\n갑은 한다.\n제3조 대금\n을은 한다.\n제4조 해지\n병은 한다.",
            vec!["제3조 follows 제1조"],
        ),
        ("제1조 갑은 한다.\n\n제3조 을은 한다.\n\n제4조 병은 한다.", vec!["제3조 follows 제1조"]),
        ("제1조(가)\n1. 나\n3. 다", vec!["in 제1조, number 3 follows number 1"]),
        ("제1조(가) ② 나", vec!["in 제1조, number 2 follows number 0"]),
    ] {
        let slips: Vec<_> = Contract::parse(text).notes.iter().map(ToString::to_string).collect();
        assert_eq!(slips, want, "{text:?}");
    }
}

#[test]
fn an_article_is_found_by_its_number_or_the_nearest_are_named() {
    let text = "제1조(가) 1\n제2조(나) 2\n제2조의2(다) 3\n제3조(라) 4\n제3조(마) 5\n제4조(바) 6";
    let contract = Contract::parse(text);
    let label = |number: ArticleNumber| {
        contract.article(number.number, number.sub).map(|article| article.label())
    };
    assert_eq!(label(ArticleNumber::inserted(2, 2)).unwrap(), "제2조의2(다)");
    assert_eq!(label(ArticleNumber::new(3)).unwrap(), "제3조(라)");
    let twice: Vec<_> = contract.numbered(ArticleNumber::new(3)).map(|a| a.label()).collect();
    assert_eq!(twice, ["제3조(라)", "제3조(마)"]);

    for (asked, want) in [
        (ArticleNumber::new(50), "no article 제50조; the nearest are 제4조, 제3조, 제2조"),
        (
            ArticleNumber::inserted(2, 3),
            "no article 제2조의3; the nearest are 제2조의2, 제2조, 제1조",
        ),
    ] {
        assert_eq!(label(asked).unwrap_err().to_string(), want);
    }
    let none = Contract::parse("인사말").article(1, None).unwrap_err();
    assert_eq!(none.to_string(), "no article 제1조; there are none");
}

#[test]
fn an_article_is_found_by_its_title_best_first() {
    let contract = Contract::parse(
        "제1조(계약의 해지와 그 효과) 갑\n제2조(계약 해지) 을\n제3조(해지) 병\n제4조(검수) 정\n제5조\n마.",
    );
    for (asked, want) in [
        ("해지", vec!["제3조(해지)", "제2조(계약 해지)", "제1조(계약의 해지와 그 효과)"]),
        ("계약해지", vec!["제2조(계약 해지)", "제1조(계약의 해지와 그 효과)", "제3조(해지)"]),
        // With and without the particles between its words.
        ("계약의 해지", vec!["제2조(계약 해지)", "제1조(계약의 해지와 그 효과)", "제3조(해지)"]),
        ("계약 해지 조항", vec!["제2조(계약 해지)", "제3조(해지)"]),
        ("검 수", vec!["제4조(검수)"]),
        ("대금", vec![]),
        ("", vec![]),
        ("()", vec![]),
    ] {
        let found: Vec<_> =
            contract.by_title(asked).into_iter().map(|found| found.article.label()).collect();
        assert_eq!(found, want, "{asked:?}");
    }
}

fn piece() -> impl Strategy<Value = String> {
    let pieces = [
        "제1조(목적) ",
        "제2조(정의)\n",
        "제3조 해지\n",
        "제5조\n",
        "(해지)\n",
        "제5조의2(위약금)\n",
        "## 제6조(검수)\n",
        "제1장 총칙\n",
        "제5조에 따라 ",
        "① 갑은 ",
        "② 을은 한다. ",
        "③",
        "1. ",
        "\n2) ",
        "\n가. ",
        "\n나. ",
        "(가) ",
        "제1항 갑은 ",
        "\n",
        "\n\n",
        "[별표 1] 대금\n",
        "부칙\n",
        "별지 제1호 서식\n",
        "| a | b |\n",
        "- 3 -\n",
        "이 계약의 성립을 증명하기 위하여\n",
        "Article 2 (Term)\n",
        "갑은 을에게 용역의 대금을 다음과 같이 지급하여야 한다",
        "주식회사 가나의 계약서\n",
    ];
    prop_oneof![
        8 => prop::sample::select(pieces.to_vec()).prop_map(str::to_owned),
        1 => "[ \t\n제조항의0-9０-９①-⑳가-힣().\\[\\]*#|🙂]{0,30}",
    ]
}

/// Every byte is of the preamble or of exactly one article or appendix, and what is in an article stands in order in it.
fn tiles(text: &str) -> Result<(), TestCaseError> {
    let contract = Contract::parse(text);
    let spans = contract.articles.iter().map(|article| article.span.clone());
    let spans = spans.chain(contract.appendices.iter().map(|appendix| appendix.span.clone()));
    let mut spans: Vec<Range<usize>> = spans.collect();
    spans.sort_by_key(|span| span.start);
    let mut at = contract.preamble.end;
    prop_assert_eq!(contract.preamble.start, 0);
    for span in &spans {
        prop_assert_eq!(span.start, at);
        prop_assert!(span.end > span.start && text.get(span.clone()).is_some());
        at = span.end;
    }
    prop_assert_eq!(at, text.len());
    for article in &contract.articles {
        prop_assert!(article.span.start <= article.heading.start);
        prop_assert!(article.heading.end <= article.body.start);
        prop_assert!(article.body.end <= article.span.end);
        prop_assert!(text.get(article.heading.clone()).is_some());
        prop_assert!(text.get(article.body.clone()).is_some());
        nested(text, &article.clauses, &article.body, 1)?;
    }
    Ok(())
}

/// Clauses follow each other without a gap to the end of what they stand in.
fn nested(
    text: &str,
    list: &[Clause],
    outer: &Range<usize>,
    depth: usize,
) -> Result<(), TestCaseError> {
    prop_assert!(depth <= 5);
    for (at, clause) in list.iter().enumerate() {
        let end = list.get(at + 1).map_or(outer.end, |next| next.span.start);
        prop_assert!(clause.span.start >= outer.start && clause.span.end == end);
        prop_assert!(text.get(clause.span.clone()).is_some_and(|text| !text.is_empty()));
        nested(text, &clause.items, &clause.span, depth + 1)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn the_parts_tile_whatever_text(pieces in vec(piece(), 0..40)) {
        tiles(&pieces.concat())?;
    }

    #[test]
    fn the_parts_tile_any_string(text in ".*|[\\s\\S]*") {
        tiles(&text)?;
    }

    #[test]
    fn passages_cover_the_contract(pieces in vec(piece(), 0..40), long in 0_usize..60) {
        let text = pieces.concat() + &"갑은 을에게 대금을 준다. ".repeat(long);
        let document = Document::new("a.md", text).with("team", "법무");
        let contract = Contract::parse(document.text.as_str());
        let passages = contract_passages(&document, &contract);
        let mut covered = vec![false; document.text.len()];
        for (at, passage) in passages.iter().enumerate() {
            prop_assert_eq!(passage.ordinal, at);
            prop_assert_eq!(&passage.text, &document.text[passage.bytes.clone()]);
            prop_assert_eq!(passage.chars.start, document.text[..passage.bytes.start].chars().count());
            prop_assert!(passage.text.chars().count() <= 800);
            prop_assert_eq!(passage.metadata["team"].as_str(), "법무");
            covered[passage.bytes.clone()].fill(true);
        }
        for (at, c) in document.text.char_indices() {
            prop_assert!(c.is_whitespace() || covered[at], "lost {:?} at {}", c, at);
        }
        let mut ids: Vec<_> = passages.iter().map(|passage| passage.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), passages.len());
    }
}

/// A long article is cut where its clauses begin, and each piece says of which article it is.
#[test]
fn a_long_article_is_cut_by_its_clauses() {
    let clause = |mark: &str| format!("{mark} {}\n", "갑은 을에게 용역의 대금을 준다. ".repeat(30));
    let text = format!(
        "용역계약서\n\n제1장 총칙\n제7조의2(대금)\n{}{}{}\n[별표 1] 대금\n표\n",
        clause("①"),
        clause("②"),
        clause("③")
    );
    let document = Document::new("용역.md", text);
    let passages = contract_passages(&document, &Contract::parse(document.text.as_str()));
    let shown: Vec<_> = passages
        .iter()
        .map(|passage| {
            let of = |key: &str| passage.metadata.get(key).map(String::as_str).unwrap_or_default();
            let begin: String = passage.text.chars().take(5).collect();
            (passage.heading.as_str(), of("kind"), of("article"), of("chapter"), begin)
        })
        .collect();
    let article =
        |begin: &str| ("제7조의2(대금)", "article", "7의2", "제1장 총칙", begin.to_owned());
    assert_eq!(
        shown,
        [
            ("", "preamble", "", "", "용역계약서".to_owned()),
            article("제1장 총"),
            article("② 갑은 "),
            article("③ 갑은 "),
            ("[별표 1] 대금", "appendix", "", "", "[별표 1".to_owned()),
        ]
    );
}

#[test]
fn ids_of_passages_outlive_changes_elsewhere() {
    let ids = |text: &str| {
        let document = Document::new("a.md", text);
        let passages = contract_passages(&document, &Contract::parse(document.text.as_str()));
        passages.into_iter().map(|passage| passage.id).collect::<Vec<_>>()
    };
    let before = ids("제1조(목적) 하나이다.\n제2조(정의) 둘이다.\n");
    let after = ids("머리말\n제1조(목적) 하나와 반이다.\n제2조(정의) 둘이다.\n");
    assert_eq!((before.len(), after.len()), (2, 3));
    assert_eq!(before[1], after[2]);
    assert_ne!(before[0], after[1]);
}

/// A guideline of articles and chapters, as a PDF of the sample documents has it.
#[test]
fn articles_are_read_out_of_a_pdf() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/정보보안지침.pdf");
    let text = hanok_documents::open(path, &options()).unwrap().text;
    let contract = Contract::parse(text);
    let numbers: Vec<_> = contract.articles.iter().map(|article| article.number).collect();
    assert_eq!(numbers, (1..=20).map(ArticleNumber::new).collect::<Vec<_>>());
    assert!(contract.articles.iter().all(|it| it.title.is_some() && it.chapter.is_some()));
    assert_eq!(contract.notes, []);
}

#[test]
fn what_the_page_adds_can_be_left_out() {
    let text = "제1조(가) ① 갑은 을에게\n- 1 -\n대금을 준다.\n\n[특약사항]\n1. 없다.\n";
    let contract = Contract::parse(text);
    let body = &contract.articles[0].body;
    assert_eq!(contract.without_pages(body), "① 갑은 을에게\n대금을 준다.");
    assert_eq!(contract.text(body), "① 갑은 을에게\n- 1 -\n대금을 준다.");
    assert_eq!(contract.appendices[0].kind, AppendixKind::Special);
}
