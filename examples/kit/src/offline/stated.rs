//! Values of a schema out of the words of a question: amounts, rates, areas, days, counts, names and listed values.
//!
//! What a value is of, its description says in brackets: `(원)`, `(%)`, `(㎡)`, `(개월)`, `(세)`, `(명)`, `(개)`, `(날짜)`, `(일)`. Which of
//! several amounts is meant, the words beside them say: those that the program knows for the value's name. What the question does not
//! say is `null`.

use hanok_figures::{AmountUnit, Figure, counts, figures};
use hanok_model::{ListedValue, resolve_schema};
use serde_json::{Map, Value, json};

use crate::offline::prompt::{Aliases, plain};

/// What a value is of.
const UNITS: [&str; 9] =
    ["(원)", "(%)", "(㎡)", "(개월)", "(세)", "(명)", "(개)", "(날짜)", "(일)"];

/// Whether values of `schema` say what they are of.
pub(crate) fn is_typed(schema: &Value) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    let said = |it: &Value| UNITS.iter().any(|unit| described(it).contains(unit));
    properties.is_some_and(|properties| properties.values().any(said))
}

/// The object of `schema`, whose references are in `root`, as far as `question` says its values.
pub(crate) fn fill(schema: &Value, root: &Value, question: &str, aliases: &Aliases) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    let fields: Vec<Field<'_>> = properties
        .into_iter()
        .flatten()
        .map(|(name, it)| Field::of(name, it, root, aliases))
        .collect();
    let mut values: Map<String, Value> = fields
        .iter()
        .map(|field| (field.name.to_owned(), field.plain(question, aliases)))
        .collect();
    for unit in UNITS {
        let of_unit: Vec<&Field<'_>> =
            fields.iter().filter(|field| field.said.contains(unit)).collect();
        let found = if of_unit.is_empty() { Vec::new() } else { found(question, unit, &of_unit) };
        for (name, value) in matched(question, &of_unit, found) {
            values.insert(name.to_owned(), value);
        }
    }
    values.into()
}

/// A value to be found.
struct Field<'a> {
    name: &'a str,
    said: String,
    schema: &'a Value,
    root: &'a Value,
    /// The words that stand beside it.
    cues: &'a [String],
}

/// The end of a range that a value is, by its name, or that an amount is, by what follows it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    From,
    To,
    Any,
}

/// A value in the question, with its place.
#[derive(Debug, Clone)]
struct Found {
    start: usize,
    end: usize,
    value: Value,
    side: End,
}

fn described(schema: &Value) -> &str {
    let own = schema.get("description").and_then(Value::as_str);
    own.or_else(|| schema.get("anyOf")?.get(0)?.get("description")?.as_str()).unwrap_or_default()
}

impl<'a> Field<'a> {
    fn of(name: &'a str, schema: &'a Value, root: &'a Value, aliases: &'a Aliases) -> Self {
        let cues = aliases.get(name).map(Vec::as_slice).unwrap_or_default();
        Self { name, said: described(schema).to_owned(), schema: plain(schema, root), root, cues }
    }

    fn side(&self) -> End {
        let is = |end: &str| self.name == end || self.name.ends_with(&format!("_{end}"));
        match () {
            () if is("from") || is("before") => End::From,
            () if is("to") || is("after") || is("until") => End::To,
            () => End::Any,
        }
    }

    fn is_change(&self) -> bool {
        matches!(self.name, "before" | "after")
    }

    /// A value that is no amount: one that is listed, a yes or no, a name, an address, or the question itself.
    fn plain(&self, question: &str, aliases: &Aliases) -> Value {
        let items = self.schema.get("items").map(|items| resolve_schema(items, self.root));
        let listed = ListedValue::all(items.unwrap_or(self.schema), self.root);
        if !listed.is_empty() {
            let says = |it: &&ListedValue| {
                let also = aliases.get(&it.words()).into_iter().flatten();
                question.contains(&it.words())
                    || also.into_iter().any(|alias| question.contains(alias))
            };
            let said: Vec<Value> = listed.iter().filter(says).map(|it| it.value.clone()).collect();
            return match (items, said.as_slice()) {
                (Some(_), _) => json!(said),
                (None, [only]) => only.clone(),
                // Of several, the question does not say which.
                (None, _) => Value::Null,
            };
        }
        let kind = self.schema.get("type").map(Value::to_string).unwrap_or_default();
        if kind.contains("boolean") {
            let place = self.cues.iter().find_map(|cue| Some(question.find(cue)? + cue.len()));
            let behind = place.and_then(|place| question.get(place..));
            let head: String = behind.unwrap_or_default().chars().take(6).collect();
            let is_not = ["아니", "아닌", "안 했", "안했"].iter().any(|word| head.contains(word));
            return behind.map_or(Value::Null, |_| json!(!is_not));
        }
        let text = match () {
            () if self.said.contains("그대로") => Some(question.trim().to_owned()),
            () if self.said.contains("이름") => {
                self.cues.iter().find_map(|cue| name(question, cue))
            }
            () if self.said.contains("주소") => address(question),
            () if self.said.contains("특약") => special(question),
            () => None,
        };
        text.map_or(Value::Null, Value::from)
    }
}

/// The values of this unit in the question, in their order.
fn found(question: &str, unit: &str, fields: &[&Field<'_>]) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    let mut add = |start: usize, end: usize, value: Value| {
        all.push(Found { start, end, value, side: side(question.get(end..).unwrap_or_default()) });
    };
    for figure in figures(question) {
        let at = figure.at();
        let text = question.get(at.clone()).unwrap_or_default();
        match figure {
            Figure::Date(day) if unit == "(날짜)" => {
                add(at.start, at.end, json!(day.to_string()))
            }
            Figure::Amount(amount) => match (unit, amount.unit) {
                ("(원)", AmountUnit::Won) => add(at.start, at.end, json!(text)),
                ("(원)", AmountUnit::Plain) => {
                    if let Some(words) = bare_won(question, &at, text, fields) {
                        add(at.start, at.end, json!(words));
                    }
                }
                ("(%)", AmountUnit::Percent)
                | ("(㎡)", AmountUnit::SquareMetre | AmountUnit::Pyeong) => {
                    add(at.start, at.end, json!(text))
                }
                _ => {}
            },
            _ => {}
        }
    }
    if unit == "(개월)" {
        let months = counts(question).find_map(|count| match count.unit {
            "월" => count.number.to_i128(),
            "년" => count.number.to_i128().map(|years| years * 12),
            _ => None,
        });
        // `한 달 이자` is no term of a month.
        let months = months.and_then(|months| i64::try_from(months).ok().filter(|it| *it > 1));
        if let Some(months) = months {
            add(0, 0, json!(months));
        }
    }
    let words: &[&str] = match unit {
        "(세)" => &["세", "살"],
        "(명)" => &["명", "자녀", "아이"],
        "(개)" => &["개"],
        "(일)" => &["일"],
        _ => &[],
    };
    for (start, c) in question.char_indices() {
        let rest = question.get(start..).unwrap_or_default();
        let before = question.get(..start).and_then(|it| it.chars().next_back()).unwrap_or(' ');
        let Some((number, length)) = small_number(rest, before) else { continue };
        let behind = rest.get(length..).unwrap_or_default().trim_start();
        let is_unit =
            words.iter().any(|word| behind.starts_with(word)) && !behind.starts_with("개월");
        // `아이가 셋`, `자녀 둘`: the noun stands before.
        let near: String =
            question.get(..start).unwrap_or_default().chars().rev().take(4).collect();
        let near: String = near.chars().rev().collect();
        let is_noun = unit == "(명)"
            && !c.is_ascii_digit()
            && (near.contains("자녀") || near.contains("아이"));
        // A day of every month.
        let is_day = near.contains("매월") || near.contains("매달");
        if (is_unit || is_noun) && (unit != "(일)" || is_day) {
            add(start, start + length, json!(number));
        }
    }
    all
}

/// A number from 0 to 999 that `text` begins with, and its length.
fn small_number(text: &str, before: char) -> Option<(u32, usize)> {
    const WORDS: [(&str, u32); 12] = [
        ("하나", 1),
        ("둘", 2),
        ("셋", 3),
        ("넷", 4),
        ("다섯", 5),
        ("한 ", 1),
        ("두 ", 2),
        ("세 ", 3),
        ("네 ", 4),
        ("한명", 1),
        ("두명", 2),
        ("세명", 3),
    ];
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    if !digits.is_empty() {
        let is_part = before.is_ascii_digit() || matches!(before, '.' | ',');
        let number = digits.parse().ok().filter(|number| *number < 1_000 && !is_part)?;
        return Some((number, digits.len()));
    }
    let begins = !before.is_alphanumeric();
    let word = WORDS.iter().find(|(word, _)| begins && text.starts_with(word))?;
    Some((word.1, word.0.trim_end_matches('명').len()))
}

/// A number without 원 as an amount: one with a place (`3억`), one that shares the place of the amount behind it (`3에서 3.3억`), or one
/// beside the word for an amount (`월세 50`), which people say in 만원.
fn bare_won(
    question: &str,
    at: &std::ops::Range<usize>,
    text: &str,
    fields: &[&Field<'_>],
) -> Option<String> {
    if text.contains(['억', '만']) {
        return Some(text.to_owned());
    }
    let behind = question.get(at.end..)?;
    if ["에서 ", "→", "~", "부터 "].iter().any(|word| behind.starts_with(word)) {
        let next = figures(behind).find_map(Figure::into_amount)?;
        let next = behind.get(next.at)?;
        let place = ["억", "만"].into_iter().find(|place| next.contains(place))?;
        return Some(format!("{text}{place}"));
    }
    let before = question.get(..at.start)?.trim_end();
    let is_beside = fields.iter().flat_map(|it| it.cues).any(|cue| {
        let bare = before.strip_suffix(['을', '를', '은', '는']).unwrap_or(before);
        before.ends_with(cue.as_str()) || bare.ends_with(cue.as_str())
    });
    let is_counted = behind.starts_with(|c: char| c.is_alphanumeric())
        && !["에", "으로", "을", "를", "이", "인", "만 ", "받"]
            .iter()
            .any(|word| behind.starts_with(word));
    let is_large = text.contains('천') || text.len() > 1;
    (is_beside && is_large && !is_counted).then(|| format!("{text}만원"))
}

/// The end of a range that an amount is, by what stands behind it.
fn side(behind: &str) -> End {
    let behind = behind.trim_start();
    let is = |words: &[&str]| words.iter().any(|word| behind.starts_with(word));
    match () {
        () if is(&["에서", "부터", "이상", "초과", "→", "~", "넘"]) => End::From,
        () if is(&[
            "으로", "로 ", "까지", "이하", "이내", "미만", "안 ", "안에", "밑", "아래", "사이",
        ]) =>
        {
            End::To
        }
        () => End::Any,
    }
}

/// Which field each of `found` is for: by the nearest of its words, nearest first.
fn matched<'f>(
    question: &str,
    fields: &[&'f Field<'_>],
    found: Vec<Found>,
) -> Vec<(&'f str, Value)> {
    let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
    let mut cues = fields.iter().flat_map(|field| field.cues);
    let is_unsaid = cues.all(|cue| !question.contains(cue.as_str()));
    for (place, it) in found.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|before| found.get(before));
        // `3억에서 3.3억으로`: the second has the words of the first.
        let joins = before.is_some_and(|before| {
            let between = question.get(before.end..it.start).unwrap_or_default();
            before.side == End::From && between.chars().count() < 6
                || it.side == End::To && between.chars().count() < 4
        });
        let first = if joins { place.saturating_sub(2) } else { place.saturating_sub(1) };
        let begin =
            found.get(first).filter(|_| place > 0 && (!joins || place > 1)).map_or(0, |it| it.end);
        let end = found.get(place + 1).map_or(question.len(), |next| next.start);
        let side = match (it.side, before) {
            (End::Any, Some(before)) if joins && before.side == End::From => End::To,
            (side, _) => side,
        };
        for (number, field) in fields.iter().enumerate() {
            let penalty = match (field.side(), side) {
                (End::Any, _) | (End::From, End::From) | (End::To, End::To) => 0,
                (End::From, End::Any) if field.name.ends_with("before") => 40,
                // Who wants three of them is served by more.
                (End::From, End::Any) if fields.len() == 1 => 0,
                (End::To, End::Any) => 60,
                _ => continue,
            };
            let distance = match field.cues {
                // Without words, it is what it is by its unit alone.
                [] if fields.len() == 1 || field.side() != End::Any => Some(200),
                // What rises from one amount to another needs no words.
                _ if is_unsaid && found.len() == 2 && field.is_change() => Some(200),
                cues => cues.iter().filter_map(|cue| near(question, cue, begin, end, it)).min(),
            };
            pairs.extend(distance.map(|distance| (distance + penalty, place, number)));
        }
    }
    pairs.sort_unstable();
    let (mut used, mut given) = (Vec::new(), Vec::new());
    let mut values = Vec::new();
    for (_, place, number) in pairs {
        if used.contains(&place) || given.contains(&number) {
            continue;
        }
        if let (Some(it), Some(field)) = (found.get(place), fields.get(number)) {
            used.push(place);
            given.push(number);
            values.push((field.name, it.value.clone()));
        }
    }
    values
}

/// How far `cue` is from a value, between two places; behind it counts as a little farther.
fn near(question: &str, cue: &str, begin: usize, end: usize, it: &Found) -> Option<usize> {
    let before = question
        .get(begin..it.start)
        .and_then(|text| Some(text.len() - text.rfind(cue)? - cue.len()));
    let behind = question.get(it.end..end).and_then(|text| Some(text.find(cue)? + 30));
    before.into_iter().chain(behind).min()
}

/// The commonest surnames.
const SURNAMES: &str =
    "김이박최정강조윤장임한오서신권황안송류유홍전고문양손배백허남노하곽성차주우구민진지엄";

/// The name of a person behind `cue`.
fn name(question: &str, cue: &str) -> Option<String> {
    question.match_indices(cue).find_map(|(at, _)| {
        let rest = question.get(at + cue.len()..)?;
        let rest = [" 이름은 ", "은 ", "는 ", ": ", ":", " "]
            .iter()
            .find_map(|it| rest.strip_prefix(it))?;
        let word: String = rest.chars().take_while(|c| ('가'..='힣').contains(c)).take(8).collect();
        let ends = ["입니다", "이고", "이며", "이에요", "예요", "이야", "씨", "님", "야", "고"];
        let bare =
            ends.iter().find_map(|end| word.strip_suffix(end)).filter(|it| it.chars().count() > 1);
        let name = bare.unwrap_or(&word);
        let is_name =
            name.starts_with(|c| SURNAMES.contains(c)) && (2..=4).contains(&name.chars().count());
        is_name.then(|| name.to_owned())
    })
}

/// The address in a text: words from a province to a number.
fn address(question: &str) -> Option<String> {
    const PROVINCES: [&str; 17] = [
        "서울", "부산", "대구", "인천", "광주", "대전", "울산", "세종", "경기", "강원", "충청",
        "충북", "충남", "전라", "경상", "제주", "전북",
    ];
    const ENDS: [char; 13] =
        ['시', '도', '군', '구', '읍', '면', '동', '리', '로', '길', '호', '층', '지'];
    let words: Vec<&str> = question.split_whitespace().collect();
    let first = words.iter().position(|word| PROVINCES.iter().any(|it| word.starts_with(it)))?;
    let mut pieces: Vec<&str> = Vec::new();
    for word in words.get(first..)?.iter().take(8) {
        let bare = word.trim_end_matches([',', '.']);
        let cut =
            ["입니다", "에서", "을", "를", "에", "의"].iter().find_map(|it| bare.strip_suffix(it));
        let is_piece = |word: &str| {
            word.ends_with(ENDS) || word.chars().all(|c| c.is_ascii_digit() || c == '-')
        };
        match cut.filter(|cut| is_piece(cut)) {
            Some(cut) => {
                pieces.push(cut);
                break;
            }
            None if pieces.is_empty() || is_piece(bare) => pieces.push(bare),
            None => break,
        }
        if bare.len() < word.len() {
            break;
        }
    }
    let has_number = pieces.iter().any(|piece| piece.contains(|c: char| c.is_ascii_digit()));
    (pieces.len() > 2 && has_number).then(|| pieces.join(" "))
}

/// What stands behind `특약:` in its line.
fn special(question: &str) -> Option<String> {
    let (_, rest) = question.split_once("특약")?;
    let rest = rest.trim_start_matches("사항").trim_start().strip_prefix([':', '：'])?;
    rest.lines().next().map(str::trim).filter(|rest| !rest.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::fill;
    use crate::offline::prompt::{Aliases, aliases};

    const CUES: &str = "before: 보증금, 전세금\nafter: 보증금, 전세금\nrent: 월세\nbudget: 예산\nmarried: 결혼\ntenant: 임차인\n전세: 전새";

    #[test]
    fn values_are_what_the_question_says() {
        let known: Aliases = aliases(CUES)
            .map(|(name, words)| (name.to_owned(), words.into_iter().map(str::to_owned).collect()))
            .collect();
        let text = |said: &str| json!({"type": ["string", "number", "null"], "description": said});
        let schema = json!({"type": "object", "properties": {
            "before": text("전의 보증금(원)"), "after": text("뒤의 보증금(원)"), "rent": text("월세(원)"),
            "budget": text("예산(원)"), "rate": text("이율(%)"), "area": text("면적(㎡)"),
            "months": {"type": ["integer", "null"], "description": "기간(개월)"},
            "age": {"type": ["integer", "null"], "description": "나이(세)"},
            "day": text("잔금일(날짜)"),
            "deal": {"type": ["string", "null"], "enum": ["전세", "월세", null], "description": "거래"},
            "married": {"type": ["boolean", "null"], "description": "혼인했는지"},
            "tenant": text("임차인의 이름"), "address": text("집의 주소"),
        }});
        for (question, want) in [
            (
                "전세금을 3에서 3.3억으로",
                json!({"before": "3억", "after": "3.3억", "deal": "전세"}),
            ),
            (
                "보증금 1000에 월세 50",
                json!({"before": "1000만원", "rent": "50만원", "deal": "월세"}),
            ),
            ("예산은 4억이야.", json!({"budget": "4억"})),
            ("연 3.6%로 25년, 25평", json!({"rate": "3.6%", "months": 300, "area": "25평"})),
            ("28살이고 결혼했어요", json!({"age": 28, "married": true})),
            ("2026년 3월 2일 잔금", json!({"day": "2026-03-02"})),
            ("임차인은 이영희입니다", json!({"tenant": "이영희"})),
            (
                "서울 마포구 월드컵로 12 101동 1203호를 빌립니다",
                json!({"address": "서울 마포구 월드컵로 12 101동 1203호"}),
            ),
            ("임차인은 누가 하나요", json!({})),
            ("전세와 월세 중에 뭐가 나을까요?", json!({})),
        ] {
            let Value::Object(mut filled) = fill(&schema, &schema, question, &known) else {
                panic!()
            };
            filled.retain(|_, value| !value.is_null());
            assert_eq!(Value::Object(filled), want, "{question}");
        }
    }
}
