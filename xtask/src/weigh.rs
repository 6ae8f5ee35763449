//! What hanok brings into a program: packages, the time of a first build, and the size of the program, beside other ways to an agent.
//! `cargo xtask weigh rag` weighs the README's first command instead.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::command::Tool;
use crate::dependencies::{self, Build, FIRST_COMMAND};
use crate::metadata::Metadata;
use crate::needs;
use crate::result::Result;

/// What is weighed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Weigh {
    /// Only the rows whose name contains one of these; all when it is empty.
    pub(crate) only: Vec<String>,
    /// Another checkout of hanok, weighed beside this one.
    pub(crate) tree: Option<String>,
    /// A release build of each, and the size of its program.
    pub(crate) release: bool,
}

/// One program of somebody's.
struct Row {
    name: &'static str,
    /// The dependency, with `HANOK` for the folder of the crate `hanok`.
    dependency: &'static str,
    program: &'static str,
}

/// A graph of one node on SQLite.
const GRAPH: &str = r#"use hanok::{BoxError, Context, END, Graph, START, Snapshot, State, ThreadKey, sqlite::Sqlite};

#[derive(State, Clone, Default)]
struct Count {
    n: u32,
}

async fn add(count: Snapshot<Count>, _: Context) -> Result<CountUpdate, BoxError> {
    Ok(Count::update().n(count.n + 1))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    let app = graph.checkpointer(Sqlite::open("threads.db").await?);
    let count = app.thread(ThreadKey::named("mine")?).invoke(Count::update(), ()).await?.done()?;
    println!("{}", count.n);
    Ok(())
}
"#;

/// An agent on an OpenAI-compatible server, on a thread in SQLite.
const AGENT: &str = r#"use hanok::{BoxError, ThreadKey, agent::ReactAgent, openai::OpenAi, sqlite::Sqlite};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let agent = ReactAgent::builder("helper", "Helps", OpenAi::from_env().await?).build()?;
    let app = agent.graph().checkpointer(Sqlite::open("threads.db").await?);
    let turn = app.thread(ThreadKey::named("mine")?).invoke(agent.ask("Hello"), ()).await?.done()?;
    println!("{}", turn.answer.unwrap_or_default());
    Ok(())
}
"#;

/// A question to the same server with rig.
const RIG: &str = r#"use rig_core::{completion::CompletionRequest, providers::openai::{self, OpenAI}};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = OpenAI::from_env()?.completion(openai::GPT_5_2);
    println!("{}", model.call(CompletionRequest::new("Hello")).await?.text());
    Ok(())
}
"#;

const ROWS: [Row; 4] = [
    Row {
        name: "graph on SQLite",
        dependency: r#"hanok = { path = "HANOK", default-features = false, features = ["sqlite"] }"#,
        program: GRAPH,
    },
    Row { name: "defaults", dependency: r#"hanok = { path = "HANOK" }"#, program: GRAPH },
    Row {
        name: "agent on OpenAI and SQLite",
        dependency: r#"hanok = { path = "HANOK", default-features = false, features = ["agent", "openai", "sqlite"] }"#,
        program: AGENT,
    },
    Row {
        name: "rig: a question to OpenAI",
        dependency: r#"rig-core = { version = "0.44", features = ["reqwest"] }"#,
        program: RIG,
    },
];

/// What a program of LangGraph needs for the same: an agent, OpenAI, threads in SQLite.
const PYTHON: [&str; 3] = ["langgraph", "langchain-openai", "langgraph-checkpoint-sqlite"];

/// The row that is the README's first command, and the most CPU seconds that it may take.
const FIRST: &str = "rag";
const FIRST_LIMIT: f64 = 350.0;

/// Weighs each row and prints it as it comes. Returns false if the first command was weighed and is too heavy.
///
/// # Errors
///
/// Cargo could not be started, or a program does not build.
pub(crate) fn run(weigh: &Weigh) -> Result<bool> {
    let metadata = Metadata::read()?;
    if weigh.only == [FIRST] {
        return first_command(&metadata.target_directory.join("weigh").join(FIRST));
    }
    println!("{:<34} {:>9} {:>13} {:>12}", "", "packages", "first build", "program");
    for row in ROWS.iter().filter(|row| weigh.wants(row.name)) {
        let here = metadata.workspace_root.clone();
        line(row.name, &of(&metadata, row, &here, weigh.release)?);
        if let Some(tree) = weigh.tree.as_ref().filter(|_| row.dependency.contains("HANOK")) {
            let other = fs::canonicalize(tree)?;
            line(&format!("  {tree}"), &of(&metadata, row, &other, weigh.release)?);
        }
    }
    if weigh.wants("LangGraph") {
        let folder = metadata.target_directory.join("weigh").join("python");
        let python = needs::python(&folder, &PYTHON)?;
        let listed =
            Tool::named(&python).arguments(["-m", "pip", "list", "--format", "freeze"]).text()?;
        let packages = listed
            .lines()
            .filter(|line| !line.starts_with("pip=") && !line.starts_with("setuptools="))
            .count();
        let bytes = size(&folder.join("lib"))?;
        println!(
            "{:<34} {packages:>9} {:>13} {:>9.1} MB",
            "LangGraph: agent on OpenAI, SQLite",
            "-",
            megabytes(bytes)
        );
    }
    Ok(true)
}

/// Runs the README's first command as it is typed, from nothing, with `target` as its empty target folder, which is deleted
/// afterwards.
fn first_command(target: &Path) -> Result<bool> {
    let Build { packages, units } = dependencies::first_command()?;
    let command = format!("cargo run {}", FIRST_COMMAND.join(" "));
    let seconds = cpu_seconds(&command, Path::new("."), target, &[]);
    fs::remove_dir_all(target)?;
    let seconds = seconds?;
    println!(
        "{command}: {packages} packages, {units} units, {seconds:.0} CPU s (at most {FIRST_LIMIT:.0})"
    );
    Ok(seconds <= FIRST_LIMIT)
}

impl Weigh {
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }
}

/// What a row weighs.
struct Weight {
    packages: usize,
    cpu_seconds: f64,
    program: Option<u64>,
}

fn line(name: &str, weight: &Weight) {
    let program = weight.program.map(|bytes| format!("{:.1} MB", megabytes(bytes)));
    println!(
        "{name:<34} {:>9} {:>9.1} CPU s {:>10}",
        weight.packages,
        weight.cpu_seconds,
        program.unwrap_or_else(|| "-".to_owned())
    );
}

#[allow(clippy::cast_precision_loss, reason = "one digit is shown")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn of(metadata: &Metadata, row: &Row, tree: &Path, release: bool) -> Result<Weight> {
    let hanok = tree.join("crates").join("hanok");
    let dependency = row.dependency.replace("HANOK", &hanok.to_string_lossy());
    let tokio = r#"tokio = { version = "1", features = ["macros", "rt-multi-thread"] }"#;
    let dependencies = format!("{dependency}\n{tokio}");
    let folder = needs::package(metadata, "weigh", &dependencies, ("main.rs", row.program))?;
    match row.dependency.contains("HANOK") {
        true => drop(fs::copy(tree.join("Cargo.lock"), folder.join("Cargo.lock"))?),
        // Other people's packages are weighed at their newest.
        false => fs::remove_file(folder.join("Cargo.lock"))?,
    }
    let manifest = folder.join("Cargo.toml");
    let cargo = |arguments: &[&str]| {
        Tool::cargo().arguments(arguments).arguments(["--manifest-path"]).arguments([&manifest])
    };
    let tree = cargo(&["tree", "--edges", "normal", "--prefix", "none"]).text()?;
    let cpu_seconds = built(&folder, "")?;
    let program = match release {
        true => {
            built(&folder, "--release")?;
            Some(fs::metadata(folder.join("target/release/weigh"))?.len())
        }
        false => None,
    };
    Ok(Weight { packages: packages(&tree), cpu_seconds, program })
}

/// The packages of a tree, without the program's own.
fn packages(tree: &str) -> usize {
    let name = |line: &str| line.split(" (").next().unwrap_or_default().trim().to_owned();
    let all: BTreeSet<String> = tree.lines().map(name).filter(|name| !name.is_empty()).collect();
    all.len().saturating_sub(1)
}

/// Builds the package from nothing. Returns the CPU seconds.
fn built(folder: &Path, profile: &str) -> Result<f64> {
    let command = format!("cargo fetch -q && cargo build -q {profile}");
    let settings = [
        ("CARGO_INCREMENTAL", "0"),
        ("CARGO_PROFILE_DEV_DEBUG", "none"),
        ("CARGO_PROFILE_RELEASE_STRIP", "true"),
    ];
    cpu_seconds(&command, folder, &folder.join("target"), &settings)
}

/// Runs `command` in `folder` with an empty `target` folder. Returns its CPU seconds, as the shell counts them for its children.
fn cpu_seconds(
    command: &str,
    folder: &Path,
    target: &Path,
    settings: &[(&str, &str)],
) -> Result<f64> {
    if target.exists() {
        fs::remove_dir_all(target)?;
    }
    let shell = Tool::named("sh").arguments(["-c", &format!("{command} && times")]).within(folder);
    let shell = shell.variable("CARGO_TARGET_DIR", target);
    let set = |shell: Tool, (name, value): &(&str, &str)| shell.variable(name, value);
    let ended = settings.iter().fold(shell, set).run()?;
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

/// The bytes of the files below `folder`.
fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        bytes += if kind.is_dir() {
            size(&entry.path())?
        } else if kind.is_file() {
            entry.metadata()?.len()
        } else {
            0
        };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_a_tree_are_counted_once_and_without_the_program() {
        let tree = "weigh v0.0.0 (/x)\nhanok v0.1.0 (/y)\nserde v1.0.0\nserde v1.0.0 (*)\n\nserde_derive v1.0.0 (proc-macro)\n";
        assert_eq!(packages(tree), 3);
    }

    #[test]
    fn the_shells_times_are_summed() {
        assert_eq!(seconds("1m2.50s 0m3.25s"), Some(65.75));
        assert_eq!(seconds("error: no such thing"), None);
    }
}
