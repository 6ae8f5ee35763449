//! Who does the work: hanok, the same by hand, LangGraph, or another engine. Each measurement has a process of its own, so that no row
//! measures what another one has left in memory.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{Result, works::Work};

/// Who does the work, of those who do it in Rust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Hand,
    Hanok,
}

impl By {
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        match name {
            "hand-written" => Ok(Self::Hand),
            "hanok" => Ok(Self::Hanok),
            other => Err(format!("nobody is called `{other}`")),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Hand => "hand-written",
            Self::Hanok => "hanok",
        }
    }

    /// Measures `work` in this process: a value per figure, none for work that is not done so.
    pub(crate) fn measure(self, work: &Work, rounds: usize) -> Result<Vec<f64>> {
        match self {
            Self::Hanok => (work.hanok)(rounds),
            Self::Hand => work.hand_written.map_or(Ok(Vec::new()), |run| run(rounds)),
        }
    }

    /// Measures `work` in a process of its own.
    pub(crate) fn measure_apart(self, work: &Work, rounds: usize) -> Result<Vec<f64>> {
        if self == Self::Hand && work.hand_written.is_none() {
            return Ok(Vec::new());
        }
        let rounds = rounds.to_string();
        let arguments = [work.name, "--measure", self.name(), "--rounds", &rounds];
        figures(Command::new(std::env::current_exe()?).args(arguments))
    }
}

/// Has LangGraph do `work`; nothing for work that it is not given.
pub(crate) fn langgraph(python: &Path, work: &Work, rounds: usize) -> Result<Vec<f64>> {
    let suite = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("langgraph/suite.py");
    figures(Command::new(python).arg(suite).args([work.name, &rounds.to_string()]))
}

/// The other engines.
pub(crate) const OTHERS: [&str; 3] = ["adk-graph", "graph-flow", "juncture"];

/// Has another engine do `work`; nothing for work that it cannot do. What fails is said and left out.
pub(crate) fn other(peers: &Path, engine: &str, work: &Work, rounds: usize) -> Vec<f64> {
    let arguments = [engine, work.name, &rounds.to_string()];
    figures(Command::new(peers).args(arguments)).unwrap_or_else(|error| {
        eprintln!("bench: {engine}: {error}");
        Vec::new()
    })
}

/// What a process prints: a list of numbers.
pub(crate) fn figures(command: &mut Command) -> Result<Vec<f64>> {
    let output = command.stderr(Stdio::inherit()).output()?;
    let said = String::from_utf8(output.stdout)?;
    if !output.status.success() {
        return Err(format!("{command:?} failed").into());
    }
    Ok(serde_json::from_str(said.trim())?)
}
