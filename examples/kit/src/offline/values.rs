//! What a question says for the parameters of a tool or of a form: by what their schemas say that they are.
//!
//! What an amount is of, its description says in brackets: `(원)`, `(%)`, `(㎡)`, `(개월)`, `(세)`, `(명)`, `(개)`, `(날짜)`, `(일)`. Which of
//! several is meant, the words beside it say: those that the program knows for the parameter's name.

use std::ops::Range;

use hanok_figures::{AmountUnit, Figure, counts, figures};
use hanok_tools::time_zone_in;
use serde_json::{Map, Value, json};

use crate::offline::{
    choose::{cue, expression, has, has_any},
    dates::{self, Now, When},
    listed::{Aliases, Kind, Listed, Parameter},
    tables,
    words::{Held, Word, content, is_asking, is_hangul, words},
};

/// What an amount is of, and the words of that in a question.
const UNITS: [(&str, &[&str]); 9] = [
    ("(원)", &[]),
    ("(%)", &[]),
    ("(㎡)", &[]),
    ("(날짜)", &[]),
    ("(개월)", &["개월", "년", "달"]),
    ("(세)", &["세", "살"]),
    ("(명)", &["명"]),
    ("(개)", &["개"]),
    ("(일)", &["일"]),
];

/// Whether some of `parameters` say what they are of.
pub(crate) fn is_measured(parameters: &[Parameter]) -> bool {
    let is_of = |it: &Parameter| UNITS.iter().any(|(unit, _)| it.description.contains(unit));
    parameters.iter().any(is_of)
}

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
    let mut values = Map::new();
    for (unit, words) in UNITS {
        let of_unit = tool.parameters.iter().filter(|it| it.description.contains(unit));
        asked.amounts(unit, words, &of_unit.collect::<Vec<_>>(), &mut values);
    }
    for it in &tool.parameters {
        let is_amount = UNITS.iter().any(|(unit, _)| it.description.contains(unit));
        if let Some(value) = (!is_amount).then(|| asked.value(it)).flatten() {
            values.insert(it.name.clone(), value);
        }
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

/// A value in a text: where it begins and ends.
#[derive(Debug, Clone)]
struct Found {
    start: usize,
    end: usize,
    value: Value,
}

impl Asked<'_> {
    /// The words that stand beside a value of this name.
    fn cues(&self, it: &Parameter) -> &[String] {
        self.aliases.get(&it.name).map(Vec::as_slice).unwrap_or_default()
    }

    fn value(&self, it: &Parameter) -> Option<Value> {
        let name = it.name.to_lowercase();
        match it.kind {
            _ if !it.values.is_empty() => self.listed(it),
            Kind::Moment => self.moment(&name).map(Value::from),
            Kind::Whole | Kind::Number if name.ends_with("minutes") => {
                self.when.minutes.map(Value::from)
            }
            Kind::Whole | Kind::Number => self.number(it),
            Kind::Truth => match self.cues(it) {
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
            () if it.description.contains("이름") && !self.cues(it).is_empty() => {
                let behind = self
                    .cues(it)
                    .iter()
                    .find_map(|cue| Some(self.text.split_once(cue.as_str())?.1));
                first_person(behind?)
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

    /// Puts the amounts of `unit` in the question to the parameters whose words stand nearest, nearest first.
    fn amounts(
        &self,
        unit: &str,
        words: &[&str],
        of: &[&Parameter],
        values: &mut Map<String, Value>,
    ) {
        if of.is_empty() {
            return;
        }
        let (text, found) = (self.text.as_str(), self.found(unit, words, of));
        let cues = of.iter().flat_map(|it| self.cues(it));
        let is_unsaid = cues.into_iter().all(|cue| !text.contains(cue.as_str()));
        let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
        for (place, it) in found.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|before| found.get(before));
            let between =
                before.and_then(|before| text.get(before.end..it.start)).unwrap_or_default();
            // `3억에서 3.3억으로`: the second has the words of the first.
            let own = side(text.get(it.end..).unwrap_or_default());
            let begins = before.is_some_and(|before| {
                side(text.get(before.end..).unwrap_or_default()) == End::From
            });
            let joins =
                before.is_some() && between.chars().count() < 6 && (begins || own == End::To);
            let side = if joins && begins && own == End::Any { End::To } else { own };
            let skipped = place.checked_sub(if joins { 2 } else { 1 });
            let begin = skipped.and_then(|at| found.get(at)).map_or(0, |it| it.end);
            let end = found.get(place + 1).map_or(text.len(), |next| next.start);
            for (number, parameter) in of.iter().enumerate() {
                let penalty = match (End::of(&parameter.name), side) {
                    (End::Any, _) | (End::From, End::From) | (End::To, End::To) => 0,
                    (End::From, End::Any) if parameter.name.ends_with("before") => 40,
                    // Who wants three of them is served by more.
                    (End::From, End::Any) if of.len() == 1 => 0,
                    (End::To, End::Any) => 60,
                    _ => continue,
                };
                let is_change = matches!(parameter.name.as_str(), "before" | "after");
                let distance = match self.cues(parameter) {
                    // Without words, it is what it is by its unit alone.
                    [] if of.len() == 1 || End::of(&parameter.name) != End::Any => Some(200),
                    // What rises from one amount to another needs no words.
                    _ if is_unsaid && found.len() == 2 && is_change => Some(200),
                    cues => cues.iter().filter_map(|cue| near(text, cue, begin, end, it)).min(),
                };
                pairs.extend(distance.map(|distance| (distance + penalty, place, number)));
            }
        }
        pairs.sort_unstable();
        let mut used = Vec::new();
        for (_, place, number) in pairs {
            let (Some(it), Some(parameter)) = (found.get(place), of.get(number)) else { continue };
            if !used.contains(&place) && !values.contains_key(&parameter.name) {
                used.push(place);
                values.insert(parameter.name.clone(), it.value.clone());
            }
        }
    }

    /// The amounts of this unit in the question, in their order.
    fn found(&self, unit: &str, words: &[&str], of: &[&Parameter]) -> Vec<Found> {
        let text = self.text.as_str();
        if words.is_empty() {
            let found = figures(text).filter_map(|figure| {
                let at = figure.at();
                let written = text.get(at.clone())?;
                let value = match figure {
                    Figure::Date(day) if unit == "(날짜)" => day.to_string(),
                    Figure::Amount(amount) => match (unit, amount.unit) {
                        ("(원)", AmountUnit::Won)
                        | ("(%)", AmountUnit::Percent)
                        | ("(㎡)", AmountUnit::SquareMetre | AmountUnit::Pyeong) => {
                            written.to_owned()
                        }
                        ("(원)", AmountUnit::Plain) => self.bare_won(&at, written, of)?,
                        _ => return None,
                    },
                    _ => return None,
                };
                Some(Found { start: at.start, end: at.end, value: value.into() })
            });
            return found.collect();
        }
        if unit == "(개월)" {
            let months = counts(text).find_map(|count| match count.unit {
                "월" => count.number.to_i128(),
                "년" => count.number.to_i128().map(|years| years * 12),
                _ => None,
            });
            // `한 달 이자` is no term of a month.
            let months = months.and_then(|months| i64::try_from(months).ok().filter(|it| *it > 1));
            return months
                .map(|months| Found { start: 0, end: 0, value: months.into() })
                .into_iter()
                .collect();
        }
        let found = numbers(text).into_iter().filter_map(|(number, Range { start, end })| {
            let behind = text.get(end..)?.trim_start();
            let is_unit =
                words.iter().any(|word| behind.starts_with(word)) && !behind.starts_with("개월");
            let before = text.get(..start)?;
            // A day of every month.
            let is_day = before.contains("매월") || before.contains("매달");
            let number = number.to_string().parse::<u32>().ok().filter(|it| *it < 1_000)?;
            let fits = is_unit && (unit != "(일)" || is_day);
            fits.then(|| Found { start, end, value: number.into() })
        });
        found.collect()
    }

    /// A number without 원 as an amount: one with a place (`3억`), one that shares the place of the amount behind it (`3에서 3.3억`), or one
    /// beside the word for an amount (`월세 50`), which people say in 만원.
    fn bare_won(&self, at: &Range<usize>, written: &str, of: &[&Parameter]) -> Option<String> {
        if written.contains(['억', '만']) {
            return Some(written.to_owned());
        }
        let behind = self.text.get(at.end..)?;
        if ["에서 ", "→", "~", "부터 "].iter().any(|word| behind.starts_with(word)) {
            let next = figures(behind).find_map(Figure::into_amount)?;
            let next = behind.get(next.at)?;
            let place = ["억", "만"].into_iter().find(|place| next.contains(place))?;
            return Some(format!("{written}{place}"));
        }
        let before = self.text.get(..at.start)?.trim_end();
        let bare = before.strip_suffix(['을', '를', '은', '는']).unwrap_or(before);
        let mut cues = of.iter().flat_map(|it| self.cues(it));
        let is_beside =
            cues.any(|cue| bare.ends_with(cue.as_str()) || before.ends_with(cue.as_str()));
        let joined = ["에", "으로", "을", "를", "이", "인", "만 ", "받"];
        let is_counted = behind.starts_with(char::is_alphanumeric)
            && !joined.iter().any(|word| behind.starts_with(word));
        (is_beside && written.len() > 1 && !is_counted).then(|| format!("{written}만원"))
    }
}

/// The end of a range that a value is, by its name, or that an amount is, by what follows it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    From,
    To,
    Any,
}

impl End {
    fn of(name: &str) -> Self {
        match name.rsplit('_').next() {
            Some("from" | "before") => Self::From,
            Some("to" | "after" | "until") => Self::To,
            _ => Self::Any,
        }
    }
}

/// The end of a range that an amount is, by what stands behind it.
fn side(behind: &str) -> End {
    let is = |words: &[&str]| words.iter().any(|word| behind.trim_start().starts_with(word));
    match () {
        () if is(&tables::FROM) => End::From,
        () if is(&tables::TO) => End::To,
        () => End::Any,
    }
}

/// How far `cue` is from a value, between two places; behind it counts as a little farther.
fn near(text: &str, cue: &str, begin: usize, end: usize, it: &Found) -> Option<usize> {
    let before =
        text.get(begin..it.start).and_then(|text| Some(text.len() - text.rfind(cue)? - cue.len()));
    let behind = text.get(it.end..end).and_then(|text| Some(text.find(cue)? + 30));
    before.into_iter().chain(behind).min()
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

/// The numbers of a text, in figures or as a word before a unit, each with where it stands.
fn numbers(text: &str) -> Vec<(f64, Range<usize>)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let before = text.get(..at).unwrap_or_default();
        let is_start = !before.ends_with(|c: char| c.is_alphanumeric() || c == '.');
        let is_of = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        let digits = rest.split(|c: char| !is_of(c)).next().unwrap_or_default();
        let digits = digits.trim_end_matches(['.', ',']);
        let number = digits.replace(',', "").parse::<f64>().ok();
        let minus = before.strip_suffix(['-', '−']);
        let is_minus = minus.is_some_and(|it| it.is_empty() || it.ends_with(char::is_whitespace));
        let numeral = || {
            tables::NUMERALS.iter().find_map(|item| {
                let (word, number) = item.split_once('=')?;
                (is_start && rest.starts_with(word)).then_some(())?;
                Some((number.parse().ok()?, word.trim_end().len()))
            })
        };
        let from = minus.filter(|_| is_minus).map_or(at, str::len);
        let number =
            number.map(|it| (if is_minus { -it } else { it }, digits.len())).or_else(numeral);
        let length =
            number.map_or_else(|| rest.chars().next().map_or(1, char::len_utf8), |it| it.1);
        found.extend(number.map(|(number, _)| (number, from..at + length)));
        at += length;
    }
    found
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

/// The name of a person in a question: three syllables that begin with a surname, or two words with a capital that do not begin it.
pub(crate) fn person(question: &str) -> Option<String> {
    let is_cue = |word: &str| {
        let lists = [&tables::CONTACT, &tables::MEMBERS, &tables::NO_NAMES, &tables::TITLES];
        lists.iter().any(|list| list.iter().any(|it| word.contains(it) || it.contains(word)))
    };
    let korean = words(question).into_iter().filter(|word| !is_asking(word)).map(|word| word.stem);
    let korean = korean.map(|word| word.trim_end_matches(['님', '씨']).to_owned()).find(|word| {
        let is_long = tables::LONG_FAMILIES.iter().any(|family| word.starts_with(family));
        let is_name =
            is_surname(word) && word.chars().count() == 3 || is_long && word.chars().count() == 4;
        is_name && word.chars().all(is_hangul) && !is_cue(word)
    });
    let bare = |word: &str| {
        word.trim_end_matches("'s").trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
    };
    let is_capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().is_some_and(|c| c.is_ascii_uppercase())
            && word.len() > 1
            && letters.all(|c| c.is_ascii_lowercase())
    };
    let latin: Vec<_> = question.split_whitespace().skip(1).map(bare).collect();
    let pair = latin.windows(2).find(|pair| pair.iter().all(|word| is_capital(word)));
    korean.or_else(|| pair.map(|pair| pair.join(" ")))
}

fn is_surname(word: &str) -> bool {
    word.chars().next().is_some_and(|c| tables::FAMILIES.iter().any(|all| all.contains(c)))
}

/// The name that a text begins with, behind a word for whose it is.
fn first_person(text: &str) -> Option<String> {
    let rests = [" 이름은 ", "은 ", "는 ", ": ", ":", " "];
    let rest = rests.iter().find_map(|it| text.strip_prefix(it))?;
    let word: String = rest.chars().take_while(|c| is_hangul(*c)).take(8).collect();
    let ends = ["입니다", "이고", "이며", "이에요", "예요", "이야", "씨", "님", "야", "고"];
    let bare =
        ends.iter().find_map(|end| word.strip_suffix(end)).filter(|it| it.chars().count() > 1);
    let name = bare.unwrap_or(&word);
    (is_surname(name) && (2..=4).contains(&name.chars().count())).then(|| name.to_owned())
}

/// The first word that names a team: 디자인팀.
pub(crate) fn team(question: &str) -> Option<String> {
    let mut stems = words(question).into_iter().map(|word| word.stem);
    stems.find(|stem| stem.chars().count() >= 3 && (stem.ends_with('팀') || stem.ends_with("본부")))
}

/// The address in a text: words from a province to a number.
fn address(text: &str) -> Option<String> {
    let is_province = |word: &&str| tables::PROVINCES.iter().any(|it| word.starts_with(it));
    let words = text.split_whitespace().skip_while(|word| !is_province(word)).take(8);
    let is_piece = |word: &str| {
        word.ends_with([
            '시', '도', '군', '구', '읍', '면', '동', '리', '로', '길', '호', '층', '지',
        ]) || word.chars().all(|c| c.is_ascii_digit() || c == '-')
    };
    let mut pieces: Vec<&str> = Vec::new();
    for word in words {
        let bare = word.trim_end_matches([',', '.']);
        let ends = ["입니다", "에서", "을", "를", "에", "의"];
        let cut = ends.iter().find_map(|it| bare.strip_suffix(it)).filter(|cut| is_piece(cut));
        let piece = cut.or(Some(bare).filter(|bare| pieces.is_empty() || is_piece(bare)));
        pieces.extend(piece);
        if cut.is_some() || piece.is_none() || bare.len() < word.len() {
            break;
        }
    }
    let has_number = pieces.iter().any(|piece| piece.contains(|c: char| c.is_ascii_digit()));
    (pieces.len() > 2 && has_number).then(|| pieces.join(" "))
}

/// What stands behind `특약:` in its line.
fn special(text: &str) -> Option<String> {
    let rest = text.split_once("특약")?.1.trim_start_matches("사항").trim_start();
    let line = rest.strip_prefix([':', '：'])?.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
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

    #[test]
    fn names_are_told_from_words_that_begin_like_them() {
        for (question, want) in [
            ("김하늘 연차 며칠 남았어?", Some("김하늘")),
            ("이도윤의 내선번호", Some("이도윤")),
            ("남궁민서가 어느 팀이야", Some("남궁민서")),
            ("박서연한테 전화하려면?", Some("박서연")),
            ("how many days does Haneul Kim have left?", Some("Haneul Kim")),
            ("배우자 출산하면 며칠 쉬나요", None),
            ("노트북을 잃어버렸어요", None),
            ("연차는 며칠 전에 신청해야 돼?", None),
            ("123 * 456은?", None),
            ("회의실 빈 곳", None),
            ("복지포인트 안 쓰면 어떻게 돼?", None),
            ("내 차로 가면 유류비 주나요", None),
        ] {
            assert_eq!(person(question).as_deref(), want, "{question}");
        }
    }
}
