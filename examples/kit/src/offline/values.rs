//! What a question says for the parameters of a tool or of a form: by what their schemas say that they are.

use std::ops::Range;

use hanok_tools::time_zone_in;
use serde_json::{Map, Value, json};

use crate::offline::{
    amounts::{amounts, is_amount, numbers},
    choose::{cue, expression, has, has_any},
    dates::{self, Now, When},
    listed::{Aliases, Kind, Listed, Parameter},
    names::{address, named_first, person, special, team},
    tables,
    words::{Held, Word, content, is_hangul, words},
};

/// The values of a tool's parameters that a question says, as far as it does.
pub(crate) fn values(
    question: &str,
    tool: &Listed,
    now: Option<&Now>,
    aliases: &Aliases,
) -> Map<String, Value> {
    // What made a request clear says what it is about.
    let more = tables::MORE.iter().find_map(|label| Some(question.rsplit_once(label)?.1));
    let question = more.unwrap_or(question).trim();
    let is_dated = tool.parameters.iter().any(|it| it.kind == Kind::Moment);
    let when = now.filter(|_| is_dated).map(|now| dates::read(question, now));
    let text = when.as_ref().map_or(question, |when| &when.rest).to_owned();
    let asked = Asked { text, when: when.unwrap_or_default(), now, tool, aliases };
    let mut values = amounts(&asked.text, &tool.parameters, aliases);
    for it in tool.parameters.iter().filter(|it| !is_amount(it)) {
        values.extend(asked.value(it).map(|value| (it.name.clone(), value)));
    }
    values
}

/// A question, read for one tool.
struct Asked<'a> {
    /// The question without its days and times, where the tool takes such.
    text: String,
    when: When,
    now: Option<&'a Now>,
    tool: &'a Listed,
    aliases: &'a Aliases,
}

impl Asked<'_> {
    fn value(&self, it: &Parameter) -> Option<Value> {
        let name = it.name.to_lowercase();
        match it.kind {
            _ if !it.values.is_empty() => self.listed(it),
            Kind::Moment => self.moment(&name).map(Value::from),
            Kind::Whole | Kind::Number if name.ends_with("minutes") => {
                self.when.minutes.map(Value::from)
            }
            Kind::Whole | Kind::Number => self.number(it),
            Kind::Truth => match it.cues(self.aliases) {
                [] => it.required.then_some(Value::Bool(true)),
                cues => cues.iter().find_map(|cue| self.text.split_once(cue.as_str())).map(
                    |(_, behind)| {
                        let head: String = behind.chars().take(6).collect();
                        let is_not = ["아니", "아닌", "안 했", "안했"]
                            .iter()
                            .any(|word| head.contains(word));
                        Value::Bool(!is_not)
                    },
                ),
            },
            Kind::Text => self.text(it, &name).map(Value::from),
            Kind::Other => None,
        }
    }

    /// The moment: the beginning or the end of the days, where the tool takes both, or else the time.
    fn moment(&self, name: &str) -> Option<String> {
        let now = self.now?;
        let ends = ["to", "until"];
        let is_span = self.tool.parameters.iter().any(|it| ends.contains(&it.name.as_str()));
        match name {
            _ if ends.contains(&name) => Some(self.when.span(now)?.1),
            "from" | "since" if is_span => Some(self.when.span(now)?.0),
            _ => self.when.moment(now),
        }
    }

    /// The values of a list that the question names, by their own names or by those that the program knows. Of several parameters with the
    /// same list, the first has that which stands behind the number, and the next the other.
    fn listed(&self, it: &Parameter) -> Option<Value> {
        let lower = self.text.to_lowercase();
        let mut named = mentions(&lower, it, self.aliases);
        let same: Vec<_> =
            self.tool.parameters.iter().filter(|other| other.values == it.values).collect();
        if let [(_, number)] = numbers(&lower).as_slice() {
            let is_behind = |at: &Range<usize>| (number.end..number.end + 2).contains(&at.start);
            let is_before = |at: &Range<usize>| (at.end..at.end + 2).contains(&number.start);
            let is_beside = |(at, _): &(Range<usize>, usize)| is_behind(at) || is_before(at);
            // Directly behind it comes first: `섭씨 30도를 화씨로`, `10 km를 마일로`.
            named.sort_by_key(|it| (!is_behind(&it.0), !is_beside(it)));
        }
        let mut values: Vec<&str> = Vec::new();
        for (_, place) in named {
            let value = it.values.get(place).map(|(value, _)| value.as_str());
            values.extend(value.filter(|value| !values.contains(value)));
        }
        if it.is_list {
            return (!values.is_empty()).then(|| json!(values));
        }
        let at = same.iter().position(|other| other.name == it.name)?;
        // Of more than there are places for, the question does not say which.
        (values.len() <= same.len()).then(|| values.get(at).map(|value| json!(value))).flatten()
    }

    /// The number of the question: one of people for a number of seats, or else the only one.
    fn number(&self, it: &Parameter) -> Option<Value> {
        let lower = self.text.to_lowercase();
        let numbers = numbers(&lower);
        let behind = |end: usize| lower.get(end..).unwrap_or_default().trim_start();
        let is_of_people = |(_, at): &&(f64, Range<usize>)| {
            ["명", "인", "석", "사람", "자리"].iter().any(|word| behind(at.end).starts_with(word))
        };
        let of_people = numbers.iter().find(is_of_people).filter(|_| it.kind == Kind::Whole);
        let only = || match *numbers.as_slice() {
            [ref only] if it.required || !behind(only.1.end).starts_with(char::is_alphanumeric) => {
                Some(only)
            }
            _ => None,
        };
        let (number, _) = of_people.or_else(only)?;
        match it.kind {
            Kind::Whole => number.to_string().parse::<u32>().ok().map(Value::from),
            _ => Some(json!(number)),
        }
    }

    fn text(&self, it: &Parameter, name: &str) -> Option<String> {
        let said = format!("{name} {}", it.description).to_lowercase().replace('_', " ");
        let is = |words: &[&str]| has_any(&name.replace('_', " "), words);
        let asked = content(&self.text);
        match () {
            () if it.description.contains("그대로") => Some(self.text.clone()),
            () if it.description.contains("주소") => address(&self.text),
            () if it.description.contains("특약") => special(&self.text),
            () if is(&["expression", "expr", "formula", "수식"]) => expression(&self.text),
            () if is(&["zone", "timezone", "tz", "시간대"]) => {
                time_zone_in(&self.text).or_else(|| it.required.then(|| "Asia/Seoul".to_owned()))
            }
            () if it.description.contains("이름") && !it.cues(self.aliases).is_empty() => {
                let behind = it
                    .cues(self.aliases)
                    .iter()
                    .find_map(|cue| Some(self.text.split_once(cue.as_str())?.1));
                named_first(behind?)
            }
            () if it.required && (is(&["name", "person", "employee"]) || has(&said, "이름")) => {
                let known = Held::of(&self.tool.said());
                let other =
                    || asked.iter().find(|word| known.share(word) < 0.5).map(|it| it.stem.clone());
                person(&self.text).or_else(|| team(&self.text)).or_else(other)
            }
            () if !self.tool.aliases.is_empty() => self.words(it, &asked),
            () if !it.required => {
                // A word that the description lists behind a colon.
                let (_, listed) = it.description.rsplit_once(':')?;
                let listed = words(listed);
                let is_listed = |word: &&Word| listed.iter().any(|known| known.stem == word.stem);
                asked.iter().find(is_listed).map(|word| word.stem.clone())
            }
            () => query(&self.text, &asked),
        }
    }

    /// What is left of the question without the words by which the tool is asked for: in Korean what stands before them, in English what
    /// stands behind, or else the other. A search is for the words of that.
    fn words(&self, it: &Parameter, asked: &[Word]) -> Option<String> {
        if let Some(quoted) = quoted(&self.text) {
            return Some(quoted.to_owned());
        }
        let words: Vec<&str> = self.text.split_whitespace().collect();
        let cue = cue(&self.text, &self.tool.aliases).unwrap_or_default();
        let first = cue.first().copied().unwrap_or(words.len());
        let last = cue.last().map_or(words.len(), |last| last + 1);
        let is_of_cue = |at: &usize| cue.contains(at);
        let before = words.iter().enumerate().take(last).filter(|(at, _)| !is_of_cue(at));
        let before: Vec<_> = before.map(|(_, word)| *word).collect();
        let behind: Vec<_> = words.get(last..).unwrap_or_default().to_vec();
        let is_korean = self.text.contains(is_hangul);
        let behind =
            behind.into_iter().skip_while(|word| is_korean && asks(word)).collect::<Vec<_>>();
        let (mut before, mut behind) = (bare(&before), bare(&behind));
        if let Some(last) = before.last_mut().filter(|_| !cue.is_empty()) {
            *last = unmarked(last);
        }
        if !is_korean {
            std::mem::swap(&mut before, &mut behind);
        }
        let left = if before.is_empty() { behind } else { before }.join(" ");
        let left =
            left.trim_matches(|c: char| c.is_whitespace() || ".,:;?!".contains(c)).to_owned();
        let is_search =
            ["query", "search", "keyword"].iter().any(|word| has(&it.name.to_lowercase(), word));
        if is_search {
            let of_left: Vec<_> =
                asked.iter().filter(|word| left.contains(&word.text)).cloned().collect();
            return query("", &of_left);
        }
        // `회의 잡아 줘` is about the words of asking themselves.
        let of_cue = || {
            let is_about = it.required && is_korean && cue.len() > 1;
            is_about.then(|| words.get(first).map(|word| unmarked(word).to_owned())).flatten()
        };
        Some(left).filter(|left| !left.is_empty()).or_else(of_cue)
    }
}

/// The values of `parameter` that a text in lower case names, each with where it stands and its place in the list; of two names that begin alike
/// the longer one.
fn mentions(text: &str, parameter: &Parameter, aliases: &Aliases) -> Vec<(Range<usize>, usize)> {
    let mut names: Vec<(usize, &str)> = Vec::new();
    for (place, (value, called)) in parameter.values.iter().enumerate() {
        let known = aliases.get(value).into_iter().flatten();
        // `in` is a word first, and an inch then.
        let all = called.iter().chain(known).map(String::as_str);
        names.extend(all.filter(|name| !tables::ASKING.contains(name)).map(|name| (place, name)));
    }
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let begins = |name: &str| rest.starts_with(name) && is_whole(text, at, name);
        let longest = names.iter().filter(|(_, name)| begins(name)).max_by_key(|(_, it)| it.len());
        found.extend(longest.map(|(place, name)| (at..at + name.len(), *place)));
        at += longest
            .map_or_else(|| rest.chars().next().map_or(1, char::len_utf8), |(_, name)| name.len());
    }
    found
}

/// Whether a name stands for itself: in Latin letters as a whole word, in Korean at the beginning of one or behind a number.
fn is_whole(text: &str, at: usize, name: &str) -> bool {
    let before = text.get(..at).and_then(|text| text.chars().next_back());
    let after = text.get(at + name.len()..).and_then(|text| text.chars().next());
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphabetic());
    match name.is_ascii() {
        true => !is_letter(before) && !is_letter(after),
        false => !before.is_some_and(is_hangul),
    }
}

/// What stands between quotation marks.
fn quoted(text: &str) -> Option<&str> {
    let marks = [('"', '"'), ('“', '”'), ('‘', '’'), ('「', '」')];
    marks.iter().find_map(|(open, close)| {
        let (inside, _) = text.split_once(*open)?.1.split_once(*close)?;
        Some(inside.trim()).filter(|inside| !inside.is_empty())
    })
}

/// The words without those of asking at their ends.
fn bare<'w>(mut words: &[&'w str]) -> Vec<&'w str> {
    let is_little = |word: &str| tables::LITTLE.contains(&plain(word).as_str());
    while let [first, rest @ ..] = words
        && is_little(first)
    {
        words = rest;
    }
    while let [rest @ .., last] = words
        && (is_little(last) || asks(last))
    {
        words = rest;
    }
    words.to_vec()
}

/// A word without its marks.
fn plain(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// Whether a word only asks for something to be done.
fn asks(word: &str) -> bool {
    tables::REQUESTS.iter().any(|begin| plain(word).starts_with(begin))
}

/// A word without what joins it to the verb behind it.
fn unmarked(word: &str) -> &str {
    let rests =
        ["이라고", "라고", "을", "를"].iter().filter_map(|joined| word.strip_suffix(joined));
    rests.filter(|rest| rest.chars().count() >= 2).min_by_key(|rest| rest.len()).unwrap_or(word)
}

/// The words of a question, for a search. Without any, all of it.
pub(crate) fn query(question: &str, asked: &[Word]) -> Option<String> {
    let word =
        |word: &Word| if word.text.is_ascii() { word.text.clone() } else { word.stem.clone() };
    let words: Vec<_> = asked.iter().map(word).collect();
    let query = if words.is_empty() { question.trim().to_owned() } else { words.join(" ") };
    (!query.is_empty()).then_some(query)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::offline::listed::{aliases, parameters};

    const THURSDAY: &str = "지금: 2026-11-26T10:00+09:00, 목요일, Asia/Seoul";

    fn tool(name: &str, schema: &Value, aliases: &[&str]) -> Listed {
        let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
        let parameters = parameters(schema, schema);
        Listed { name: name.to_owned(), description: String::new(), aliases, parameters }
    }

    /// The arguments that a question says for `tool`, or the one that it does not say.
    fn said(question: &str, tool: &Listed) -> Result<Value, String> {
        let said = values(question, tool, Now::of(THURSDAY).as_ref(), &Aliases::new());
        let lacks = |it: &&Parameter| it.required && !said.contains_key(&it.name);
        match tool.parameters.iter().find(lacks) {
            None => Ok(Value::Object(said)),
            Some(it) => Err(it.name.clone()),
        }
    }

    #[test]
    fn words_are_what_is_left_without_those_of_asking() {
        let schema = json!({"required": ["text"], "properties": {"text": {"type": "string"}}});
        let aliases = ["메모해", "적어", "메모 추가", "add a note", "note that"];
        let note = tool("note", &schema, &aliases);
        for (question, want) in [
            ("우유 사기 적어줘", Ok("우유 사기")),
            ("우유 사기 좀 메모해 줘.", Ok("우유 사기")),
            ("빵 사기를 메모해 줘", Ok("빵 사기")),
            ("그거 해 줘 추가 정보: 빵 사기를 메모해 줘", Ok("빵 사기")),
            ("세탁소에서 코트 찾기 메모 추가해 줘", Ok("세탁소에서 코트 찾기")),
            ("\"현관 비밀번호 바꾸기\"라고 적어 줘", Ok("현관 비밀번호 바꾸기")),
            ("가을 메모해 줘", Ok("가을")),
            ("메모해 줘: 우유 사기", Ok("우유 사기")),
            ("Add a note: buy stamps", Ok("buy stamps")),
            ("Note that the printer is broken", Ok("the printer is broken")),
            ("메모해 줘", Err("text")),
        ] {
            let want = want.map(|text| json!({"text": text})).map_err(str::to_owned);
            assert_eq!(said(question, &note), want, "{question}");
        }
    }

    #[test]
    fn a_search_is_for_the_words_of_what_is_looked_for() {
        let schema = json!({"properties": {"query": {"type": ["string", "null"]}}});
        let find = tool("find", &schema, &["메모 찾", "메모 목록", "메모 보여", "show notes"]);
        for (question, want) in [
            ("우유에 관한 메모 찾아 줘", json!({"query": "우유"})),
            ("show notes about the stamps", json!({"query": "stamps"})),
            ("내 메모 목록 보여 줘", json!({})),
        ] {
            assert_eq!(said(question, &find), Ok(want), "{question}");
        }
    }

    #[test]
    fn a_moment_and_how_long_are_no_words() {
        let moment = json!({"type": "string", "format": "date-time"});
        let schema = json!({"required": ["title", "starts_at"], "properties": {
            "title": {"type": "string"}, "starts_at": moment, "duration_minutes": {"type": "integer"},
        }});
        let add = tool("add", &schema, &["일정 잡", "회의 잡", "약속 잡", "schedule a"]);
        let at = |title: &str, time: &str| json!({"title": title, "starts_at": format!("2026-11-27T{time}:00+09:00")});
        for (question, want) in [
            ("내일 오후 3시에 팀 회의 일정 잡아 줘", Ok(at("팀 회의", "15:00"))),
            ("내일 저녁 7시 저녁 약속 잡아 줘", Ok(at("저녁", "19:00"))),
            ("내일 11시에 회의 잡아 줘", Ok(at("회의", "11:00"))),
            ("Schedule a dentist visit tomorrow at 9am", Ok(at("dentist visit", "09:00"))),
            ("회식 일정 잡아 줘", Err("starts_at")),
            ("금요일 회식 일정 잡아 줘", Err("starts_at")),
        ] {
            assert_eq!(said(question, &add), want.map_err(str::to_owned), "{question}");
        }
        let long = said("내일 3시에 2시간 동안 워크숍 일정 잡아 줘", &add).unwrap();
        assert_eq!((&long["title"], &long["duration_minutes"]), (&json!("워크숍"), &json!(120)));
        let list = json!({"properties": {"from": moment, "to": moment}});
        let list = tool("list", &list, &["일정 보여"]);
        let day = json!({"from": "2026-11-27T00:00:00+09:00", "to": "2026-11-28T00:00:00+09:00"});
        assert_eq!(said("내일 일정 보여 줘", &list), Ok(day));
        assert_eq!(said("일정 보여 줘", &list), Ok(json!({})));
    }

    #[test]
    fn a_number_is_of_the_unit_with_which_it_stands() {
        let units = [
            ("km", "킬로미터, kilometers"),
            ("m", "미터"),
            ("cm", "센티미터, cm"),
            ("mi", "마일, miles"),
            ("in", "인치, inches"),
            ("ft", "피트, feet"),
            ("celsius", "섭씨"),
            ("fahrenheit", "화씨"),
            ("geun", "근"),
            ("g", "그램"),
        ];
        let units = units
            .map(|(value, names)| json!({"type": "string", "const": value, "description": names}));
        let schema = json!({
            "$defs": {"Unit": {"oneOf": units}}, "required": ["from", "to", "value"],
            "properties": {
                "value": {"type": "number"},
                "from": {"$ref": "#/$defs/Unit"}, "to": {"$ref": "#/$defs/Unit"},
            },
        });
        let convert = tool("convert", &schema, &["바꿔", "몇", "in"]);
        let of = |value: f64, from: &str, to: &str| Ok((value, from.to_owned(), to.to_owned()));
        for (question, want) in [
            ("10 km를 마일로 바꿔 줘", of(10.0, "km", "mi")),
            ("몇 마일이야 10킬로미터?", of(10.0, "km", "mi")),
            ("섭씨 -40도를 화씨로 바꿔 줘", of(-40.0, "celsius", "fahrenheit")),
            ("1,500.5 feet in cm", of(1500.5, "ft", "cm")),
            ("고기 두 근은 몇 그램이야?", of(2.0, "geun", "g")),
            ("5 feet 11 inches in cm", Err("value".to_owned())),
            ("거리를 마일로 바꿔 줘", Err("from".to_owned())),
        ] {
            let read = said(question, &convert).map(|said| {
                let text = |name: &str| said[name].as_str().unwrap().to_owned();
                (said["value"].as_f64().unwrap(), text("from"), text("to"))
            });
            match (read, want) {
                (Ok(read), want) => assert_eq!(Ok(read), want, "{question}"),
                (Err(_), want) => assert!(want.is_err(), "{question}"),
            }
        }
    }

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
        let form = Listed { parameters: parameters(&schema, &schema), ..Listed::default() };
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
            let filled = values(question, &form, None, &known);
            assert_eq!(Value::Object(filled), want, "{question}");
        }
    }
}
