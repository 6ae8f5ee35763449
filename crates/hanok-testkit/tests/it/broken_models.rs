//! The suites of models, embedders and tools find those that are broken, each in one way, and let sound ones pass.
#![cfg(feature = "model")]
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::panic::{self, AssertUnwindSafe};

use hanok_core::{Call, Effect, Token};
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, Embedder, Exchange, FnTool, HashEmbedder, ModelError,
    ScriptedModel, SharedModel, Tool, ToolError, ToolOutput, ToolSpec, Usage,
};
use hanok_state::{Arguments, Message, ToolCall};
use hanok_testkit::{
    CHAT_MODEL_CLAIMS, EMBEDDER_CLAIMS, TOOL_CLAIMS, check_chat_model, check_embedder, check_tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

mod scripted {
    use super::*;

    hanok_testkit::chat_model_conforms!(ScriptedModel::new((0..10).map(|_| Exchange::says("네"))));
}

mod shared {
    use super::*;

    // It leaves everything to whoever asks it.
    hanok_testkit::chat_model_conforms!(SharedModel::new(Model(Fault::Lazy)));
}

mod hashed {
    use super::*;

    hanok_testkit::embedder_conforms!(HashEmbedder::new(64));
}

mod function {
    use super::*;

    hanok_testkit::tool_conforms!(add().unwrap(), json!({"a": 1, "b": 2}));
}

#[derive(Deserialize, JsonSchema)]
struct Sum {
    a: i64,
    b: i64,
}

fn add() -> Result<impl Tool, hanok_model::InvalidSpec> {
    FnTool::new("add", "Adds", async |sum: Sum, _| Ok((sum.a + sum.b).to_string().into()))
}

/// In which way a model is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// It only answers.
    Lazy,
    Nameless,
    Silent,
    CountsTwice,
    /// Every piece comes twice.
    Stutters,
    OneIdForAll,
    HeedsNoStop,
    HeedsNoTime,
}

#[derive(Debug)]
struct Model(Fault);

impl ChatModel for Model {
    fn name(&self) -> &str {
        if self.0 == Fault::Nameless { " " } else { "model" }
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        let lazy = self.0 == Fault::Lazy;
        if call.stop().is_cancelled() && self.0 != Fault::HeedsNoStop && !lazy {
            return Err(ModelError::Cancelled);
        }
        if call.time_left().is_some() && self.0 != Fault::HeedsNoTime && !lazy {
            let (what, after) = (hanok_model::Wait::Deadline, std::time::Duration::ZERO);
            return Err(ModelError::TimedOut { what, after });
        }
        let text = if self.0 == Fault::Silent { "" } else { "hello" };
        let id = |number: usize| if self.0 == Fault::OneIdForAll { 0 } else { number };
        let calls = request.tools.iter().flat_map(|tool| {
            (0..2).map(move |number| {
                ToolCall::new(format!("call-{}", id(number)), tool.name(), json!({"city": "Seoul"}))
            })
        });
        let message = Message::assistant(text).with_tool_calls(calls.collect::<Vec<_>>());
        let usage = Usage { input_tokens: 3, output_tokens: 1, ..Usage::default() };
        if !lazy {
            let times = if self.0 == Fault::CountsTwice { 2 } else { 1 };
            (0..times).for_each(|_| call.spend().add(usage.spent()));
            let times = if self.0 == Fault::Stutters { 2 } else { 1 };
            let sink = call.sink().into_iter();
            sink.for_each(|sink| (0..times).for_each(|_| sink.token(Token::Text(text.to_owned()))));
        }
        Ok(ChatReply::new(message, self.name()).usage(usage))
    }
}

/// In which way an embedder or a tool is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bug {
    None,
    Reversed,
    LosesOne,
    NotFinite,
    CountsCalls,
    Deaf,
    /// Takes what it is given for arguments that fit.
    Trusting,
    Mute,
    NamesNothing,
    Busy,
}

#[derive(Debug)]
struct Vectors(HashEmbedder, Bug);

impl Embedder for Vectors {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn dimensions(&self) -> Option<usize> {
        self.0.dimensions()
    }

    async fn embed(&self, texts: &[String], call: &Call) -> Result<Vec<Vec<f32>>, ModelError> {
        let heard = if self.1 == Bug::Deaf { &Call::detached() } else { call };
        let mut vectors = self.0.embed(texts, heard).await?;
        match self.1 {
            Bug::Reversed => vectors.reverse(),
            Bug::LosesOne => drop(vectors.pop()),
            Bug::NotFinite => {
                vectors.iter_mut().flatten().take(1).for_each(|number| *number = f32::NAN);
            }
            Bug::CountsCalls => call.spend().add(Usage::default().spent()),
            _ => {}
        }
        Ok(vectors)
    }
}

#[derive(Debug)]
struct Adder(ToolSpec, Bug);

impl Adder {
    fn new(bug: Bug) -> Self {
        let about = if bug == Bug::NamesNothing { " " } else { "Adds" };
        Self(ToolSpec::of::<Sum>("add", about).unwrap(), bug)
    }
}

impl Tool for Adder {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    async fn run(&self, arguments: &Arguments, _: &Call) -> Result<ToolOutput, ToolError> {
        let sum: Sum = match arguments.decode() {
            Err(_) if self.1 == Bug::Trusting => Sum { a: 0, b: 0 },
            sum => sum.map_err(ToolError::arguments)?,
        };
        // One call at a time, and the next one is told so where it should wait.
        if self.1 == Bug::Busy {
            static BUSY: tokio::sync::Semaphore = tokio::sync::Semaphore::const_new(1);
            let _permit = BUSY.try_acquire().map_err(ToolError::failed)?;
            tokio::task::yield_now().await;
        }
        let text = (sum.a + sum.b).to_string();
        Ok(ToolOutput::new(if self.1 == Bug::Mute { String::new() } else { text }))
    }
}

/// The claims that do not hold.
fn failing(claims: &[&'static str], check: impl Fn(&str)) -> Vec<&'static str> {
    // What the claims say is not to be read.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let fails = |claim: &&&str| panic::catch_unwind(AssertUnwindSafe(|| check(claim))).is_err();
    let failing = claims.iter().filter(fails).copied().collect();
    panic::set_hook(hook);
    failing
}

#[test]
fn each_broken_model_fails_at_the_claim_about_it_and_a_sound_one_at_none() {
    for (fault, claims) in [
        (Fault::None, &[][..]),
        (Fault::Nameless, &["it_has_a_name"]),
        (
            Fault::Silent,
            &["a_question_is_answered", "a_reply_that_nobody_waits_for_harms_none_that_follows"],
        ),
        (Fault::CountsTwice, &["a_reply_is_counted_once", "replies_at_once_do_not_mix"]),
        (Fault::Stutters, &["what_goes_to_the_sink_is_the_reply", "replies_at_once_do_not_mix"]),
        (Fault::OneIdForAll, &["the_calls_of_a_reply_have_ids_of_their_own"]),
        (Fault::HeedsNoStop, &["a_call_that_was_stopped_is_not_made"]),
        (Fault::HeedsNoTime, &["a_call_whose_time_is_over_is_not_made"]),
    ] {
        let failing = failing(CHAT_MODEL_CLAIMS, |claim| check_chat_model(claim, Model(fault)));
        assert_eq!(failing, claims, "{fault:?}");
    }
}

#[test]
fn each_broken_embedder_fails_at_the_claim_about_it_and_a_sound_one_at_none() {
    for (bug, claim) in [
        (Bug::Reversed, "vectors_stand_in_the_order_of_their_texts"),
        (Bug::LosesOne, "there_are_as_many_vectors_as_texts"),
        (Bug::NotFinite, "vectors_have_one_length_and_finite_numbers"),
        (Bug::CountsCalls, "an_embedding_is_no_call_of_a_model"),
        (Bug::Deaf, "an_embedding_that_was_stopped_is_not_made"),
        (Bug::Deaf, "an_embedding_whose_time_is_over_is_not_made"),
    ] {
        let check = |claim: &str| check_embedder(claim, Vectors(HashEmbedder::new(64), bug));
        let failing = failing(EMBEDDER_CLAIMS, check);
        assert!(failing.contains(&claim), "{bug:?}: {failing:?}");
    }
    let sound = |claim: &str| check_embedder(claim, Vectors(HashEmbedder::new(64), Bug::None));
    assert_eq!(failing(EMBEDDER_CLAIMS, sound), [""; 0]);
}

#[test]
fn each_broken_tool_fails_at_the_claim_about_it_and_a_sound_one_at_none() {
    for (bug, claim) in [
        (Bug::Trusting, "what_is_no_object_is_an_error_that_a_model_can_correct"),
        (Bug::Trusting, "a_required_parameter_that_is_left_out_is_named"),
        (Bug::Trusting, "a_parameter_of_another_kind_is_refused"),
        (Bug::Mute, "arguments_that_fit_are_answered"),
        (Bug::NamesNothing, "a_model_can_read_what_it_is_for"),
        (Bug::Busy, "calls_at_once_are_all_answered"),
    ] {
        let check = |claim: &str| check_tool(claim, Adder::new(bug), &json!({"a": 1, "b": 2}));
        let failing = failing(TOOL_CLAIMS, check);
        assert!(failing.contains(&claim), "{bug:?}: {failing:?}");
    }
    let sound = |claim: &str| check_tool(claim, Adder::new(Bug::None), &json!({"a": 1, "b": 2}));
    assert_eq!(failing(TOOL_CLAIMS, sound), [""; 0]);
}
