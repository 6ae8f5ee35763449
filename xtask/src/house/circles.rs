//! Circles: files of a crate that import each other.

use std::collections::BTreeSet;

use super::finding::{Check, Finding};
use super::modules::Crate;
use super::plan::Rooms;
use crate::fault::Fault;

/// The most files that may import each other in a circle.
const LARGEST: usize = 3;

/// The circles that are too large, and in a crate with rooms those that are in more than one.
pub(super) fn check(of: &Crate, rooms: Option<&Rooms>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for circle in of_crate(of) {
        let paths: Vec<_> = circle.iter().map(|file| of.path_in_src(*file)).collect();
        let in_rooms: BTreeSet<_> =
            paths.iter().filter_map(|path| rooms.and_then(|rooms| rooms.room(path))).collect();
        let why = match (circle.len() > LARGEST, in_rooms.len() > 1) {
            (true, _) => format!("at most {LARGEST}"),
            (false, true) => "and in more than one room".to_owned(),
            (false, false) => continue,
        };
        let what = format!(
            "{} files import each other in a circle, {why}: {}; `cargo xtask house --files {}` shows by what",
            circle.len(),
            paths.join(", "),
            of.name,
        );
        let path =
            circle.first().and_then(|file| of.files.get(*file)).map_or("", |file| &file.path);
        let finding = Finding::new(&of.name, Check::Circles, Fault::new(path, 1, what));
        findings.push(Finding { weight: circle.len(), ..finding });
    }
    findings
}

/// The circles of a crate, of two files too.
pub(super) fn of_crate(of: &Crate) -> Vec<Vec<usize>> {
    let arrows = of.arrows.iter().map(|arrow| (arrow.from, arrow.to)).collect();
    circles(of.files.len(), &arrows)
}

/// The circles of more than one file in a graph of `count` files, each in the order of the files.
fn circles(count: usize, arrows: &BTreeSet<(usize, usize)>) -> Vec<Vec<usize>> {
    let reach: Vec<_> = (0..count).map(|file| reached(file, arrows)).collect();
    let reaches = |from: usize, to: usize| reach.get(from).is_some_and(|all| all.contains(&to));
    let mut circles = Vec::new();
    let mut done = BTreeSet::new();
    for file in 0..count {
        if reaches(file, file) && !done.contains(&file) {
            let is_in = |other: &usize| reaches(file, *other) && reaches(*other, file);
            let circle: Vec<_> = (file..count).filter(is_in).collect();
            done.extend(circle.iter().copied());
            circles.push(circle);
        }
    }
    circles
}

/// The files at the end of a path that begins with an arrow of `file`.
fn reached(file: usize, arrows: &BTreeSet<(usize, usize)>) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![file];
    while let Some(from) = open.pop() {
        for (_, to) in arrows.range((from, 0)..=(from, usize::MAX)) {
            if reached.insert(*to) {
                open.push(*to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_reach_each_other_are_one_circle() {
        for (arrows, want) in [
            (&[(0, 1), (1, 2), (0, 2)][..], vec![]),
            (&[(0, 1), (1, 0), (1, 2)], vec![vec![0, 1]]),
            (&[(0, 1), (1, 2), (2, 0), (3, 4), (4, 3), (2, 3)], vec![vec![0, 1, 2], vec![3, 4]]),
            (&[(0, 1), (1, 0), (1, 2), (2, 1)], vec![vec![0, 1, 2]]),
        ] {
            assert_eq!(circles(5, &arrows.iter().copied().collect()), want, "{arrows:?}");
        }
    }
}
