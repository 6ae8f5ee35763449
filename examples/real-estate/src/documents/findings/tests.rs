use super::*;

/// What is found in a contract of one article, without what is missing in it.
fn finding_ids(title: &str, sentence: &str) -> Vec<String> {
    let (rules, limits) = (ContractRules::shipped().unwrap(), Limits::shipped().unwrap());
    let contract = Contract::parse(format!("제1조({title}) {sentence}\n"));
    let findings = examine(&contract, Facts::default(), &rules, &limits).unwrap();
    let said = findings.into_iter().filter(|finding| finding.kind != FindingKind::Missing);
    said.map(|finding| finding.id).collect()
}

#[test]
fn what_the_law_replaces_is_found() {
    for (sentence, id) in [
        ("임차인은 계약 갱신 요구권을 행사하지 않기로 한다.", "renewal_waived"),
        ("임차인은 갱신을 요구할 수 없다.", "renewal_waived"),
        ("임대인은 차임을 언제든지 인상할 수 있다.", "increase_at_will"),
        ("보증금은 1년마다 20퍼센트 인상한다.", "increase_above_cap"),
        ("차임은 매년 10%씩 올린다.", "increase_above_cap"),
        ("보일러 고장을 포함한 일체의 수리비는 임차인이 부담한다.", "repairs_on_tenant"),
        ("월세를 한 번이라도 늦으면 즉시 나가야 한다.", "rent_late_once"),
        ("차임을 1기 연체하면 임대인은 해지할 수 있다.", "rent_late_once"),
        ("임차인은 전입신고를 할 수 없다.", "no_registration"),
        ("임차인은 확정일자를 받지 않고 전입신고를 하지 아니한다.", "no_registration"),
        ("임차인은 부속물의 매수를 청구하지 아니한다.", "fixtures_waived"),
        ("집이 매매되면 임차인은 즉시 집을 비워 준다.", "sale_ends_lease"),
        ("보증금은 다음 임차인이 구해지면 돌려준다.", "deposit_after_next_tenant"),
        ("임차인이 기간 중에 나가면 보증금은 몰수한다.", "deposit_forfeited"),
        ("임대인은 언제든지 집에 들어갈 수 있다.", "entry_at_will"),
        ("중개보수는 임차인이 전부 낸다.", "broker_fee_on_tenant"),
    ] {
        assert_eq!(finding_ids("약정", sentence), [id], "{sentence}");
    }
}

#[test]
fn what_is_usual_is_not_found() {
    for sentence in [
        "임차인은 끝나기 6개월 전부터 2개월 전까지 갱신을 요구할 수 있고 임대인은 거절하지 못한다.",
        "임대인은 차임을 일방적으로 인상할 수 없다.",
        "증액은 5퍼센트를 넘지 못한다.",
        "소모품의 수리비는 임차인이 모두 부담한다.",
        "임차인의 과실로 인한 고장의 수리비는 임차인이 전부 부담한다.",
        "모든 수선은 임대인이 부담한다.",
        "차임을 2회 연체하면 해지할 수 있다.",
        "임차인은 전입신고를 하고 확정일자를 받는다.",
        "임대인은 임차인이 전입신고를 한 다음 날까지 근저당을 설정하지 아니한다.",
        "집이 팔려도 새 소유자가 임대인의 지위를 승계하므로 임차인은 나가지 아니한다.",
        "새 임차인이 구해지는 것과 관계없이 끝나는 날 보증금을 반환한다.",
        "임대인은 임차인의 동의 없이 집에 들어갈 수 없다.",
        "임차인은 보증금을 돌려받을 때까지 집을 비울 의무가 없다.",
        "연체한 차임에는 연 12%의 이자를 더한다.",
    ] {
        assert_eq!(finding_ids("약정", sentence), <[&str; 0]>::default(), "{sentence}");
    }
}

#[test]
fn a_short_term_is_found_however_it_is_written() {
    for (sentence, is_short) in [
        ("1년으로 한다.", true),
        ("2년으로 한다.", false),
        ("계약일부터 12개월로 한다.", true),
        ("24개월로 한다.", false),
        ("2026년 3월 1일부터 2028년 2월 29일까지로 한다.", false),
        ("2026년 3월 1일부터 2028년 2월 28일까지로 한다.", true),
        ("2026. 3. 1. ~ 2027. 2. 28.", true),
        ("서로 정한 때까지로 한다.", false),
    ] {
        let want: &[&str] = if is_short { &["short_term"] } else { &[] };
        assert_eq!(finding_ids("임대차 기간", sentence), want, "{sentence}");
    }
    assert_eq!(finding_ids("수습", "1년으로 한다."), <[&str; 0]>::default());
}

#[test]
fn a_text_without_articles_lacks_what_it_lacks() {
    let (rules, limits) = (ContractRules::shipped().unwrap(), Limits::shipped().unwrap());
    let contract = Contract::parse("");
    let findings = examine(&contract, Facts::default(), &rules, &limits).unwrap();
    assert!(
        findings
            .iter()
            .all(|finding| finding.kind == FindingKind::Missing && finding.quote.is_none())
    );
    let missing = rules.rules().iter().filter(|rule| rule.kind == FindingKind::Missing).count();
    assert_eq!(findings.len(), missing);
}

#[test]
fn a_deposit_that_is_much_of_the_price_is_found() {
    let limits = Limits::shipped().unwrap();
    let deep =
        |price, deposit, senior| deep_deposit(price, deposit, senior, &limits).unwrap().is_some();
    assert!(!deep(500_000_000, 400_000_000, 0));
    assert!(deep(500_000_000, 400_000_001, 0));
    assert!(deep(500_000_000, 300_000_000, 100_000_001));
    assert!(!deep(0, 1, 0));
}
