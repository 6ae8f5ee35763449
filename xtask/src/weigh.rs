//! What hanok brings into a program: packages, the time of a first build, and the size of the program, beside other ways to an agent.
//! `cargo xtask weigh rag` weighs the README's first command instead.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::command::Tool;
use crate::dependencies::{self, Build, FIRST_COMMAND};
use crate::metadata::Metadata;
use crate::needs;
use crate::options::Options;
use crate::result::Result;

/// The rows, and the package of each in `benches/weigh`.
const ROWS: [(&str, &str); 4] = [
    ("graph on SQLite", "graph"),
    ("defaults", "defaults"),
    ("agent on OpenAI and SQLite", "agent"),
    (RIG, "rig"),
];

/// The row of other people's packages, which are weighed at their newest.
const RIG: &str = "rig: a question to OpenAI";

/// The row of LangGraph, and what a program needs there for the same: an agent, OpenAI, threads in SQLite.
const LANGGRAPH: &str = "LangGraph: agent on OpenAI, SQLite";
const PYTHON: [&str; 3] = ["langgraph", "langchain-openai", "langgraph-checkpoint-sqlite"];

/// The row that is the README's first command, and the most CPU seconds that it may take.
const FIRST: &str = "rag";
const FIRST_LIMIT: f64 = 350.0;

/// Weighs the rows whose name contains one of the words, all if there is none, with `--release` also release builds. Returns false if the first command was weighed and is too heavy.
pub(crate) fn run(Options { options, words }: &Options) -> Result<bool> {
    let metadata = Metadata::read()?;
    let target = metadata.target_directory.join("weigh");
    if *words == [FIRST] {
        return first_command(&target.join(FIRST));
    }
    let wants =
        |name: &str| words.is_empty() || words.iter().any(|part| name.contains(part.as_str()));
    println!("{:<34} {:>9} {:>13} {:>12}", "", "packages", "first build", "program");
    for (name, package) in ROWS.iter().filter(|(name, _)| wants(name)) {
        let folder = Path::new("benches/weigh").join(package);
        let lock = folder.join("Cargo.lock");
        match *name == RIG {
            true if lock.exists() => fs::remove_file(lock)?,
            true => {}
            false => drop(fs::copy("Cargo.lock", lock)?),
        }
        let tree = ["tree", "--edges", "normal", "--prefix", "none"];
        let tree = Tool::cargo().arguments(tree).within(&folder).text()?;
        // Without the program's own.
        let packages = dependencies::names(&tree).collect::<BTreeSet<_>>().len().saturating_sub(1);
        let seconds = built(&folder, &target.join(package), "")?;
        let seconds = format!("{seconds:.1} CPU s");
        let program = match options.is_empty() {
            false => {
                built(&folder, &target.join(package), "--release")?;
                megabytes(fs::metadata(target.join(package).join("release/weigh"))?.len())
            }
            true => "-".to_owned(),
        };
        println!("{name:<34} {packages:>9} {seconds:>13} {program:>12}");
    }
    if wants(LANGGRAPH) {
        let folder = target.join("python");
        let python = needs::python(&folder, &PYTHON)?;
        let list = ["-m", "pip", "list", "--format", "freeze"];
        let listed = Tool::named(&python).arguments(list).text()?;
        let is_own = |line: &&str| line.starts_with("pip=") || line.starts_with("setuptools=");
        let packages = listed.lines().filter(|line| !is_own(line)).count();
        let files = crate::files::files(&folder.join("lib"))?;
        let sizes = files.iter().map(|file| Ok(fs::metadata(file)?.len()));
        let size = megabytes(sizes.sum::<Result<u64>>()?);
        println!("{LANGGRAPH:<34} {packages:>9} {:>13} {size:>12}", "-");
    }
    Ok(true)
}

/// Runs the README's first command as it is typed, from nothing, with `target` as its empty target folder, which is deleted
/// afterwards.
fn first_command(target: &Path) -> Result<bool> {
    let Build { packages, units } = dependencies::first_command()?;
    let command = format!("cargo run {}", FIRST_COMMAND.join(" "));
    let seconds = cpu_seconds(&command, Path::new("."), target);
    if target.exists() {
        fs::remove_dir_all(target)?;
    }
    let seconds = seconds?;
    println!(
        "{command}: {packages} packages, {units} units, {seconds:.0} CPU s (at most {FIRST_LIMIT:.0})"
    );
    Ok(seconds <= FIRST_LIMIT)
}

#[allow(clippy::cast_precision_loss, reason = "one digit is shown")]
fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// Builds the package from nothing. Returns the CPU seconds.
fn built(folder: &Path, target: &Path, profile: &str) -> Result<f64> {
    let settings =
        "CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=none CARGO_PROFILE_RELEASE_STRIP=true";
    cpu_seconds(&format!("cargo fetch -q && {settings} cargo build -q {profile}"), folder, target)
}

/// Runs `command` in `folder` with an empty `target` folder. Returns its CPU seconds, as the shell counts them for its children.
fn cpu_seconds(command: &str, folder: &Path, target: &Path) -> Result<f64> {
    if target.exists() {
        fs::remove_dir_all(target)?;
    }
    let shell = Tool::named("sh").arguments(["-c", &format!("{command} && times")]).within(folder);
    let ended = shell.variable("CARGO_TARGET_DIR", target).run()?;
    let seconds = ended.succeeded().then(|| ended.output.lines().last().and_then(seconds));
    seconds.flatten().ok_or_else(|| ended.output.into())
}

/// The seconds of a line of `times`: `1m2.5s 0m3.25s`, user and system.
fn seconds(line: &str) -> Option<f64> {
    line.split_whitespace().try_fold(0.0, |sum, part| {
        let (minutes, seconds) = part.strip_suffix('s')?.split_once('m')?;
        Some(sum + minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shells_times_are_summed() {
        assert_eq!(seconds("1m2.50s 0m3.25s"), Some(65.75));
        assert_eq!(seconds("error: no such thing"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_command_has_an_empty_target_folder_and_its_seconds_or_its_output() {
        let target = std::env::temp_dir().join(format!("xtask-weigh-{}", std::process::id()));
        fs::create_dir_all(target.join("debug")).unwrap();
        let here = Path::new(".");
        assert!(cpu_seconds("test ! -e \"$CARGO_TARGET_DIR\"", here, &target).unwrap() < 10.0);
        let error = cpu_seconds("echo why; false", here, &target).unwrap_err();
        assert_eq!(error.to_string(), "why\n");
    }
}
