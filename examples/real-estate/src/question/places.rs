//! The districts of Seoul in a question.

use super::words::{between, starts, tail};

/// A district, and how it is written without 구. Names that are as well other words have no short form.
const DISTRICTS: [(&str, &[&str]); 25] = [
    ("강남구", &["강남", "대치동", "압구정", "개포동"]),
    ("강동구", &["강동", "둔촌", "고덕"]),
    ("강북구", &["강북", "수유동"]),
    ("강서구", &["강서", "마곡", "화곡"]),
    ("관악구", &["관악", "신림", "봉천"]),
    ("광진구", &["광진", "자양동"]),
    ("구로구", &["신도림"]),
    ("금천구", &["금천", "가산동"]),
    ("노원구", &["노원", "상계", "중계동"]),
    ("도봉구", &["도봉", "창동"]),
    ("동대문구", &["청량리"]),
    ("동작구", &["사당", "노량진", "흑석"]),
    ("마포구", &["마포", "홍대", "합정", "공덕"]),
    ("서대문구", &["서대문", "신촌"]),
    ("서초구", &["서초", "반포", "방배"]),
    ("성동구", &["성동", "성수", "왕십리"]),
    ("성북구", &["성북", "길음"]),
    ("송파구", &["송파", "잠실", "문정동"]),
    ("양천구", &["양천", "목동"]),
    ("영등포구", &["영등포", "여의도"]),
    ("용산구", &["용산", "이태원", "한남동"]),
    ("은평구", &["은평", "불광"]),
    ("종로구", &["종로"]),
    ("중구", &[]),
    ("중랑구", &["중랑", "면목동"]),
];

/// Other cities, whose districts have names that Seoul's have, too.
const OTHER_CITIES: [&str; 7] = ["부산", "대구", "인천", "광주", "대전", "울산", "성남"];

/// What follows the name of a place.
const BEHIND: [&str; 37] = [
    "에",
    "의",
    "은",
    "는",
    "이",
    "가",
    "쪽",
    "역",
    "과",
    "와",
    "랑",
    "도",
    "을",
    "를",
    "보다",
    "까지",
    "부터",
    "동",
    "청",
    "아파트",
    "전세",
    "월세",
    "매매",
    "시세",
    "집값",
    "집",
    "오피스텔",
    "빌라",
    "원룸",
    "투룸",
    "매물",
    "부동산",
    "로",
    "으로",
    "하고",
    "나",
    "이나",
];

/// The districts that a text names, each once, in its order.
pub(super) fn districts(text: &str) -> Vec<String> {
    let mut places: Vec<(usize, &str)> = Vec::new();
    for (name, short) in DISTRICTS {
        let forms = std::iter::once(&name).chain(short);
        for form in forms {
            for place in text.match_indices(form) {
                if is_place(text, place.0, place.0 + form.len()) {
                    places.push((place.0, name));
                }
            }
        }
    }
    places.sort();
    let mut names: Vec<String> = Vec::new();
    for (_, name) in places {
        if !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Whether the name from `start` to `end` is a word of its own, and no place in another city.
fn is_place(text: &str, start: usize, end: usize) -> bool {
    let before = between(text, 0, start);
    let behind = between(text, end, text.len());
    let is_hangul = |c: char| matches!(c, '가'..='힣');
    let opens = before.ends_with("서울") || before.ends_with('시') || !before.ends_with(is_hangul);
    let closes = !behind.starts_with(is_hangul) || starts(behind, &BEHIND);
    let city = tail(before.trim_end(), 6);
    let city = city.strip_suffix('시').unwrap_or(city);
    let city = city.strip_suffix("광역").unwrap_or(city);
    opens && closes && !OTHER_CITIES.iter().any(|other| city.ends_with(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn districts_are_read_as_people_write_them() {
        for (text, want) in [
            ("강남구 시세", vec!["강남구"]),
            ("서울시 마포구와 강서구", vec!["마포구", "강서구"]),
            ("서울강남 전세", vec!["강남구"]),
            ("잠실에서 송파구청까지", vec!["송파구"]),
            ("강남역 원룸이랑 홍대 투룸", vec!["강남구", "마포구"]),
            ("부산 강서구 아파트", vec![]),
            ("부산광역시 강서구", vec![]),
            ("인천시 중구", vec![]),
            ("어느 구로 갈까요", vec![]),
            ("중구난방으로", vec![]),
            ("이중구조", vec![]),
            ("강동원이 사는 집", vec![]),
            ("종로구 시세는?", vec!["종로구"]),
        ] {
            assert_eq!(districts(text), want, "{text}");
        }
    }
}
