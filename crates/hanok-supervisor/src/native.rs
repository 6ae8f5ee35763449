//! Routing by a call of a tool, where the model's server has calls of its own.
//!
//! The model is offered one tool, `delegate`, whose agent is one of those that there are. A reply without a call is the answer, whole:
//! no label is looked for in it.

use hanok_agent::Language;
use hanok_model::{InvalidSpec, ToolSpec};
use hanok_parse::{Declared, Parser, restore};
use hanok_state::{Message, ToolCall};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::route::{Delegation, Route, restored};

/// The name of the tool.
pub(crate) const DELEGATE: &str = "delegate";

/// The tool by which the model delegates to one of `agents`.
///
/// # Errors
///
/// None that a caller could cause: its name and its form are fixed.
pub(crate) fn delegate(
    agents: &[String],
    parallel: bool,
    language: Language,
) -> Result<ToolSpec, InvalidSpec> {
    let about = match (language, parallel) {
        (Language::Korean, false) => "알맞은 에이전트 하나에게 일을 맡깁니다.",
        (Language::Korean, true) => {
            "알맞은 에이전트에게 일을 맡깁니다. 서로 기다리지 않아도 되는 일은 한 번에 여러 번 부를 수 있습니다."
        }
        (_, false) => "Delegates to the one agent that fits best.",
        (_, true) => {
            "Delegates to the agent that fits best. Tasks that do not wait for one another may be delegated at once, a call for each."
        }
    };
    let (agent, task) = match language {
        Language::Korean => {
            ("에이전트 이름", "그 에이전트가 할 일. 앞뒤 대화를 몰라도 알 수 있게 씁니다.")
        }
        _ => (
            "The agent's name",
            "What it is to do, clear to somebody who does not know the conversation",
        ),
    };
    let schema = json!({
        "type": "object",
        "properties": {
            "agent": {"type": "string", "enum": agents, "description": agent},
            "task": {"type": "string", "description": task},
        },
        "required": ["agent", "task"],
    });
    ToolSpec::new(DELEGATE, about, schema)
}

/// The parser of replies whose server may hand on a call as text: only marks of the vocabulary and tags are one.
pub(crate) fn parser(agents: &[String]) -> Parser {
    let declared = agents.iter().fold(Declared::new(), |all, agent| all.agent(agent.as_str()));
    Parser::new(declared.tool(DELEGATE)).without_labels()
}

/// What a call of the tool has to say.
#[derive(Deserialize)]
struct Delegated {
    agent: String,
    #[serde(default)]
    task: String,
}

/// Reads a reply: its calls, or those that its text holds by their marks, or else the answer.
pub(crate) fn read(parser: &Parser, reply: &Message) -> Route {
    let read = parser.parse(&reply.text());
    let said = Some(restored(read.content)).filter(|said| !said.is_empty());
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let own = reply.tool_calls().iter().map(|call: &ToolCall| {
        (call.name.clone(), call.arguments.decode::<Value>().map_err(|error| words(&error)))
    });
    let mut calls: Vec<_> = own.collect();
    if calls.is_empty() {
        let written = read.calls.into_iter();
        calls.extend(written.map(|call| {
            (call.name, call.arguments.decode::<Value>().map_err(|error| words(&error)))
        }));
    }
    if calls.is_empty() {
        return said.map_or(Route::Empty, Route::Final);
    }
    let (mut to, mut fault) = (Vec::new(), None);
    for (name, arguments) in calls {
        match delegation(parser, &name, arguments) {
            Ok(delegation) => to.push(delegation),
            Err(wrong) => fault = fault.or(Some(wrong)),
        }
    }
    match (to.is_empty(), fault) {
        (true, Some(fault)) => fault,
        _ => Route::Delegate { to, reason: said.or(read.thought), wrong: Vec::new() },
    }
}

fn delegation(
    parser: &Parser,
    name: &str,
    arguments: Result<Value, String>,
) -> Result<Delegation, Route> {
    if name != DELEGATE {
        return Err(Route::OtherTool(name.to_owned()));
    }
    let read = arguments
        .and_then(|it| serde_json::from_value::<Delegated>(it).map_err(|error| error.to_string()));
    let Delegated { agent, task } = read.map_err(Route::Unfit)?;
    let agent = restore(agent.trim()).into_owned();
    if !parser.declared().agents().any(|known| known == agent) {
        return Err(Route::NoAgent(agent));
    }
    let task = restore(task.trim()).into_owned();
    Ok(Delegation { agent, task: Some(task).filter(|task| !task.is_empty()) })
}

/// A reply as the conversation keeps it: its text, and its calls in a line each.
pub(crate) fn spoken(reply: &Message) -> String {
    let calls = reply.tool_calls().iter();
    let calls = calls.map(|call| format!("{} {}", call.name, call.arguments));
    let text = Some(reply.text().trim().to_owned()).filter(|text| !text.is_empty());
    text.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents() -> Vec<String> {
        vec!["rules".to_owned(), "법무 검토".to_owned()]
    }

    fn called(arguments: &str) -> Message {
        Message::assistant("").with_tool_calls([ToolCall::new("1", DELEGATE, arguments)])
    }

    #[test]
    fn a_reply_is_a_delegation_or_the_answer_whole() {
        let parser = parser(&agents());
        let to = |agent: &str, task: Option<&str>| Route::Delegate {
            to: vec![Delegation { agent: agent.into(), task: task.map(Into::into) }],
            reason: None,
            wrong: Vec::new(),
        };
        for (reply, want) in [
            (called(r#"{"agent": "rules", "task": "leave"}"#), to("rules", Some("leave"))),
            (called(r#"{"agent": "법무 검토"}"#), to("법무 검토", None)),
            (called(r#"{"agent": "cook", "task": "eat"}"#), Route::NoAgent("cook".into())),
            (
                Message::assistant("").with_tool_calls([ToolCall::new("1", "search", "{}")]),
                Route::OtherTool("search".into()),
            ),
            // Labels are words, and so is what looks like another form without a mark.
            (
                Message::assistant("Delegate: rules\nTask: leave"),
                Route::Final("Delegate: rules\nTask: leave".into()),
            ),
            (
                Message::assistant("메모했습니다.\n\n결과: 저장"),
                Route::Final("메모했습니다.\n\n결과: 저장".into()),
            ),
            // A server without a template hands on what its model writes.
            (
                Message::assistant(
                    "<tool_call>{\"name\": \"delegate\", \"arguments\": {\"agent\": \"rules\", \"task\": \"leave\"}}</tool_call>",
                ),
                to("rules", Some("leave")),
            ),
            (Message::assistant(" "), Route::Empty),
        ] {
            assert_eq!(read(&parser, &reply), want, "{reply:?}");
        }
        assert!(matches!(read(&parser, &called("{\"task\": 1}")), Route::Unfit(_)));
    }

    #[test]
    fn the_tool_names_the_agents_that_there_are() {
        for language in [Language::English, Language::Korean] {
            for parallel in [false, true] {
                let tool = delegate(&agents(), parallel, language).unwrap();
                assert_eq!(tool.schema()["properties"]["agent"]["enum"], json!(agents()));
            }
        }
    }
}
