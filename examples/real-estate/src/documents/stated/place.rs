//! Names and addresses in a text.

use super::{LeaseTerms, head};

/// The surnames of most people; a name behind a label begins with one.
const SURNAMES: &str = "김이박최정강조윤장임한오서신권황안송류유홍전고문손양배백허남심노하곽성차주우구민진지엄채원천방공현함변염여추도소석선설마길연위표명기반왕금옥육인맹제모탁국어은편용";

/// The surnames of two syllables.
const LONG_SURNAMES: [&str; 7] = ["남궁", "황보", "제갈", "사공", "선우", "서문", "독고"];

/// The syllables of most names behind a surname.
const GIVEN: &str = "가경광규근기나남다대덕도동라란람래련린림만명모무문미민범병보복봉빈상새서석선설섭성세소솔송수숙순슬승시신아안애양연영예오옥완용우욱운웅원유윤율은의이익인일임자재정제종주준중지진찬창채천철춘충태택하학한해향헌혁현형혜호홍화환효훈휘희";

/// Words that look like names.
const NO_NAMES: [&str; 4] = ["공무원", "주재원", "구성원", "임시직"];

/// What begins an address.
const PROVINCES: [&str; 17] = [
    "서울", "부산", "대구", "인천", "광주", "대전", "울산", "세종", "경기", "강원", "충북", "충남",
    "전북", "전남", "경북", "경남", "제주",
];

/// The same in their long form, where the short one is no beginning of it.
const LONG_PROVINCES: [&str; 6] =
    ["충청북도", "충청남도", "전라북도", "전라남도", "경상북도", "경상남도"];

/// The longest address, in words.
const WORDS: usize = 10;

/// The names and addresses that a text states.
pub(super) fn named(text: &str) -> LeaseTerms {
    LeaseTerms {
        landlord: person(text, &["임대인", "집주인"]),
        tenant: person(text, &["임차인", "세입자"]),
        landlord_address: labelled(text, &["임대인의 주소", "임대인 주소"]),
        tenant_address: labelled(text, &["임차인의 주소", "임차인 주소"]),
        address: labelled(text, &["소재지", "주택의 주소", "집 주소", "물건지"])
            .or_else(|| address(text)),
        broker: labelled(text, &["공인중개사", "중개사무소", "중개사"]),
        ..LeaseTerms::default()
    }
}

/// The name behind one of the labels.
///
/// Behind a colon it is what stands there; in a sentence it has a surname, two usual syllables, and an end. What is not certain
/// is left out: a word that looks like a name would be a stranger in a contract.
fn person(text: &str, labels: &[&str]) -> Option<String> {
    let mut names = labels.iter().flat_map(|label| {
        text.match_indices(label).filter_map(|place| name(text.get(place.0 + label.len()..)?))
    });
    let first = names.next()?;
    // Two different names: somebody has to say which.
    names.all(|name| name == first).then_some(first)
}

fn name(rest: &str) -> Option<String> {
    let bare = rest.trim_start_matches(' ');
    if let Some(value) = bare.strip_prefix([':', '：']) {
        let value = value.split(['\n', ',', ';', '(', '/']).next()?.trim();
        let ends = ["입니다", "이고", "이며", "씨", "님"];
        let value = ends.iter().find_map(|end| value.strip_suffix(end)).unwrap_or(value).trim();
        return (value.chars().count() >= 2).then(|| head(value, 200).to_owned());
    }
    let rest = [" 이름은 ", "의 이름은 ", "은 ", "는 ", " "]
        .iter()
        .find_map(|word| rest.strip_prefix(word))?;
    let syllables: String =
        rest.chars().take_while(|c| ('가'..='힣').contains(c)).take(12).collect();
    let behind = rest.get(syllables.len()..)?;
    let ends = ["입니다", "이고", "이며", "이에요", "예요", "이다", "고", "씨", "님"];
    let cut = ends.iter().find_map(|end| syllables.strip_suffix(end));
    let is_ended = match behind.trim_start().chars().next() {
        None | Some(',' | '.' | '(' | '/' | ';' | '·') => true,
        Some('씨' | '님') => true,
        Some(_) => behind.starts_with('\n') || cut.is_some(),
    };
    let name = cut.filter(|cut| is_name(cut)).unwrap_or(&syllables);
    (is_ended && is_name(name)).then(|| name.to_owned())
}

/// A surname and two usual syllables, and none of the words for people that look so.
fn is_name(word: &str) -> bool {
    let long = LONG_SURNAMES.iter().find_map(|surname| word.strip_prefix(surname));
    let mut chars = word.chars();
    let short = chars.next().is_some_and(|c| SURNAMES.contains(c)).then_some(chars.as_str());
    let is_given = |given: &str, least: usize| {
        (least..=2).contains(&given.chars().count()) && given.chars().all(|c| GIVEN.contains(c))
    };
    let fits = long.is_some_and(|given| is_given(given, 1))
        || short.is_some_and(|given| is_given(given, 2));
    fits && !word.ends_with(['자', '인']) && !NO_NAMES.contains(&word)
}

/// What stands behind a label and a colon, to the end of the line.
fn labelled(text: &str, labels: &[&str]) -> Option<String> {
    let mut values = labels.iter().flat_map(|label| {
        text.match_indices(label).filter_map(|place| {
            let rest = text.get(place.0 + label.len()..)?.trim_start_matches(' ');
            let rest = rest.strip_prefix([':', '：'])?;
            let value = rest.lines().next()?.split([';', ',']).next()?.trim();
            (!value.is_empty()).then(|| head(value, 200).to_owned())
        })
    });
    values.next()
}

/// Words beside an address of something else than the home that is let.
const OTHER_PLACES: [&str; 7] = ["주소", "회사", "직장", "근처", "사는", "살고", "거주"];

/// The address in running text: words from a province to the last that is a piece of an address, with a number among them. `None`
/// when there are several, or one that may be of something else.
fn address(text: &str) -> Option<String> {
    let mut addresses: Vec<String> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).take(400).collect();
        let is_other = OTHER_PLACES.iter().any(|word| line.contains(word));
        for start in 0..words.len() {
            let rest = words.get(start..)?;
            if rest.first().is_some_and(|word| is_province(word))
                && let Some(address) = from_province(rest)
            {
                if is_other {
                    return None;
                }
                addresses.push(address);
            }
        }
    }
    addresses.dedup();
    let one = addresses.pop()?;
    addresses.is_empty().then_some(one)
}

fn is_province(word: &str) -> bool {
    let is_end = |rest: &str| {
        matches!(
            rest,
            "" | "시" | "도" | "특별시" | "광역시" | "특별자치시" | "특별자치도" | "도특별자치도"
        )
    };
    let short = PROVINCES.iter().any(|name| word.strip_prefix(name).is_some_and(is_end));
    short || LONG_PROVINCES.contains(&word)
}

fn from_province(words: &[&str]) -> Option<String> {
    let mut pieces: Vec<&str> = Vec::new();
    let mut has_number = false;
    for (at, word) in words.iter().take(WORDS).enumerate() {
        let piece = if at == 0 { Some(*word) } else { piece(word) };
        let Some(piece) = piece else { break };
        has_number |= piece.contains(|c: char| c.is_ascii_digit());
        pieces.push(piece);
        // What a particle or a comma ends, ends the address.
        if piece.len() < word.len() {
            break;
        }
    }
    // A name of a building at the end belongs to nothing.
    (pieces.len() >= 3 && has_number).then(|| pieces.join(" "))
}

/// The part of a word that is a piece of an address.
fn piece(word: &str) -> Option<&str> {
    let bare = word.trim_end_matches([',', '.', ')', '?', '!']);
    let particles = [
        "입니다",
        "이고",
        "이며",
        "에서",
        "으로",
        "이랑",
        "랑",
        "와",
        "과",
        "를",
        "을",
        "에",
        "의",
        "로",
        "은",
        "는",
        "이",
        "가",
    ];
    let is_piece = |word: &str| {
        let ends = [
            "시",
            "군",
            "구",
            "읍",
            "면",
            "동",
            "리",
            "로",
            "길",
            "가",
            "호",
            "층",
            "번지",
            "아파트",
            "빌라",
        ];
        let number = word.chars().all(|c| c.is_ascii_digit() || c == '-')
            && word.starts_with(|c: char| c.is_ascii_digit());
        word.chars().count() >= 2 && ends.iter().any(|end| word.ends_with(end)) || number
    };
    if is_piece(bare) {
        return Some(bare);
    }
    let cut = particles.iter().find_map(|particle| bare.strip_suffix(particle))?;
    let with_number = cut.starts_with(|c: char| c.is_ascii_digit());
    (with_number && is_piece(cut)).then_some(cut)
}
