//! The house: its crates and their rooms as pictures in Mermaid, and the imports of a crate by file.
//!
//! A *room* is a folder of `src`; the files beside `lib.rs` are the *ground*. Imports are the `use` declarations outside tests. They
//! lead to the file that the path names, even if that file re-exports the name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::files;
use crate::metadata::{Metadata, Package};
use crate::result::Result;

/// How often each file, or room, imports each other one.
type Imports = BTreeMap<(String, String), usize>;

/// The pictures, or the imports of the crate `of_crate` by file.
pub(crate) fn run(
    of_crate: Option<&str>,
    floors: &[&[&str]],
    metadata: &Metadata,
) -> Result<String> {
    let mut crates: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (path, text) in
        files::texts(&files::files(Path::new("."))?, |path| package(path).is_some())?
    {
        let (package, inside) = package(&path).unwrap_or_default();
        crates.entry(package.to_owned()).or_default().insert(inside.to_owned(), text);
    }
    if let Some(name) = of_crate {
        let sources = crates.get(name).ok_or_else(|| format!("no crate `{name}`"))?;
        return Ok(listing(&imports(sources)));
    }
    let mut pictures = "The crates, without the arrows that follow from others:\n\n".to_owned();
    pictures += &drawn_crates(floors, &arrows(metadata));
    for (name, sources) in &crates {
        let rooms = rooms(&imports(sources));
        if rooms.len() > 1 {
            pictures += &format!("\nThe rooms of `{name}`, with the number of imports:\n\n");
            let line = |((from, to), count): (&(String, String), &usize)| {
                format!("  {} -->|{count}| {}", node(from), node(to))
            };
            pictures += &picture(&rooms.iter().map(line).collect::<Vec<_>>());
        }
    }
    Ok(pictures)
}

/// The package of a source file, and its path in `src`.
fn package(path: &str) -> Option<(&str, &str)> {
    let (package, inside) = path.strip_prefix("crates/").unwrap_or(path).split_once('/')?;
    let is_ours = path.starts_with("crates/") || package == "xtask";
    let inside = inside.strip_prefix("src/")?;
    (is_ours && path.ends_with(".rs")).then_some((package, inside))
}

/// The imports between the files of a crate, `sources` being its texts by their paths in `src`.
fn imports(sources: &BTreeMap<String, String>) -> Imports {
    let modules: BTreeMap<_, _> = sources.keys().map(|path| (module(path), path)).collect();
    let mut imports = Imports::new();
    for (path, text) in sources {
        let here = module(path);
        for used in uses(text) {
            let words: Vec<&str> = used.split("::").collect();
            let up = words.iter().filter(|word| **word == "super").count();
            let base = match words.first().copied() {
                Some("crate") => &[],
                Some("self" | "super") => {
                    here.get(..here.len().saturating_sub(up)).unwrap_or_default()
                }
                // A module of this one, or another crate.
                Some(first) if modules.contains_key(&[&here[..], &[first]].concat()) => &here[..],
                _ => continue,
            };
            let names = words.iter().filter(|word| !["crate", "self", "super"].contains(*word));
            let target: Vec<&str> = base.iter().chain(names).copied().collect();
            let found = (0..=target.len()).rev().find_map(|end| modules.get(target.get(..end)?));
            if let Some(to) = found.filter(|to| **to != path) {
                *imports.entry((path.clone(), (*to).clone())).or_default() += 1;
            }
        }
    }
    imports
}

/// The module of a file: `thread/mod.rs` and `thread.rs` are both `thread`.
fn module(path: &str) -> Vec<&str> {
    let words = path.trim_end_matches(".rs").split('/');
    words.filter(|word| !["mod", "lib", "main"].contains(word)).collect()
}

/// The paths that a file uses outside its tests, each name by itself.
fn uses(text: &str) -> Vec<String> {
    let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
    let (mut paths, mut open) = (Vec::new(), String::new());
    for line in code.lines().map(|line| line.split("//").next().unwrap_or_default().trim()) {
        let begins =
            line.starts_with("use ") || (line.starts_with("pub") && line.contains(" use "));
        if begins || !open.is_empty() {
            open += line;
        }
        if let Some(tree) = open.strip_suffix(';') {
            let tree = tree.split_once("use ").map_or(tree, |(_, tree)| tree);
            flatten("", &tree.replace(' ', ""), &mut paths);
            open.clear();
        }
    }
    paths
}

/// Takes the tree of a `use` apart: `a::{b, c::d}` into `a::b` and `a::c::d`.
fn flatten(before: &str, tree: &str, paths: &mut Vec<String>) {
    let Some((prefix, rest)) = tree.split_once('{') else {
        paths.extend((!tree.is_empty()).then(|| format!("{before}{tree}")));
        return;
    };
    let inner = rest.strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut begin) = (0usize, 0);
    for (at, sign) in inner.char_indices().chain([(inner.len(), ',')]) {
        match sign {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                let part = inner.get(begin..at).unwrap_or_default();
                flatten(&format!("{before}{prefix}"), part, paths);
                begin = at + 1;
            }
            _ => {}
        }
    }
}

/// The imports from room to room.
fn rooms(imports: &Imports) -> Imports {
    let is_folder = |name: &str| {
        let folder = format!("{name}/");
        imports.keys().any(|(from, to)| from.starts_with(&folder) || to.starts_with(&folder))
    };
    // A file beside a folder of its name is of that room.
    let room = |path: &str| match path.split('/').next().unwrap_or(path).trim_end_matches(".rs") {
        "lib" | "main" | "bin" => None,
        name if is_folder(name) => Some(name.to_owned()),
        _ => Some("ground".to_owned()),
    };
    let mut rooms = Imports::new();
    for ((from, to), count) in imports {
        if let (Some(from), Some(to)) = (room(from), room(to))
            && from != to
        {
            *rooms.entry((from, to)).or_default() += count;
        }
    }
    rooms
}

fn listing(imports: &Imports) -> String {
    let files: BTreeSet<_> = imports.keys().map(|(from, _)| from).collect();
    let of = |file| {
        let lines = imports.iter().filter(move |((from, _), _)| from == file);
        let lines: String = lines.map(|((_, to), count)| format!("  {to} ({count})\n")).collect();
        format!("{file}\n{lines}")
    };
    files.into_iter().map(of).collect()
}

/// The crates that each crate is built with, without its tests.
fn arrows(metadata: &Metadata) -> BTreeSet<(String, String)> {
    let mut crates = metadata.members();
    crates.retain(|package| package.is_published());
    let of = |package: &Package| {
        let built_with = package.dependencies.iter().filter(|other| other.kind.is_none());
        let ours =
            built_with.filter(|other| crates.iter().any(|package| package.name == other.name));
        ours.map(|other| (package.name.clone(), other.name.clone())).collect::<Vec<_>>()
    };
    crates.iter().flat_map(|package| of(package)).collect()
}

/// The crates on their floors, the highest floor first, with the arrows that do not follow from others.
fn drawn_crates(floors: &[&[&str]], arrows: &BTreeSet<(String, String)>) -> String {
    let mut lines = Vec::new();
    for (floor, names) in floors.iter().enumerate().rev() {
        lines.push(format!("  subgraph floor{floor} [\"floor {floor}\"]"));
        let is_known =
            |name: &&&str| arrows.iter().any(|(from, to)| from == **name || to == **name);
        lines.extend(names.iter().filter(is_known).map(|name| format!("    {}", node(name))));
        lines.push("  end".to_owned());
    }
    let leads = |from: &String, to: &String| {
        let (mut open, mut reached) = (vec![from], BTreeSet::new());
        while let Some(name) = open.pop() {
            let next = arrows.iter().filter(|(from, _)| from == name).map(|(_, to)| to);
            open.extend(next.filter(|to| reached.insert(*to)));
        }
        reached.contains(to)
    };
    let is_short = |(from, to): &&(String, String)| {
        !arrows.iter().any(|(one, between)| one == from && between != to && leads(between, to))
    };
    let short = arrows.iter().filter(is_short);
    lines.extend(short.map(|(from, to)| format!("  {} --> {}", id(from), id(to))));
    picture(&lines)
}

fn picture(lines: &[String]) -> String {
    format!("```mermaid\nflowchart TB\n{}\n```\n", lines.join("\n"))
}

fn node(name: &str) -> String {
    format!("{}[\"{name}\"]", id(name))
}

/// A name that is no word of Mermaid's, as `graph` and `end` are.
fn id(name: &str) -> String {
    format!("{}_", name.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_stand_on_their_floors_and_arrows_that_follow_are_left_out() {
        let arrows = [("graph", "state"), ("graph", "core-a"), ("state", "core-a")];
        let arrows = arrows.map(|(from, to)| (from.to_owned(), to.to_owned())).into();
        assert_eq!(
            drawn_crates(&[&["core-a", "not-yet"], &["state"], &["graph"]], &arrows),
            "```mermaid\nflowchart TB\n  subgraph floor2 [\"floor 2\"]\n    graph_[\"graph\"]\n  end\n  \
             subgraph floor1 [\"floor 1\"]\n    state_[\"state\"]\n  end\n  subgraph floor0 [\"floor 0\"]\n    \
             core_a_[\"core-a\"]\n  end\n  graph_ --> state_\n  state_ --> core_a_\n```\n"
        );
    }

    #[test]
    fn imports_lead_to_the_files_that_they_name() {
        let sources = [
            ("lib.rs", "mod run;\npub use run::{Run, step::Step};\n"),
            (
                "run.rs",
                "mod step;\nuse crate::{\n    name::{Name, Other}, // why\n};\npub(super) use step::Step;\nuse std::fmt;\n",
            ),
            (
                "run/step.rs",
                "use super::Run;\nuse crate::name;\n\n#[cfg(test)]\nmod tests {\n    use crate::x::Y;\n}\n",
            ),
            ("name.rs", ""),
        ];
        let sources = sources.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
        let imports = imports(&sources);
        assert_eq!(
            listing(&imports),
            "lib.rs\n  run.rs (1)\n  run/step.rs (1)\nrun.rs\n  name.rs (2)\n  run/step.rs (1)\n\
             run/step.rs\n  name.rs (1)\n  run.rs (1)\n"
        );
        let want = ("run".to_owned(), "ground".to_owned());
        assert_eq!(rooms(&imports), BTreeMap::from([(want, 3)]));
    }
}
