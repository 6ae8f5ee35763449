//! The stage `fuzz`: the targets of `hanok-fuzz` under libFuzzer.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use crate::command::{Ended, Tool};
use crate::report::{Outcome, Work};
use crate::result::Result;

const MANIFEST: &str = "tests/fuzz/libfuzzer/Cargo.toml";
const DICTIONARY: &str = "tests/fuzz/libfuzzer/marks.dict";
const CORPUS: &str = "tests/fuzz/corpus";

/// How many seconds a target runs, and from where: the same every time, so that a check that passed does not fail for no change.
/// Under `--full` it goes on from what earlier runs kept, with another seed every time.
const SECONDS: u64 = 10;
const SEED: &str = "-seed=1";

/// How many seconds it runs under `--full`.
const LONG: u64 = 600;

/// The crates whose code a target runs, if not that of [`PARSER`]; changes of the targets themselves count for all.
const CRATES: [(&str, &[&str]); 1] = [("amounts", &["hanok-tools", "hanok-figures"])];
const PARSER: &[&str] = &["hanok-parse"];
const OF_ALL: &str = "tests/fuzz/";

/// Those that run at once.
const AT_ONCE: usize = 2;

/// What has the stable compiler count which code runs: the pass that its own nightly option for sanitizers turns on.
const COVERAGE: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Builds the targets whose crate changed and runs them, two at a time.
pub(crate) fn stage(work: &Work) -> Result<Outcome> {
    let is_wanted = |target: &String| work.changes.any(|path| is_of(path, target));
    let (wanted, left): (Vec<_>, Vec<_>) = targets()?.into_iter().partition(is_wanted);
    if wanted.is_empty() {
        return Ok(Outcome::Skipped("no crate of a target changed; all: `--only fuzz`".to_owned()));
    }
    if let Some(reason) = missing() {
        return Ok(Outcome::Skipped(reason));
    }
    // With the machine named, build scripts are built without the flags for coverage.
    let host = Tool::named("rustc").arguments(["--print", "host-tuple"]).text()?;
    let folder = work.metadata.target_directory.join("fuzz");
    let built = Tool::cargo()
        .arguments(["build", "--release", "--target", host.trim(), "--manifest-path", MANIFEST])
        .arguments([Path::new("--target-dir"), &folder])
        .variable("RUSTFLAGS", COVERAGE)
        .run()?;
    if !built.succeeded() {
        return Ok(Outcome::Failed(built.output));
    }
    let programs = folder.join(host.trim()).join("release");
    let (mut failures, mut done) = (String::new(), 0);
    for some in wanted.chunks(AT_ONCE) {
        // What a thread returns crosses it: an error as its text.
        let run = |name| {
            let tool = tool(name, work.is_full(), &programs, &folder);
            tool.and_then(Tool::run).map_err(|error| error.to_string())
        };
        let ended: Vec<_> = thread::scope(|scope| {
            let running: Vec<_> = some.iter().map(|name| scope.spawn(move || run(name))).collect();
            running.into_iter().map(ScopedJoinHandle::join).collect()
        });
        for (name, ended) in some.iter().zip(ended) {
            let ended = ended.map_err(|_panic| format!("the thread of `{name}` is lost"))??;
            match times(&ended) {
                Some(times) => done += times,
                None => failures.push_str(&failure(name, &ended, &folder)),
            }
        }
    }
    if !failures.is_empty() {
        return Ok(Outcome::Failed(failures));
    }
    let (count, left) = (wanted.len(), left.len());
    Ok(Outcome::Passed(format!("{done} runs of {count} targets, {left} left out (`--only fuzz`)")))
}

/// True if a change of the file at `path` may change what `target` does.
fn is_of(path: &str, target: &str) -> bool {
    let crates =
        CRATES.iter().find(|(name, _)| *name == target).map_or(PARSER, |(_, crates)| crates);
    let is_in = |name: &&str| {
        path.strip_prefix("crates/").is_some_and(|path| path.split('/').next() == Some(name))
    };
    path.starts_with(OF_ALL) || crates.iter().any(is_in)
}

/// Why the fuzzers cannot be built here.
fn missing() -> Option<String> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_unset| "c++".to_owned());
    if cfg!(not(unix)) || Tool::named(&compiler).arguments(["--version"]).text().is_err() {
        return Some(format!("libFuzzer needs Unix and a C++ compiler: `{compiler}` does not run"));
    }
    let fetched = Tool::cargo().arguments(["fetch", "--manifest-path", MANIFEST]).text();
    fetched.err().map(|_why| "libFuzzer could not be fetched from the registry".to_owned())
}

/// The names of the targets: those of their files.
fn targets() -> Result<Vec<String>> {
    let folder = Path::new(MANIFEST).with_file_name("targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

/// A target on what is committed, and maybe on what earlier runs kept.
fn tool(name: &str, long: bool, programs: &Path, folder: &Path) -> Result<Tool> {
    // The first folder that is named is where the fuzzer keeps what it comes upon.
    let kept = folder.join(if long { "kept" } else { "fresh" }).join(name);
    if !long && kept.exists() {
        fs::remove_dir_all(&kept)?;
    }
    fs::create_dir_all(&kept)?;
    let committed = PathBuf::from(CORPUS).join(name);
    let found = folder.join(format!("found-{name}-"));
    let seconds = if long { LONG } else { SECONDS };
    Ok(Tool::named(programs.join(name))
        .arguments([&kept])
        .arguments(committed.is_dir().then_some(&committed))
        .arguments((!long).then_some(SEED))
        .arguments([
            format!("-dict={DICTIONARY}"),
            format!("-max_total_time={seconds}"),
            "-max_len=4096".to_owned(),
            "-timeout=10".to_owned(),
            "-rss_limit_mb=2048".to_owned(),
            format!("-artifact_prefix={}", found.display()),
        ])
        .limit(Duration::from_secs(2 * seconds)))
}

/// How many runs a target says it did; `None` when it did not end well.
fn times(ended: &Ended) -> Option<u64> {
    let done = ended.output.lines().rev().find_map(|line| line.strip_prefix("Done "))?;
    let times = done.split_whitespace().next()?.parse().ok()?;
    ended.succeeded().then_some(times)
}

/// The lines of a failed target that are neither progress nor a backtrace, and how to see it again.
fn failure(name: &str, ended: &Ended, folder: &Path) -> String {
    let is_telling = |line: &&str| {
        let word = line.trim_start();
        !line.starts_with('#') && !word.starts_with("at ") && !word.starts_with(char::is_numeric)
    };
    let lines: Vec<_> = ended.output.lines().filter(is_telling).collect();
    let lines = if ended.late { "not done in time".to_owned() } else { lines.join("\n  ") };
    let again = folder.join("*").join("release").join(name);
    let again = again.display();
    format!("{name}: {lines}\n  again: {again} FILE; keep the file in {CORPUS}/{name}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_ended_well_has_its_runs_and_a_failure_its_claim() {
        let ended = |output: &str, code: Option<i32>| Ended {
            output: output.into(),
            code,
            late: code.is_none(),
        };
        let done = "#2 INITED\nDone 218397 runs in 21 second(s)\n";
        assert_eq!(times(&ended(done, Some(0))), Some(218_397));
        assert_eq!(times(&ended(done, Some(77))), None);
        assert_eq!(times(&ended("SUMMARY: libFuzzer: deadly signal\n", Some(77))), None);
        let output = "#2\tINITED cov: 1\nthread panicked at sound.rs:29:9:\nthe first error comes later\n   0: __rustc\n    at x.rs\n";
        let told = failure("any_text", &ended(output, Some(77)), Path::new("target/fuzz"));
        assert!(told.contains("the first error comes later"), "{told}");
        assert!(!told.contains("INITED") && !told.contains("__rustc"), "{told}");
        assert!(failure("x", &ended("", None), Path::new("f")).contains("not done in time"));
    }

    #[test]
    fn a_target_runs_when_its_crate_or_the_targets_changed() {
        for (path, target, want) in [
            ("crates/hanok-parse/src/lib.rs", "calls", true),
            ("crates/hanok-parse/src/lib.rs", "amounts", false),
            ("crates/hanok-tools/src/lib.rs", "amounts", true),
            ("tests/fuzz/src/soup.rs", "amounts", true),
            ("crates/hanok-parser/src/lib.rs", "calls", false),
        ] {
            assert_eq!(is_of(path, target), want, "{path} {target}");
        }
    }

    #[test]
    fn every_target_is_one_of_the_package() {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(MANIFEST);
        let text = fs::read_to_string(&manifest).unwrap();
        for entry in fs::read_dir(manifest.with_file_name("targets")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(text.contains(&format!("path = \"targets/{name}\"")), "{name}");
        }
    }
}
