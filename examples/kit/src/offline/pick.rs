//! Which tool is called, and with what.

use hanok_tools::time_zone_in;
use serde_json::{Map, Number, Value};

use crate::offline::{
    arithmetic,
    dates::Now,
    fitting,
    intent::{self, Intent, has},
    people,
    prompt::{Kind, Listed, Parameter},
    tables,
    typed::{self, Asked},
    words::{self, Held, Word, content},
};

/// A call to be made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
}

/// Why no call is made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NoCall {
    /// No tool is for this.
    NoTool,
    /// The question does not say what the tool needs.
    Missing { tool: String, parameter: String },
}

/// The call that fits the question best; of any tool where a call is `forced` whatever it is for.
pub(crate) fn call(
    question: &str,
    tools: &[Listed],
    forced: bool,
    now: Option<&Now>,
) -> Result<Wanted, NoCall> {
    let (intent, asked) = (Intent::of(question), content(question));
    let score = |tool: &Listed| {
        let is_asked_for = fitting::cue_in(question, &tool.aliases).is_some();
        intent::fit(intent, &asked, &tool.said()) + if is_asked_for { ASKED_FOR } else { 0.0 }
    };
    let mut scored: Vec<(f32, &Listed)> = tools.iter().map(|tool| (score(tool), tool)).collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let mut missing = None;
    for (score, tool) in scored {
        match arguments(question, &asked, tool, now) {
            Ok(arguments) if forced || is_for(tool, intent, score) => {
                return Ok(Wanted { tool: tool.name.clone(), arguments });
            }
            Ok(_) => {}
            Err(parameter) if forced || is_for(tool, intent, score) => {
                let lacking = NoCall::Missing { tool: tool.name.clone(), parameter };
                missing.get_or_insert(lacking);
            }
            Err(_) => {}
        }
    }
    Err(missing.unwrap_or(NoCall::NoTool))
}

/// What it counts for that a question asks for a tool in the words by which that is asked for: more than any likeness.
const ASKED_FOR: f32 = 10.0;

/// A calculator does not search, and a clock answers nothing but what time it is.
fn is_for(tool: &Listed, intent: Intent, score: f32) -> bool {
    let said = tool.said();
    let narrow = [intent::Kind::Arithmetic, intent::Kind::Clock];
    let others = [intent::Kind::People, intent::Kind::Rooms, intent::Kind::Documents];
    let only_narrow = narrow.iter().any(|kind| kind.in_text(&said) > 0.0)
        && others.iter().all(|kind| kind.in_text(&said) == 0.0);
    if only_narrow {
        return narrow.iter().any(|kind| kind.in_text(&said) > 0.0 && intent.weight(*kind) > 0.0);
    }
    // What searches can be asked anything.
    score > 0.0
        || tool
            .parameters
            .iter()
            .any(|parameter| parameter.required && parameter.kind == Kind::Text)
}

/// The arguments of `tool` out of the question, or the one that is not in it.
fn arguments(
    question: &str,
    words: &[Word],
    tool: &Listed,
    now: Option<&Now>,
) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    let asked = Asked::of(question, tool, now);
    for parameter in &tool.parameters {
        let typed = typed::value(&asked, parameter);
        match typed.unwrap_or_else(|| value(asked.text(), words, tool, parameter)) {
            Some(value) => {
                arguments.insert(parameter.name.clone(), value);
            }
            None if parameter.required => return Err(parameter.name.clone()),
            None => {}
        }
    }
    Ok(arguments)
}

fn value(question: &str, asked: &[Word], tool: &Listed, parameter: &Parameter) -> Option<Value> {
    match parameter.kind {
        Kind::Text => text(question, asked, tool, parameter).map(Value::String),
        Kind::Whole | Kind::Number => number(question, parameter).map(Value::Number),
        Kind::Truth => parameter.required.then_some(Value::Bool(true)),
        Kind::Moment | Kind::Other => None,
    }
}

fn text(question: &str, asked: &[Word], tool: &Listed, parameter: &Parameter) -> Option<String> {
    if !parameter.values.is_empty() {
        let lower = question.to_lowercase();
        let named = parameter.values.iter().find(|it| lower.contains(&it.value.to_lowercase()));
        let named = named.or(parameter.values.first().filter(|_| parameter.required));
        return named.map(|it| it.value.clone());
    }
    let is = |words: &[&str]| {
        let said = format!("{} {}", parameter.name, parameter.description).to_lowercase();
        words.iter().any(|word| has(&said.replace('_', " "), word))
    };
    let names = |words: &[&str]| {
        words.iter().any(|word| has(&parameter.name.to_lowercase().replace('_', " "), word))
    };
    if names(&["expression", "expr", "formula", "수식"]) {
        return arithmetic::expression(question);
    }
    if names(&["zone", "timezone", "tz", "시간대"]) {
        let zone = time_zone_in(question);
        return if parameter.required {
            zone.or_else(|| Some("Asia/Seoul".to_owned()))
        } else {
            zone
        };
    }
    let is_name = names(&["name", "person", "employee"]) || is(&["이름", "employee"]);
    if parameter.required && is_name {
        let name = people::named(question).map(|named| named.name);
        return name.or_else(|| people::team(question)).or_else(|| subject(asked, tool));
    }
    if !parameter.required {
        return mentioned(asked, parameter);
    }
    query(question, asked)
}

/// The words of the question, for a search. Without any, all of it.
fn query(question: &str, asked: &[Word]) -> Option<String> {
    let words: Vec<&str> = asked
        .iter()
        .map(|word| if word.text.is_ascii() { word.text.as_str() } else { word.stem.as_str() })
        .collect();
    let query = if words.is_empty() { question.trim().to_owned() } else { words.join(" ") };
    (!query.is_empty()).then_some(query)
}

/// The same search for less: the words with a particle, which are what the question is about, or else the longest.
pub(crate) fn broader(wanted: &Wanted, question: &str) -> Option<Wanted> {
    let asked = content(question);
    let whole = query(question, &asked)?;
    let (name, _) = wanted.arguments.iter().find(|(_, value)| value.as_str() == Some(&whole))?;
    let nouns: Vec<Word> = asked.iter().filter(|word| is_marked(word)).cloned().collect();
    let longest = asked.iter().max_by_key(|word| word.stem.chars().count()).cloned();
    let fewer = if nouns.is_empty() || nouns.len() == asked.len() {
        longest.into_iter().collect()
    } else {
        nouns
    };
    let less = query(question, &fewer).filter(|less| *less != whole)?;
    let mut arguments = wanted.arguments.clone();
    arguments.insert(name.clone(), Value::String(less));
    Some(Wanted { tool: wanted.tool.clone(), arguments })
}

/// Whether a particle is joined to a word.
fn is_marked(word: &Word) -> bool {
    let joined = word.text.to_lowercase();
    joined.strip_prefix(&word.stem).is_some_and(|end| tables::PARTICLES.contains(&end))
}

/// The first word of the question that the tool does not speak of itself and that is no verb: whom it is asked about.
fn subject(asked: &[Word], tool: &Listed) -> Option<String> {
    let known = Held::of(&tool.said());
    let is_verb = |word: &Word| {
        word.text.ends_with(['어', '아', '나', '요', '까', '니', '지', '죠', '해', '는', '은'])
    };
    let about = |word: &&Word| known.share(word) < 0.5 && (is_marked(word) || !is_verb(word));
    asked.iter().find(about).map(|word| word.stem.clone())
}

/// A word of the question that the argument's description lists behind a colon.
fn mentioned(asked: &[Word], parameter: &Parameter) -> Option<String> {
    let (_, listed) = parameter.description.rsplit_once(':')?;
    let listed = words::words(listed);
    let mut named = asked.iter().filter(|word| listed.iter().any(|known| known.stem == word.stem));
    named.next().map(|word| word.stem.clone())
}

/// A number of the question: one of people for a number of seats, else the first.
fn number(question: &str, parameter: &Parameter) -> Option<Number> {
    let found: Vec<(String, String)> = words::words(question)
        .into_iter()
        .filter_map(|word| {
            let digits: String =
                word.text.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            let unit = word.text.get(digits.len()..)?.to_owned();
            (!digits.is_empty()).then_some((digits, unit))
        })
        .collect();
    let people =
        |unit: &str| ["명", "인", "석", "사람", "자리"].iter().any(|word| unit.starts_with(word));
    let (digits, _) = found
        .iter()
        .find(|(_, unit)| people(unit))
        .or_else(|| found.first().filter(|(_, unit)| parameter.required || unit.is_empty()))?;
    match parameter.kind {
        Kind::Whole => digits.parse::<u32>().ok().map(Number::from),
        _ => digits.parse::<f64>().ok().and_then(Number::from_f64),
    }
}

/// The same call with what an error proposes instead: `did you mean …?` and a name in backticks behind it.
pub(crate) fn corrected(wanted: &Wanted, error: &str) -> Option<Wanted> {
    let lower = error.to_ascii_lowercase();
    let at = ["did you mean", "혹시", "비슷한"].iter().find_map(|words| lower.find(words))?;
    let proposed = error.get(at..)?.split('`').nth(1).filter(|name| !name.is_empty())?;
    let mut arguments = wanted.arguments.clone();
    let wrong = arguments.iter_mut().find(|(_, value)| {
        value
            .as_str()
            .is_some_and(|value| error.get(..at).is_some_and(|before| before.contains(value)))
    });
    let (_, value) = wrong?;
    *value = Value::String(proposed.to_owned());
    Some(Wanted { tool: wanted.tool.clone(), arguments })
}
