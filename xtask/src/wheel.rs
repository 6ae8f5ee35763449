//! The stage `wheel`: the Python package of hanok-parse, built and tested in a virtual environment below the target folder.

use std::fs;
use std::path::Path;

use crate::command::Tool;
use crate::needs;
use crate::report::{Outcome, Work};
use crate::result::Result;

const FOLDER: &str = "crates/hanok-parse/python";
const MANIFEST: &str = "crates/hanok-parse/python/Cargo.toml";

/// What is installed from PyPI: what builds the wheel, runs its tests, and compares its types with what is in it.
const WANTED: [&str; 3] = ["maturin>=1.9,<2", "mypy>=1.15,<3", "pytest>=8,<10"];

/// Builds the wheel, installs it, runs its tests, and checks its types.
pub(crate) fn stage(work: &Work) -> Result<Outcome> {
    let folder = work.metadata.target_directory.join("wheel");
    let python = match needs::python(&folder.join("venv"), &WANTED) {
        Ok(python) => python,
        Err(why) => {
            let why = why.to_string();
            let reason = why.lines().last().unwrap_or_default();
            return Ok(Outcome::Skipped(format!("no Python with maturin: {reason}")));
        }
    };
    if let Some(why) = needs::unfetched(MANIFEST)? {
        return Ok(Outcome::Skipped(why));
    }
    let wheels = folder.join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels)?;
    }
    let module = |name| Tool::named(&python).arguments(["-m", name]);
    let build = module("maturin")
        .arguments(["build", "--release", "--manifest-path", MANIFEST, "--out"])
        .arguments([&wheels])
        .variable("CARGO_TARGET_DIR", &folder);
    let install = |wheel: &Path| {
        let install = ["install", "--quiet", "--no-deps", "--no-index", "--force-reinstall"];
        module("pip").arguments(install).arguments([wheel])
    };
    let built = build.run()?;
    if !built.succeeded() {
        return Ok(Outcome::Failed(built.output));
    }
    let wheel = fs::read_dir(&wheels)?.next().ok_or("maturin built no wheel")??.path();
    let tests = ["--quiet", "-p", "no:cacheprovider", "tests"];
    let types = ["--no-incremental", "--config-file", "pyproject.toml", "tests"];
    // Maturin puts the module into a package of the same name, which is what has types.
    let inner = folder.join("inner");
    fs::write(&inner, "hanok_parse.hanok_parse\n")?;
    let compared = [Path::new("hanok_parse"), Path::new("--allowlist"), &inner];
    let steps = [
        install(&wheel),
        module("pytest").arguments(tests).within(Path::new(FOLDER)),
        module("mypy").arguments(types).within(Path::new(FOLDER)),
        module("mypy.stubtest").arguments(compared).within(&folder),
    ];
    let mut counts = String::new();
    for step in steps {
        // No file of Python's stays in the repository.
        let ended = step.variable("PYTHONDONTWRITEBYTECODE", "1").run()?;
        if !ended.succeeded() {
            return Ok(Outcome::Failed(ended.output));
        }
        let passed = ended.output.lines().rev().find(|line| line.contains(" passed"));
        counts += passed.unwrap_or_default();
    }
    let name = wheel.file_name().unwrap_or_default().to_string_lossy();
    Ok(Outcome::Passed(format!("{name}: {counts}; its types are those of the module")))
}
