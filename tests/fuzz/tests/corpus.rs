//! Every target without a fuzzer: on what was found before, and on bytes of many seeds.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{fs, panic, path::Path};

use hanok_fuzz::{TARGETS, Target, calls, dictionary, forms, marks_are_hidden};
use hanok_parse::Format;
use hanok_testkit::stretch;

fn here(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Bytes out of a seed, 0 to 511 of them.
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    let len = (usize::from(next()) << 8 | usize::from(next())) % 512;
    (0..len).map(|_| next()).collect()
}

/// Runs a target and says which bytes it fails on.
fn run(name: &str, target: Target, data: &[u8], from: &str) {
    if panic::catch_unwind(|| target(data)).is_err() {
        panic!("{name} fails on {from}");
    }
}

/// contract 1 to 14: what was found once stays mended. A file of `corpus` is named after what it is about.
#[test]
fn what_was_found_before_is_found_no_more() {
    let mut files = 0;
    for (name, target) in TARGETS {
        let Ok(folder) = fs::read_dir(here("corpus").join(name)) else { continue };
        for entry in folder {
            let path = entry.unwrap().path();
            run(name, target, &fs::read(&path).unwrap(), &path.display().to_string());
            files += 1;
        }
    }
    assert!(files > 0, "the corpus is empty");
}

/// P32, P59: no bytes make the parser panic, and no cut changes what it reads.
#[test]
fn any_text_is_a_sound_reply_however_it_is_cut() {
    for seed in stretch(0..4_000) {
        run("any_text", TARGETS[0].1, &bytes(seed), &format!("seed {seed}"));
    }
}

/// A format that is added is written here, too. Delegations are no calls of tools.
#[test]
fn every_format_has_a_form() {
    let forms = forms();
    let without = Format::ALL.iter().filter(|format| !forms.contains(format));
    assert_eq!(without.copied().collect::<Vec<_>>(), [Format::Supervisor]);
}

/// P32: only what was written as a call is one, in every format, in pieces and cut off.
#[test]
fn every_format_is_read_as_it_was_written() {
    let forms = forms();
    let mut failed = Vec::new();
    for (index, format) in forms.iter().enumerate() {
        for seed in stretch(0..60) {
            let mut data = vec![u8::try_from(index).unwrap()];
            data.extend(bytes(seed * 61 + index as u64));
            if panic::catch_unwind(|| calls(&data)).is_err() {
                failed.push(format!("{format} (form {index}, seed {seed})"));
                break;
            }
        }
    }
    assert!(failed.is_empty(), "{} of {}: {}", failed.len(), forms.len(), failed.join(", "));
}

/// contract 13
#[test]
fn a_text_that_is_cut_shows_nothing_of_its_call() {
    let shown = |(index, _): &(usize, _)| panic::catch_unwind(|| marks_are_hidden(*index)).is_err();
    let failed: Vec<_> = forms().into_iter().enumerate().filter(shown).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

/// contract 4
#[test]
fn small_faults_of_json_are_mended_and_strings_are_kept() {
    for seed in stretch(0..20_000) {
        run("repair", TARGETS[2].1, &bytes(seed), &format!("seed {seed}"));
    }
}

/// contract 13
#[test]
fn the_events_of_any_text_fold_to_its_reply() {
    for seed in stretch(0..3_000) {
        run("events", TARGETS[3].1, &bytes(seed), &format!("seed {seed}"));
    }
}

/// contract 15 to 20: where special tokens are known, nothing else is a mark.
#[test]
fn nothing_but_special_tokens_is_a_mark_where_they_are_known() {
    for seed in stretch(0..3_000) {
        run("special", TARGETS[5].1, &bytes(seed), &format!("seed {seed}"));
    }
}

#[test]
fn a_table_of_any_letters_is_read_or_says_why_not() {
    for seed in stretch(0..600) {
        run("tables", TARGETS[6].1, &bytes(seed), &format!("seed {seed}"));
    }
}

#[test]
fn amounts_of_any_text_are_in_order_and_written_as_they_are_read() {
    let pieces: Vec<char> =
        "0159일이삼오구십백천만억조원제의항호평프로퍼센트년월.,:₩%㎡ ~-".chars().collect();
    for seed in stretch(0..20_000) {
        let text: String =
            bytes(seed).iter().take(24).map(|at| pieces[usize::from(*at) % pieces.len()]).collect();
        run("amounts", TARGETS[4].1, text.as_bytes(), &format!("{text:?}"));
    }
}

/// Written anew with `DICTIONARY=overwrite`.
#[test]
fn the_dictionary_of_the_fuzzers_holds_every_mark() {
    let path = here("libfuzzer/marks.dict");
    if std::env::var_os("DICTIONARY").is_some_and(|word| word == "overwrite") {
        fs::write(&path, dictionary()).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), dictionary());
}
