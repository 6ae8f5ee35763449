//! What a user says of themselves and of what they look for, by rules.

use crate::question::Keywords;

/// Words by which somebody says what they look for.
const LOOKING: &[&str] =
    &["찾고 있", "구하고 있", "알아보고 있", "살고 싶", "이사", "원해", "선호", "희망", "좋겠"];

/// Words by which somebody says what they are or have.
const BEING: &[&str] = &[
    "이야",
    "이에요",
    "예요",
    "입니다",
    "있어",
    "있습니다",
    "했어",
    "이고",
    "야.",
    "살아",
    "살고 있",
];

/// The preferences that `text` states, each as its name, its value and the words that say so.
///
/// ```
/// use real_estate::preferences::preferences;
///
/// let stated = preferences("마포구에서 전세를 찾고 있어. 예산은 4억이야.");
/// let names: Vec<_> = stated.iter().map(|(name, value, _)| format!("{name}={value}")).collect();
/// assert_eq!(names, ["지역=마포구", "거래=전세", "예산=4억원"]);
/// assert!(preferences("마포구 전세 시세 알려줘").is_empty());
/// ```
#[must_use]
pub fn preferences(text: &str) -> Vec<(String, String, String)> {
    let mut stated = Vec::new();
    for sentence in text.split_inclusive(['.', '!', '?', '\n']) {
        let quote = sentence.trim();
        let has = |words: &[&str]| words.iter().any(|word| quote.contains(word));
        let asks = quote.ends_with('?');
        let mut note = |name: &str, value: String| {
            stated.push((name.to_owned(), value, quote.to_owned()));
        };
        if quote.is_empty() || asks {
            continue;
        }
        let keywords = Keywords::stated(quote);
        if has(LOOKING) {
            if let Some(district) = keywords.districts.first() {
                note("지역", district.clone());
            }
            if let Some(deal) = keywords.deal {
                note("거래", deal.name().to_owned());
            }
        }
        let amounts = hanok_figures::figures(quote);
        let amount = amounts.filter_map(|figure| quote.get(figure.at()).map(str::to_owned)).next();
        if let Some(amount) = amount.filter(|_| quote.contains("예산")) {
            note("예산", won(&amount));
        }
        if has(BEING) {
            if let Some(children) = keywords.children {
                note("자녀", format!("{children}명"));
            }
            if keywords.newlywed == Some(true) {
                note("혼인", "신혼부부".to_owned());
            }
            if let Some(income) = keywords.income {
                note("연소득", crate::money::units(income));
            }
        }
    }
    stated
}

/// An amount as it is written, in units; as it stands where it is none.
fn won(text: &str) -> String {
    crate::money::won(text).map_or_else(|_| text.to_owned(), crate::money::units)
}
