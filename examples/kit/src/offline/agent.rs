//! What an agent does next: a call, or an answer out of what its calls gave.

use hanok_figures::{evaluate, grouped};

use crate::offline::{
    arithmetic,
    conversation::Conversation,
    extract::{self, Found, Quote},
    intent::{Intent, Kind},
    pick::{self, NoCall, Wanted},
    prompt::Listed,
    route::{self, Route, parts},
};

/// What an agent does next.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Act {
    Call(Wanted),
    /// One finding for each question, in order.
    Answer(Vec<Finding>),
    /// Nothing has to be looked up.
    Talk(Route),
}

/// What came of one question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Finding {
    Found(Vec<Quote>),
    /// Nothing answers it; this stands nearest.
    Near {
        under: String,
        quote: Quote,
    },
    /// A tool said that there is nothing.
    Said(String),
    Nothing {
        question: String,
    },
    /// The tool failed, in its own words.
    Failed(String),
    No(NoCall),
}

/// What to do next: every question is asked of a tool, and once more where the tool proposes something else
/// or a search for all of it finds nothing.
///
/// It is decided from the beginning each time, so it depends on the messages alone.
pub(crate) fn act(conversation: &Conversation, tools: &[Listed]) -> Act {
    // Whoever has a task is not talked to.
    let is_first = conversation.observations.is_empty() && !conversation.forced;
    if !conversation.has_task
        && is_first
        && let Some(talk) = route::talk(conversation, tools)
    {
        return Act::Talk(talk);
    }
    if let Some(found) = in_data(conversation).filter(|_| is_first) {
        return Act::Answer(vec![found]);
    }
    let mut given = conversation.observations.iter();
    let mut findings = Vec::new();
    for question in parts(&conversation.question) {
        let wanted =
            match pick::call(&question, tools, conversation.forced, conversation.now.as_ref()) {
                Ok(wanted) => wanted,
                Err(no) => {
                    findings.push(Finding::No(no));
                    continue;
                }
            };
        let Some(mut text) = given.next() else { return Act::Call(wanted) };
        let failed = |text: &str| is_failure(text, &wanted.tool);
        let again = match failed(text) {
            true => pick::corrected(&wanted, text),
            false if extract::is_nothing(text) && !is_typed(&wanted, tools) => {
                pick::broader(&wanted, &question)
            }
            false => None,
        };
        if let Some(again) = again {
            let Some(second) = given.next() else { return Act::Call(again) };
            // What was asked for is said not to be there, not what was tried instead.
            if failed(text) || !(extract::is_nothing(second) || failed(second)) {
                text = second;
            }
        }
        findings.push(if failed(text) {
            Finding::Failed(text.clone())
        } else {
            finding(&question, text)
        });
    }
    // What no tool is for may still be near to what came with the question.
    let none = |finding: &Finding| matches!(finding, Finding::No(_) | Finding::Nothing { .. });
    if findings.iter().all(none) && !conversation.data.is_empty() {
        return Act::Answer(vec![finding(&conversation.question, &conversation.data)]);
    }
    Act::Answer(findings)
}

/// Whether the data that came with the question answers it.
pub(crate) fn is_answered(conversation: &Conversation) -> bool {
    let found = || finding(&conversation.question, &conversation.data);
    // Where nothing else is found by looking again, the nearest is what there is.
    !conversation.data.is_empty() && matches!(found(), Finding::Found(_) | Finding::Near { .. })
}

/// What the data that came with the question has about it, where it does not ask for what a calculator or a clock says.
fn in_data(conversation: &Conversation) -> Option<Finding> {
    let question = &conversation.question;
    let intent = Intent::of(question);
    let narrow = [Kind::Arithmetic, Kind::Clock].iter().any(|kind| intent.weight(*kind) > 2.5);
    if conversation.data.is_empty() || narrow {
        return None;
    }
    match finding(question, &conversation.data) {
        Finding::Nothing { .. } | Finding::Near { .. } | Finding::Said(_) => None,
        found => Some(found),
    }
}

/// Whether the words by which a tool is asked for are known: what is searched for is what is left of the question then, and not less.
fn is_typed(wanted: &Wanted, tools: &[Listed]) -> bool {
    tools.iter().any(|tool| tool.name == wanted.tool && !tool.aliases.is_empty())
}

/// An agent tells of a failed call by naming the tool at once.
fn is_failure(text: &str, tool: &str) -> bool {
    let begin: String = text.chars().take(100).collect();
    begin.contains(&format!("`{tool}`"))
}

fn finding(question: &str, text: &str) -> Finding {
    let is_sum = !text.contains(char::is_alphabetic) && text.contains(['=', '≈']);
    let sum = is_sum.then(|| grouped(text));
    match extract::answer(question, sum.as_deref().unwrap_or(text)) {
        Found::Answer(quotes) => Finding::Found(quotes),
        Found::Near { under, quote } => Finding::Near { under, quote },
        Found::Said(text) => Finding::Said(text),
        Found::Nothing => Finding::Nothing { question: question.to_owned() },
    }
}

/// What can be answered without tools: out of the data that the conversation has. Of several pieces that have names, each is
/// asked for itself.
pub(crate) fn alone(conversation: &Conversation) -> Vec<Finding> {
    let question = &conversation.question;
    if !conversation.results.is_empty() {
        // What teams found is an answer as it is.
        let whole = |text: &String| match extract::whole(text, MOST_OF_RESULT) {
            Found::Answer(quotes) => {
                let bare = |quote| Quote { source: None, ..quote };
                Finding::Found(quotes.into_iter().map(bare).collect())
            }
            _ => Finding::Nothing { question: question.clone() },
        };
        return conversation.results.iter().map(whole).collect();
    }
    if conversation.named.len() > 1 {
        let each = conversation.named.iter().map(|(name, text)| (name, in_piece(question, text)));
        let each: Vec<_> = each.collect();
        if each.iter().any(|(_, found)| matches!(found, Finding::Found(_))) {
            let told = each.into_iter().map(|(name, found)| {
                let mut quotes = match found {
                    Finding::Found(quotes) => quotes,
                    // Beside what answers stands what is nearest on the other side.
                    Finding::Near { quote, .. } => vec![quote],
                    _ => vec![Quote::of("맞는 내용을 찾지 못했습니다.".to_owned())],
                };
                quotes.iter_mut().take(1).for_each(|it| it.lines.insert(0, format!("{name}:")));
                Finding::Found(quotes)
            });
            return told.collect();
        }
    }
    // A sum says itself what it is.
    let sum = arithmetic::expression(question).filter(|_| !names_article(question));
    if let Some((sum, Ok(value))) = sum.map(|sum| (sum.clone(), evaluate(&sum))) {
        return vec![Finding::Found(vec![Quote::of(grouped(&format!("{sum} = {value}")))])];
    }
    if conversation.data.is_empty() {
        return vec![Finding::Nothing { question: question.clone() }];
    }
    vec![in_piece(question, &conversation.data)]
}

/// What `text` has about `question`. The one article that a question names by its number is an answer whatever it says.
fn in_piece(question: &str, text: &str) -> Finding {
    let is_named = names_article(question) && text.matches("출처:").count() == 1;
    match finding(question, text) {
        found if matches!(found, Finding::Found(_)) || !is_named => found,
        other => match extract::whole(text, MOST_OF_ARTICLE) {
            Found::Answer(quotes) => Finding::Found(quotes),
            _ => other,
        },
    }
}

fn names_article(question: &str) -> bool {
    question.contains('조') || question.to_lowercase().contains("article")
}

/// The most characters of what one team found.
const MOST_OF_RESULT: usize = 4_000;

/// The most characters of an article that is told as it is.
const MOST_OF_ARTICLE: usize = 700;
