//! What a question says for the parameters of a tool, by their kinds: moments, values of a list, the number that stands with one, and
//! words.

use serde_json::{Number, Value};

use crate::offline::{
    dates::{self, Now, When},
    fitting,
    intent::has,
    prompt::{Kind, Listed, Parameter},
    tables,
    words::{content, is_hangul},
};

/// A question, read for one tool.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    /// The question without its days and times, where the tool takes such.
    text: String,
    when: When,
    now: Option<&'a Now>,
    tool: &'a Listed,
}

impl<'a> Asked<'a> {
    pub(crate) fn of(question: &str, tool: &'a Listed, now: Option<&'a Now>) -> Self {
        // What made a request clear says what it is about.
        let more = tables::MORE.iter().find_map(|label| Some(question.rsplit_once(label)?.1));
        let question = more.unwrap_or(question).trim();
        let is_dated = tool.parameters.iter().any(|it| it.kind == Kind::Moment);
        let when = now.filter(|_| is_dated).map(|now| dates::read(question, now));
        let text = when.as_ref().map_or(question, |when| &when.rest).to_owned();
        Self { text, when: when.unwrap_or_default(), now, tool }
    }

    /// The question without its days and times.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The moment that `parameter` is: the beginning or the end of the days, where the tool takes both, or else the time.
    pub(crate) fn moment(&self, parameter: &Parameter) -> Option<String> {
        let now = self.now?;
        let is_one_of = |names: &[&str]| names.contains(&parameter.name.as_str());
        let has = |name: &str| self.tool.parameters.iter().any(|it| it.name == name);
        match (is_one_of(&["from", "since"]), is_one_of(&["to", "until"])) {
            (true, _) if has("to") || has("until") => Some(self.when.span(now)?.0),
            (_, true) => Some(self.when.span(now)?.1),
            _ => self.when.moment(now),
        }
    }

    /// How long something lasts.
    pub(crate) fn minutes(&self) -> Option<Number> {
        self.when.minutes.map(Number::from)
    }

    /// The value of a list that the question names. Of several parameters with the same list, the first has that with the number, or else
    /// the one that is named first.
    pub(crate) fn listed(&self, parameter: &Parameter) -> Option<String> {
        let quantities = self.quantities(parameter);
        let mut named = mentions(&self.text.to_lowercase(), parameter);
        if let [(_, first)] = *quantities {
            named.sort_by_key(|mention| mention.at != first);
        }
        named.dedup_by_key(|mention| mention.value);
        let same = self.tool.parameters.iter().filter(|it| it.values == parameter.values);
        let at = same.into_iter().position(|it| it.name == parameter.name)?;
        named.get(at).and_then(|it| Some(parameter.values.get(it.value)?.value.clone()))
    }

    /// The number that stands with a value of a list, and whether the tool has such; none where several do, of which none is the number.
    pub(crate) fn quantity(&self) -> Option<Option<Number>> {
        let same = |it: &&Parameter| {
            let others = self.tool.parameters.iter().filter(|other| other.values == it.values);
            !it.values.is_empty() && others.count() > 1
        };
        let of = self.tool.parameters.iter().find(same)?;
        let quantities = self.quantities(of);
        let [(number, _)] = *quantities else { return Some(None) };
        Some(Number::from_f64(number))
    }

    /// The numbers that stand with a value of `parameter`, each with the place of that: directly before it, or else behind it.
    fn quantities(&self, parameter: &Parameter) -> Vec<(f64, usize)> {
        let text = self.text.to_lowercase();
        let named = mentions(&text, parameter);
        let mut found: Vec<(f64, usize)> = Vec::new();
        let numbers = numbers(&text);
        for (number, from, to) in &numbers {
            let behind = named.iter().find(|it| it.at == *to || it.at == to + 1);
            let before = || named.iter().find(|it| it.end == *from || it.end + 1 == *from);
            let with = behind.or_else(before).filter(|it| found.iter().all(|(_, at)| *at != it.at));
            found.extend(with.map(|it| (*number, it.at)));
        }
        let counted = named.iter().filter_map(|it| {
            let word = text.get(..it.at)?.split_whitespace().next_back()?;
            let number = NUMERALS.iter().find(|(name, _)| *name == word)?.1;
            Some((number, it.at))
        });
        let counted: Vec<_> =
            counted.filter(|it| found.iter().all(|(_, at)| *at != it.1)).collect();
        found.extend(counted);
        found
    }

    /// What is left of the question without the words by which the tool is asked for: in Korean what stands before them, in English what
    /// stands behind, or else the other.
    pub(crate) fn words(&self, parameter: &Parameter) -> Option<String> {
        let name = parameter.name.to_lowercase();
        let is_search = ["query", "search", "keyword"].iter().any(|word| has(&name, word));
        if let Some(quoted) = quoted(&self.text) {
            return Some(quoted.to_owned());
        }
        let words: Vec<&str> = self.text.split_whitespace().collect();
        let cue = fitting::cue_in(&self.text, &self.tool.aliases);
        let (before, behind) = match &cue {
            Some(at) => {
                let (first, last) = (at.first().copied()?, at.last().copied()?);
                let between = words.iter().enumerate().take(last).skip(first);
                let between =
                    between.filter(|(place, _)| !at.contains(place)).map(|(_, word)| *word);
                let before: Vec<_> = words.iter().take(first).copied().chain(between).collect();
                (before, words.get(last + 1..).unwrap_or_default().to_vec())
            }
            None => (words.clone(), Vec::new()),
        };
        let is_korean = self.text.contains(is_hangul);
        // `메모해 줘: 우유 사기`
        let behind: Vec<_> =
            behind.into_iter().skip_while(|word| is_korean && asks(word)).collect();
        let (mut before, mut behind) = (bare(&before), bare(&behind));
        if let Some(last) = before.last_mut().filter(|_| cue.is_some()) {
            *last = unmarked(last);
        }
        if !is_korean {
            std::mem::swap(&mut before, &mut behind);
        }
        let left = if before.is_empty() { behind } else { before }.join(" ");
        let left =
            left.trim_matches(|c: char| c.is_whitespace() || ".,:;?!".contains(c)).to_owned();
        if is_search {
            let stems = content(&left).into_iter();
            let stems = stems.map(|it| if it.text.is_ascii() { it.text } else { it.stem });
            return Some(stems.collect::<Vec<_>>().join(" ")).filter(|query| !query.is_empty());
        }
        let of_cue = || {
            let at = cue.filter(|at| parameter.required && is_korean && at.len() > 1)?;
            words.get(at.first().copied()?).map(|word| unmarked(word).to_owned())
        };
        Some(left).filter(|left| !left.is_empty()).or_else(of_cue)
    }
}

/// Numbers that are words before a unit.
const NUMERALS: [(&str, f64); 10] = [
    ("한", 1.0),
    ("두", 2.0),
    ("세", 3.0),
    ("네", 4.0),
    ("다섯", 5.0),
    ("여섯", 6.0),
    ("일곱", 7.0),
    ("여덟", 8.0),
    ("아홉", 9.0),
    ("열", 10.0),
];

/// A value of a list in a text: where its name begins and ends, and its place in the list.
#[derive(Debug, Clone, Copy)]
struct Mention {
    at: usize,
    end: usize,
    value: usize,
}

/// The values of `parameter` that a text names, in the order in which they stand there; of two names that begin alike the longer one.
fn mentions(text: &str, parameter: &Parameter) -> Vec<Mention> {
    let names = parameter.values.iter().enumerate();
    let names = names.flat_map(|(value, it)| it.names.iter().map(move |name| (value, name)));
    // `in` is a word first, and an inch then.
    let names: Vec<_> =
        names.filter(|(_, name)| !tables::ASKING.contains(&name.as_str())).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let begins = |name: &str| rest.starts_with(name) && is_whole(text, at, name);
        let longest = names.iter().filter(|(_, name)| begins(name)).max_by_key(|(_, it)| it.len());
        at += match longest {
            Some((value, name)) => {
                found.push(Mention { at, end: at + name.len(), value: *value });
                name.len()
            }
            None => rest.chars().next().map_or(1, char::len_utf8),
        };
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

/// The numbers of a text, each with where it begins and ends.
fn numbers(text: &str) -> Vec<(f64, usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(begin) = text.get(at..).and_then(|rest| rest.find(|c: char| c.is_ascii_digit()))
    {
        let begin = at + begin;
        let rest = text.get(begin..).unwrap_or_default();
        let is_of = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        let digits = rest.split(|c: char| !is_of(c)).next().unwrap_or_default();
        let digits = digits.trim_end_matches(['.', ',']);
        let end = begin + digits.len();
        let before = text.get(..begin).unwrap_or_default();
        let minus = before.strip_suffix(['-', '−']);
        let minus =
            minus.filter(|before| before.is_empty() || before.ends_with(char::is_whitespace));
        let from = minus.map_or(begin, str::len);
        if let Ok(value) = digits.replace(',', "").parse::<f64>() {
            found.push((if minus.is_some() { -value } else { value }, from, end));
        }
        at = end.max(begin + 1);
    }
    found
}

/// What stands between quotation marks.
fn quoted(text: &str) -> Option<&str> {
    let marks = [('"', '"'), ('“', '”'), ('‘', '’'), ('「', '」')];
    marks.iter().find_map(|(open, close)| {
        let (_, after) = text.split_once(*open)?;
        let (inside, _) = after.split_once(*close)?;
        Some(inside.trim()).filter(|inside| !inside.is_empty())
    })
}

/// The words without those of asking at their ends.
fn bare<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let is_little = |word: &str| tables::LITTLE.contains(&plain(word).as_str());
    let mut words = words;
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
    let joined = ["이라고", "라고", "을", "를"];
    let rests = joined.iter().filter_map(|joined| word.strip_suffix(joined));
    rests.filter(|rest| rest.chars().count() >= 2).min_by_key(|rest| rest.len()).unwrap_or(word)
}

/// The value that `parameter` of a tool is, by what its schema says it is; `None` where that is not of a kind that is read here.
pub(crate) fn value(asked: &Asked<'_>, parameter: &Parameter) -> Option<Option<Value>> {
    let name = parameter.name.to_lowercase();
    match parameter.kind {
        Kind::Moment => Some(asked.moment(parameter).map(Value::String)),
        Kind::Whole | Kind::Number if name.ends_with("minutes") => {
            Some(asked.minutes().map(Value::Number))
        }
        Kind::Number => Some(asked.quantity()?.map(Value::Number)),
        Kind::Text if !parameter.values.is_empty() => match asked.listed(parameter) {
            Some(value) => Some(Some(Value::String(value))),
            // A list that two parameters have in common has no first value to fall back on.
            None => asked.quantity().map(|_| None),
        },
        Kind::Text if !asked.tool.aliases.is_empty() => {
            Some(asked.words(parameter).map(Value::String))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::offline::{pick, prompt};

    const THURSDAY: &str = "지금: 2026-11-26T10:00+09:00, 목요일, Asia/Seoul";

    fn tool(name: &str, schema: &Value, aliases: &[&str]) -> Listed {
        let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
        let parameters = prompt::of_schema(schema);
        Listed { name: name.to_owned(), description: String::new(), aliases, parameters }
    }

    /// The arguments that a question says for `tool`, or the one that it does not say.
    fn said(question: &str, tool: &Listed) -> Result<Value, String> {
        let (now, tools) = (Now::of(THURSDAY), std::slice::from_ref(tool));
        match pick::call(question, tools, true, now.as_ref()) {
            Ok(wanted) => Ok(Value::Object(wanted.arguments)),
            Err(pick::NoCall::Missing { parameter, .. }) => Err(parameter),
            Err(pick::NoCall::NoTool) => panic!("{question}"),
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
}
