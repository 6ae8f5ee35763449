//! What threads ask people, answered by a program that does not know them.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::{Arc, Mutex},
};

use hanok_agent::{AgentState, Approval, Protocol, ReactAgent};
use hanok_core::{Answerer, Audience, BoxError, Effect, Request, Stored, ThreadKey};
use hanok_graph::{App, Context, END, Graph, Outcome, START, Snapshot};
use hanok_model::{Exchange, FnTool, ScriptedModel, SharedTool, ToolError, ToolSpec};
use hanok_sqlite::Sqlite;
use hanok_state::{Arguments, State, ToolCall};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{self, Written};

/// What no output may hold.
const PIN: &str = "4711-secret";

/// A store in a folder that goes with it, and what was sent.
struct House {
    folder: TempDir,
    db: PathBuf,
    sent: Arc<Mutex<Vec<String>>>,
}

impl House {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("threads.db");
        Self { folder, db, sent: Arc::default() }
    }

    fn hanok(&self, arguments: &[&str]) -> Written {
        self.with_key(arguments, "")
    }

    fn with_key(&self, arguments: &[&str], key: &str) -> Written {
        support::written(self.command(arguments, key))
    }

    fn command(&self, arguments: &[&str], key: &str) -> Command {
        let mut command = support::hanok(&self.db, arguments);
        command.env("HANOK_AUDIT_KEY", key).env("USER", "kim");
        command
    }

    fn done(&self, arguments: &[&str]) -> Written {
        support::done(self.command(arguments, ""))
    }

    fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let written = self.hanok(arguments);
        (written.code, written.err.trim().to_owned())
    }

    /// The ids of what is asked, by what it shows.
    fn request(&self, holds: &str) -> String {
        let all = self.done(&["inbox", "--json"]).objects();
        let it = all.iter().find(|it| it["shown"].to_string().contains(holds)).unwrap();
        it["request"].as_str().unwrap().to_owned()
    }

    fn sent(&self) -> Vec<String> {
        self.sent.lock().unwrap().clone()
    }

    /// An agent that sends three mails, each of which a person approves; as in a process of its own.
    async fn agent(&self, script: Vec<Exchange>) -> (ReactAgent, App<AgentState>) {
        let schema = json!({
            "type": "object",
            "properties": {
                "to": {"type": "string"},
                "pin": {"type": "string", "writeOnly": true},
            },
            "required": ["to"],
            "additionalProperties": false,
        });
        let sent = self.sent.clone();
        let run = move |arguments: Arguments, _| {
            let arguments: Value = arguments.decode().unwrap();
            sent.lock().unwrap().push(arguments["to"].as_str().unwrap().to_owned());
            async { Ok("sent".into()) }
        };
        let spec = ToolSpec::new("send", "Sends a mail", schema).unwrap();
        let tool = SharedTool::new(FnTool::untyped(spec, run).effect(Effect::AtMostOnce));
        let agent = ReactAgent::builder("mail", "Writes mail", ScriptedModel::new(script))
            .tool(tool)
            .protocol(Protocol::Native)
            .intercept(Approval::new().tool("send"))
            .build()
            .unwrap();
        let app = agent.graph().checkpointer(Sqlite::open(&self.db).await.unwrap());
        (agent, app)
    }
}

fn key(name: &str) -> ThreadKey {
    ThreadKey::named(name).unwrap()
}

fn sends(to: &[&str]) -> Exchange {
    let arguments = |to: &&str| json!({"to": to, "pin": PIN}).to_string();
    Exchange::calls(to.iter().map(|to| ToolCall::new(*to, "send", arguments(to))))
}

/// B140, B144, P35, P46: the program ends with three questions. Another one lists them, approves one, edits one and rejects one, and starts
/// nothing; a third one goes on. The audit says who decided what, and what an edit changed.
#[tokio::test]
async fn what_an_agent_asks_is_answered_from_outside() {
    let house = House::new();
    {
        let (agent, app) = house.agent(vec![sends(&["ann", "bob", "eve"])]).await;
        let outcome = app.thread(key("t")).invoke(agent.ask("Mail them."), ()).await.unwrap();
        assert!(matches!(outcome, Outcome::Interrupted(open) if open.len() == 3));
    }
    let inbox = house.done(&["inbox"]).out;
    assert!(inbox.contains("send {\"to\":\"ann\"") || inbox.contains("send {\"pin\""), "{inbox}");
    let (ann, bob, eve) = (house.request("ann"), house.request("bob"), house.request("eve"));
    let asked = house.done(&["asked", "t"]).out;
    assert!(asked.contains("for: everybody") && asked.contains("an answer fits"), "{asked}");
    for verb in [&["inbox"][..], &["inbox", "--json"], &["asked", "t"], &["asked", "t", "--json"]] {
        assert!(!house.done(verb).out.contains(PIN), "{verb:?}");
    }
    assert!(house.done(&["asked", "t", "--secrets"]).out.contains(PIN));

    let wrong = house.refused(&["answer", "t", &bob, "--edit", r#"{"to": 5}"#]);
    assert_eq!(wrong.0, 2, "{}", wrong.1);
    assert!(wrong.1.contains("HNK-216"), "{}", wrong.1);
    assert_eq!(house.refused(&["answer", "t", "nothing", "--approve"]).0, 2);
    assert_eq!(house.refused(&["answer", "t", "", "--approve"]).0, 2);
    assert_eq!(house.refused(&["answer", "t", &ann, "no json"]).0, 2);
    assert_eq!(house.refused(&["answer", "t", &ann]).0, 2);
    assert_eq!(house.refused(&["answer", "t", &ann, "--approve", "--shown", "x"]).0, 3);
    assert_eq!(house.refused(&["answer", "none", &ann, "--approve"]).0, 1);

    let edit = r#"{"to": "bo"}"#;
    house.done(&["answer", "t", &ann[..12], "--approve", "--as", "lee", "--role", "admin"]);
    house.done(&["answer", "t", &bob, "--edit", edit, "--as", "lee", "--key", "k"]);
    house.done(&["answer", "t", &bob, "--edit", edit, "--as", "lee", "--key", "k"]);
    let late = house.refused(&["answer", "t", &bob, "--approve"]);
    assert!(late.0 == 3 && late.1.contains("HNK-212"), "{}", late.1);
    let late = house.refused(&["answer", "t", &bob[..12], "--approve"]);
    assert!(late.0 == 3 && late.1.contains("HNK-212"), "{}", late.1);
    // Only one is open: a variable that is not set does not answer it.
    for short in ["", &eve[..1], &eve[..3]] {
        let refused = house.refused(&["answer", "t", short, "--approve"]);
        assert!(refused.0 == 2 && refused.1.contains("HNK-313"), "{}", refused.1);
    }
    assert!(!house.done(&["inbox", "--json"]).out.is_empty());
    let last = house.done(&["answer", "t", &eve, "--reject", "not her"]).out;
    assert!(last.contains("nothing else is asked"), "{last}");
    assert!(house.done(&["inbox", "--json"]).out.is_empty());
    assert!(house.sent().is_empty(), "nothing runs before somebody goes on");

    let (_, app) = house.agent(vec![Exchange::says("Two are sent.")]).await;
    app.thread(key("t")).resume(()).await.unwrap().done().unwrap();
    let mut sent = house.sent();
    sent.sort();
    assert_eq!(sent, ["ann", "bo"]);

    let records = house.done(&["audit", "t", "--json"]);
    assert!(!records.out.contains(PIN) && !house.done(&["audit", "t"]).out.contains(PIN));
    let told: Vec<_> = records
        .objects()
        .iter()
        .map(|it| {
            let (event, by) = (&it["event"], &it["by"]);
            format!("{} {} {} {}", event["event"], event["decision"], event["by"]["name"], by)
        })
        .collect();
    let asked = "\"requested\" null null null".to_owned();
    assert_eq!(told[..3], [asked.clone(), asked.clone(), asked]);
    assert_eq!(
        told[3..],
        [
            "\"answered\" \"approve\" \"lee\" null",
            "\"answered\" \"edit\" \"lee\" null",
            "\"answered\" \"reject\" \"kim\" null",
        ]
    );
    let edited = &records.objects()[4]["event"];
    assert_eq!(
        edited["changed"],
        json!([{"at": "/pin", "before": "[secret]"}, {"at": "/to", "before": "bob", "after": "bo"}])
    );
    assert_eq!(records.objects()[3]["event"]["by"]["roles"], json!(["admin"]));
    assert_eq!(records.objects()[5]["event"]["by"]["channel"], "cli, system user");
}

/// B144, P46: records that were written out are compared with the log: a byte that was changed is found where it is, with a key also the
/// hand of one who makes the hashes fit.
#[tokio::test]
async fn an_audit_that_was_changed_is_found_out() {
    let house = House::new();
    let (agent, app) = house.agent(vec![sends(&["ann", "bob"]), Exchange::says("Done.")]).await;
    app.thread(key("t")).invoke(agent.ask("Mail them."), ()).await.unwrap();
    let file = house.folder.path().join("audit.jsonl");
    let of = |key: &str| house.with_key(&["audit", "t", "--json"], key).out;
    let verify = |key: &str| {
        let file = file.to_str().unwrap();
        let written = house.with_key(&["audit", "t", "--verify", file], key);
        (written.code, written.out + &written.err)
    };
    fs::write(&file, of("")).unwrap();
    house.done(&["answer", "t", &house.request("ann"), "--approve"]);
    let (code, text) = verify("");
    assert!(code == 0 && text.contains("2 records are as the log has them; 1 are new"), "{text}");
    let whole = house.done(&["audit", "t", "--verify"]).out;
    assert!(whole.contains("3 records, whole") && whole.contains("HANOK_AUDIT_KEY"), "{whole}");

    let lines = of("");
    for (nth, line) in lines.lines().enumerate() {
        let changed = line.replacen("\"node\":\"", "\"node\":\"x", 1);
        fs::write(&file, lines.replacen(line, &changed, 1)).unwrap();
        let (code, text) = verify("");
        assert!(code == 4 && text.contains(&format!("record {}", nth + 1)), "{text}");
    }
    let without_second: Vec<_> = lines.lines().enumerate().filter(|(nth, _)| *nth != 1).collect();
    let without_second: Vec<_> = without_second.iter().map(|(_, line)| *line).collect();
    fs::write(&file, without_second.join("\n")).unwrap();
    assert_eq!(verify("").0, 4);
    // Whoever makes all hashes anew is found by the key, and by the log.
    fs::write(&file, of("theirs")).unwrap();
    assert_eq!(verify("ours").0, 4);
    fs::write(&file, of("ours")).unwrap();
    assert_eq!(verify("ours").0, 0);
    fs::write(&file, "no record\n").unwrap();
    assert_eq!(verify("").0, 4);

    // What somebody changes in the store itself is found by the log's own chain.
    let connection = rusqlite::Connection::open(&house.db).unwrap();
    let damage =
        "UPDATE records SET bytes = CAST(substr(bytes, 1, length(bytes) - 1) || x'00' AS BLOB)
                  WHERE position = (SELECT max(position) FROM records)";
    assert_eq!(connection.execute(damage, ()).unwrap(), 1);
    let at = "SELECT max(position) FROM records";
    let last: i64 = connection.query_row(at, (), |row| row.get(0)).unwrap();
    let damaged = house.with_key(&["audit", "t", "--verify"], "ours");
    assert_eq!(damaged.code, 4, "{}", damaged.err);
    assert!(damaged.out.contains(&format!("damaged at {last} (")), "{}", damaged.out);
    let damaged = house.with_key(&["audit", "t", "--verify", "--json"], "ours");
    assert_eq!((damaged.code, &damaged.objects()[0]["damage"]["position"]), (4, &json!(last)));
}

/// P4, P46: a call of which nobody knows whether it was made is listed without its arguments, which may hold a secret: whoever decides has
/// them shown.
#[tokio::test]
async fn a_call_in_doubt_is_listed_without_its_arguments() {
    let house = House::new();
    let spec = ToolSpec::new("send", "Sends a mail", json!({})).unwrap();
    let lost = FnTool::untyped(spec, |_, _| async {
        Err(ToolError::InDoubt("the connection was lost".into()))
    });
    let agent = ReactAgent::builder("mail", "Writes mail", ScriptedModel::new([sends(&["ann"])]))
        .tool(lost.effect(Effect::AtMostOnce))
        .protocol(Protocol::Native)
        .build()
        .unwrap();
    let app = agent.graph().checkpointer(Sqlite::open(&house.db).await.unwrap());
    app.thread(key("t")).invoke(agent.ask("Mail her."), ()).await.unwrap_err();
    let outcome = app.thread(key("t")).resume(()).await.unwrap();
    assert!(matches!(outcome, Outcome::InDoubt(open) if open.len() == 1));
    for verb in [&["inbox"][..], &["inbox", "--json"], &["asked", "t"], &["asked", "t", "--json"]] {
        let out = house.done(verb).out;
        assert!(out.contains("send") && !out.contains(PIN), "{verb:?}: {out}");
    }
    let shown = &house.done(&["asked", "t", "--json"]).objects()[0]["shown"];
    assert_eq!(shown["in_doubt"], "send");
    assert!(shown["bytes"].is_u64() && shown["digest"].is_string(), "{shown}");
    assert!(house.done(&["inbox"]).out.contains("was send called?"));
    for verb in [&["asked", "t", "--secrets"][..], &["asked", "t", "--secrets", "--json"]] {
        assert!(house.done(verb).out.contains(PIN), "{verb:?}");
    }
}

#[derive(State, Debug, Clone, Default)]
struct S {
    answer: String,
}

async fn ask(_: Snapshot<S>, cx: Context) -> Result<SUpdate, BoxError> {
    let audience = Audience::everybody().role("treasurer");
    let request = Request { audience, ..Request::new(Stored::encode("How much?")?) };
    Ok(S::update().answer(cx.call("ask", "sum", "").question(request).await?.decode::<String>()?))
}

/// P46: who is not admitted neither sees a request among their own nor answers it.
#[tokio::test]
async fn a_request_is_for_those_whom_it_admits() {
    let house = House::new();
    let graph = Graph::<S>::builder("g").node("ask", ask).edge(START, "ask").edge("ask", END);
    let app = graph.build().unwrap().checkpointer(Sqlite::open(&house.db).await.unwrap());
    app.thread(key("t")).invoke(S::update(), ()).await.unwrap();
    assert!(house.done(&["inbox", "--as", "ann", "--json"]).out.is_empty());
    let mine = house.done(&["inbox", "--as", "ann", "--role", "treasurer"]).out;
    assert!(mine.contains("How much?") && mine.contains("whoever is `treasurer`"), "{mine}");
    let id = house.request("How much?");
    let refused = house.refused(&["answer", "t", &id, "\"5\"", "--as", "ann"]);
    assert!(refused.0 == 1 && refused.1.contains("HNK-228"), "{}", refused.1);
    house.done(&["answer", "t", &id, "\"5\"", "--as", "ann", "--role", "treasurer"]);
    let ann = Answerer::new("ann", "test");
    let state = app.thread(key("t")).answering_as(ann).resume(()).await.unwrap().done().unwrap();
    assert_eq!(state.answer, "5");
}
