//! The states of the examples as clients hold them: in JSON, and back.

use chat::ChatState;
use contract::ContractState;
use example_tests::program::{command, said};
use hanok_checkpoint::{Checkpointer, Log, SharedCheckpointer, Which};
use hanok_core::{Namespace, Tenant};
use hanok_sqlite::Sqlite;
use hanok_state::{Json, Message, Messages, State, StateUpdate};
use hanok_supervisor::SupervisorState;
use hanok_team::TeamState;
use orchestrator::state::OrchestratorState;
use serde_json::Value;

/// The states that a program leaves after these questions.
async fn left<S: State>(name: &str, questions: &[&str]) -> Vec<S> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    for question in questions {
        let mut program = command(name, &["--db", file.to_str().unwrap(), question]);
        let said = said(program.current_dir(folder.path()).output().unwrap());
        assert!(matches!(said.code, Some(0 | 5)), "{name}: {}", said.err);
    }
    let store = SharedCheckpointer::new(Sqlite::open(&file).await.unwrap());
    let threads = store.threads(Which::Of(Tenant::default()), None, 100).await.unwrap();
    let mut states = Vec::new();
    for thread in threads {
        let opened = Log::new(store.clone(), thread.thread.clone()).open(None).await.unwrap();
        let run = opened.and_then(|mut opened| opened.fold.runs.remove(&Namespace::root()));
        states.extend(run.map(|mut run| S::from_fields(&mut run.fields).unwrap()));
    }
    assert!(!states.is_empty(), "{name} left no thread");
    states
}

/// A state as JSON, written into a new state, is the same JSON.
fn comes_back<S: State>(name: &str, state: &S) {
    let json = state.to_json().unwrap();
    assert!(json.as_object().is_some_and(|fields| !fields.is_empty()), "{name}");
    let update = S::Update::from_json(json.clone());
    let update = update.unwrap_or_else(|invalid| panic!("{name}: {invalid}\n{json:#}"));
    let mut back = S::default();
    back.reduce(vec![("client".into(), update)]).unwrap();
    assert_eq!(back.to_json().unwrap(), json, "{name}");
}

async fn all<S: State>(name: &str, questions: &[&str]) {
    left::<S>(name, questions).await.iter().for_each(|state| comes_back(name, state));
}

/// The state of each example after a question goes out as JSON and comes back the same.
#[tokio::test(flavor = "multi_thread")]
async fn the_state_of_every_example_goes_out_and_comes_back() {
    all::<SupervisorState>("rag", &["연차는 며칠이야?"]).await;
    all::<ChatState>("chat", &["내 이름은 철수야", "3 * 7은?"]).await;
    all::<ContractState>("contract", &["계약 기간이 얼마야?"]).await;
    all::<TeamState>("real-estate", &["강남구 아파트 시세 알려줘"]).await;
    all::<OrchestratorState>("orchestrator", &["우유 사기 메모해 줘"]).await;
    comes_back("default", &SupervisorState::default());
    comes_back("default", &TeamState::default());
}

/// A conversation that LangChain's or OpenAI's client holds is the same after the way through a state.
#[test]
fn a_conversation_of_another_client_is_what_it_was() {
    #[derive(State, Clone, Default)]
    struct Chat {
        messages: Messages,
        facts: Json,
    }
    let conversation: Value = serde_json::json!({
        "messages": [
            {"type": "human", "content": "Leave?", "id": "1", "name": null, "additional_kwargs": {}, "response_metadata": {}},
            ["ai", "How many years?"],
            {"role": "user", "content": [{"type": "text", "text": "Three."}]},
            "And a half.",
        ],
        "facts": {"years": [3, 3.5], "note": null},
    });
    let mut state = Chat::default();
    state.reduce(vec![("client".into(), ChatUpdate::from_json(conversation).unwrap())]).unwrap();
    let texts: Vec<_> = state.messages.iter().map(Message::text).collect();
    assert_eq!(texts, ["Leave?", "How many years?", "Three.", "And a half."]);
    comes_back("chat", &state);
}
