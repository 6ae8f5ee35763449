//! The programs of the guides, compiled with what each page tells its reader to add, and with nothing else: a page that lacks a
//! feature is found by the compiler. They run among the examples of the documentation, with all of hanok.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::Tool;
use crate::files;
use crate::metadata::Metadata;
use crate::pages::{self, Block};
use crate::report::{Outcome, Work};
use crate::result::Result;

/// The folder of the guides.
const GUIDES: &str = "docs/guides";

/// A package that a page adds, and its features.
type Added = (String, Vec<String>);

/// The guides that add `hanok` with the same features.
#[derive(Debug, Default)]
struct Group {
    /// What they add, each package with its features.
    added: BTreeMap<String, BTreeSet<String>>,
    /// Their programs as modules, and the number of them.
    modules: String,
    programs: usize,
}

/// Makes one package for each line by which guides add `hanok`, and checks the programs of its guides there, if what decides on
/// features changed.
pub(crate) fn stage(work: &Work) -> Result<Outcome> {
    if !work.changes.has_features() {
        let why = "no `cargo add` of a guide and no feature changed; anyway: `--only guides`";
        return Ok(Outcome::Skipped(why.to_owned()));
    }
    let mut groups: BTreeMap<Vec<String>, Group> = BTreeMap::new();
    let pages = files::files(Path::new(GUIDES))?;
    for page in &pages {
        let text = fs::read_to_string(page)?;
        let added: Vec<_> = text.lines().filter_map(added).flatten().collect();
        let Some((_, features)) = added.iter().find(|(package, _)| package == "hanok") else {
            return Ok(Outcome::Failed(format!("{}: it does not add hanok", page.display())));
        };
        let group = groups.entry(features.clone()).or_default();
        for (package, features) in added {
            group.added.entry(package).or_default().extend(features);
        }
        for block in pages::blocks(&text).iter().filter(|block| block.is_rust()) {
            group.programs += 1;
            group.modules += &format!("// {}:{}\n", page.display(), block.line);
            group.modules += &module(group.programs, &program(block));
        }
    }
    for (features, group) in &groups {
        let check = Tool::cargo()
            .arguments(["check", "--manifest-path"])
            .arguments([package(&work.metadata, features, group)?])
            .variable("CARGO_TARGET_DIR", &work.metadata.target_directory);
        let ended = check.run()?;
        if !ended.succeeded() {
            return Ok(Outcome::Failed(format!("with {features:?}:\n{}", ended.output)));
        }
    }
    let programs: usize = groups.values().map(|group| group.programs).sum();
    let (guides, lines) = (pages.len(), groups.len());
    Ok(Outcome::Passed(format!("{programs} programs of {guides} guides, by {lines} lines")))
}

/// The packages that a line of a terminal adds: `$ cargo add tokio -F macros,time`.
fn added(line: &str) -> Option<Vec<Added>> {
    let added = line.strip_prefix("$ cargo add ")?.split('#').next()?.trim_end();
    let (packages, features) = added.split_once(" -F ").unwrap_or((added, ""));
    let features: Vec<_> = features.split_terminator(',').map(str::to_owned).collect();
    let packages = packages.split_whitespace().filter(|word| !word.starts_with("--"));
    Some(packages.map(|package| (package.to_owned(), features.clone())).collect())
}

/// Writes the package of a group anew, with the lock of the workspace. Returns its manifest.
fn package(metadata: &Metadata, features: &[String], group: &Group) -> Result<PathBuf> {
    let name = format!("with-{}", features.join("-"));
    let folder = metadata.target_directory.join("guides").join(name);
    fs::create_dir_all(&folder)?;
    let mut manifest = "[package]\nname = \"guides\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[lib]\npath = \"lib.rs\"\n\n[dependencies]\n".to_owned();
    for (package, features) in &group.added {
        let place = match package.starts_with("hanok") {
            true => format!("path = {:?}", metadata.workspace_root.join("crates").join(package)),
            false => "version = \"*\"".to_owned(),
        };
        manifest +=
            &format!("{package} = {{ {place}, features = {:?} }}\n", Vec::from_iter(features));
    }
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::write(folder.join("lib.rs"), format!("#![allow(warnings)]\n{}", group.modules))?;
    fs::copy(metadata.workspace_root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    Ok(folder.join("Cargo.toml"))
}

/// A program as rustdoc reads it: what begins with `# ` is not shown and part of it.
fn program(block: &Block<'_>) -> String {
    let bare = |line: &&str| {
        let line = if line.trim() == "#" { "" } else { line };
        format!("{}\n", line.trim_start().strip_prefix("# ").unwrap_or(line))
    };
    block.lines.iter().map(bare).collect()
}

/// A program as a module of a library. One that has no `main` is the body of a function, which may end with a result.
fn module(number: usize, program: &str) -> String {
    let body = match program.contains("fn main(") {
        true => program.to_owned(),
        false if program.trim_end().ends_with("(())") => {
            format!("fn program() -> Result<(), impl std::fmt::Debug> {{\n{program}}}\n")
        }
        false => format!("fn program() {{\n{program}}}\n"),
    };
    format!("mod program_{number} {{\n{body}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_terminal_add_packages() {
        let shown = |line| Some(format!("{:?}", added(line)?));
        for (line, want) in [
            ("$ cargo add hanok -F a,b  # why", Some(r#"[("hanok", ["a", "b"])]"#)),
            ("$ cargo add x y", Some(r#"[("x", []), ("y", [])]"#)),
            ("$ cargo add --dev hanok-testkit -F s", Some(r#"[("hanok-testkit", ["s"])]"#)),
            ("$ cargo run", None),
            ("cargo add x", None),
        ] {
            assert_eq!(shown(line).as_deref(), want, "{line}");
        }
    }

    #[test]
    fn the_programs_of_a_page_are_modules() {
        let module = |number, lines: &[&str]| {
            module(number, &program(&Block { lines: lines.to_vec(), ..Block::default() }))
        };
        let main = module(1, &["# use a::B;", "fn main() {}", "#"]);
        assert_eq!(main, "mod program_1 {\nuse a::B;\nfn main() {}\n\n}\n");
        let ends = module(2, &["#[b]", "c()?;", "# Ok::<(), D>(())"]);
        assert!(
            ends.contains("-> Result<(), impl std::fmt::Debug> {\n#[b]\nc()?;\nOk::<(), D>(())\n")
        );
        assert_eq!(module(3, &["a();"]), "mod program_3 {\nfn program() {\na();\n}\n}\n");
    }
}
