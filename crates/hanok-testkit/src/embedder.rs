//! The claims about every [`Embedder`], written once and checked on each.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a suite stops at what it did not expect"
)]

use std::sync::Arc;

use futures::future::join_all;
use hanok_core::{Call, Cancellation, Timestamp};
use hanok_model::{Embedder, ModelError};
use tokio::task::yield_now;

use crate::{claims::named, runtime::block_on};

/// One claim of the suite: its name, and what panics when an embedder does not hold it.
pub type EmbedderClaim<E> = (&'static str, fn(Arc<E>));

/// The names of the claims of the suite.
pub const EMBEDDER_CLAIMS: &[&str] = crate::embedder_conforms!(@names);

/// Checks one claim on an embedder.
///
/// # Panics
///
/// When the embedder does not hold it, or there is no claim of that name.
pub fn check_embedder<E: Embedder>(claim: &str, embedder: E) {
    let claims: &[EmbedderClaim<E>] = crate::embedder_conforms!(@claims);
    named(claims, claim)(Arc::new(embedder));
}

/// Makes a test of every claim: `embedder_conforms!(Mine::new())`, in a module of its own if there are several embedders. The
/// expression gives an embedder, once for every test, on a tokio runtime.
///
/// ```
/// use hanok_model::HashEmbedder;
///
/// hanok_testkit::check_embedder("vectors_stand_in_the_order_of_their_texts", HashEmbedder::new(64));
/// ```
#[macro_export]
macro_rules! embedder_conforms {
    (@claims) => { $crate::embedder_conforms!(@each [@claim]) };
    (@names) => { $crate::embedder_conforms!(@each [@name]) };
    (@each [$($then:tt)*]) => {
        $crate::embedder_conforms! { $($then)*;
            an_embedder_has_a_name
            there_are_as_many_vectors_as_texts
            vectors_have_one_length_and_finite_numbers
            vectors_stand_in_the_order_of_their_texts
            one_text_has_one_vector
            an_embedding_is_no_call_of_a_model
            an_embedding_that_was_stopped_is_not_made
            an_embedding_whose_time_is_over_is_not_made
            an_embedding_that_nobody_waits_for_harms_none_that_follows
            embeddings_at_once_do_not_mix
        }
    };
    (@claim; $($claim:ident)*) => { &[$((stringify!($claim), $claim)),*] };
    (@name; $($claim:ident)*) => { &[$(stringify!($claim)),*] };
    (@test $embedder:expr; $($claim:ident)*) => {
        $(#[test] fn $claim() {
            $crate::check_embedder(stringify!($claim), $crate::block_on(async { $embedder }));
        })*
    };
    ($embedder:expr) => { $crate::embedder_conforms!(@each [@test $embedder]); };
}

/// Texts of several lengths and scripts.
const TEXTS: [&str; 4] =
    ["The password has 14 characters.", "연차는 며칠인가요?", "a", "Trains run at night, too. 🚆"];

/// Vectors of one text are the same when the cosine of their angle is at least this: a model that reads several texts at once
/// rounds otherwise than one that reads them alone.
const SAME: f32 = 0.999;

fn embed(embedder: &impl Embedder, texts: &[&str]) -> Vec<Vec<f32>> {
    block_on(embedded(embedder, texts))
}

async fn embedded(embedder: &impl Embedder, texts: &[&str]) -> Vec<Vec<f32>> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    embedder.embed(&texts, &Call::detached()).await.expect("the embedder answers")
}

fn same(one: &[f32], other: &[f32]) -> bool {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    one == other || dot(one, other) >= SAME * (dot(one, one) * dot(other, other)).sqrt()
}

fn an_embedder_has_a_name<E: Embedder>(embedder: Arc<E>) {
    assert!(!embedder.name().trim().is_empty(), "the embedder has no name");
    assert_eq!(embedder.name(), embedder.name(), "the embedder has another name each time");
}

fn there_are_as_many_vectors_as_texts<E: Embedder>(embedder: Arc<E>) {
    for texts in [&TEXTS[..0], &TEXTS[..1], &TEXTS[..]] {
        let vectors = embed(&*embedder, texts);
        assert_eq!(vectors.len(), texts.len(), "not as many vectors as texts");
    }
}

fn vectors_have_one_length_and_finite_numbers<E: Embedder>(embedder: Arc<E>) {
    let vectors = embed(&*embedder, &TEXTS);
    let length = embedder.dimensions().unwrap_or(vectors[0].len());
    assert!(length > 0, "a vector has no numbers");
    for vector in vectors {
        assert_eq!(vector.len(), length, "vectors have one length, that of `dimensions`");
        assert!(vector.iter().all(|number| number.is_finite()), "a number is not finite");
    }
}

fn vectors_stand_in_the_order_of_their_texts<E: Embedder>(embedder: Arc<E>) {
    let together = embed(&*embedder, &TEXTS);
    for (text, vector) in TEXTS.iter().zip(together) {
        let alone = embed(&*embedder, &[text]);
        assert!(same(&alone[0], &vector), "`{text}` has another vector beside other texts");
    }
}

fn one_text_has_one_vector<E: Embedder>(embedder: Arc<E>) {
    let twice = embed(&*embedder, &[TEXTS[0], TEXTS[1], TEXTS[0]]);
    assert!(same(&twice[0], &twice[2]), "one text has two vectors");
    assert!(!same(&twice[0], &twice[1]), "texts of different meanings have one vector");
}

fn an_embedding_is_no_call_of_a_model<E: Embedder>(embedder: Arc<E>) {
    let call = Call::detached();
    block_on(embedder.embed(&[TEXTS[0].to_owned()], &call)).expect("the embedder answers");
    let spent = call.spend().spent();
    assert_eq!((spent.model_calls, spent.output_tokens), (0, 0), "only tokens that are read count");
}

fn an_embedding_that_was_stopped_is_not_made<E: Embedder>(embedder: Arc<E>) {
    let stop = Cancellation::default();
    stop.cancel();
    let call = Call::detached().cancellation(stop);
    let result = block_on(embedder.embed(&[TEXTS[0].to_owned()], &call));
    assert!(matches!(result, Err(ModelError::Cancelled)), "it was stopped, and gives {result:?}");
}

fn an_embedding_whose_time_is_over_is_not_made<E: Embedder>(embedder: Arc<E>) {
    let call = Call::detached().deadline(Timestamp::default());
    let result = block_on(embedder.embed(&[TEXTS[0].to_owned()], &call));
    assert!(
        matches!(result, Err(ModelError::TimedOut { .. })),
        "its time is over, and it gives {result:?}"
    );
}

fn an_embedding_that_nobody_waits_for_harms_none_that_follows<E: Embedder>(embedder: Arc<E>) {
    block_on(async {
        let (texts, call) = ([TEXTS[0].to_owned()], Call::detached());
        tokio::select! {
            biased;
            _ = embedder.embed(&texts, &call) => {}
            () = yield_now() => {}
        }
    });
    there_are_as_many_vectors_as_texts(embedder);
}

fn embeddings_at_once_do_not_mix<E: Embedder>(embedder: Arc<E>) {
    let alone = embed(&*embedder, &TEXTS);
    let at_once = TEXTS.iter().map(|text| embedded(&*embedder, std::slice::from_ref(text)));
    for (vectors, alone) in block_on(join_all(at_once)).iter().zip(alone) {
        assert!(same(&vectors[0], &alone), "a text has the vector of another");
    }
}
