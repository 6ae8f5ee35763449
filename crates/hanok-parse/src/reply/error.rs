//! What stands where a call should be.

use std::{fmt, ops::Range};

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::declared::Declared;

/// Something that was meant as a call and cannot be one.
///
/// Never a reason to stop: [`observation`](Self::observation) is the sentence that goes back to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct ParseError {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Where, in bytes of the parsed text.
    pub span: Range<usize>,
    /// The name that was called, when one could be read. Long ones are cut.
    pub name: Option<String>,
    /// The declared name that is nearest to an unknown one.
    pub suggestion: Option<String>,
    /// What should stand there.
    pub expected: Expected,
    /// Where the values stand that are of other types than their parameters, `rows[0].id`, up to 8.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub paths: Vec<String>,
}

/// What is wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text ends inside the call.
    Truncated,
    /// The call is complete and cannot be read.
    Malformed,
    /// The call names a tool or an agent and gives it nothing.
    MissingInput,
    /// No such tool is declared.
    UnknownTool,
    /// No such agent is declared.
    UnknownAgent,
}

impl ErrorKind {
    /// The stable code: `truncated`, `malformed`, `missing_input`, `unknown_tool`, `unknown_agent`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Malformed => "malformed",
            Self::MissingInput => "missing_input",
            Self::UnknownTool => "unknown_tool",
            Self::UnknownAgent => "unknown_agent",
        }
    }
}

/// What should stand where the error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Expected {
    /// The name of a tool.
    Tool,
    /// The name of an agent.
    Agent,
    /// The arguments, as a JSON object.
    Object,
    /// A task, in words.
    Task,
    /// The rest of the call.
    Rest,
    /// The rest of the answer.
    Answer,
    /// Values of the types that the parameters have.
    Types,
}

/// The language of a sentence for the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Korean.
    Korean,
}

impl ParseError {
    pub(crate) fn new(kind: ErrorKind, expected: Expected, span: Range<usize>) -> Self {
        Self { kind, span, name: None, suggestion: None, expected, paths: Vec::new() }
    }

    /// A sentence that the model can act on: what is wrong, what there is, what to write.
    ///
    /// ```
    /// use hanok_parse::{Declared, Format, Language, Parser};
    ///
    /// let parser = Parser::new(Declared::new().tool("find").tool("now")).asked([Format::React]);
    /// let error = parser.parse("Action: Find\nAction Input: {}").error.unwrap();
    /// assert_eq!(
    ///     error.observation(parser.declared(), Language::English),
    ///     "There is no tool `Find`. Did you mean `find`? The tools are: `find`, `now`."
    /// );
    /// ```
    #[must_use]
    pub fn observation(&self, declared: &Declared, language: Language) -> String {
        match language {
            Language::English => self.in_english(declared),
            Language::Korean => self.in_korean(declared),
        }
    }

    fn in_english(&self, declared: &Declared) -> String {
        let called = self.called(" to ", "");
        match self.kind {
            ErrorKind::UnknownTool | ErrorKind::UnknownAgent => self.unknown_in_english(declared),
            ErrorKind::Truncated if self.expected == Expected::Answer => {
                "Your answer is empty. Write it after `Final Answer:`.".to_owned()
            }
            ErrorKind::Truncated => {
                format!(
                    "Your reply broke off inside the call{called}, so nothing was run. Write the whole call again, shorter."
                )
            }
            ErrorKind::MissingInput if self.expected == Expected::Task => {
                format!(
                    "The delegation{called} has no task. Write `Task:` and what to do after it."
                )
            }
            ErrorKind::MissingInput => {
                format!("The call{called} has no input. Give its arguments as a JSON object.")
            }
            ErrorKind::Malformed => match self.expected {
                Expected::Tool => {
                    format!("The call names no tool.{}", list(" The tools are: ", declared.tools()))
                }
                Expected::Agent => {
                    format!(
                        "The delegation names no agent.{}",
                        list(" The agents are: ", declared.agents())
                    )
                }
                Expected::Types => format!(
                    "The input of the call{called} has values of other types than its parameters{}. Write each as its parameter's type says.",
                    places(&self.paths)
                ),
                _ => format!(
                    "The input of the call{called} could not be read. Give one valid JSON object."
                ),
            },
        }
    }

    fn unknown_in_english(&self, declared: &Declared) -> String {
        let name = self.name.as_deref().unwrap_or_default();
        let hint = self
            .suggestion
            .as_ref()
            .map_or(String::new(), |near| format!(" Did you mean `{near}`?"));
        if self.kind == ErrorKind::UnknownAgent {
            return format!(
                "There is no agent `{name}`.{hint}{}",
                list(" The agents are: ", declared.agents())
            );
        }
        format!("There is no tool `{name}`.{hint}{}", list(" The tools are: ", declared.tools()))
    }

    fn in_korean(&self, declared: &Declared) -> String {
        let called = self.called(" ", "");
        match self.kind {
            ErrorKind::UnknownTool | ErrorKind::UnknownAgent => self.unknown_in_korean(declared),
            ErrorKind::Truncated if self.expected == Expected::Answer => {
                "최종 답변이 비어 있습니다. `Final Answer:` 뒤에 답변을 쓰세요.".to_owned()
            }
            ErrorKind::Truncated => {
                format!(
                    "답변이 호출{called} 도중에 끊겨 아무것도 실행하지 않았습니다. 호출 전체를 더 짧게 다시 쓰세요."
                )
            }
            ErrorKind::MissingInput if self.expected == Expected::Task => {
                format!("위임{called}에 작업이 없습니다. `Task:` 뒤에 할 일을 쓰세요.")
            }
            ErrorKind::MissingInput => {
                format!("호출{called}에 입력이 없습니다. 인자를 JSON 객체로 쓰세요.")
            }
            ErrorKind::Malformed => match self.expected {
                Expected::Tool => {
                    format!("도구 이름이 없습니다.{}", list(" 쓸 수 있는 도구: ", declared.tools()))
                }
                Expected::Agent => {
                    format!(
                        "에이전트 이름이 없습니다.{}",
                        list(" 쓸 수 있는 에이전트: ", declared.agents())
                    )
                }
                Expected::Types => format!(
                    "호출{called}의 값이 매개변수의 형식과 다릅니다{}. 값마다 매개변수의 형식대로 쓰세요.",
                    places(&self.paths)
                ),
                _ => format!(
                    "호출{called}의 입력을 읽을 수 없습니다. 올바른 JSON 객체 하나를 쓰세요."
                ),
            },
        }
    }

    fn unknown_in_korean(&self, declared: &Declared) -> String {
        let name = self.name.as_deref().unwrap_or_default();
        let hint = self
            .suggestion
            .as_ref()
            .map_or(String::new(), |near| format!(" 혹시 `{near}` 말인가요?"));
        if self.kind == ErrorKind::UnknownAgent {
            return format!(
                "`{name}` 에이전트는 없습니다.{hint}{}",
                list(" 쓸 수 있는 에이전트: ", declared.agents())
            );
        }
        format!("`{name}` 도구는 없습니다.{hint}{}", list(" 쓸 수 있는 도구: ", declared.tools()))
    }

    fn called(&self, before: &str, after: &str) -> String {
        self.name.as_ref().map_or(String::new(), |name| format!("{before}`{name}`{after}"))
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let called = self.called(" to ", "");
        let name = self.called(" ", "");
        match self.kind {
            ErrorKind::Truncated if self.expected == Expected::Answer => {
                f.write_str("the answer is empty")
            }
            ErrorKind::Truncated => write!(f, "the text ends inside a call{called}"),
            ErrorKind::Malformed => match self.expected {
                Expected::Tool => f.write_str("a call names no tool"),
                Expected::Agent => f.write_str("a delegation names no agent"),
                Expected::Types => {
                    let at = places(&self.paths);
                    write!(
                        f,
                        "the input of a call{called} contradicts the types of its parameters{at}"
                    )
                }
                _ => write!(f, "the input of a call{called} is not a JSON object"),
            },
            ErrorKind::MissingInput if self.expected == Expected::Task => {
                write!(f, "a delegation{called} has no task")
            }
            ErrorKind::MissingInput => write!(f, "a call{called} has no input"),
            ErrorKind::UnknownTool => write!(f, "no tool{name} is declared"),
            ErrorKind::UnknownAgent => write!(f, "no agent{name} is declared"),
        }?;
        self.suggestion.as_ref().map_or(Ok(()), |near| write!(f, "; the nearest is `{near}`"))
    }
}

impl std::error::Error for ParseError {}

/// The places of values, in brackets.
pub(crate) fn places(paths: &[String]) -> String {
    let paths: Vec<_> = paths.iter().map(|path| format!("`{path}`")).collect();
    if paths.is_empty() { String::new() } else { format!(" ({})", paths.join(", ")) }
}

fn list<'a>(lead: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { String::new() } else { format!("{lead}{}.", names.join(", ")) }
}
