use super::*;

fn stated(text: &str) -> serde_json::Value {
    serde_json::to_value(LeaseTerms::stated(text)).unwrap()
}

#[test]
fn what_is_stated_is_read_and_nothing_else() {
    for (text, want) in [
        (
            "전세 3억으로 계약서 써 줘",
            serde_json::json!({"deposit": 300_000_000, "monthly_rent": 0}),
        ),
        (
            "보증금 5천만원에 월세 60만원, 관리비 7만원",
            serde_json::json!({"deposit": 50_000_000, "monthly_rent": 600_000, "maintenance_fee": 70_000}),
        ),
        ("보증금은 3이고 월세는 50", serde_json::json!({})),
        (
            "반전세로 보증금 1억에 월세 30만원",
            serde_json::json!({"deposit": 100_000_000, "monthly_rent": 300_000}),
        ),
        ("전세대출 2억을 받을 거예요", serde_json::json!({})),
        (
            "기존 보증금 3억원에서 보증금 3억 1,500만원으로",
            serde_json::json!({"deposit": 315_000_000, "previous_deposit": 300_000_000}),
        ),
        (
            "보증금 2억원. 아니, 보증금 2억 5천만원이에요",
            serde_json::json!({"deposit": 250_000_000}),
        ),
        (
            "2026-03-01 ~ 2028-02-29",
            serde_json::json!({"from": "2026-03-01", "until": "2028-02-29"}),
        ),
        (
            "2026년 3월 1일부터 2028년 2월 29일까지",
            serde_json::json!({"from": "2026-03-01", "until": "2028-02-29"}),
        ),
        (
            "2026년 3월 1일부터 24개월",
            serde_json::json!({"from": "2026-03-01", "until": "2028-02-29"}),
        ),
        (
            "2024년 2월 29일부터 1년",
            serde_json::json!({"from": "2024-02-29", "until": "2025-02-27"}),
        ),
        ("잔금일은 2026. 3. 1.", serde_json::json!({"balance_date": "2026-03-01"})),
        (
            "중도금 1억원은 2026년 2월 1일에 내고 2026년 3월 1일에 잔금을 치릅니다",
            serde_json::json!({"interim_payment": 100_000_000, "interim_date": "2026-02-01", "balance_date": "2026-03-01"}),
        ),
        ("2026년 2월 30일부터", serde_json::json!({})),
        ("매달 말일에 월세 50만원", serde_json::json!({"monthly_rent": 500_000, "rent_day": 31})),
        ("매월 45일", serde_json::json!({})),
        ("전용 84.97㎡(32평)", serde_json::json!({"area": "84.97㎡"})),
        ("32평", serde_json::json!({"area": "32평"})),
        ("59㎡와 84㎡ 중에서", serde_json::json!({})),
        (
            "특약: 반려동물을 기를 수 있다\n특약사항: 벽에 못을 박지 않는다",
            serde_json::json!({"special": ["반려동물을 기를 수 있다", "벽에 못을 박지 않는다"]}),
        ),
        (
            "임대인: 김철수\n임차인: 이영희",
            serde_json::json!({"landlord": "김철수", "tenant": "이영희"}),
        ),
        (
            "집주인은 박민준이고, 세입자는 최서연입니다",
            serde_json::json!({"landlord": "박민준", "tenant": "최서연"}),
        ),
        ("임대인 김철수 씨와 계약해요", serde_json::json!({"landlord": "김철수"})),
        ("임대인은 수선한다. 임차인은 고장을 알린다", serde_json::json!({})),
        ("임차인은 전입신고, 확정일자를 챙긴다", serde_json::json!({})),
        ("임대인 신분증, 등기부를 확인해 줘", serde_json::json!({})),
        ("임대인은 소유자이고 임차인은 공무원입니다", serde_json::json!({})),
        ("임대인은 고모예요. 임차인은 이사비, 관리비를 낸다", serde_json::json!({})),
        ("임차인 남궁민수 님", serde_json::json!({"tenant": "남궁민수"})),
        (
            "임차인: Jane Doe, 임대인: 최고 은행",
            serde_json::json!({"landlord": "최고 은행", "tenant": "Jane Doe"}),
        ),
        ("보증금을 500만원 깎아 주세요", serde_json::json!({})),
        ("보증금 3억원 이하로 찾아 줘. 월세는 50만원까지", serde_json::json!({})),
        (
            "보증금을 3억에서 3.3억으로 올려 재계약해요",
            serde_json::json!({"deposit": 330_000_000, "previous_deposit": 300_000_000}),
        ),
        (
            "임차인 주소: 서울 마포구 월드컵로 12",
            serde_json::json!({"tenant_address": "서울 마포구 월드컵로 12"}),
        ),
        ("서울 마포구 월드컵로 12에 있는 회사에 다녀요", serde_json::json!({})),
        ("서울 마포구 월드컵로 12와 서울 마포구 월드컵로 34 중에 골라요", serde_json::json!({})),
        ("임대인은 김철수, 임대인은 박민준", serde_json::json!({})),
        (
            "소재지: 경기도 수원시 팔달구 인계동 12",
            serde_json::json!({"address": "경기도 수원시 팔달구 인계동 12"}),
        ),
        (
            "경기도 수원시 팔달구 인계로 12, 3층을 빌려요",
            serde_json::json!({"address": "경기도 수원시 팔달구 인계로 12"}),
        ),
        ("서울 마포구에서 살고 싶어요", serde_json::json!({})),
        ("서울에서 집을 찾아요", serde_json::json!({})),
    ] {
        assert_eq!(stated(text), want, "{text}");
    }
}

#[test]
fn the_longest_text_is_read_to_its_limit() {
    let text = "보증금 3억원 ".repeat(100_000);
    assert_eq!(LeaseTerms::stated(&text).deposit, Some(300_000_000));
}
