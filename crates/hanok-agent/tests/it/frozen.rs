//! A question is decided as it was asked: another process goes on, with other rules, and the person's word holds.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may stop at what it did not expect, and a child speaks through its output"
)]

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
};

use hanok_agent::{
    AgentState, Approval, ApprovalRequest, ApprovalRule, ApprovalTerms, CapabilityPolicy,
    DecisionKind, Interceptor, ReactAgent, ReactAgentBuilder, ToolRequest, Verdict,
};
use hanok_core::{Call, Effect, Tenant, ThreadKey};
use hanok_graph::{Outcome, RunError};
use hanok_model::{Exchange, FnTool, ScriptedModel, ToolError, ToolSpec};
use hanok_sqlite::Sqlite;
use hanok_state::Message;
use serde_json::{Value, json};

/// What a child does, by which rules, and in which folder.
const ROLE: &str = "HANOK_AGENT_TEST_ROLE";
const RULES: &str = "HANOK_AGENT_TEST_RULES";
const FOLDER: &str = "HANOK_AGENT_TEST_FOLDER";

/// Has a person asked about every call, under a name of its own.
#[derive(Debug)]
struct FourEyes;

impl Interceptor for FourEyes {
    fn name(&self) -> &str {
        "four_eyes"
    }

    async fn admit(&self, _: &ToolRequest<'_>, _: &Call) -> Result<Verdict, ToolError> {
        Ok(Verdict::Ask(ApprovalTerms::new()))
    }
}

/// Rounds what is sent up to tens.
#[derive(Debug)]
struct RoundsUp;

impl Interceptor for RoundsUp {
    async fn admit(&self, request: &ToolRequest<'_>, _: &Call) -> Result<Verdict, ToolError> {
        let mut arguments: Value = request.call.arguments.decode().unwrap();
        let amount = arguments["amount"].as_u64().unwrap();
        arguments["amount"] = (amount.div_ceil(10) * 10).into();
        Ok(Verdict::Change(hanok_state::Arguments::new(arguments.to_string())))
    }
}

fn ruled(agent: ReactAgentBuilder, rules: &str) -> ReactAgentBuilder {
    let large = |request: &ToolRequest<'_>| {
        let arguments: Value = request.call.arguments.decode().unwrap();
        arguments["amount"].as_u64() > Some(100)
    };
    let rule = ApprovalRule::new;
    let by = |rule| Approval::new().tool_with("send", rule);
    let yes_or_no = [DecisionKind::Approve, DecisionKind::Reject];
    let to_a_only = CapabilityPolicy::new().arguments("send", |send| match send["to"].as_str() {
        Some("a") => Ok(()),
        _ => Err("only to a".to_owned()),
    });
    match rules {
        "strict" | "no tool" | "at most 10" => agent.intercept(by(rule())),
        "yes or no" => agent.intercept(by(rule().allow(yes_or_no))),
        "no only" => agent.intercept(by(rule().allow([DecisionKind::Reject]))),
        "large sums" => agent.intercept(by(rule().when(large))),
        "none" => agent,
        "not to send" => {
            agent.intercept(by(rule())).intercept(CapabilityPolicy::new().only(["slow"]))
        }
        "strict and four eyes" => agent.intercept(by(rule())).intercept(FourEyes),
        "four eyes and strict" => agent.intercept(FourEyes).intercept(by(rule())),
        "rounded" => agent.intercept(RoundsUp).intercept(by(rule())),
        "rounded and not asked" => agent.intercept(RoundsUp),
        // It asks, for the user's words hold those of somebody else.
        "only to a" => agent.intercept(to_a_only),
        rules => panic!("{rules}"),
    }
}

/// The agent of a process: `send` writes down what it is called with, and `slow` never comes back where nobody is asked yet.
fn agent(role: &str, rules: &str, folder: &Path) -> ReactAgent {
    let most = if rules == "at most 10" { 10 } else { 1_000 };
    let spec = json!({
        "type": "object",
        "properties": {
            "to": {"type": "string"},
            "amount": {"type": "integer", "maximum": most},
        },
        "required": ["to", "amount"],
        "additionalProperties": false,
    });
    let ledger = folder.join("ledger");
    let send = FnTool::untyped(ToolSpec::new("send", "Sends", spec).unwrap(), move |with, _| {
        let mut ledger = fs::OpenOptions::new().create(true).append(true).open(&ledger).unwrap();
        ledger.write_all(format!("{with}\n").as_bytes()).unwrap();
        async move { Ok("sent".into()) }
    });
    let hangs = role == "hang";
    let slow = FnTool::untyped(
        ToolSpec::new("slow", "Waits", json!({})).unwrap(),
        move |_, _| async move {
            if hangs {
                say("hanging");
                std::future::pending::<()>().await;
            }
            Ok("over".into())
        },
    );
    let call = |tool: &str, with: &str| format!("Action: {tool}\nAction Input: {with}\n");
    let send_call = call("send", r#"{"to":"a","amount":5}"#);
    let script = match role {
        "ask" => vec![Exchange::says(send_call)],
        "hang" => vec![Exchange::says(send_call + &call("slow", "{}"))],
        _ => vec![Exchange::says("Final Answer: done")],
    };
    let builder = ReactAgent::builder("bank", "Sends money", ScriptedModel::new(script));
    let builder = builder.tool(slow.effect(Effect::Pure));
    let builder = match rules {
        "no tool" => builder,
        _ => builder.tool(send.effect(Effect::AtMostOnce)),
    };
    ruled(builder, rules).build().unwrap()
}

fn say(line: &str) {
    println!("said: {line}");
    std::io::stdout().flush().unwrap();
}

/// This is what a child runs; in a parent it does nothing.
#[tokio::test]
async fn child() {
    let Ok(role) = env::var(ROLE) else { return };
    let (rules, folder) = (env::var(RULES).unwrap(), env::var(FOLDER).unwrap());
    let agent = agent(&role, &rules, Path::new(&folder));
    let store = Sqlite::open(Path::new(&folder).join("threads.db")).await.unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = agent.graph().checkpointer(store).thread(key);
    let outcome = match role.as_str() {
        "ask" | "hang" => {
            let text = match rules.as_str() {
                "only to a" => "pay what this says: <data-00ff>\nto a, 5\n</data-00ff>",
                _ => "pay",
            };
            thread.invoke(agent.ask(text), ()).await
        }
        "resume" => thread.resume(()).await,
        decision => {
            let decision: Value = serde_json::from_str(decision).unwrap();
            thread.reply(&decision, ()).await
        }
    };
    say(&outcome_in_a_line(outcome));
    if role == "ask" {
        // Until it is killed.
        std::future::pending::<()>().await;
    }
}

/// An outcome in a line.
fn outcome_in_a_line(outcome: Result<Outcome<AgentState>, RunError>) -> String {
    match outcome {
        Ok(Outcome::Interrupted(pending)) => {
            let shown = pending.iter().map(|pending| {
                let shown: ApprovalRequest = pending.payload().unwrap();
                format!("{} about {} {}", shown.rule, shown.tool, shown.arguments)
            });
            format!("asks by {}", shown.collect::<Vec<_>>().join(" and "))
        }
        Ok(Outcome::Done(state)) => {
            let observed = state.messages.iter().filter(|message| message.tool_call_id().is_some());
            let observed = observed.map(Message::text).map(|text| text.replace('\n', " "));
            observed.collect::<Vec<_>>().join(" | ").replace("Observation: ", "")
        }
        Ok(other) => format!("{other:?}"),
        Err(RunError::WrongAnswer { .. }) => "the answer is refused".to_owned(),
        Err(error) => format!("{}", hanok_core::Chain(&error)),
    }
}

fn spawn(role: &str, rules: &str, folder: &Path) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "frozen::child", "--nocapture"])
        .env(ROLE, role)
        .env(RULES, rules)
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let said = lines.filter_map(|line| Some(line.split_once("said: ")?.1.to_owned()));
    (child, said)
}

/// Starts a process and kills it once it has said something, which is returned.
fn killed(role: &str, rules: &str, folder: &Path) -> String {
    let (mut child, mut said) = spawn(role, rules, folder);
    let said = said.next().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    said
}

/// Lets a process come to its end, and returns what it said.
fn ended(role: &str, rules: &str, folder: &Path) -> String {
    let (mut child, mut said) = spawn(role, rules, folder);
    let said = said.next().unwrap();
    assert!(child.wait().unwrap().success());
    said
}

fn ledger(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("ledger")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

const ASKS: &str = r#"asks by approval about send {"to":"a","amount":5}"#;
const APPROVE: &str = r#"{"decision":"approve"}"#;
const REJECT: &str = r#"{"decision":"reject","message":"no"}"#;
const RESPOND: &str = r#"{"decision":"respond","result":"paid by hand"}"#;
const EDIT: &str = r#"{"decision":"edit","arguments":{"to":"b","amount":50}}"#;
const EDIT_TO_NONSENSE: &str = r#"{"decision":"edit","arguments":{"path":"/etc"}}"#;

const REJECTED: &str = "The call of `send` was not made: a person rejected it. no";
const AS_ASKED: &[&str] = &[r#"{"to":"a","amount":5}"#];
const EDITED: &[&str] = &[r#"{"amount":50,"to":"b"}"#];
const CHANGED: &str = r#"[made with the arguments {"amount":50,"to":"b"} instead] sent"#;
const NOTHING: &[&str] = &[];
const REFUSED: &str = "the answer is refused";

/// B116, P35: the rules of the first process ask, those of the second one go on.
#[test]
fn what_was_asked_is_decided_as_it_was_asked_whatever_the_rules_are_now() {
    let cases: &[(&str, &str, &str, &str, &[&str])] = &[
        // asked by, decided by, the decision, what comes of it, what was made
        ("strict", "strict", APPROVE, "sent", AS_ASKED),
        ("strict", "strict", REJECT, REJECTED, NOTHING),
        // Loosened, and removed.
        ("strict", "large sums", REJECT, REJECTED, NOTHING),
        ("strict", "large sums", APPROVE, "sent", AS_ASKED),
        ("strict", "large sums", EDIT, CHANGED, EDITED),
        ("strict", "large sums", EDIT_TO_NONSENSE, REFUSED, NOTHING),
        ("strict", "none", REJECT, REJECTED, NOTHING),
        ("strict", "none", APPROVE, "sent", AS_ASKED),
        ("strict", "none", EDIT, CHANGED, EDITED),
        ("strict", "none", RESPOND, "paid by hand", NOTHING),
        ("strict", "none", EDIT_TO_NONSENSE, REFUSED, NOTHING),
        // What may be decided is what could be decided when it was asked.
        ("yes or no", "strict", EDIT, REFUSED, NOTHING),
        ("yes or no", "none", RESPOND, REFUSED, NOTHING),
        ("strict", "no only", APPROVE, "sent", AS_ASKED),
        // Tightened: what was approved passes the rules of now, too.
        (
            "strict",
            "not to send",
            APPROVE,
            "The call of `send` was not made: this agent may not use the tool.",
            NOTHING,
        ),
        (
            "strict",
            "four eyes and strict",
            APPROVE,
            r#"asks by four_eyes about send {"to":"a","amount":5}"#,
            NOTHING,
        ),
        ("strict", "four eyes and strict", REJECT, REJECTED, NOTHING),
        (
            "strict",
            "at most 10",
            EDIT,
            r#"asks by approval about send {"to":"a","amount":5}"#,
            NOTHING,
        ),
        // The tool that the person let pass was another.
        (
            "strict",
            "at most 10",
            APPROVE,
            r#"asks by approval about send {"to":"a","amount":5}"#,
            NOTHING,
        ),
        ("strict", "at most 10", REJECT, REJECTED, NOTHING),
        ("strict", "no tool", APPROVE, "There is no tool `send`. The tools are: `slow`.", NOTHING),
        // A person's arguments pass the rule that asked, as far as it does not ask.
        ("only to a", "only to a", EDIT, "The call of `send` was not made: only to a", NOTHING),
    ];
    for (asks, decides, decision, want, made) in cases {
        let folder = tempfile::tempdir().unwrap();
        let asked = killed("ask", asks, folder.path());
        assert!(asked.ends_with(r#" about send {"to":"a","amount":5}"#), "{asks}: {asked}");
        let said = ended(decision, decides, folder.path());
        let case = format!("{asks}, then {decides}: {decision}");
        assert_eq!(said, *want, "{case}");
        assert_eq!(ledger(folder.path()), *made, "{case}");
        if *want == REFUSED {
            // It is still open, by the rules that asked.
            assert_eq!(ended("resume", decides, folder.path()), ASKS, "{case}");
            assert_eq!(ended(REJECT, decides, folder.path()), REJECTED, "{case}");
            assert_eq!(ledger(folder.path()), NOTHING, "{case}");
        }
    }
}

/// P14, P35: the process dies while the question is decided on and not yet asked.
#[test]
fn a_process_that_dies_before_it_asks_leaves_the_question_to_the_next() {
    for (rules, decision, observed, made) in [
        ("none", REJECT, REJECTED, NOTHING),
        ("large sums", REJECT, REJECTED, NOTHING),
        ("none", APPROVE, "sent", AS_ASKED),
    ] {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(killed("hang", "strict", folder.path()), "hanging");
        assert_eq!(ended("resume", rules, folder.path()), ASKS, "{rules}");
        assert_eq!(ended(decision, rules, folder.path()), format!("{observed} | over"), "{rules}");
        assert_eq!(ledger(folder.path()), made, "{rules}");
    }
}

/// P35: two rules ask one after the other, and each question is decided by itself, in a process of its own.
#[test]
fn each_rule_asks_for_itself_and_a_changed_call_is_asked_about_as_it_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(killed("ask", "strict and four eyes", folder.path()), ASKS);
    let second = ended(APPROVE, "strict and four eyes", folder.path());
    assert_eq!(second, ASKS.replace("approval", "four_eyes"));
    assert_eq!(ended(REJECT, "none", folder.path()), REJECTED);
    assert_eq!(ledger(folder.path()), NOTHING);

    // A call that an interceptor changed is asked about, and made, as it was changed, though nothing changes it now.
    let folder = tempfile::tempdir().unwrap();
    let changed = r#"{"to":"a","amount":10}"#.to_owned();
    let asked = killed("ask", "rounded", folder.path());
    let shown: Value = serde_json::from_str(asked.split_once("send ").unwrap().1).unwrap();
    assert_eq!(shown, serde_json::from_str::<Value>(&changed).unwrap());
    assert!(ended(APPROVE, "none", folder.path()).ends_with("sent"));
    let made: Value = serde_json::from_str(&ledger(folder.path())[0]).unwrap();
    assert_eq!(made, shown);

    // What was approved is not changed by the rules of another process, and nobody there asks: it is asked once more.
    for (decision, made) in [(APPROVE, 1), (REJECT, 0)] {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(killed("ask", "strict", folder.path()), ASKS);
        let asked = ended(APPROVE, "rounded and not asked", folder.path());
        let again: Value = serde_json::from_str(asked.split_once("send ").unwrap().1).unwrap();
        assert_eq!(again, shown);
        assert_eq!(ledger(folder.path()), NOTHING);
        ended(decision, "rounded and not asked", folder.path());
        assert_eq!(ledger(folder.path()).len(), made);
    }
}
