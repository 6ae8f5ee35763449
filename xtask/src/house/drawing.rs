//! The house as pictures in Mermaid, for `docs/ARCHITECTURE.md`.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::Crate;
use super::plan::Rooms;
use super::rooms::Room;
use crate::fault::Fault;

/// The document that shows the pictures, and the lines around them.
pub(super) const DOCUMENT: &str = "docs/ARCHITECTURE.md";
const MARKS: (&str, &str) = ("<!-- house -->\n", "<!-- /house -->\n");

/// The crates on their floors, the lowest floor first, with the arrows that do not follow from others.
pub(super) fn crates(floors: &[&[&str]], arrows: &BTreeSet<(String, String)>) -> String {
    let mut lines = Vec::new();
    let known: BTreeSet<_> = arrows.iter().flat_map(|(from, to)| [from, to]).collect();
    for (floor, names) in floors.iter().enumerate().rev() {
        lines.push(format!("  subgraph floor{floor} [\"floor {floor}\"]"));
        let names = names.iter().filter(|name| known.contains(&(**name).to_owned()));
        lines.extend(names.map(|name| format!("    {}[\"{name}\"]", id(name))));
        lines.push("  end".to_owned());
    }
    let reduced = reduced(arrows);
    lines.extend(reduced.iter().map(|(from, to)| format!("  {} --> {}", id(from), id(to))));
    picture(&lines)
}

/// The rooms of a crate with the number of imports from one to the other, an arrow upwards being dotted.
pub(super) fn rooms(of: &Crate, rooms: &Rooms) -> String {
    let planned = (0..rooms.rooms.len()).map(Room::Planned);
    let mut lines: Vec<_> = planned
        .chain([Room::Ground])
        .map(|room| format!("  {}[\"{}\"]", id(rooms.name(room)), rooms.name(room)))
        .collect();
    for ((from, to), count) in rooms.imports(of) {
        let arrow = if to < from { "-.->" } else { "-->" };
        let (from, to) = (id(rooms.name(from)), id(rooms.name(to)));
        lines.push(format!("  {from} {arrow}|{count}| {to}"));
    }
    picture(&lines)
}

fn picture(lines: &[String]) -> String {
    format!("```mermaid\nflowchart TB\n{}\n```\n", lines.join("\n"))
}

/// A name that is no word of Mermaid's, as `graph` and `end` are.
fn id(name: &str) -> String {
    format!("{}_", name.replace('-', "_"))
}

/// The arrows without those that others lead along, too.
fn reduced(arrows: &BTreeSet<(String, String)>) -> BTreeSet<&(String, String)> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in arrows {
        next.entry(from).or_default().push(to);
    }
    let below = |name: &str| next.get(name).map(Vec::as_slice).unwrap_or_default();
    let leads = |from: &str, to: &str| {
        let (mut open, mut reached) = (below(from).to_vec(), BTreeSet::new());
        while let Some(name) = open.pop() {
            if reached.insert(name) {
                open.extend(below(name));
            }
        }
        reached.contains(to)
    };
    let is_short = |(from, to): &&(String, String)| {
        !below(from).iter().any(|between| *between != to && leads(between, to))
    };
    arrows.iter().filter(is_short).collect()
}

/// The document with `pictures` between its marks.
///
/// # Errors
///
/// The marks are not there.
pub(super) fn shown(document: &str, pictures: &str) -> Result<String, Fault> {
    let (first, last) = MARKS;
    let around = document.split_once(first).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(last)?;
        Some(format!("{before}{first}\n{pictures}\n{last}{after}"))
    });
    around.ok_or_else(|| {
        let what = format!(
            "the pictures of the house have no place, write `{}` and `{}`",
            first.trim(),
            last.trim()
        );
        Fault::new(DOCUMENT, 1, what)
    })
}

/// Compares the document with these pictures.
pub(super) fn check(document: &str, pictures: &str) -> Option<Fault> {
    match shown(document, pictures) {
        Ok(right) if right == document => None,
        Ok(_) => {
            let before = document.split(MARKS.0).next().unwrap_or_default();
            let what = "the house has changed, run `cargo xtask house --write`";
            Some(Fault::new(DOCUMENT, before.lines().count() + 1, what))
        }
        Err(fault) => Some(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_stand_on_their_floors_and_arrows_that_follow_are_left_out() {
        let arrows = [("graph", "state"), ("graph", "core-a"), ("state", "core-a")];
        let arrows = arrows.map(|(from, to)| (from.to_owned(), to.to_owned())).into();
        assert_eq!(
            crates(&[&["core-a", "not-yet"], &["state"], &["graph"]], &arrows),
            "```mermaid\nflowchart TB\n  subgraph floor2 [\"floor 2\"]\n    graph_[\"graph\"]\n  end\n  \
             subgraph floor1 [\"floor 1\"]\n    state_[\"state\"]\n  end\n  subgraph floor0 [\"floor 0\"]\n    \
             core_a_[\"core-a\"]\n  end\n  graph_ --> state_\n  state_ --> core_a_\n```\n"
        );
    }

    #[test]
    fn a_document_shows_the_pictures_between_its_marks() {
        let document = "# House\n<!-- house -->\nold\n<!-- /house -->\nmore\n";
        let right = shown(document, "new\n").unwrap();
        assert_eq!(right, "# House\n<!-- house -->\n\nnew\n\n<!-- /house -->\nmore\n");
        assert_eq!(check(&right, "new\n"), None);
        for (document, want) in [
            (
                document,
                "docs/ARCHITECTURE.md:2: the house has changed, run `cargo xtask house --write`",
            ),
            (
                "# House\n",
                "docs/ARCHITECTURE.md:1: the pictures of the house have no place, write `<!-- house -->` and `<!-- /house -->`",
            ),
        ] {
            assert_eq!(check(document, "new\n").unwrap().to_string(), want);
        }
    }
}
