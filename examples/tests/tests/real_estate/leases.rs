//! Leases for tests: a list that is made the same each time.

use jiff::{ToSpan, civil::date};
use real_estate::documents::LeaseTerms;

const PEOPLE: [&str; 7] =
    ["김철수", "이영희", "박민준", "최서연", "남궁현", "Jane O'Neill", "선우 진"];
const PLACES: [&str; 5] = [
    "서울특별시 마포구 월드컵로 12 101동 1203호",
    "부산광역시 해운대구 우동 34-5 2층",
    "경기도 수원시 팔달구 인계동 한빛아파트 7동 502호",
    "세종특별자치시 한누리대로 2130 <가람> & 나래",
    "전북특별자치도 전주시 완산구 서노송동 1-2",
];
const AREAS: [&str; 4] = ["84.97㎡", "32평", "59.8㎡(전용)", "2층 전부"];
const CLAUSES: [&str; 4] = [
    "반려동물은 한 마리까지 기를 수 있다.",
    "에어컨 2대와 냉장고는 임대인의 것이며 고장 나면 임대인이 고친다.",
    "임대인은 잔금일까지 채권최고액 1억 2,000만원의 근저당을 말소한다.",
    "제5조에도 불구하고 입주일은 임차인이 3일 전에 알린다.",
];

/// The terms of the lease of this number; every number up to thirty makes another one.
pub(crate) fn terms(number: usize) -> LeaseTerms {
    let pick = |list: &[&str], step: usize| {
        list.get((number * step) % list.len()).map(|it| (*it).to_owned())
    };
    let count = i64::try_from(number).unwrap();
    let deposit = 50_000_000 + 17_350_000 * count;
    let rent = if number.is_multiple_of(3) { 0 } else { 400_000 + 37_500 * count };
    let from = date(2026, 3, 1).checked_add((number as i32 * 11).days()).unwrap();
    LeaseTerms {
        landlord: pick(&PEOPLE, 1),
        landlord_address: if number.is_multiple_of(2) { pick(&PLACES, 3) } else { None },
        tenant: pick(&PEOPLE, 2),
        tenant_address: if number.is_multiple_of(4) { pick(&PLACES, 2) } else { None },
        address: pick(&PLACES, 1),
        area: pick(&AREAS, 1),
        deposit: Some(deposit),
        monthly_rent: Some(rent),
        rent_day: (rent > 0).then(|| u8::try_from(number % 31 + 1).unwrap()),
        down_payment: Some(deposit / 10),
        interim_payment: number.is_multiple_of(6).then_some(deposit / 3),
        interim_date: if number.is_multiple_of(6) { from.yesterday().ok() } else { None },
        balance_date: Some(from),
        maintenance_fee: (number % 5 > 1).then_some(70_000 + count),
        from: Some(from),
        until: from.checked_add(24.months()).unwrap().yesterday().ok(),
        special: CLAUSES.iter().take(number % 5).map(|it| (*it).to_owned()).collect(),
        broker: (!number.is_multiple_of(4)).then(|| "한빛공인중개사사무소 정다은".to_owned()),
        ..LeaseTerms::default()
    }
}
