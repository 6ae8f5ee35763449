//! A small contract, an expert on it, and what a turn tells.

#![allow(dead_code, reason = "not every test uses all of it")]

use std::fmt::Write;

use clap::Parser;
use contract::{Book, ContractEvent, ContractState, Expert, Options};
use futures::StreamExt;
use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{Tenant, ThreadKey, Token};
use hanok_graph::{EventKind, Input, Thread};
use hanok_model::{ChatModel, SharedModel};
use hanok_retrieval::{Document, Terms};
use hanok_state::{Arguments, ToolCall};
use kit::{Meaning, Talk as _};

pub(crate) const CONTRACT: &str = "# 용역계약서

제1조(목적) 이 계약은 갑이 을에게 맡기는 소프트웨어 개발 용역의 조건을 정한다.

제2조(계약기간) 계약기간은 2026년 1월 1일부터 2026년 12월 31일까지로 한다.

제3조(대금) ① 대금은 1억 2,000만원으로 한다. ② 갑은 검수가 끝난 날부터 30일 안에 대금을 지급한다.

제4조(지체상금) 을이 납기를 넘기면 지체 1일마다 대금의 1,000분의 2를 지체상금으로 낸다.

제5조(해지) ① 갑은 을이 계약을 어기고 14일 안에 고치지 않으면 계약을 해지할 수 있다. ② 을은 갑이 대금을 60일 넘게 늦추면 해지할 수 있다.
";

pub(crate) const STANDARD: &str = "# 표준용역계약서

제1조(목적) 용역의 표준 조건을 정한다.

제2조(계약기간) 기간은 당사자가 정한다.

제3조(대금의 지급) 대금은 검수가 끝난 날부터 14일 안에 지급한다.

제6조(계약의 해지) 상대방이 계약을 어기고 30일 안에 고치지 않으면 해지할 수 있다.
";

/// A conversation with an expert.
pub(crate) struct Talk {
    expert: Expert,
    thread: Thread<ContractState>,
}

/// What a turn told, and its state at the end.
pub(crate) struct Turn {
    pub(crate) course: String,
    pub(crate) state: ContractState,
}

pub(crate) async fn expert(
    model: &(impl ChatModel + Clone),
    contract: &str,
    rounds: u32,
) -> Expert {
    let (user, standard) = (Document::new("계약.md", contract), Document::new("표준.md", STANDARD));
    let book = Book::of(user, Some(standard), Terms::default(), Meaning::letters()).await.unwrap();
    let rounds = rounds.to_string();
    let options = ["contract", "--no-cache", "--max-iterations", rounds.as_str()];
    Expert::new(SharedModel::new(model.clone()), book, &Options::parse_from(options)).unwrap()
}

pub(crate) async fn talk(model: &(impl ChatModel + Clone)) -> Talk {
    Talk::with(expert(model, CONTRACT, 4).await)
}

impl Talk {
    pub(crate) fn with(expert: Expert) -> Self {
        Self::on(expert, SharedCheckpointer::new(InMemoryCheckpointer::new()))
    }

    pub(crate) fn on(expert: Expert, store: SharedCheckpointer) -> Self {
        let key = ThreadKey::new(Tenant::default(), "t").unwrap();
        let thread = expert.graph().unwrap().checkpointer(store).thread(key);
        Self { expert, thread }
    }

    pub(crate) async fn ask(&self, question: &str) -> Turn {
        let mut events = self.thread.stream(Input::New(self.expert.ask(question)), ());
        let (mut course, mut said) = (String::new(), String::new());
        while let Some(event) = events.next().await {
            match &event.kind {
                EventKind::TaskStarted { .. } => {
                    flush(&mut course, &mut said);
                    writeln!(course, "{}", event.node.as_deref().unwrap_or_default()).unwrap();
                }
                EventKind::Custom(item) => {
                    if let Ok(event) = item.decode::<ContractEvent>() {
                        flush(&mut course, &mut said);
                        writeln!(course, "  {}", serde_json::to_string(&event).unwrap()).unwrap();
                    }
                }
                EventKind::Token(Token::Text(piece))
                    if event.node.as_deref() == Some("respond") =>
                {
                    said.push_str(piece);
                }
                _ => {}
            }
        }
        flush(&mut course, &mut said);
        let state = events.outcome().await.unwrap().done().unwrap();
        let answer = state.answer.clone().unwrap_or_default();
        writeln!(course, "answer: {}", answer.replace('\n', " | ")).unwrap();
        Turn { course, state }
    }
}

/// The tokens as one.
fn flush(course: &mut String, said: &mut String) {
    let said = std::mem::take(said);
    if !said.is_empty() {
        writeln!(course, "  tokens: {}", said.replace('\n', " | ")).unwrap();
    }
}

pub(crate) fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: Arguments::new(arguments.to_owned()) }
}
