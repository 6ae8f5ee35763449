//! Places and their time zones.

/// Places, as they are named in Korean and English, and the IANA zone of each.
#[rustfmt::skip]
const PLACES: &[(&[&str], &str)] = &[
    (&["서울", "한국", "대한민국", "부산", "제주", "seoul", "korea"], "Asia/Seoul"),
    (&["도쿄", "동경", "일본", "오사카", "tokyo", "japan", "osaka"], "Asia/Tokyo"),
    (&["베이징", "북경", "상하이", "중국", "beijing", "shanghai", "china"], "Asia/Shanghai"),
    (&["홍콩", "hong kong"], "Asia/Hong_Kong"),
    (&["타이베이", "대만", "taipei", "taiwan"], "Asia/Taipei"),
    (&["싱가포르", "singapore"], "Asia/Singapore"),
    (&["방콕", "태국", "bangkok", "thailand"], "Asia/Bangkok"),
    (&["하노이", "호치민", "베트남", "hanoi", "vietnam"], "Asia/Ho_Chi_Minh"),
    (&["자카르타", "jakarta"], "Asia/Jakarta"),
    (&["마닐라", "필리핀", "manila"], "Asia/Manila"),
    (&["델리", "뭄바이", "인도", "delhi", "mumbai", "india"], "Asia/Kolkata"),
    (&["두바이", "dubai"], "Asia/Dubai"),
    (&["이스탄불", "istanbul"], "Europe/Istanbul"),
    (&["모스크바", "moscow"], "Europe/Moscow"),
    (&["런던", "영국", "london", "england"], "Europe/London"),
    (&["파리", "프랑스", "paris", "france"], "Europe/Paris"),
    (&["베를린", "독일", "뮌헨", "berlin", "germany", "munich"], "Europe/Berlin"),
    (&["마드리드", "스페인", "madrid", "spain"], "Europe/Madrid"),
    (&["로마", "이탈리아", "rome", "italy"], "Europe/Rome"),
    (&["암스테르담", "amsterdam"], "Europe/Amsterdam"),
    (&["취리히", "스위스", "zurich"], "Europe/Zurich"),
    (&["카이로", "cairo"], "Africa/Cairo"),
    (&["요하네스버그", "johannesburg"], "Africa/Johannesburg"),
    (&["뉴욕", "워싱턴", "보스턴", "new york", "washington", "boston"], "America/New_York"),
    (&["시카고", "chicago"], "America/Chicago"),
    (&["덴버", "denver"], "America/Denver"),
    (&["로스앤젤레스", "샌프란시스코", "시애틀", "엘에이", "실리콘밸리", "los angeles", "san francisco", "seattle"], "America/Los_Angeles"),
    (&["토론토", "toronto"], "America/Toronto"),
    (&["밴쿠버", "vancouver"], "America/Vancouver"),
    (&["멕시코시티", "mexico city"], "America/Mexico_City"),
    (&["상파울루", "sao paulo"], "America/Sao_Paulo"),
    (&["하와이", "호놀룰루", "hawaii", "honolulu"], "Pacific/Honolulu"),
    (&["시드니", "멜버른", "sydney", "melbourne"], "Australia/Sydney"),
    (&["오클랜드", "뉴질랜드", "auckland"], "Pacific/Auckland"),
    (&["협정 세계시", "세계시", "그리니치", "utc", "gmt"], "UTC"),
];

/// The zone of the first place that `question` names, or the zone itself where it stands there.
pub(crate) fn zone(question: &str) -> Option<String> {
    let written = question
        .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+')));
    let mut iana = written.filter(|word| {
        let mut parts = word.split('/');
        let starts = |part: Option<&str>| {
            part.is_some_and(|part| part.starts_with(|c: char| c.is_ascii_uppercase()))
        };
        starts(parts.next()) && starts(parts.next())
    });
    if let Some(zone) = iana.next() {
        return Some(zone.to_owned());
    }
    let lower = question.to_lowercase();
    let at = |names: &[&str]| names.iter().filter_map(|name| place(&lower, name)).min();
    let found = PLACES.iter().filter_map(|(names, zone)| Some((at(names)?, zone))).min();
    found.map(|(_, zone)| (*zone).to_owned())
}

/// Where `name` begins a word of `text`.
fn place(text: &str, name: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find(name) {
        let at = from + found;
        let before = text.get(..at)?.chars().next_back();
        let after = text.get(at + name.len()..)?.chars().next();
        let joins = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let begins = !before.is_some_and(char::is_alphanumeric);
        if begins && !(name.is_ascii() && joins(after)) {
            return Some(at);
        }
        from = at + name.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::zone;

    #[test]
    fn a_place_has_its_zone() {
        for (question, want) in [
            ("뉴욕은 지금 몇 시야?", Some("America/New_York")),
            ("서울과 도쿄의 시간", Some("Asia/Seoul")),
            ("What time is it in London?", Some("Europe/London")),
            ("Europe/Vienna 시각", Some("Europe/Vienna")),
            ("지금 몇 시야?", None),
            ("24/7 지원", None),
            ("외국인도 되나요", None),
        ] {
            assert_eq!(zone(question).as_deref(), want, "{question}");
        }
    }
}
