//! The claims about every [`ChatModel`], written once and checked on each.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a suite stops at what it did not expect"
)]

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::join_all;
use hanok_core::{Call, Cancellation, Timestamp, Token, TokenSink};
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError, ToolSpec};
use hanok_state::{Message, Role};
use serde_json::{Value, json};
use tokio::{task::yield_now, time::timeout};

use crate::{claims::named, runtime::block_on};

/// One claim of the suite: its name, and what panics when a model does not hold it.
pub type ChatModelClaim<M> = (&'static str, fn(Arc<M>));

/// The names of the claims of the suite.
pub const CHAT_MODEL_CLAIMS: &[&str] = crate::chat_model_conforms!(@names);

/// Checks one claim on a model that answers whatever it is asked, any number of times.
///
/// # Panics
///
/// When the model does not hold it, or there is no claim of that name.
pub fn check_chat_model<M: ChatModel>(claim: &str, model: M) {
    let claims: &[ChatModelClaim<M>] = crate::chat_model_conforms!(@claims);
    named(claims, claim)(Arc::new(model));
}

/// Makes a test of every claim: `chat_model_conforms!(Mine::new())`, in a module of its own if there are several models. The
/// expression gives a model that answers whatever it is asked, once for every test, on a tokio runtime.
///
/// A model that only agents ask, and that leaves to them what a `SharedModel` does, is checked as `SharedModel::new(Mine::new())`.
///
/// ```
/// # use hanok_model::{Exchange, ScriptedModel};
/// # let script = || (0..10).map(|_| Exchange::says("네"));
/// hanok_testkit::check_chat_model("what_goes_to_the_sink_is_the_reply", ScriptedModel::new(script()));
/// ```
#[macro_export]
macro_rules! chat_model_conforms {
    (@claims) => { $crate::chat_model_conforms!(@each [@claim]) };
    (@names) => { $crate::chat_model_conforms!(@each [@name]) };
    (@each [$($then:tt)*]) => {
        $crate::chat_model_conforms! { $($then)*;
            it_has_a_name
            a_question_is_answered
            a_reply_is_counted_once
            what_goes_to_the_sink_is_the_reply
            the_calls_of_a_reply_have_ids_of_their_own
            a_call_that_was_stopped_is_not_made
            a_call_whose_time_is_over_is_not_made
            a_call_that_is_stopped_while_it_writes_ends
            a_reply_that_nobody_waits_for_harms_none_that_follows
            replies_at_once_do_not_mix
        }
    };
    (@claim; $($claim:ident)*) => { &[$((stringify!($claim), $claim)),*] };
    (@name; $($claim:ident)*) => { &[$(stringify!($claim)),*] };
    (@test $model:expr; $($claim:ident)*) => {
        $(#[test] fn $claim() {
            $crate::check_chat_model(stringify!($claim), $crate::block_on(async { $model }));
        })*
    };
    ($model:expr) => { $crate::chat_model_conforms!(@each [@test $model]); };
}

/// The longest that a call may take to end after it was told to.
const PATIENCE: Duration = Duration::from_secs(30);

/// Keeps what a model writes, and stops its call at the first piece if it is to.
#[derive(Default)]
struct Watcher {
    tokens: Mutex<Vec<Token>>,
    stop: Option<Cancellation>,
}

impl TokenSink for Watcher {
    fn token(&self, token: Token) {
        self.tokens.lock().unwrap().push(token);
        if let Some(stop) = &self.stop {
            stop.cancel();
        }
    }
}

impl Watcher {
    /// The text and the reasoning that came, without what was taken back.
    fn written(&self) -> (String, String) {
        let (mut text, mut reasoning) = (String::new(), String::new());
        for token in &*self.tokens.lock().unwrap() {
            match token {
                Token::Text(piece) => text.push_str(piece),
                Token::Reasoning(piece) => reasoning.push_str(piece),
                Token::Retracted => text.clear(),
                _ => {}
            }
        }
        (text, reasoning)
    }
}

fn question() -> ChatRequest {
    ChatRequest::new([Message::user("Say hello to the world.")])
}

fn answer(model: &impl ChatModel) -> ChatReply {
    block_on(model.chat(question(), &Call::detached())).expect("the model answers")
}

fn it_has_a_name<M: ChatModel>(model: Arc<M>) {
    assert!(!model.name().trim().is_empty(), "the model has no name");
    assert_eq!(model.name(), model.name(), "the model has another name each time");
}

fn a_question_is_answered<M: ChatModel>(model: Arc<M>) {
    let message = answer(&*model).message;
    assert_eq!(message.role(), Role::Assistant, "the reply is not the model's");
    let says_something = !message.text().is_empty() || !message.tool_calls().is_empty();
    assert!(says_something, "the reply has neither a text nor a call");
}

fn a_reply_is_counted_once<M: ChatModel>(model: Arc<M>) {
    let call = Call::detached();
    let reply = block_on(model.chat(question(), &call)).expect("the model answers");
    let (spent, usage) = (call.spend().spent(), reply.usage);
    assert_eq!(spent.model_calls, 1, "`Call::spend` counts one call of a model");
    assert_eq!(
        (spent.input_tokens, spent.output_tokens),
        (usage.input_tokens, usage.output_tokens),
        "`Call::spend` counts the tokens that the reply says"
    );
    assert!(
        spent.tokens() > 0,
        "a reply costs tokens: estimate them where the server does not say"
    );
}

fn what_goes_to_the_sink_is_the_reply<M: ChatModel>(model: Arc<M>) {
    let watcher = Arc::new(Watcher::default());
    let call = Call::detached().tokens(watcher.clone());
    let reply = block_on(model.chat(question(), &call)).expect("the model answers");
    let (text, reasoning) = watcher.written();
    assert_eq!(text, reply.message.text(), "the pieces put together are not the text of the reply");
    assert_eq!(reasoning, reply.reasoning.unwrap_or_default(), "nor are they its reasoning");
}

fn the_calls_of_a_reply_have_ids_of_their_own<M: ChatModel>(model: Arc<M>) {
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let weather = ToolSpec::new("weather", "The weather of a city", schema).unwrap();
    let request = ChatRequest::new([Message::user("Call `weather` for Seoul and for Busan.")]);
    let call = Call::detached();
    let reply = block_on(model.chat(request.tools([weather]), &call)).expect("the model answers");
    let calls = reply.message.tool_calls();
    for (at, call) in calls.iter().enumerate() {
        assert!(!call.id.is_empty(), "a call has no id");
        assert!(calls[..at].iter().all(|other| other.id != call.id), "two calls have one id");
        let arguments = call.arguments.decode::<Value>();
        assert!(arguments.is_ok_and(|value| value.is_object()), "arguments are a JSON object");
    }
}

fn a_call_that_was_stopped_is_not_made<M: ChatModel>(model: Arc<M>) {
    let (stop, watcher) = (Cancellation::default(), Arc::new(Watcher::default()));
    stop.cancel();
    let call = Call::detached().cancellation(stop).tokens(watcher.clone());
    let result = block_on(model.chat(question(), &call));
    assert!(matches!(result, Err(ModelError::Cancelled)), "it was stopped, and gives {result:?}");
    not_made(&call, &watcher);
}

fn a_call_whose_time_is_over_is_not_made<M: ChatModel>(model: Arc<M>) {
    let watcher = Arc::new(Watcher::default());
    let call = Call::detached().deadline(Timestamp::default()).tokens(watcher.clone());
    let result = block_on(model.chat(question(), &call));
    assert!(
        matches!(result, Err(ModelError::TimedOut { .. })),
        "its time is over, and it gives {result:?}"
    );
    not_made(&call, &watcher);
}

fn not_made(call: &Call, watcher: &Watcher) {
    assert!(call.spend().spent().is_nothing(), "a call that was not made costs nothing");
    assert_eq!(watcher.written().0, "", "a call that was not made writes nothing");
}

fn a_call_that_is_stopped_while_it_writes_ends<M: ChatModel>(model: Arc<M>) {
    let stop = Cancellation::default();
    let watcher = Arc::new(Watcher { stop: Some(stop.clone()), ..Watcher::default() });
    let call = Call::detached().cancellation(stop).tokens(watcher);
    let result = block_on(async { timeout(PATIENCE, model.chat(question(), &call)).await });
    let result = result.expect("a call that is stopped ends");
    assert!(
        matches!(result, Ok(_) | Err(ModelError::Cancelled)),
        "it was stopped while it wrote, and gives {result:?}"
    );
}

fn a_reply_that_nobody_waits_for_harms_none_that_follows<M: ChatModel>(model: Arc<M>) {
    block_on(async {
        let call = Call::detached();
        tokio::select! {
            biased;
            _ = model.chat(question(), &call) => {}
            () = yield_now() => {}
        }
    });
    a_question_is_answered(model);
}

fn replies_at_once_do_not_mix<M: ChatModel>(model: Arc<M>) {
    let asked = (0..4).map(|_| async {
        let watcher = Arc::new(Watcher::default());
        let call = Call::detached().tokens(watcher.clone());
        let reply = model.chat(question(), &call).await.expect("the model answers");
        assert_eq!(watcher.written().0, reply.message.text(), "pieces of another reply came");
        assert_eq!(call.spend().spent().model_calls, 1, "another reply was counted");
    });
    block_on(join_all(asked));
}
