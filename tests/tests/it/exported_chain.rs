//! An exported log is checked by a program that knows nothing but the page on its format.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{fs, path::Path, process::Command};

use hanok::{
    checkpoint::{
        AppendId, Checkpointer, Codec, InMemoryCheckpointer, KeyId, Keyring, SharedCheckpointer,
    },
    core::{Tenant, ThreadKey, Timestamp},
    graph::{App, BoxError, Context, END, Graph, START, Snapshot},
    state::{List, State},
};

/// A Python that has the package `blake3`; `cargo xtask test` makes one.
const PYTHON: &str = "HANOK_TEST_PYTHON";

const KEY: [u8; 32] = [9; 32];

#[derive(State, Debug, Clone, Default)]
struct S {
    #[reduce(append)]
    log: List<String>,
}

fn app(store: &SharedCheckpointer) -> App<S> {
    async fn work(_: Snapshot<S>, _: Context<()>) -> Result<SUpdate, BoxError> {
        Ok(S::update().push_log("한옥".repeat(40)))
    }
    let graph = Graph::builder("g").node("work", work).edge(START, "work").edge("work", END);
    graph.build().unwrap().checkpointer(store.clone())
}

fn key(name: &str) -> ThreadKey {
    ThreadKey::new(Tenant::default(), name).unwrap()
}

/// What the program says of `lines`, and whether they are what was exported.
fn checked(python: &Path, lines: &[String], keyed: bool) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("thread.jsonl");
    fs::write(&file, lines.join("\n")).unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("chain/check_export.py");
    let mut command = Command::new(python);
    command.arg(program).arg(file);
    if keyed {
        command.arg(KEY.map(|byte| format!("{byte:02x}")).concat());
    }
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).trim().to_owned())
}

/// P7
#[tokio::test]
async fn a_program_in_another_language_checks_the_chain_of_an_exported_log() {
    let Some(python) = std::env::var_os(PYTHON).filter(|python| !python.is_empty()) else {
        println!("not tested: {PYTHON} names no Python with the package blake3");
        return;
    };
    let python = Path::new(&python);
    for keyed in [false, true] {
        let codec = Codec::new();
        let codec = match keyed {
            true => codec.encrypt(Keyring::new(KeyId(1), [7; 32]).chain(KeyId(2), KEY)),
            false => codec,
        };
        let store = SharedCheckpointer::new(InMemoryCheckpointer::chained()).with_codec(codec);
        let thread = app(&store).thread(key("t"));
        for _ in 0..3 {
            thread.invoke(S::update().push_log("in"), ()).await.unwrap();
        }
        let log = thread.log();
        log.copy(&key("copy"), AppendId(77), Timestamp(1)).await.unwrap();
        thread.fork(None, &key("fork")).await.unwrap();
        for name in ["t", "copy", "fork"] {
            let lines = app(&store).thread(key(name)).log().export().await.unwrap();
            let (holds, text) = checked(python, &lines, keyed);
            assert!(holds && text.ends_with("the chain holds"), "{name}: {text}");
        }
        let lines = log.export().await.unwrap();
        // Lines whose checksums fit, of another log.
        let mut others = lines.clone();
        let other = app(&store).thread(key("other"));
        for _ in 0..3 {
            other.invoke(S::update().push_log("out"), ()).await.unwrap();
        }
        others[2] = other.log().export().await.unwrap()[2].clone();
        for wrong in [&others[..], &lines[..lines.len() - 1]] {
            let (holds, text) = checked(python, wrong, keyed);
            assert!(!holds && text.starts_with("not what was exported"), "{text}");
        }
        log.prune(hanok::checkpoint::Keep::Newest).await.unwrap();
        thread.invoke(S::update().push_log("more"), ()).await.unwrap();
        let (holds, text) = checked(python, &log.export().await.unwrap(), keyed);
        assert!(holds, "after a prune: {text}");
        assert!(store.delete(&key("t"), None).await.unwrap());
    }
}
