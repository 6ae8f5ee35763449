//! The route in a routing model's reply.

use hanok_model::DataMark;
use hanok_parse::{ErrorKind, Expected, Format, ParseError, Parser, restore};
use serde::Deserialize;

/// One delegation of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delegation {
    pub(crate) agent: String,
    pub(crate) task: Option<String>,
}

/// The route that a reply asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Route {
    /// Hand the turn to an agent, or to several; there is one at least.
    Delegate {
        to: Vec<Delegation>,
        reason: Option<String>,
        /// The faults of what was meant as a delegation beside them.
        wrong: Vec<ParseError>,
    },
    /// The turn is over.
    Final(String),
    /// Words, and neither a delegation nor an answer.
    Undecided(String),
    /// Something that was meant as a delegation and cannot be one.
    Wrong(ParseError),
    /// A call that names an agent that is not there.
    NoAgent(String),
    /// A call of another tool than the one that delegates.
    OtherTool(String),
    /// A call that delegates, and whose arguments say what they have to say in another way.
    Unfit(String),
    /// A delegation whose label lacks the conversation's key.
    Unkeyed,
    /// Nothing.
    Empty,
}

/// The parser of labels that carry `key`. A delegation by a plain one is none, nor is one in another form.
pub(crate) fn keyed(plain: &Parser, key: &str) -> Parser {
    plain.clone().format(Format::Supervisor).keyed(key)
}

/// Reads `text` by the [`keyed`] labels, and tells where only `plain` ones delegate.
pub(crate) fn read_keyed(keyed: &Parser, plain: &Parser, text: &str) -> Route {
    match read_route(keyed, text) {
        route @ (Route::Undecided(_) | Route::Empty) => match read_route(plain, text) {
            Route::Delegate { .. } => Route::Unkeyed,
            _ => route,
        },
        route => route,
    }
}

/// Reads `text`. A delegation without a task is one: the agent has the user's messages.
pub(crate) fn read_route(parser: &Parser, text: &str) -> Route {
    #[derive(Deserialize)]
    struct Delegated {
        task: String,
    }

    let read = parser.parse(text);
    if let Some(answer) = read.answer {
        return match restored(answer) {
            answer if answer.is_empty() => Route::Empty,
            answer => Route::Final(answer),
        };
    }
    let reason = Some(read.content).filter(|said| !said.is_empty()).or(read.thought);
    if !read.calls.is_empty() {
        let to = read.calls.into_iter().map(|call| {
            let task =
                call.arguments.decode().map(|Delegated { task }| restore(task.trim()).into_owned());
            Delegation { agent: call.name, task: task.ok().filter(|task| !task.is_empty()) }
        });
        let mut wrong: Vec<_> = read.rejected.into_iter().map(|rejected| rejected.error).collect();
        wrong.extend(read.error.filter(|error| !wrong.contains(error)));
        return Route::Delegate { to: to.collect(), reason, wrong };
    }
    match (read.error, reason) {
        (Some(error), reason) => match without_task(parser, &error) {
            Some(agent) => {
                let to = vec![Delegation { agent, task: None }];
                Route::Delegate { to, reason, wrong: Vec::new() }
            }
            None => Route::Wrong(error),
        },
        (None, said) => match said.map(restored).filter(|said| !said.is_empty()) {
            Some(said) => Route::Undecided(said),
            None => Route::Empty,
        },
    }
}

/// `text` without data marks, the words of others in it as they were.
pub(crate) fn restored(text: String) -> String {
    restore(&DataMark::unmarked(text)).into_owned()
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
    use hanok_parse::{Declared, ErrorKind, Format, Parser};

    use super::{Delegation, Route, read_route};

    /// A weak model copies the marks out of its prompt.
    #[test]
    fn marks_of_data_are_no_part_of_an_answer() {
        let parser = Parser::new(Declared::new().agent("rag_agent")).asked([Format::Supervisor]);
        let marked =
            |text: &str| format!("<data-00000000000000ff>\n{text}\n</data-00000000000000ff>");
        for (text, want) in [
            (format!("Final Answer: {}", marked("15 days")), Route::Final("15 days".into())),
            (marked("15 days"), Route::Undecided("15 days".into())),
            ("<data-00000000000000ff>".into(), Route::Empty),
            ("Final Answer: <data-00000000000000ff>".into(), Route::Empty),
        ] {
            assert_eq!(read_route(&parser, &text), want, "{text}");
        }
    }

    #[test]
    fn a_reply_is_one_route() {
        let parser = Parser::new(Declared::new().agent("rag_agent").agent("법무 검토"))
            .asked([Format::Supervisor, Format::JsonAction]);
        let to = |agent: &str, task: Option<&str>| Delegation {
            agent: agent.into(),
            task: task.map(Into::into),
        };
        let delegate = |to: Vec<Delegation>, reason: Option<&str>| Route::Delegate {
            to,
            reason: reason.map(Into::into),
            wrong: Vec::new(),
        };
        for (text, want) in [
            (
                "문서를 봐야 합니다.\n\nDelegate: rag_agent\nTask: 휴가 규정 찾기",
                delegate(
                    vec![to("rag_agent", Some("휴가 규정 찾기"))],
                    Some("문서를 봐야 합니다."),
                ),
            ),
            (
                "Delegate: `법무 검토`\nTask: 특약",
                delegate(vec![to("법무 검토", Some("특약"))], None),
            ),
            ("Delegate: rag_agent", delegate(vec![to("rag_agent", None)], None)),
            ("Delegate: rag_agent\nTask:\n", delegate(vec![to("rag_agent", None)], None)),
            (
                "Delegate: rag_agent\nTask: a\nDelegate: 법무 검토\nTask: b",
                delegate(vec![to("rag_agent", Some("a")), to("법무 검토", Some("b"))], None),
            ),
            ("Final Answer: 15일\n\n- 3년부터 20일", Route::Final("15일\n\n- 3년부터 20일".into())),
            (
                "Delegate: rag_agent\nTask: a\nFinal Answer: 99일",
                delegate(vec![to("rag_agent", Some("a"))], None),
            ),
            ("안녕하세요!", Route::Undecided("안녕하세요!".into())),
            ("<think>rag_agent?</think>", Route::Empty),
        ] {
            assert_eq!(read_route(&parser, text), want, "{text:?}");
        }
        let Route::Delegate { to, wrong, .. } =
            read_route(&parser, "Delegate: hr_agent\nTask: a\nDelegate: rag_agent\nTask: b")
        else {
            panic!("no delegation")
        };
        assert_eq!((to.len(), wrong.len()), (1, 1));
        for (text, want) in [
            ("Delegate: hr_agent\nTask: a", ErrorKind::UnknownAgent),
            ("Delegate: rag_ag", ErrorKind::Truncated),
            ("Action: search\nAction Input: {}", ErrorKind::UnknownTool),
            ("Final Answer:", ErrorKind::Truncated),
        ] {
            let Route::Wrong(error) = read_route(&parser, text) else { panic!("{text:?}") };
            assert_eq!(error.kind, want, "{text:?}");
        }
    }
}
