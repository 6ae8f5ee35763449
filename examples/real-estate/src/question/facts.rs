//! Facts of a person and a home that a question states in words.

use hanok_figures::{Amount, AmountUnit};

use super::words::{between, has, head, starts, tail};
use crate::data::deal::Deal;
use crate::data::listings::HomeKind;
use crate::money::loans::Method;

/// What turns a word into its opposite behind it.
const NOT: [&str; 10] = [
    "이 아니",
    "가 아니",
    "은 아니",
    "는 아니",
    "자는 아니",
    "자가 아니",
    " 아니",
    "이 아닌",
    "가 아닌",
    " 아닌",
];

/// The longest term, in months.
const LONGEST_TERM: u32 = 1_200;

/// The deal, if the question is about one.
pub(super) fn deal(text: &str) -> Option<Deal> {
    // `전세가율` is of both.
    let text = text.replace("전세가율", "");
    let rest = text.replace("반전세", "월세").replace("전월세", "월세 전세");
    let sale = [
        "매매",
        "매수",
        "매입",
        "집을 사",
        "집 사",
        "살 집",
        "아파트를 사",
        "아파트 사",
        "구입",
        "집값",
        "집 살 ",
        "집을 살 ",
        "집 사려",
        "집을 살려",
    ];
    let mut deals = Vec::new();
    if has(&rest, &sale) {
        deals.push(Deal::Sale);
    }
    if has(&rest, &["전세"]) {
        deals.push(Deal::Jeonse);
    }
    if has(&rest, &["월세", "차임", "사글세"]) {
        deals.push(Deal::MonthlyRent);
    }
    match deals.as_slice() {
        [deal] => Some(*deal),
        _ => None,
    }
}

/// The kind of the home, if the question names one.
pub(super) fn kind(text: &str) -> Option<HomeKind> {
    let kinds = [
        (HomeKind::Apartment, ["아파트", "아파트"]),
        (HomeKind::Villa, ["빌라", "다세대"]),
        (HomeKind::Officetel, ["오피스텔", "오피"]),
    ];
    let mut named = kinds.iter().filter(|kind| has(text, &kind.1));
    let first = named.next()?;
    named.next().is_none().then_some(first.0)
}

/// How a loan is paid back.
pub(super) fn method(text: &str) -> Option<Method> {
    let text = text.replace(' ', "");
    let methods = [
        (Method::Annuity, "원리금균등"),
        (Method::EqualPrincipal, "원금균등"),
        (Method::Bullet, "만기일시"),
    ];
    let mut named = methods.iter().filter(|method| text.contains(method.1));
    let first = named.next()?;
    named.next().is_none().then_some(first.0)
}

/// Yes or no, if the text states one of the words.
fn flag(text: &str, yes: &[&str], no: &[&str]) -> Option<bool> {
    if has(text, no) {
        return Some(false);
    }
    let mut places = yes.iter().flat_map(|word| {
        text.match_indices(word).filter_map(|place| text.get(place.0 + word.len()..))
    });
    let first = places.next()?;
    Some(!starts(first, &NOT))
}

/// Whether the person buys a first home.
pub(super) fn first_home(text: &str) -> Option<bool> {
    flag(
        text,
        &[
            "생애최초",
            "생애 최초",
            "생애 첫",
            "생애첫",
            "첫 집",
            "첫집",
            "첫 주택",
            "처음으로 집을",
            "처음 집을",
        ],
        &[],
    )
}

/// Whether the person owns no home.
pub(super) fn no_home(text: &str) -> Option<bool> {
    let no = [
        "1주택",
        "2주택",
        "3주택",
        "다주택",
        "유주택",
        "한 채 있",
        "두 채 있",
        "집이 있",
        "한 채 가지",
    ];
    flag(
        text,
        &["무주택", "집이 없", "집은 없", "집도 없", "주택이 없", "집 없", "내 집이 없"],
        &no,
    )
}

/// Words of a couple that is about to marry.
const ENGAGED: [&str; 6] =
    ["예비부부", "예비 부부", "예비 신혼", "결혼 예정", "결혼을 앞", "곧 결혼"];

/// Words of a person who is not married.
const SINGLE: [&str; 4] = ["미혼", "독신", "싱글", "비혼"];

/// Whether the person is married.
pub(super) fn married(text: &str) -> Option<bool> {
    if has(text, &ENGAGED) {
        return Some(false);
    }
    let no = [SINGLE.as_slice(), &["결혼 안", "결혼하지 않"]].concat();
    flag(text, &["기혼", "결혼했", "혼인했", "결혼한", "부부", "남편", "아내", "배우자"], &no)
}

/// Whether the person married lately or is about to.
pub(super) fn newlywed(text: &str) -> Option<bool> {
    let yes = [ENGAGED.as_slice(), &["신혼"]].concat();
    flag(text, &yes, &[]).or_else(|| flag(text, &[], &SINGLE))
}

/// Whether the person had a child lately.
pub(super) fn newborn(text: &str) -> Option<bool> {
    flag(text, &["신생아", "출산했", "출산한", "아기를 낳", "아이를 낳", "갓난"], &[])
}

/// Whether the person is the head of the household.
pub(super) fn household_head(text: &str) -> Option<bool> {
    flag(text, &["세대주"], &["세대원"])
}

/// Whether a contract is to be written.
pub(super) fn wants_document(text: &str) -> Option<bool> {
    let behind = text.split_once("계약서").map(|pair| head(pair.1, 24))?;
    let words =
        ["작성", "만들", "써 줘", "써줘", "써 주", "써주", "초안", "뽑아", "만드", "쓰고 싶"];
    has(behind, &words).then_some(true)
}

/// The number of children.
pub(super) fn children(text: &str, amounts: &[Amount]) -> Option<u32> {
    for word in ["자녀", "아이", "애", "아들", "딸", "자식"] {
        for place in text.match_indices(word) {
            if word == "애" && text.get(..place.0).unwrap_or_default().ends_with("생") {
                continue;
            }
            let end = place.0 + word.len();
            let behind = head(text.get(end..).unwrap_or_default(), 8);
            let bare = behind.trim_start_matches(['가', '는', '이', '은', '도', ' ']);
            if starts(bare, &["없"]) {
                return Some(0);
            }
            if let Some(count) = spoken(bare) {
                return Some(count);
            }
            let near = |amount: &&Amount| {
                amount.at.start >= end
                    && amount.at.start <= end + behind.len()
                    && amount.unit == AmountUnit::Plain
                    && starts(text.get(amount.at.end..).unwrap_or_default().trim_start(), &["명"])
            };
            if let Some(count) = amounts.iter().find(near).and_then(whole) {
                return Some(count);
            }
        }
    }
    None
}

/// A small number in words at the beginning of a text.
fn spoken(text: &str) -> Option<u32> {
    let words = [
        ("하나", 1),
        ("한 명", 1),
        ("한명", 1),
        ("둘", 2),
        ("두 명", 2),
        ("두명", 2),
        ("셋", 3),
        ("세 명", 3),
        ("세명", 3),
        ("넷", 4),
        ("네 명", 4),
        ("네명", 4),
    ];
    words.iter().find_map(|pair| text.starts_with(pair.0).then_some(pair.1))
}

/// The number of rooms.
pub(super) fn rooms(text: &str, amounts: &[Amount]) -> Option<u32> {
    for (word, rooms) in [("원룸", 1), ("투룸", 2), ("쓰리룸", 3), ("포룸", 4)] {
        if text.contains(word) {
            return Some(rooms);
        }
    }
    let spoken = text.match_indices('방').find_map(|place| {
        let rest = text.get(place.0 + '방'.len_utf8()..)?;
        let rest = rest.trim_start_matches(['은', '이', '을', ' ']);
        let words = [
            ("하나", 1),
            ("한 개", 1),
            ("두 개", 2),
            ("둘", 2),
            ("세 개", 3),
            ("셋", 3),
            ("네 개", 4),
        ];
        words.iter().find_map(|pair| rest.starts_with(pair.0).then_some(pair.1))
    });
    if spoken.is_some() {
        return spoken;
    }
    let is_rooms = |amount: &&Amount| {
        let before =
            tail(between(text, 0, amount.at.start), 4).trim_end_matches(['이', '은', '을', ' ']);
        let behind = text.get(amount.at.end..).unwrap_or_default().trim_start();
        amount.unit == AmountUnit::Plain
            && (before.ends_with('방') && starts(behind, &["개", "칸"]) || starts(behind, &["룸"]))
    };
    amounts.iter().find(is_rooms).and_then(whole).filter(|rooms| (1..=20).contains(rooms))
}

/// The age.
pub(super) fn age(text: &str, amounts: &[Amount]) -> Option<u32> {
    let is_age = |amount: &&Amount| {
        let behind = text.get(amount.at.end..).unwrap_or_default();
        let behind = behind.strip_prefix(' ').unwrap_or(behind);
        amount.unit == AmountUnit::Plain
            && starts(behind, &["세", "살"])
            && !starts(
                behind,
                &["세대", "세 이하", "세 이상", "세까지", "세부터", "세 미만", "세금"],
            )
    };
    amounts.iter().find(is_age).and_then(whole).filter(|age| (1..=120).contains(age))
}

/// A term in months: the first number of years or months that is no year, no age of a house and no date.
pub(super) fn months(text: &str, amounts: &[Amount]) -> Option<u32> {
    amounts.iter().filter(|amount| amount.unit == AmountUnit::Plain).find_map(|amount| {
        let behind = text.get(amount.at.end..).unwrap_or_default().trim_start();
        let (unit, rest) = ["개월", "달", "년"]
            .iter()
            .find_map(|unit| behind.strip_prefix(unit).map(|rest| (*unit, rest)))?;
        let other = ["차", "된", "생", "뒤", "후", "부터", "도", "식"];
        let rest = rest.trim_start();
        // `1년 전보다`, but not `1년 전세`.
        let is_ago = rest.strip_prefix('전').is_some_and(|rest| {
            !rest.starts_with(|c| matches!(c, '가'..='힣'))
                || starts(rest, &["에", "보다", "과", "의", "부터"])
        });
        // `결혼한 지 3년` is no term.
        let since = between(text, 0, amount.at.start).trim_end().ends_with("지");
        if since || is_ago || starts(rest, &other) {
            return None;
        }
        let count = whole(amount).filter(|count| (1..=LONGEST_TERM).contains(count))?;
        let months = if unit == "년" { count.checked_mul(12)? } else { count };
        (months <= LONGEST_TERM).then_some(months)
    })
}

fn whole(amount: &Amount) -> Option<u32> {
    amount.value.to_i128().and_then(|whole| u32::try_from(whole).ok())
}
