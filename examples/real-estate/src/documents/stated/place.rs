//! Names and addresses in a text.

use super::{LeaseTerms, head};

/// The surnames of most people; a name behind a label begins with one.
const SURNAMES: &str = "김이박최정강조윤장임한오서신권황안송류유홍전고문손양배백허남심노하곽성차주우구민진지엄채원천방공현함변염여추도소석선설마길연위표명기반왕금옥육인맹제모탁국어은편용";

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

/// The name behind one of the labels: two to four syllables that begin with a surname and that something ends.
fn person(text: &str, labels: &[&str]) -> Option<String> {
    let mut names = labels.iter().flat_map(|label| {
        text.match_indices(label).filter_map(|place| name(text.get(place.0 + label.len()..)?))
    });
    let first = names.next()?;
    // Two different names: somebody has to say which.
    names.all(|name| name == first).then_some(first)
}

fn name(rest: &str) -> Option<String> {
    let rest = [" 이름은", "의 이름은", "은", "는", " :", ":", "："]
        .iter()
        .find_map(|word| rest.strip_prefix(word))
        .or_else(|| rest.starts_with(' ').then_some(rest))?
        .trim_start_matches([' ', ':']);
    let syllables: String =
        rest.chars().take_while(|c| ('가'..='힣').contains(c)).take(12).collect();
    let behind = rest.get(syllables.len()..)?;
    if !SURNAMES.contains(syllables.chars().next()?) {
        return None;
    }
    let ends = ["입니다", "이고", "이며", "이에요", "예요", "이다", "고", "씨", "님"];
    let name = match behind.chars().next() {
        // `김철수,` and `김철수(1970년생)`
        None | Some(',' | '.' | '\n' | '(' | '/' | ';' | '·') => {
            let cut = ends.iter().find_map(|end| syllables.strip_suffix(end));
            cut.unwrap_or(&syllables).to_owned()
        }
        // `김철수 씨`, `김철수입니다 그리고`
        Some(' ') => {
            let is_called = behind.trim_start().starts_with(['씨', '님']);
            let cut = ends.iter().take(6).find_map(|end| syllables.strip_suffix(end));
            match (cut, is_called) {
                (Some(cut), _) => cut.to_owned(),
                (None, true) => syllables.clone(),
                (None, false) => return None,
            }
        }
        Some(_) => return None,
    };
    // A name's third syllable may be 고, and 입니다 is no name.
    let name = if name.chars().count() < 2 { syllables } else { name };
    (2..=4).contains(&name.chars().count()).then_some(name)
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

/// The first address in running text: words from a province to the last that is a piece of an address, with a number among them.
fn address(text: &str) -> Option<String> {
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).take(400).collect();
        for start in 0..words.len() {
            let rest = words.get(start..)?;
            if rest.first().is_some_and(|word| is_province(word))
                && let Some(address) = from_province(rest)
            {
                return Some(address);
            }
        }
    }
    None
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
