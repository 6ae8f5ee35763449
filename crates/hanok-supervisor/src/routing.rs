//! What a routing model's reply says.

use hanok_parse::{ErrorKind, Expected, ParseError, Parser};
use serde::Deserialize;

/// What a reply says to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Route {
    /// Hand the turn to an agent.
    Delegate {
        agent: String,
        task: Option<String>,
        reason: Option<String>,
        /// Further delegations of the same reply.
        skipped: Vec<String>,
    },
    /// The turn is over.
    Final(String),
    /// Words, and neither a delegation nor an answer.
    Undecided(String),
    /// Something that was meant as a delegation and cannot be one.
    Wrong(ParseError),
    /// Nothing.
    Empty,
}

/// Reads `text`. A delegation without a task is one: the agent has the user's messages.
pub(crate) fn route(parser: &Parser, text: &str) -> Route {
    #[derive(Deserialize)]
    struct Delegated {
        task: String,
    }

    let read = parser.parse(text);
    if let Some(answer) = read.answer {
        return Route::Final(answer);
    }
    let reason = Some(read.content).filter(|said| !said.is_empty()).or(read.thought);
    let mut calls = read.calls.into_iter();
    if let Some(first) = calls.next() {
        let task = first.arguments.decode().map(|Delegated { task }| task.trim().to_owned());
        return Route::Delegate {
            agent: first.name,
            task: task.ok().filter(|task| !task.is_empty()),
            reason,
            skipped: calls.map(|call| call.name).collect(),
        };
    }
    match (read.error, reason) {
        (Some(error), reason) => match without_task(parser, &error) {
            Some(agent) => Route::Delegate { agent, task: None, reason, skipped: Vec::new() },
            None => Route::Wrong(error),
        },
        (None, Some(said)) => Route::Undecided(said),
        (None, None) => Route::Empty,
    }
}

/// The agent of a delegation that lacks only its task.
fn without_task(parser: &Parser, error: &ParseError) -> Option<String> {
    let bare = match error.kind {
        ErrorKind::MissingInput => error.expected == Expected::Task,
        // The text ends behind the name. A name that broke off is not declared.
        ErrorKind::Truncated => error.expected == Expected::Rest,
        _ => false,
    };
    let name = error.name.as_deref().filter(|_| bare)?;
    parser.declared().agents().find(|agent| *agent == name).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use hanok_parse::{Declared, ErrorKind, Parser};

    use super::{Route, route};

    #[test]
    fn a_reply_is_one_route() {
        let parser = Parser::new(Declared::new().agent("rag_agent").agent("법무 검토"));
        let to = |agent: &str, task: Option<&str>, reason: Option<&str>, skipped: &[&str]| {
            Route::Delegate {
                agent: agent.into(),
                task: task.map(Into::into),
                reason: reason.map(Into::into),
                skipped: skipped.iter().map(|name| (*name).into()).collect(),
            }
        };
        for (text, want) in [
            (
                "문서를 봐야 합니다.\n\nDelegate: rag_agent\nTask: 휴가 규정 찾기",
                to("rag_agent", Some("휴가 규정 찾기"), Some("문서를 봐야 합니다."), &[]),
            ),
            ("Delegate: `법무 검토`\nTask: 특약", to("법무 검토", Some("특약"), None, &[])),
            ("Delegate: rag_agent", to("rag_agent", None, None, &[])),
            ("Delegate: rag_agent\nTask:\n", to("rag_agent", None, None, &[])),
            (
                "Delegate: rag_agent\nTask: a\nDelegate: 법무 검토\nTask: b",
                to("rag_agent", Some("a"), None, &["법무 검토"]),
            ),
            ("Final Answer: 15일\n\n- 3년부터 20일", Route::Final("15일\n\n- 3년부터 20일".into())),
            (
                "Delegate: rag_agent\nTask: a\nFinal Answer: 99일",
                to("rag_agent", Some("a"), None, &[]),
            ),
            ("안녕하세요!", Route::Undecided("안녕하세요!".into())),
            ("<think>rag_agent?</think>", Route::Empty),
        ] {
            assert_eq!(route(&parser, text), want, "{text:?}");
        }
        for (text, want) in [
            ("Delegate: hr_agent\nTask: a", ErrorKind::UnknownAgent),
            ("Delegate: rag_ag", ErrorKind::Truncated),
            ("Action: search\nAction Input: {}", ErrorKind::UnknownTool),
            ("Final Answer:", ErrorKind::Truncated),
        ] {
            let Route::Wrong(error) = route(&parser, text) else { panic!("{text:?}") };
            assert_eq!(error.kind, want, "{text:?}");
        }
    }
}
