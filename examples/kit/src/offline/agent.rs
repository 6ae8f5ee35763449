//! What an agent or a supervisor does next: a call, a delegation, or an answer out of what was found.

use hanok_figures::{evaluate, grouped};
use serde_json::{Map, Value};

use crate::offline::{
    choose::{Kind, expression, parts, ranked, scored},
    listed::{self, Listed, Parameter},
    quote::{self, Finding, Quote},
    request::Request,
    talk::{Talk, talk},
    values::{query, values},
    words::content,
};

/// What is done next.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Act {
    Call(Wanted),
    /// An agent gets a task.
    Delegate {
        agent: String,
        task: String,
    },
    /// One finding for each question, in order.
    Answer(Vec<Finding>),
    /// Nothing has to be looked up.
    Talk(Talk),
}

/// A call to be made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
}

/// What an agent with `tools` does next: every question is asked of a tool, and once more where the tool proposes something else or a
/// search for all of it finds nothing.
///
/// It is decided from the beginning each time, so it depends on the messages alone.
pub(crate) fn act(request: &Request, tools: &[Listed]) -> Act {
    // Whoever has a task is not talked to.
    let is_first = request.observations.is_empty() && !request.forced;
    if let Some(talk) = (is_first && !request.has_task).then(|| talk(request, tools)).flatten() {
        return Act::Talk(talk);
    }
    // What came with the question may answer it, where it does not ask for what a calculator or a clock says.
    let is_narrow = expression(&request.question).is_some();
    if is_first && !is_narrow && !request.data.is_empty() {
        let found = finding(&request.question, &request.data);
        if matches!(found, Finding::Found(_)) {
            return Act::Answer(vec![found]);
        }
    }
    let mut given = request.observations.iter();
    let mut findings = Vec::new();
    for question in parts(&request.question) {
        let wanted = match wanted(&question, tools, request) {
            Ok(wanted) => wanted,
            Err(finding) => {
                findings.push(finding);
                continue;
            }
        };
        let Some(mut text) = given.next() else { return Act::Call(wanted) };
        // An agent tells of a failed call by naming the tool at once.
        let has_failed = |text: &str| {
            text.chars().take(100).collect::<String>().contains(&format!("`{}`", wanted.tool))
        };
        let again = match has_failed(text) {
            true => corrected(&wanted, text),
            false if quote::is_nothing(text) => broader(&wanted, &question),
            false => None,
        };
        if let Some(again) = again {
            let Some(second) = given.next() else { return Act::Call(again) };
            // What was asked for is said not to be there, not what was tried instead.
            if has_failed(text) || !(quote::is_nothing(second) || has_failed(second)) {
                text = second;
            }
        }
        findings.push(match has_failed(text) {
            true => Finding::Said(text.clone()),
            false => finding(&question, text),
        });
    }
    // What no tool is for may still be near to what came with the question.
    let is_none = |it: &Finding| matches!(it, Finding::NoTool | Finding::Nothing { .. });
    if findings.iter().all(is_none) && !request.data.is_empty() {
        return Act::Answer(vec![finding(&request.question, &request.data)]);
    }
    Act::Answer(findings)
}

/// The call that fits the question best; of any tool where a call is forced, whatever it is for.
fn wanted(question: &str, tools: &[Listed], request: &Request) -> Result<Wanted, Finding> {
    let mut missing = None;
    for (score, tool) in scored(question, tools) {
        if !request.forced && !is_for(tool, question, score) {
            continue;
        }
        let arguments = values(question, tool, request.now.as_ref(), &request.aliases);
        let lacks = |it: &&Parameter| it.required && !arguments.contains_key(&it.name);
        match tool.parameters.iter().find(lacks) {
            None => return Ok(Wanted { tool: tool.name.clone(), arguments }),
            Some(it) => {
                let (tool, parameter) = (tool.name.clone(), it.name.clone());
                missing.get_or_insert(Finding::Missing { tool, parameter });
            }
        }
    }
    Err(missing.unwrap_or(Finding::NoTool))
}

/// Whether a tool can be asked at all: a calculator does not search, and a clock answers nothing but what time it is. What searches can be
/// asked anything.
fn is_for(tool: &Listed, question: &str, score: f32) -> bool {
    let said = tool.said();
    let narrow = [Kind::Arithmetic, Kind::Clock].into_iter().filter(|kind| kind.is_in(&said));
    let others = [Kind::People, Kind::Rooms, Kind::Documents];
    let mut narrow = narrow.peekable();
    if narrow.peek().is_some() && !others.iter().any(|kind| kind.is_in(&said)) {
        return narrow.any(|kind| kind.weight(question) > 0.0);
    }
    let is_search = |it: &Parameter| it.required && it.kind == listed::Kind::Text;
    score > 0.0 || tool.parameters.iter().any(is_search)
}

/// The same search for less: the longest word.
fn broader(wanted: &Wanted, question: &str) -> Option<Wanted> {
    let asked = content(question);
    let whole = query(question, &asked)?;
    let (name, _) = wanted.arguments.iter().find(|(_, value)| value.as_str() == Some(&whole))?;
    let longest = asked.iter().max_by_key(|word| word.stem.chars().count())?.clone();
    let less = query(question, &[longest]).filter(|less| *less != whole)?;
    let mut again = wanted.clone();
    again.arguments.insert(name.clone(), Value::String(less));
    Some(again)
}

/// The same call with what an error proposes instead: `did you mean …?` and a name in backticks behind it.
fn corrected(wanted: &Wanted, error: &str) -> Option<Wanted> {
    let lower = error.to_ascii_lowercase();
    let at = ["did you mean", "혹시", "비슷한"].iter().find_map(|words| lower.find(words))?;
    let (before, behind) = error.split_at_checked(at)?;
    let proposed = behind.split('`').nth(1).filter(|name| !name.is_empty())?;
    let mut again = wanted.clone();
    let is_wrong = |value: &&mut Value| value.as_str().is_some_and(|it| before.contains(it));
    *again.arguments.values_mut().find(is_wrong)? = Value::String(proposed.to_owned());
    Some(again)
}

/// How many agents are tried for one question.
const TRIES: usize = 2;

/// What a supervisor of `agents` does next, with what they gave so far: the questions in a message go to those that fit, best first; those
/// for one agent are one task.
pub(crate) fn route(request: &Request, agents: &[Listed]) -> Act {
    if let Some(talk) = talk(request, agents) {
        return Act::Talk(talk);
    }
    let mut tasks: Vec<(Vec<String>, String)> = Vec::new();
    for part in parts(&request.question) {
        let ranked = ranked(&part, agents);
        match tasks.iter_mut().find(|(known, _)| known.first() == ranked.first()) {
            Some((_, task)) => task.extend([" ", &part]),
            None => tasks.push((ranked, part)),
        }
    }
    let tries = if tasks.len() > 1 { 1 } else { TRIES };
    let is_empty = |text: &str| text.trim().is_empty() || quote::is_nothing(text);
    let mut found: Vec<String> = Vec::new();
    for (ranked, task) in tasks {
        let mut last = None;
        for agent in ranked.into_iter().take(tries) {
            let given = request.outputs.iter().rev().find(|(name, _)| *name == agent);
            let Some((_, text)) = given else { return Act::Delegate { agent, task } };
            match is_empty(text) {
                true => last = last.or(Some(text)),
                false => {
                    last = Some(text);
                    break;
                }
            }
        }
        found.extend(last.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()));
    }
    if found.iter().all(|text| is_empty(text)) {
        found.truncate(1);
    }
    match found.is_empty() {
        true => Act::Answer(vec![Finding::Nothing { question: String::new() }]),
        false => Act::Answer(found.into_iter().map(Finding::Said).collect()),
    }
}

/// Whether the data that came with the question answers it. Where nothing else is found by looking again, the nearest is what there is.
pub(crate) fn is_answered(request: &Request) -> bool {
    let found = || finding(&request.question, &request.data);
    !request.data.is_empty() && matches!(found(), Finding::Found(_) | Finding::Near { .. })
}

fn finding(question: &str, text: &str) -> Finding {
    let is_sum = !text.contains(char::is_alphabetic) && text.contains(['=', '≈']);
    let sum = is_sum.then(|| grouped(text));
    quote::answer(question, sum.as_deref().unwrap_or(text))
}

/// The most characters of what one team found, and of an article that is told as it is.
const MOST_OF_RESULT: usize = 4_000;
const MOST_OF_ARTICLE: usize = 700;

/// What can be answered without tools: what teams found, as it is; a sum; or out of the data that the conversation has. Of several pieces
/// that have names, each is asked for itself.
pub(crate) fn alone(request: &Request) -> Vec<Finding> {
    let question = &request.question;
    if !request.results.is_empty() {
        let results = request.results.iter().filter_map(|it| quote::whole(it, MOST_OF_RESULT));
        return results.map(|quote| Finding::Found(Quote { source: None, ..quote })).collect();
    }
    if request.named.len() > 1 {
        let each = request.named.iter().map(|(name, text)| (name, in_piece(question, text)));
        let each: Vec<_> = each.collect();
        if each.iter().any(|(_, found)| matches!(found, Finding::Found(_))) {
            let told = each.into_iter().map(|(name, found)| {
                // Beside what answers stands what is nearest on the other side.
                let mut quote = match found {
                    Finding::Found(quote) | Finding::Near { quote, .. } => quote,
                    _ => Quote {
                        lines: vec!["맞는 내용을 찾지 못했습니다.".to_owned()],
                        source: None,
                    },
                };
                quote.lines.insert(0, format!("{name}:"));
                Finding::Found(quote)
            });
            return told.collect();
        }
    }
    let sum = expression(question).filter(|_| !names_article(question));
    if let Some((sum, Ok(value))) = sum.map(|sum| (sum.clone(), evaluate(&sum))) {
        return vec![Finding::Said(grouped(&format!("{sum} = {value}")))];
    }
    match request.data.is_empty() {
        true => vec![Finding::Nothing { question: question.clone() }],
        false => vec![in_piece(question, &request.data)],
    }
}

/// What `text` has about `question`. The one article that a question names by its number is an answer whatever it says.
fn in_piece(question: &str, text: &str) -> Finding {
    let is_named = names_article(question) && text.matches("출처:").count() == 1;
    match finding(question, text) {
        found if matches!(found, Finding::Found(_)) || !is_named => found,
        other => quote::whole(text, MOST_OF_ARTICLE).map_or(other, Finding::Found),
    }
}

fn names_article(question: &str) -> bool {
    question.contains('조') || question.to_lowercase().contains("article")
}
