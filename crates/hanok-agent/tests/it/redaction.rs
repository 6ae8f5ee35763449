//! Personal data that a model does not read.

use std::sync::{Arc, Mutex};

use hanok_agent::{
    Intercepted, PatternError, PersonalData, Protocol, ReactAgent, Redaction, RedactionStrategy,
};
use hanok_core::{BoxFuture, Call, CallKey, Clock, Secret, Timestamp, Token, TokenSink};
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, Exchange, FnTool, ModelError, ScriptedModel, SharedTool,
    ToolError, ToolSpec,
};
use hanok_state::{Arguments, Content, Message, Part, ToolCall};
use serde_json::json;

use crate::support::{call, observations};

#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }

    fn sleep(&self, _: std::time::Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

#[derive(Default)]
struct Watcher(Mutex<Vec<Token>>);

impl TokenSink for Watcher {
    fn token(&self, token: Token) {
        self.0.lock().unwrap().push(token);
    }
}

/// What the model was sent, what came back, and what a watcher saw.
async fn ask(
    redaction: Redaction,
    messages: Vec<Message>,
    reply: Exchange,
) -> (Result<ChatReply, ModelError>, Vec<String>, Vec<Token>) {
    let (model, watcher) = (ScriptedModel::new([reply]), Arc::new(Watcher::default()));
    let redacted = Intercepted::new(model.clone()).intercept(redaction);
    let call = Call::new(CallKey::new("k"), Arc::new(Still)).tokens(watcher.clone());
    let reply = redacted.chat(ChatRequest::new(messages), &call).await;
    let sent = model.requests().into_iter().flat_map(|request| request.messages);
    let sent = sent.map(|message| message.text().into_owned()).collect();
    let seen = watcher.0.lock().unwrap().clone();
    (reply, sent, seen)
}

fn says(text: &str) -> Exchange {
    Exchange::says(text)
}

const USER: &str = "kim@example.com, lee@example.com, 010-1234-5678, 900101-1234568, 4111 1111 1111 1111, 10.0.0.1";

#[tokio::test]
async fn each_kind_is_replaced_as_its_strategy_says() {
    let key = || RedactionStrategy::Hash(Secret::new("key".to_owned()));
    let all = |strategy: RedactionStrategy| {
        let kinds = PersonalData::ALL.into_iter();
        kinds.fold(Redaction::new(), |all, kind| all.kind(kind, strategy.clone()))
    };
    let sent = async |redaction| ask(redaction, vec![USER.into()], says("ok")).await.1[0].clone();
    assert_eq!(
        sent(Redaction::new()).await,
        "[EMAIL_1], [EMAIL_2], [MOBILE_1], [RESIDENT_NUMBER_1], [CARD_1], [IP_1]"
    );
    assert_eq!(
        sent(all(RedactionStrategy::Mask)).await,
        "k***@example.com, l***@example.com, ***-****-5678, 900101-*******, **** **** **** 1111, **.*.*.*"
    );
    let hashed = sent(all(key())).await;
    assert_eq!(hashed, sent(all(key())).await);
    let other = all(RedactionStrategy::Hash(Secret::new("other".to_owned())));
    assert!(hashed.starts_with("[EMAIL_") && hashed != sent(other).await, "{hashed}");
    assert!(!hashed.contains("5678") && !hashed.contains("example"), "{hashed}");
    // Only what is looked for.
    let only = Redaction::new().only([PersonalData::Card]);
    assert_eq!(sent(only).await, USER.replace("4111 1111 1111 1111", "[CARD_1]"));
    assert_eq!(sent(Redaction::new().input(false)).await, USER);

    let blocking = Redaction::new().kind(PersonalData::Card, RedactionStrategy::Block);
    let (reply, sent, _) = ask(blocking, vec![USER.into()], says("ok")).await;
    let error = reply.unwrap_err();
    assert!(matches!(error, ModelError::ContentFiltered { .. }) && sent.is_empty(), "{error:?}");
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(source, "personal data is not passed on (card)");
}

#[tokio::test]
async fn the_same_data_has_the_same_name_in_all_messages_and_parts() {
    let arguments = Arguments::new(r#"{"to":"kim@example.com","card":4111111111111111}"#);
    let called = ToolCall { id: "x".into(), name: "send".into(), arguments };
    let image = Part::Image { url: "data:image/png;base64,AAAA".into() };
    let text = Part::Text { text: "again kim@example.com".into() };
    let messages = vec![
        Message::system("mail of the service: help@example.com"),
        Message::user("I am kim@example.com, not lee@example.com"),
        Message::assistant("kim@example.com?").with_tool_calls([called]),
        Message::tool("x", "sent to lee@example.com"),
        Message::user(Content::Parts(vec![text, image.clone()])),
    ];
    let model = ScriptedModel::new([says("ok")]);
    let redacted = Intercepted::new(model.clone()).intercept(Redaction::new());
    let call = Call::new(CallKey::new("k"), Arc::new(Still));
    redacted.chat(ChatRequest::new(messages), &call).await.unwrap();
    let sent = model.requests().remove(0).messages;
    let said: Vec<_> = sent.iter().map(|message| message.text().into_owned()).collect();
    assert_eq!(
        said,
        [
            "mail of the service: help@example.com",
            "I am [EMAIL_1], not [EMAIL_2]",
            "[EMAIL_1]?",
            "sent to [EMAIL_2]",
            "again [EMAIL_1]"
        ]
    );
    // What is no JSON any more is not sent.
    assert_eq!(sent[2].tool_calls()[0].arguments, Arguments::default());
    assert!(matches!(sent[4].content(), Content::Parts(parts) if parts[1] == image));
}

/// What is restored is what this request replaced, and nothing that somebody wrote by hand.
#[tokio::test]
async fn an_answer_may_have_the_data_back() {
    let reply =
        says("Mail [EMAIL_1] or [EMAIL_2], not [EMAIL_9] [x] [").pieces(["Mail [EM", "AIL_1]"]);
    let (answer, sent, seen) = ask(Redaction::new().restore(), vec![USER.into()], reply).await;
    let want = "Mail kim@example.com or lee@example.com, not [EMAIL_9] [x] [";
    assert_eq!(answer.unwrap().message.text(), want);
    // A watcher sees what the user is to read, and no half of a placeholder.
    assert_eq!(seen, [Token::Text(want.to_owned())]);
    assert!(sent[0].starts_with("[EMAIL_1]"));

    let forged =
        vec![Message::user("kim@example.com"), Message::tool("x", "say [EMAIL_1] and [EMAIL_A1]")];
    let reply = says("[EMAIL_1] [EMAIL_A1] [EMAIL_B1]");
    let (answer, sent, _) = ask(Redaction::new().restore(), forged, reply).await;
    assert_eq!(sent[0], "[EMAIL_B1]");
    assert_eq!(answer.unwrap().message.text(), "[EMAIL_1] [EMAIL_A1] kim@example.com");
}

#[tokio::test]
async fn replies_are_redacted_before_a_watcher_sees_them() {
    let redaction = || Redaction::new().output(true).input(false);
    let reply = || {
        says("Write to kim@example.com")
            .pieces(["Write to kim@", "example.com"])
            .reasoning("lee@example.com")
    };
    let (answer, _, seen) = ask(redaction(), vec!["?".into()], reply()).await;
    let answer = answer.unwrap();
    assert_eq!(answer.message.text(), "Write to [EMAIL]");
    assert_eq!(answer.reasoning.as_deref(), Some("[EMAIL]"));
    let all = format!("{seen:?}");
    assert!(!all.contains("example") && all.contains("[EMAIL]"), "{all}");
    let blocking = redaction().kind(PersonalData::Email, RedactionStrategy::Block);
    let (answer, _, seen) = ask(blocking, vec!["?".into()], reply()).await;
    assert!(answer.is_err() && seen.is_empty());
}

/// What a tool says when it gives nothing is a result, too.
#[tokio::test]
async fn errors_of_tools_are_redacted() {
    let spec = |name: &str| ToolSpec::new(name, "", json!({})).unwrap();
    let failing = FnTool::untyped(spec("fails"), |_, _| async {
        Err(ToolError::failed("no mailbox kim@example.com"))
    });
    let refusing = FnTool::untyped(spec("refuses"), |_, _| async {
        Err(ToolError::refused("010-1234-5678 is blocked"))
    });
    let asks = call("fails", "{}") + &call("refuses", "{}");
    let model = ScriptedModel::new([says(&asks), says("x")]);
    let agent = ReactAgent::builder("t", "", model).tool(failing).tool(refusing);
    let agent = agent.intercept(Redaction::new()).build().unwrap();
    let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    let seen = observations(&state);
    assert!(
        seen[0].contains("no mailbox [EMAIL]") && seen[1].contains("[MOBILE] is blocked"),
        "{seen:?}"
    );
}

/// In an agent: the log has what the user said, nothing of what a tool gave, and the tool gets the data and not its name.
#[tokio::test]
async fn an_agent_works_with_data_that_its_model_does_not_read() {
    for protocol in [Protocol::Native, Protocol::Text] {
        let given: Arc<Mutex<Vec<String>>> = Arc::default();
        let ledger = given.clone();
        let schema = json!({"properties": {"to": {"type": "string"}}});
        let spec = ToolSpec::new("send", "Sends", schema).unwrap();
        let send = FnTool::untyped(spec, move |arguments: Arguments, _| {
            ledger.lock().unwrap().push(arguments.to_string());
            async { Ok("sent; copy to boss@example.com, 010-1234-5678".into()) }
        });
        let asks = match protocol {
            Protocol::Native => Exchange::calls([ToolCall {
                id: "x".into(),
                name: "send".into(),
                arguments: Arguments::new(r#"{"to":"[EMAIL_1]"}"#),
            }]),
            _ => says(&call("send", r#"{"to":"[EMAIL_1]"}"#)),
        };
        let model = ScriptedModel::new([
            asks.lacks("example.com").contains("[EMAIL_1]"),
            says("sent to [EMAIL_1]").lacks("example.com").lacks("5678"),
        ]);
        let agent = ReactAgent::builder("t", "", model)
            .tool(SharedTool::new(send))
            .protocol(protocol)
            .intercept(Redaction::new().restore())
            .build()
            .unwrap();
        let asked = agent.ask("Write to kim@example.com");
        let state = agent.graph().invoke(asked, ()).await.unwrap().done().unwrap();
        assert_eq!(*given.lock().unwrap(), [r#"{"to":"kim@example.com"}"#]);
        assert_eq!(state.answer.as_deref(), Some("sent to kim@example.com"));
        assert!(observations(&state)[0].ends_with("sent; copy to [EMAIL], [MOBILE]"));
    }
}

fn customers(strategy: RedactionStrategy) -> Redaction {
    Redaction::new().pattern("CUSTOMER", r"\bC-\d{4}\b|고객 \p{Hangul}+", strategy).unwrap()
}

#[tokio::test]
async fn a_pattern_of_ones_own_is_replaced_as_its_strategy_says() {
    let key = RedactionStrategy::Hash(Secret::new("key".to_owned()));
    let sent = async |strategy| {
        let said = "C-1234 and 고객 김철수, C-1234, kim@example.com";
        let (reply, sent, _) = ask(customers(strategy), vec![said.into()], says("ok")).await;
        reply.map(|_| sent[0].clone()).map_err(|error| hanok_core::Chain(&error).to_string())
    };
    assert_eq!(
        sent(RedactionStrategy::Placeholder).await.unwrap(),
        "[CUSTOMER_1] and [CUSTOMER_2], [CUSTOMER_1], [EMAIL_1]"
    );
    assert_eq!(
        sent(RedactionStrategy::Mask).await.unwrap(),
        "*-**** and ** ***, *-****, [EMAIL_1]"
    );
    let hashed = sent(key).await.unwrap();
    assert!(hashed.starts_with("[CUSTOMER_") && !hashed.contains("1234"), "{hashed}");
    let blocked = sent(RedactionStrategy::Block).await.unwrap_err();
    assert!(blocked.contains("customer") && !blocked.contains("1234"), "{blocked}");
}

/// A pattern is not run over what a model writes: there only what others said before is replaced, letter by letter.
#[tokio::test]
async fn no_pattern_is_run_over_what_a_model_writes() {
    let call = |arguments: &str| ToolCall {
        id: "c".into(),
        name: "find".into(),
        arguments: Arguments::new(arguments.to_owned()),
    };
    let messages = vec![
        Message::user("find C-1234"),
        Message::assistant("C-1234, not C-9999")
            .with_tool_calls([call(r#"{"of":["C-1234","C-9999"]}"#)]),
        Message::tool("c", "C-9999 is new"),
    ];
    let redaction = customers(RedactionStrategy::Placeholder).output(true).restore();
    let model = ScriptedModel::new([says("[CUSTOMER_1] and C-5555")]);
    let redacted = Intercepted::new(model.clone()).intercept(redaction);
    let key = Call::new(CallKey::new("k"), Arc::new(Still));
    let reply = redacted.chat(ChatRequest::new(messages), &key).await.unwrap();
    let sent = model.requests().remove(0).messages;
    let texts: Vec<_> = sent.iter().map(|message| message.text().into_owned()).collect();
    assert_eq!(texts, ["find [CUSTOMER_1]", "[CUSTOMER_1], not C-9999", "[CUSTOMER_2] is new"]);
    assert_eq!(sent[1].tool_calls()[0].arguments.as_str(), r#"{"of":["[CUSTOMER_1]","C-9999"]}"#);
    assert_eq!(reply.message.text(), "C-1234 and C-5555");
}

#[test]
fn a_pattern_that_is_none_says_why() {
    let refused = |name: &str, pattern: &str| {
        Redaction::new().pattern(name, pattern, RedactionStrategy::Mask).unwrap_err()
    };
    for (name, pattern, words) in [
        ("", "a", "1 to 32"),
        (&*"A".repeat(33), "a", "1 to 32"),
        ("customer", "a", "`A` to `Z`"),
        ("A]", "a", "`A` to `Z`"),
        ("EMAIL", "a", "kind of personal data"),
        ("A", "a*", "matches the empty text"),
        ("A", "(a", "`A` is no regular expression"),
        ("A", r"(a)\1", "`A` is no regular expression"),
    ] {
        let error = refused(name, pattern);
        assert!(error.to_string().contains(words), "{name} {pattern}: {error}");
    }
    let error = refused("A", "[");
    assert!(matches!(&error, PatternError::BadPattern { name, .. } if name == "A"), "{error:?}");
}
