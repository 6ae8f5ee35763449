//! Programs of other people: what stands beside hanok in them, and with which SQLite it is built then.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::Tool;
use crate::metadata::Metadata;
use crate::report::Outcome;
use crate::result::Result;
use crate::work::Work;

/// What a program depends on beside hanok, and hanok's features in it. Two crates that link `sqlite3` do not resolve unless
/// they agree on one.
const BESIDE: [(&str, &str, &str); 2] = [
    ("sqlx-sqlite", "sqlite", r#"sqlx = { version = "0.9", features = ["sqlite"] }"#),
    (
        "sqlx-postgres",
        "sqlite\", \"postgres",
        r#"sqlx = { version = "0.9", features = ["postgres", "macros"] }"#,
    ),
];

/// The lowest rusqlite that hanok-sqlite's manifest takes.
const LOWEST: &str = "0.39.0";

/// The tests of hanok-sqlite that run with the lowest rusqlite: those of what differs between them.
const TESTS: [&str; 6] = ["closing", "conforms", "damage", "files", "items", "read_only"];

/// Features of serde_json that somebody's program may have: they change how it keeps numbers and the keys of objects.
const FEATURES: &str = "\"preserve_order\", \"arbitrary_precision\", \"float_roundtrip\"";

/// The tests of what is stored, sent and hashed, by crate.
const OF_JSON: [(&str, &[&str]); 3] = [
    ("hanok-state", &["dynamic", "json", "messages", "reduce", "schema", "updates"]),
    ("hanok-checkpoint", &["folds", "gaps", "lines", "memory", "memory_store", "stored"]),
    ("hanok-model", &["doubles", "injected", "model", "semantic"]),
];

/// Where a manifest or the lock file changed: resolves each program of [`BESIDE`] and one with the lowest rusqlite, and runs the
/// tests of one with serde_json's features; under `--full` those with the lowest rusqlite too.
pub(crate) fn stage(work: &Work) -> Result<Outcome> {
    if !work.changes.has_manifest() {
        let why = "no manifest and no lock file changed; anyway: `--only neighbours`";
        return Ok(Outcome::Skipped(why.to_owned()));
    }
    let metadata = &work.metadata;
    let mut notes = Vec::new();
    for (name, features, beside) in BESIDE {
        let hanok = dependency("hanok", &format!(r#", features = ["{features}"]"#));
        let program = program(metadata, name, &format!("{hanok}\n{beside}"))?;
        match locked(&program)? {
            Ok(sqlite) => notes.push(format!("{name} with libsqlite3-sys {sqlite}")),
            Err(said) => return Ok(Outcome::Failed(format!("{name}: {said}"))),
        }
    }
    let lowest = lowest(metadata)?;
    match locked(&lowest)? {
        Ok(sqlite) => notes.push(format!("rusqlite {LOWEST} with libsqlite3-sys {sqlite}")),
        Err(said) => return Ok(Outcome::Failed(format!("rusqlite {LOWEST}: {said}"))),
    }
    // The packages of others are built as for the workspace.
    let mut programs = vec![(of_json(metadata)?, metadata.target_directory.clone())];
    if work.is_full() {
        programs.push((lowest.clone(), lowest.join("target")));
    }
    for (program, target) in programs {
        let tests = Tool::cargo()
            .arguments(["test", "--no-fail-fast", "--manifest-path"])
            .arguments([program.join("Cargo.toml")])
            .variable("CARGO_TARGET_DIR", target)
            .variable("INSTA_UPDATE", "no")
            .variable("INSTA_WORKSPACE_ROOT", crates());
        let ended = tests.run()?;
        if !ended.succeeded() {
            return Ok(Outcome::Failed(ended.output));
        }
    }
    let tested = match work.is_full() {
        true => "tests pass with serde_json's features and with the lowest rusqlite",
        false => "tests pass with serde_json's features (with the lowest rusqlite: `--full`)",
    };
    Ok(Outcome::Passed(format!("{}; {tested}", notes.join(", "))))
}

/// A program that has the tests of [`OF_JSON`], and serde_json with all [`FEATURES`].
fn of_json(metadata: &Metadata) -> Result<PathBuf> {
    let mut text = format!("serde_json = {{ version = \"1\", features = [{FEATURES}] }}\n");
    for (name, options) in [
        ("hanok-checkpoint", ""),
        ("hanok-core", ""),
        ("hanok-model", r#", features = ["store", "test"]"#),
        ("hanok-state", ""),
        ("hanok-testkit", ""),
    ] {
        text += &(dependency(name, options) + "\n");
    }
    text += "bytes = \"1\"\nproptest = { version = \"1\", default-features = false, features = [\"std\"] }\n";
    text += "futures = { version = \"0.3\", features = [\"executor\"] }\nschemars = \"1\"\n";
    text += "insta = { version = \"1\", features = [\"json\"] }\ntempfile = \"3\"\n";
    text += "serde = { version = \"1\", features = [\"derive\"] }\n";
    text +=
        "tokio = { version = \"1\", features = [\"macros\", \"rt\", \"test-util\", \"time\"] }\n";
    for (name, tests) in OF_JSON {
        text += &targets(name, tests);
    }
    program(metadata, "features-of-json", &text)
}

/// A program that has hanok-sqlite's tests, and the lowest rusqlite.
fn lowest(metadata: &Metadata) -> Result<PathBuf> {
    let mut text = dependency("hanok-sqlite", "") + "\n[dev-dependencies]\n";
    text += &format!("rusqlite = \"={LOWEST}\"\n");
    for (name, options) in [
        ("hanok-checkpoint", r#", features = ["encryption", "zstd"]"#),
        ("hanok-core", ""),
        ("hanok-graph", ""),
        ("hanok-state", ""),
        ("hanok-testkit", r#", features = ["kills"]"#),
    ] {
        text += &(dependency(name, options) + "\n");
    }
    text += "crc32c = \"0.6\"\nfutures = \"0.3\"\ntempfile = \"3\"\nbytes = \"1\"\n";
    text += "tokio = { version = \"1\", features = [\"macros\", \"rt\"] }\n";
    program(metadata, "rusqlite-lowest", &(text + &targets("hanok-sqlite", &TESTS)))
}

/// The tests of a crate as programs of another package, whether they are programs of the crate or modules of one.
fn targets(package: &str, tests: &[&str]) -> String {
    let folder = crates().join(package).join("tests");
    let one = |test: &&str| {
        let module = folder.join("it").join(format!("{test}.rs"));
        let path = if module.exists() { module } else { folder.join(format!("{test}.rs")) };
        format!("[[test]]\nname = {test:?}\npath = {path:?}\n")
    };
    tests.iter().map(one).collect()
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("crates")
}

/// A dependency on a crate of the workspace, with options in the manifest's form: `, features = ["a"]`.
pub(crate) fn dependency(name: &str, options: &str) -> String {
    format!("{name} = {{ path = {:?}{options} }}", crates().join(name))
}

/// The folder of the package `name`.
pub(crate) fn folder(metadata: &Metadata, name: &str) -> PathBuf {
    metadata.target_directory.join("neighbours").join(name)
}

/// A package of its own below the target folder, with these dependencies and no lock.
pub(crate) fn program(metadata: &Metadata, name: &str, dependencies: &str) -> Result<PathBuf> {
    let folder = folder(metadata, name);
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "//! A program of somebody else.\n")?;
    let manifest = format!(
        "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{dependencies}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    let lock = folder.join("Cargo.lock");
    if lock.exists() {
        fs::remove_file(lock)?;
    }
    Ok(folder)
}

/// The same with one source, a file of `src` and its text, and with the lock of `tree`.
pub(crate) fn locked_program(
    metadata: &Metadata,
    name: &str,
    dependencies: &str,
    source: (&str, &str),
    tree: &Path,
) -> Result<PathBuf> {
    let (file, text) = source;
    let sources = folder(metadata, name).join("src");
    if sources.exists() {
        fs::remove_dir_all(&sources)?;
    }
    let folder = program(metadata, name, dependencies)?;
    fs::remove_file(sources.join("lib.rs"))?;
    fs::write(sources.join(file), text)?;
    fs::copy(tree.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    Ok(folder)
}

/// Which libsqlite3-sys the program at `folder` is built with, or what cargo said.
fn locked(folder: &Path) -> Result<std::result::Result<String, String>> {
    let resolved = Tool::cargo()
        .arguments(["generate-lockfile", "--manifest-path"])
        .arguments([folder.join("Cargo.toml")])
        .run()?;
    if !resolved.succeeded() {
        return Ok(Err(resolved.output));
    }
    let lock = fs::read_to_string(folder.join("Cargo.lock"))?;
    let versions: Vec<_> = versions(&lock, "libsqlite3-sys").collect();
    Ok(match versions.as_slice() {
        [one] => Ok((*one).to_owned()),
        other => Err(format!("libsqlite3-sys is there as {other:?}")),
    })
}

/// The versions of the package `name` in a lock.
fn versions<'a>(lock: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let packages = lock.split("[[package]]");
    packages.filter(move |it| it.contains(&format!("name = \"{name}\"\n"))).filter_map(|package| {
        let version = package.lines().find_map(|line| line.strip_prefix("version = "))?;
        Some(version.trim_matches('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_a_lock() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\ndependencies = [\n \"b\",\n]\n\n[[package]]\nname = \"b\"\nversion = \"2.0.0\"\n";
        assert_eq!(versions(lock, "b").collect::<Vec<_>>(), ["2.0.0"]);
        assert_eq!(versions(lock, "c").count(), 0);
    }
}
